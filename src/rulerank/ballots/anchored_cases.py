"""A ranker that starts from a baseline ranking: the baseline ranking's part, and what moves a document from there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rulerank.ballots.case import Baseline, Case
from rulerank.ballots.linear_cases import LinearForm, linear_case
from rulerank.ballots.table_cases import TableForm, table_case
from rulerank.core.intervals import on_scale
from rulerank.core.words import counted, decimal
from rulerank.dataset import Array
from rulerank.rules.rule import Item

# beside a model that is the baseline ranking
READS_TOO = (
    "the baseline ranking's part is the model's own score, which reads features too; explain the model itself to take "
    "it apart"
)


def anchored_case(form: LinearForm, X: Array, row: int, today: int, n_features: int) -> Case:
    """Return the case of a document whose score is the baseline ranking's part plus what the other features add.

    n_features: the first columns; where a model is the baseline ranking, its scores are the one after them.
    """
    by_model = today >= n_features
    baseline = Baseline(baseline_name(form.names[today]), today, None if by_model else today)
    names = tuple(baseline.name if f == today else name for f, name in enumerate(form.names))
    case = linear_case(replace(form, names=names), X, row, "Anchored, linear", behind=today)
    ballot = case.ballot
    start, n_moves = float(ballot.adds[today]), int(np.delete(ballot.voted, today).sum())
    return replace(
        case,
        arithmetic=(_moved(start, ballot.score, counted(n_moves, "feature" if by_model else "other feature")),),
        notes=(READS_TOO,) if by_model else (),
        baseline=baseline,
    )


def anchored_table_case(form: TableForm, x: Array, today: int, n_features: int) -> Case:
    """Return the case of a document, given as values, whose score is the baseline ranking's part plus votes of tables.

    The baseline ranking's part is the last cell, of one more part than there are features: a rule may read the same
    feature. n_features: as `anchored_case` has it.
    """
    tables = form.tables
    assert tables.weights is not None
    assert tables.fill is not None
    weight, missing = float(tables.weights[today]), bool(np.isnan(x[today]))
    value = float(tables.fill[today] if missing else x[today])
    start, by_model = weight * value, today >= n_features
    baseline = Baseline(baseline_name(form.names[today]), n_features, None if by_model else today)
    scaled = on_scale(f"{baseline.name} = {decimal(value, 4)}", baseline.name, form.scale)
    shown = f"{scaled}{' (missing: behind all others)' if missing else ''}"
    case = table_case(form, x, "AnchoredRules")
    own = case.ballot
    n_rules = len(own.adds)
    ballot = replace(
        own,
        sets=(*own.sets, np.array([[n_features]], dtype=np.int32)),
        bins=(*own.bins, np.array([[value]])),
        votes=np.append(own.votes, [[start]], axis=0),
        adds=np.append(own.adds, start),
        weights=np.append(own.weights, 0.0),
        voted=np.append(own.voted, start != 0),
        n_features=n_features + 1,
        by_grade=np.append(own.by_grade, np.zeros((1, own.by_grade.shape[1]), dtype=np.int64), axis=0),
    )

    def item(cell: int, feature: int) -> Item:
        return case.item(cell, feature) if cell < n_rules else Item(feature, -1, f"{shown} times {decimal(weight, 4)}")

    return replace(
        case,
        ballot=ballot,
        item=item,
        value=lambda feature: shown if feature == n_features else case.value(feature),
        base_text="where every sum starts",
        arithmetic=(_moved(start, ballot.score, counted(int(own.voted.sum()), "rule")),),
        notes=(READS_TOO,) if by_model else (),
        baseline=baseline,
    )


def baseline_name(feature: str) -> str:
    """Return what the baseline ranking's part is called.

    >>> baseline_name("bm25(all)"), baseline_name("score of FittedRules")
    ('baseline ranking bm25(all)', 'baseline ranking of FittedRules')
    """
    return f"baseline ranking {feature.removeprefix('score ')}"


def _moved(start: float, score: float, others: str) -> str:
    begins, ends = round(start, 4), round(score, 4)  # what is printed adds up
    return f"the baseline ranking gives {begins:.4f}, and {others} move it by {ends - begins:+.4f} to {ends:.4f}"
