"""From a ranker and a document to an explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from rulerank.ballots.case import Case
from rulerank.core.checks import is_whole
from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError
from rulerank.explain.explanation import Explanation, FeatureShare, RuleGroup, RuleVote
from rulerank.explain.groups import fold

if TYPE_CHECKING:
    from rulerank.rankers.base import Ranker


class Chosen(NamedTuple):
    """One document among those of its query, checked and normalised as the ranker wants them."""

    X: Array
    row: int
    name: str


def choose(ranker: Ranker, x: Any, row: int | None, name: str = "the document") -> Chosen:
    """Find the document that is meant, given alone, or as a row of the documents of its query, or of a Dataset."""
    check_is_fitted(ranker)
    # frames and sparse rows stay what they are: the ranker checks their columns
    keeps = isinstance(x, Dataset) or issparse(x) or hasattr(x, "columns")
    data = x if keeps else np.atleast_2d(np.asarray(x))
    n_rows = len(x) if isinstance(x, Dataset) else data.shape[0]
    whole_query = ranker._needs_the_query()
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
        name = f"row {number}" if data.docid is None else str(data.docid[number])
        rows = np.flatnonzero(data.qid == data.qid[number]) if whole_query else np.array([number])
        return Chosen(ranker._check_rows(data[rows], None), int(np.flatnonzero(rows == number)[0]), name)
    name = name if row is None else f"row {number}"
    if whole_query:
        return Chosen(ranker._check_rows(data, np.zeros(n_rows)), number, name)
    return Chosen(ranker._check_rows(data[number : number + 1], np.zeros(1)), 0, name)


def explain(ranker: Ranker, x: Any, row: int | None, n_rules: int | None) -> Explanation:
    """Explain the score of one document."""
    chosen = choose(ranker, x, row)
    return explained(ranker._case(chosen.X, chosen.row), chosen.name, ranker.feature_names_, n_rules)


def explained(case: Case, name: str, feature_names: tuple[str, ...], n_rules: int | None) -> Explanation:
    """Turn a case into an explanation that keeps the n_rules strongest rules of each group (None: all)."""
    ballot = case.ballot
    groups = fold(ballot.adds, ballot.holds, ballot.voted, ballot.by_grade.sum(axis=1))
    score, without = ballot.score, ballot.scores_without
    features = [
        FeatureShare(feature_names[f], case.value(f), float(ballot.shares[f]), float(score - without[f]))
        for f in np.flatnonzero(ballot.holds.any(axis=0) | (without != score)).tolist()
    ]
    return Explanation(
        document=name,
        method=case.method,
        score=score,
        base=ballot.base,
        base_text=case.base_text,
        groups=tuple(
            RuleGroup(
                tuple(rule_vote(case, int(cell)) for cell in cells[:n_rules]),
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
    )


def rule_vote(case: Case, cell: int) -> RuleVote:
    """Return one cell of a case as a rule that a person can read."""
    ballot = case.ballot
    tally = None
    if case.tallies is not None:
        n_queries, up, down = case.tallies[cell, :3].tolist()
        tally = (n_queries, up, down)
    return RuleVote(
        tuple(case.item(cell, feature) for feature in ballot.features_of(cell)),
        float(ballot.adds[cell]),
        float(ballot.weights[cell]),
        tuple(ballot.by_grade[cell].tolist()),
        tally,
    )
