"""A synthetic shop with texts: products, queries, and the true grade of every pair.

`words.py` is its vocabulary, `products.py` and `queries.py` draw from it, `shop.py` puts both together and writes
files. The names load when they are used.
"""

from rulerank.core.lazy import surface

__all__, __getattr__ = surface(__name__, {"shop": ("Shop", "make_shop", "write_shop")})
