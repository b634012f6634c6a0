"""Measure rankings as the field does, with the tie rule declared, and tell whether they differ.

`measures.py` names the measures and conventions, `evaluation.py` computes them with the loops of `kernels.py` and
prints them, `comparison.py` says whether two rankings differ: the value, its interval and the tests of all of the
library. `rankings.py` reads what is evaluated: scores, runs, one feature alone. `llm_labels.py` estimates from LLM
labels that human labels correct.
"""

from .comparison import Comparison, ComparisonTable, compare, compare_results
from .evaluation import Result, evaluate
from .llm_labels import LLMEstimate, estimate_with_llm, sample_for_comparison
from .measures import CONVENTIONS, ERR, KINDS, MAP, MRR, NDCG, TIE_RULES, MeanNDCG, Measure, P, Recall

__all__ = ["CONVENTIONS", "ERR", "KINDS", "MAP", "MRR", "NDCG", "TIE_RULES", "MeanNDCG", "Measure", "P", "Recall"]
__all__ += ["Comparison", "ComparisonTable", "Result", "compare", "compare_results", "evaluate"]
__all__ += ["LLMEstimate", "estimate_with_llm", "sample_for_comparison"]
