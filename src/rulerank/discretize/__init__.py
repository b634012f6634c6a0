"""From feature values to bin numbers: where to cut, and which bin a value falls into."""

from rulerank.discretize.base import MAX_BINS, Discretizer
from rulerank.discretize.choose import DISCRETIZERS, discretizer_from_state, make_discretizer
from rulerank.discretize.mdlp import MDLP
from rulerank.discretize.tube import TUBE
from rulerank.discretize.uniform import EqualFrequency, EqualWidth

__all__ = [
    "DISCRETIZERS",
    "MAX_BINS",
    "MDLP",
    "TUBE",
    "Discretizer",
    "EqualFrequency",
    "EqualWidth",
    "discretizer_from_state",
    "make_discretizer",
]
