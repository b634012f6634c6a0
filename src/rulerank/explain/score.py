"""Why one score: from a ranker and a document to an explanation, rules that say the same folded into groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from rulerank.ballots import Case
from rulerank.core.arrays import unmasked
from rulerank.core.checks import is_whole
from rulerank.core.words import decimal
from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError
from rulerank.explain.explanation import Explanation, FeatureShare, RuleGroup, RuleVote
from rulerank.explain.standing import Background, background_of
from rulerank.rankers.base import Ranker
from rulerank.render.document import only


class RowOfQuery(NamedTuple):
    """One document among those of its query, checked and normalised as the ranker wants them."""

    X: Array
    row: int
    name: str


def find_row(ranker: Ranker, x: Any, row: int | None, name: str = "the document") -> RowOfQuery:
    """Find the document that is meant, given alone, or as a row of the documents of its query, or of a Dataset."""
    check_is_fitted(ranker)
    # frames and sparse rows stay what they are: the ranker checks their columns
    keeps = isinstance(x, Dataset) or issparse(x) or hasattr(x, "columns")
    data = x if keeps else np.atleast_2d(np.asarray(unmasked(x)))
    n_rows = len(x) if isinstance(x, Dataset) else data.shape[0]
    whole_query = ranker.needs_the_query()
    if row is None and (n_rows != 1 or whole_query):
        raise DataError(
            "this ranker compares the documents of a query with each other: give all of them and say which is meant, "
            "explain(X_of_the_query, row=3)"
            if whole_query
            else f"expected one document: got {n_rows}; say which is meant, explain(X, row=3)"
        )
    number = 0 if row is None else row
    if not is_whole(number, 0, n_rows - 1):
        raise DataError(f"row must be a whole number from 0 to {n_rows - 1}: got {row!r}")
    if isinstance(data, Dataset):
        name = doc_name(data, number)
        rows = np.flatnonzero(data.qid == data.qid[number]) if whole_query else np.array([number])
        return RowOfQuery(ranker.check_rows(data[rows], None), int(np.flatnonzero(rows == number)[0]), name)
    name = name if row is None else f"row {number + 1}"
    if whole_query:
        return RowOfQuery(ranker.check_rows(data, np.zeros(n_rows)), number, name)
    return RowOfQuery(ranker.check_rows(data[number : number + 1], np.zeros(1)), 0, name)


def doc_name(data: Dataset, row: int) -> str:
    """Return what people call a document: its id, or without one its row, counted from 1."""
    return f"row {row + 1}" if data.docid is None else str(data.docid[row])


def explain_score(ranker: Ranker, x: Any, row: int | None, n_rules: int | None) -> Explanation:
    """Explain the score of one document; x, row and n_rules are those of `Ranker.explain`."""
    found = find_row(ranker, x, row)
    return explained(ranker.case(found.X, found.row), found.name, background_of(ranker, x, row), n_rules)


def explained(case: Case, name: str, behind: Background, n_rules: int | None) -> Explanation:
    """Turn a case into an explanation that keeps the n_rules strongest rules of each group (None: all)."""
    ballot = case.ballot
    groups = fold(ballot.adds, ballot.holds, ballot.voted, ballot.by_grade.sum(axis=1))
    score, without = ballot.score, ballot.scores_without
    parts = np.flatnonzero(ballot.holds.any(axis=0) | (without != score)).tolist()
    features = [share_of(case, behind, f, float(ballot.shares[f]), float(score - without[f])) for f in parts]
    return Explanation(
        document=name,
        method=case.method,
        score=score,
        base=ballot.base,
        base_text=case.base_text,
        groups=tuple(
            RuleGroup(
                tuple(rule_vote(case, int(cell), behind) for cell in cells[:n_rules]),
                cells.size,
                float(ballot.adds[cells].sum()),
            )
            for cells in groups
        ),
        features=tuple(sorted(features, key=lambda share: -abs(share.adds))),
        n_rules=int(ballot.voted.sum()),
        arithmetic=case.arithmetic,
        grades=case.grades,
        queries=case.queries,
        members=case.members,
        notes=case.notes,
        noun=case.noun,
        baseline="" if case.baseline is None else case.baseline.name,
        sees_values=all(sees_value(case, behind, f, share) for f, share in zip(parts, features, strict=True)),
        about=behind.about,
    )


def share_of(case: Case, behind: Background, part: int, adds: float, effect: float) -> FeatureShare:
    """Return what one part of a score adds: a feature, or the baseline ranking."""
    name, column = part_name(case, behind.names, part), raw_column(case, part)
    text = case.value(part)
    known = (only(text, name), "") if column is None else (behind.value(column), behind.standing(column))
    return FeatureShare(name, text, adds, effect, *known)


def sees_value(case: Case, behind: Background, part: int, share: FeatureShare) -> bool:
    """Tell whether the model sees the value of a part as it came, and no bin or scale of it."""
    column = raw_column(case, part)
    return column is not None and share.text == f"{share.feature} = {decimal(behind.number(behind.names[column]), 4)}"


def part_name(case: Case | None, names: Sequence[str], part: int) -> str:
    """Return what a part of a score is called: a feature, or the baseline ranking."""
    baseline = None if case is None else case.baseline
    return baseline.name if baseline is not None and baseline.part == part else names[part]


def raw_column(case: Case | None, part: int) -> int | None:
    """Return the column of the raw values of a part of a score; None for a model's scores."""
    baseline = None if case is None else case.baseline
    return baseline.column if baseline is not None and baseline.part == part else part


def rule_vote(case: Case, cell: int, behind: Background | None = None) -> RuleVote:
    """Return one cell of a case as a rule that a person can read, given the document with its raw values."""
    ballot = case.ballot
    tally = None
    if case.tallies is not None:
        n_queries, up, down = case.tallies[cell, :3].tolist()
        tally = (n_queries, up, down)
    items = [case.item(cell, feature) for feature in ballot.features_of(cell)]
    if behind is not None:
        items = [behind.item(item, raw_column(case, item.feature)) for item in items]
    return RuleVote(
        tuple(items),
        float(ballot.adds[cell]),
        float(ballot.weights[cell]),
        tuple(ballot.by_grade[cell].tolist()),
        tally,
    )


def fold(adds: Array, holds: Array, voted: Array, covered: Array | None = None) -> list[Array]:
    """Return groups of cells, the strongest group first and in each the strongest cell, its leader.

    The strongest cell leads; the cells that share a feature with it and point the same way follow it. Then the
    strongest of the rest leads, until each cell that voted is in one group. Those that add nothing form the last.

    adds: float64 (n_cells,) what each adds to the score; holds: bool (n_cells, n_features); voted: bool (n_cells,)
    covered: training rows of each cell, to tell leaders apart that add the same: more rows are better evidence.

    >>> holds = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]], dtype=bool)
    >>> [group.tolist() for group in fold(np.array([0.2, 0.3, 0.1, -0.05]), holds, np.ones(4, dtype=bool))]
    [[1, 0, 2], [3]]
    """
    rows = np.zeros(len(adds)) if covered is None else covered
    size = np.abs(adds)
    strongest_first = np.lexsort((-rows, -np.round(size, 12)))  # equal but for rounding is equal
    strongest_first = strongest_first[voted[strongest_first]]
    left = voted & (size > 0)
    groups = []
    for leader in strongest_first:
        if left[leader]:
            alike = left & (np.sign(adds) == np.sign(adds[leader])) & holds[:, holds[leader]].any(axis=1)
            left &= ~alike
            groups.append(alike)
    if (voted & (size == 0)).any():
        groups.append(voted & (size == 0))
    ordered = [strongest_first[members[strongest_first]] for members in groups]
    return sorted(ordered, key=lambda cells: -abs(float(adds[cells].sum())))
