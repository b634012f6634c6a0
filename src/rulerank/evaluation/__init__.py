"""Measure rankings as the field does, with the tie rule declared, and tell whether they differ.

`measures.py` names the measures and conventions, `evaluation.py` computes them with the loops of `kernels.py`,
`result.py` holds and tabulates what they give, `comparison.py` compares rankings over queries with the tests of
`significance.py`. `rankings.py` reads what is to be judged, `runs.py` judges TREC runs; `single_feature.py` ranks by
one feature alone.
"""

from rulerank.evaluation.comparison import Comparison, Pair, compare, compare_results
from rulerank.evaluation.evaluation import evaluate
from rulerank.evaluation.measures import (
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
from rulerank.evaluation.result import Result
from rulerank.evaluation.runs import evaluate_run
from rulerank.evaluation.significance import TESTS

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
    "Pair",
    "Recall",
    "Result",
    "compare",
    "compare_results",
    "evaluate",
    "evaluate_run",
]
