"""From feature values to bin numbers: where to cut, and which bin a value falls into.

`base.py` is what every discretiser does, and equal widths and frequencies; `mdlp.py` and `tube.py` say where to cut;
`binning.py` knows discretisers by name, bins features that name kinds, and puts rows into bins by any of them.
"""

from rulerank.discretize.base import MAX_BINS, Discretizer, EqualFrequency, EqualWidth
from rulerank.discretize.binning import (
    DISCRETIZER,
    DISCRETIZERS,
    WithCategories,
    bin_limits,
    bins_by,
    discretizer_from_state,
    make_discretizer,
)
from rulerank.discretize.mdlp import MDLP
from rulerank.discretize.tube import TUBE

__all__ = ["DISCRETIZER", "DISCRETIZERS", "MAX_BINS", "MDLP", "TUBE", "Discretizer", "EqualFrequency", "EqualWidth"]
__all__ += ["WithCategories", "bin_limits", "bins_by", "discretizer_from_state", "make_discretizer"]
