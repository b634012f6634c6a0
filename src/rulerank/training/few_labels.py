"""Rankers as they are set for few labels: MDLP finds no cuts in a hundred grades, and coefficients need holding."""

from __future__ import annotations

from typing import Any

from rulerank.discretize import EqualWidth
from rulerank.methods import Method, method_named
from rulerank.rankers.base import Ranker

# chosen by benchmarks/choose_few_labels.py
COARSE_RULES = {"discretizer": EqualWidth(n_bins=5), "max_size": 1}
BY_RULES = ("RE-GR", "RE-SR", "RE-QR")
FEW_LABELS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(BY_RULES, COARSE_RULES),
    "QI": {"l2": 300.0, "normalize": "zscore"},
}


def few_label_params(name: str) -> dict[str, Any]:
    """Return what a method is set to when labels are few, where its defaults are made for many.

    >>> few_label_params("QI")
    {'l2': 300.0, 'normalize': 'zscore', 'missing': 'mean'}
    """
    method = method_named(name)
    return _filling_gaps(method, FEW_LABELS.get(method.name, {}))


def few_label_ranker(name: str) -> Ranker:
    """Return an unfitted ranker by its name, set for few labels.

    >>> few_label_ranker("QI")
    QueryIntercepts(l2=300.0, missing='mean', normalize='zscore')
    """
    return method_named(name).ranker_class()(**few_label_params(name))


def full_data_ranker(name: str) -> Ranker:
    """Return an unfitted ranker by its name, as one would train it with all labels.

    >>> full_data_ranker("RE-GR")
    GlobalRules()
    """
    method = method_named(name)
    params = {} if method.name in BY_RULES else FEW_LABELS.get(method.name, {})
    return method.ranker_class()(**_filling_gaps(method, params))


def _filling_gaps(method: Method, params: dict[str, Any]) -> dict[str, Any]:
    """Let a method take documents with missing values, as pools have them."""
    gaps = {"missing": "mean"} if "missing" in method.ranker_class()().get_params() else {}
    return params | gaps
