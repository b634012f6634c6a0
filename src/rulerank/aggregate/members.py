"""The members of an aggregation: named, fitted as each wants it, and scored on rows they were not fitted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rulerank.dataset import Array
from rulerank.errors import DataError, ModelFileError
from rulerank.methods import METHODS, method_named
from rulerank.rankers.base import Ranker
from rulerank.rankers.foreign import fit_ranker, fresh_for_part, predict_ranker
from rulerank.rules.metrics import METRICS, check_metric
from rulerank.splitting import QueryKFold

Members = list[tuple[str, Any]]  # names and rankers; None instead of a ranker stands for the metric of that name


def named_members(members: Any) -> Members:
    """Check members given as names of metrics or of methods, as (name, ranker) pairs or as a dict of rankers.

    >>> named_members(["confidence", "yule_q"])
    [('confidence', None), ('yule_q', None)]
    >>> named_members("RE-GR, QI")
    [('RE-GR', GlobalRules()), ('QI', QueryIntercepts())]
    """
    pairs = list(members.items()) if isinstance(members, Mapping) else members
    if isinstance(pairs, str):
        pairs = [name.strip() for name in pairs.split(",")]
    if not isinstance(pairs, Sequence) or len(pairs) < 2:
        raise DataError(
            "members must be two or more metric names, (name, ranker) pairs, or a dict of rankers by name: "
            f"got {str(members)[:60]!r}"
        )
    if all(isinstance(member, str) for member in pairs):
        found: Members = _by_name([str(name) for name in pairs])
    else:
        found = [_pair(member) for member in pairs]
    names = [name for name, _ in found]
    if len(set(names)) < len(names):
        raise DataError(f"members need names of their own: got {', '.join(names)}")
    return found


def fit_member(ranker: Any, X: Array, grades: Array, queries: Array) -> Any:
    """Fit a copy of a ranker, with the rows' queries as it wants them.

    >>> from sklearn.linear_model import LinearRegression
    >>> fit_member(LinearRegression(), np.array([[0.0], [1.0]]), np.array([0, 1]), np.array([0, 0])).coef_.round(6)
    array([1.])
    """
    return fit_ranker(fresh_for_part(ranker), X, grades, queries)


def member_scores(fitted: Sequence[Any], X: Array, queries: Array | None) -> Array:
    """Score rows by each fitted ranker, (n_rows, n_members)."""
    scores = np.empty((len(X), len(fitted)))
    for place, ranker in enumerate(fitted):
        scores[:, place] = predict_ranker(ranker, X, queries)
    if not np.isfinite(scores).all():
        place = int(np.flatnonzero(~np.isfinite(scores).all(axis=0))[0])
        raise DataError(f"the scores of member {place + 1}, {type(fitted[place]).__name__}, are not all finite")
    return scores


def cross_fitted_scores(
    rankers: Sequence[Any], X: Array, grades: Array, queries: Array, n_splits: int, seed: int
) -> Array:
    """Score each training row by rankers fitted without its query, (n_rows, n_members)."""
    scores = np.empty((len(X), len(rankers)))
    for train, test in QueryKFold(n_splits, seed=seed).split(X, qid=queries):
        fitted = [fit_member(ranker, X[train], grades[train], queries[train]) for ranker in rankers]
        scores[test] = member_scores(fitted, X[test], queries[test])
    return scores


def members_to_state(names: Sequence[str], fitted: Sequence[Any]) -> list[dict[str, Any]]:
    """Return fitted rankers as plain values and arrays; those of other libraries cannot be."""
    known = {method.class_name for method in METHODS.values()}
    for name, ranker in zip(names, fitted, strict=True):
        if not isinstance(ranker, Ranker) or type(ranker).__name__ not in known:
            raise DataError(
                f"this Competence cannot be saved: its member {name!r} is a {type(ranker).__name__}, of which a model "
                f"file can hold nothing; members may be metrics and {', '.join(sorted(known))}"
            )
    return [{"class": type(ranker).__name__, "state": ranker.to_state()} for ranker in fitted]


def members_from_state(saved: Sequence[Mapping[str, Any]]) -> list[Ranker]:
    """Return the rankers that `members_to_state` described; nothing but our own rankers is ever loaded."""
    by_class = {method.class_name: method for method in METHODS.values()}
    unknown = next((one["class"] for one in saved if one["class"] not in by_class), None)
    if unknown is not None:
        raise ModelFileError(f"it has a member of the class {unknown!r}, which there is not")
    return [by_class[one["class"]].ranker_class().from_state(one["state"]) for one in saved]


def _by_name(names: Sequence[str]) -> Members:
    """Return metrics, or rankers with their defaults, by what they are called."""
    methods = {word.lower() for method in METHODS.values() for word in (method.name, method.short)}
    if any(name in METRICS for name in names) or not any(name.lower() in methods for name in names):
        return [(check_metric(name), None) for name in names]
    found = [method_named(name) for name in names]
    return [(method.name, method.ranker_class()()) for method in found]


def _pair(member: Any) -> tuple[str, Any]:
    if isinstance(member, Sequence) and len(member) == 2 and isinstance(member[0], str):
        name, ranker = member
        if all(callable(getattr(ranker, does, None)) for does in ("fit", "predict")):
            return name, ranker
    raise DataError(
        "a member is a pair of a name and a ranker with fit and predict, or all are names of metrics: "
        f"got {str(member)[:60]!r}"
    )
