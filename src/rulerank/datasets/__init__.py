"""Synthetic data whose truth is known: something to rank before one has data, and something to test with.

`ranking.py` makes the features and grades of a small web search, `shop.py` a shop with texts. The names load when they
are used.
"""

from rulerank.core import surface

__all__, __getattr__ = surface(__name__, {"ranking": ("make_ranking",), "shop": ("Shop", "make_shop", "write_shop")})
