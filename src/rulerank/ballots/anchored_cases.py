"""A ranker that starts from today's ranking taken apart: where today's ranking puts a document, and what moves it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rulerank.ballots.case import Case
from rulerank.ballots.linear_cases import LinearForm, linear_case
from rulerank.ballots.table_cases import TableForm, table_case
from rulerank.core.intervals import on_scale
from rulerank.core.words import counted, decimal
from rulerank.dataset import Array

# beside a model that is today's ranking
READS_TOO = "today's part is the model's own score, which reads features too; explain the model itself to take it apart"


def anchored_case(form: LinearForm, X: Array, row: int, today: int, name: str, n_features: int) -> Case:
    """Return the case of a document whose score is today's part plus what the other features move it by.

    n_features: the first columns; where a model is today's ranking, its scores are the one after them.
    """
    case = linear_case(form, X, row, "Anchored, linear")
    ballot = case.ballot
    start = float(ballot.adds[today])
    adds, voted = ballot.adds.copy(), ballot.voted.copy()
    adds[today], voted[today] = 0.0, False
    adds, voted = adds[:n_features], voted[:n_features]
    moved = replace(
        ballot,
        sets=(ballot.sets[0][:n_features],),
        bins=(ballot.bins[0][:n_features],),
        votes=adds[:, None],
        tally=lambda sums: start + sums[:, 0],
        adds=adds,
        weights=ballot.weights[:n_features],
        voted=voted,
        base=start,
        n_features=n_features,
        by_grade=ballot.by_grade[:n_features],
    )
    n_moves, by_model = int(np.count_nonzero(voted)), today >= n_features
    return replace(
        case,
        ballot=moved,
        base_text=f"where today's ranking ({name}) puts it: {case.value(today)} times {form.coef[today]:.4g}",
        arithmetic=(
            f"today's ranking gives {start:.4f}, and {counted(n_moves, 'feature' if by_model else 'other feature')} "
            f"move it by {moved.score - start:+.4f} to {moved.score:.4f}",
        ),
        notes=(READS_TOO,) if by_model else (),
    )


def anchored_table_case(form: TableForm, x: Array, today: int, name: str, n_features: int) -> Case:
    """Return the case of a document, given as values, whose score is today's part plus votes of tables.

    n_features: as `anchored_case` has it.
    """
    tables = form.tables
    assert tables.weights is not None
    assert tables.fill is not None
    weight, missing = float(tables.weights[today]), bool(np.isnan(x[today]))
    value = float(tables.fill[today] if missing else x[today])
    start = weight * value
    case = table_case(form, x, "AnchoredRules")
    ballot = replace(case.ballot, tally=lambda sums: start + sums[:, 0], base=start, n_features=n_features)
    scaled = on_scale(f"{form.names[today]} = {decimal(value, 4)}", form.names[today], form.scale)
    shown = f"{scaled}{' (missing: behind all others)' if missing else ''}"
    return replace(
        case,
        ballot=ballot,
        base_text=f"where today's ranking ({name}) puts it: {shown} times {weight:.4g}",
        arithmetic=(
            f"today's ranking gives {start:.4f}, and {counted(int(ballot.voted.sum()), 'rule')} "
            f"move it by {ballot.score - start:+.4f} to {ballot.score:.4f}",
        ),
        notes=(READS_TOO,) if today >= n_features else (),
    )
