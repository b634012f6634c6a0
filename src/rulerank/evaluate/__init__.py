"""Measure rankings as the field does, with the tie rule declared, and tell whether they differ.

`measures.py` names the measures and conventions, `evaluation.py` computes them with the loops of `kernels.py` (their
slow twin is `plain.py`), `significance.py` compares rankings over queries.
"""

from rulerank.evaluate.evaluation import evaluate
from rulerank.evaluate.measures import (
    CONVENTIONS,
    ERR,
    KINDS,
    MAP,
    MRR,
    NDCG,
    TIE_RULES,
    MeanNDCG,
    Measure,
    P,
    Recall,
)
from rulerank.evaluate.result import Result
from rulerank.evaluate.significance import TESTS, Comparison, compare

__all__ = [
    "CONVENTIONS",
    "ERR",
    "KINDS",
    "MAP",
    "MRR",
    "NDCG",
    "TESTS",
    "TIE_RULES",
    "Comparison",
    "MeanNDCG",
    "Measure",
    "P",
    "Recall",
    "Result",
    "compare",
    "evaluate",
]
