"""From feature values to bin numbers: where to cut, and which bin a value falls into.

`base.py` is what every discretiser does; `mdlp.py`, `tube.py` and `uniform.py` say where to cut; `categories.py` bins
features that name kinds; `choose.py` knows discretisers by name and puts rows into bins by any of them.
"""

from rulerank.discretize.base import MAX_BINS, Discretizer
from rulerank.discretize.categories import WithCategories
from rulerank.discretize.choose import (
    DISCRETIZER,
    DISCRETIZERS,
    bin_limits,
    bins_by,
    discretizer_from_state,
    make_discretizer,
)
from rulerank.discretize.mdlp import MDLP
from rulerank.discretize.tube import TUBE
from rulerank.discretize.uniform import EqualFrequency, EqualWidth

__all__ = [
    "DISCRETIZER",
    "DISCRETIZERS",
    "MAX_BINS",
    "MDLP",
    "TUBE",
    "Discretizer",
    "EqualFrequency",
    "EqualWidth",
    "WithCategories",
    "bin_limits",
    "bins_by",
    "discretizer_from_state",
    "make_discretizer",
]
