"""Ranking measures with explicit conventions and tie rules, and tests of differences.

`measures.py` defines measures and conventions, `evaluation.py` computes them with the loops of `kernels.py`,
`comparison.py` has the intervals and tests of the whole library. `rankings.py` reads what is evaluated: scores, runs,
single features. `llm_labels.py` estimates from LLM
labels that human labels correct.
"""

from .comparison import Comparison, ComparisonTable, compare, compare_results
from .evaluation import Result, evaluate
from .llm_labels import LLMEstimate, estimate_with_llm, sample_for_comparison
from .measures import CONVENTIONS, ERR, KINDS, MAP, MRR, NDCG, TIE_RULES, MeanNDCG, Measure, P, Recall

__all__ = ["CONVENTIONS", "ERR", "KINDS", "MAP", "MRR", "NDCG", "TIE_RULES", "MeanNDCG", "Measure", "P", "Recall"]
__all__ += ["Comparison", "ComparisonTable", "Result", "compare", "compare_results", "evaluate"]
__all__ += ["LLMEstimate", "estimate_with_llm", "sample_for_comparison"]
