"""Synthetic data with known truth, for trying things out and for tests.

`ranking.py` makes the features and grades of a small web search, `shop.py` a shop with texts. The names load when they
are used.
"""

from typing import TYPE_CHECKING

from rulerank._util.words import surface

if TYPE_CHECKING:  # isort: off
    from rulerank.datasets.ranking import make_ranking as make_ranking
    from rulerank.datasets.shop import Shop as Shop, make_shop as make_shop
    from rulerank.dataset import make_folds as make_folds
    from rulerank.dataset import Fold as Fold

__all__, __getattr__ = surface(
    __name__, {"ranking": ("make_ranking",), "shop": ("Shop", "make_shop"), ".dataset": ("Fold", "make_folds")}
)
