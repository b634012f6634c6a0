"""Measure rankings as the field does, with the tie rule declared, and tell whether they differ.

`measures.py` names the measures and conventions, `evaluation.py` computes them with the loops of `kernels.py` and
prints them, `comparison.py` says whether two rankings differ: the value, its interval and the tests of all of the
library. `rankings.py` reads what is evaluated: scores, runs, one feature alone.
"""

from .comparison import Comparison, ComparisonTable, compare, compare_results
from .evaluation import Result, evaluate
from .measures import CONVENTIONS, ERR, KINDS, MAP, MRR, NDCG, TIE_RULES, MeanNDCG, Measure, P, Recall

__all__ = ["CONVENTIONS", "ERR", "KINDS", "MAP", "MRR", "NDCG", "TIE_RULES", "MeanNDCG", "Measure", "P", "Recall"]
__all__ += ["Comparison", "ComparisonTable", "Result", "compare", "compare_results", "evaluate"]
