"""Choose the method itself by cross-validation by query: which one is best depends on the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rulerank.core.progress import Bar, progress
from rulerank.core.words import counted
from rulerank.dataset import UNLABELLED, Array, Dataset, check_contrast, query_index
from rulerank.errors import DataError
from rulerank.evaluation import Measure
from rulerank.methods import method_named
from rulerank.rankers.base import Ranker
from rulerank.rankers.fitted.settings import FEW_LABELS, FEW_QUERIES
from rulerank.rankers.foreign import fresh_for_part
from rulerank.render.notebook import ShownTable, table_of
from rulerank.splitting import QueryKFold
from rulerank.training.trials import Fit, Scoring, Trial, try_settings

N_SPLITS = 5
ENOUGH_QUERIES = 1_000  # held out: the difference of two methods then has a standard error of some .003


@dataclass(frozen=True)
class Candidate:
    """A method as it is set when it is one of several to choose from."""

    method: str  # its name in `METHODS`
    about: str
    params: dict[str, Any] = field(default_factory=dict)

    def make(self) -> Ranker:
        """Return an unfitted ranker.

        >>> CANDIDATES[0].make()
        QueryIntercepts(l2=100.0, missing='mean', normalize='zscore')
        """
        return method_named(self.method).ranker_class()(**self.params)


# the simpler first: of two that do equally well the earlier wins
CANDIDATES = (
    Candidate("QI", "intercepts on z-scores by query", {"l2": 100.0, "normalize": "zscore", "missing": "mean"}),
    Candidate("QI", "intercepts", {"l2": 100.0, "missing": "mean"}),
    Candidate("FR", "fitted rules"),
    Candidate("FR", "fitted rules on z-scores by query", {"normalize": "zscore"}),
)


@dataclass(frozen=True, repr=False)
class Chosen:
    """The best candidate, fitted to all rows, and how all of them did on queries they were not trained on."""

    ranker: Ranker
    candidate: Candidate
    measure: str
    n_queries: int  # that were held out, 0 when the labels were too few to compare by
    table: tuple[tuple[Candidate, Trial], ...]  # the best first
    reason: str  # in a line

    def __repr__(self) -> str:
        return repr(self._shown()) if self.table else self.reason

    def _repr_html_(self) -> str:
        return self._shown()._repr_html_()

    def _shown(self) -> ShownTable:
        rows = [
            [one.about, f"{trial.mean:.4f}", f"{trial.behind:.4f} ± {trial.behind_error:.4f}"]
            for one, trial in self.table
        ]
        return ShownTable(table_of(["method", self.measure, "behind"], rows, note=self.reason))

    def to_dict(self) -> dict[str, Any]:
        """Return what was chosen from what as plain values."""
        tried = [
            {"method": one.method, "about": one.about, "mean": trial.mean, "behind": trial.behind}
            | {"behind_error": trial.behind_error}
            for one, trial in self.table
        ]
        return {
            "method": self.candidate.method,
            "reason": self.reason,
            "measure": self.measure,
            "queries": self.n_queries,
            "table": tried,
        }


def choose_ranker(
    data: Dataset,
    candidates: Sequence[Candidate] = CANDIDATES,
    *,
    measure: str | Measure = "MAP",
    seed: int = 0,
) -> Chosen:
    """Try methods by cross-validation by query inside data, and fit the best one to all of it.

    Fewer than 500 labels or 15 queries support no more than the first candidate, which is then taken as it is. Parts
    of the queries are held out in turn, until 1,000 queries are or each has been once.

    >>> from rulerank.worlds import make_world
    >>> chosen = choose_ranker(make_world(n_queries=8))
    >>> chosen.ranker
    QueryIntercepts(l2=100.0, missing='mean', normalize='zscore')
    >>> chosen.reason
    'intercepts on z-scores by query: 267 labels of 8 queries are too few to choose by (from 500 of 15)'
    """
    if not isinstance(data, Dataset):
        raise DataError(
            f"expected a Dataset, such as rr.from_frame(frame) or rr.Dataset(X, y, qid): got {type(data).__name__}"
        )
    if (data.y == UNLABELLED).any():
        raise DataError("only labelled rows can be learned from: leave the others out, choose_ranker(data.labelled())")
    check_contrast(data.y, query_index(data.qid)[0])
    if not candidates:
        raise DataError("expected at least one method to choose from: got none")
    label = str(Measure.parse(measure) if isinstance(measure, str) else measure)
    query, ids = query_index(data.qid)
    if len(data) < FEW_LABELS or ids.size < FEW_QUERIES or len(candidates) == 1:
        first = candidates[0]
        why = f"{counted(len(data), 'label')} of {counted(ids.size, 'query', 'queries')} are too few to choose by"
        least = f"(from {FEW_LABELS} of {FEW_QUERIES})"
        reason = "the only one to choose from" if len(candidates) == 1 else f"{why} {least}"
        return Chosen(first.make().fit(data), first, label, 0, (), f"{first.about}: {reason}")
    parts = _parts(query, ids.size, seed)
    rows = np.concatenate([test for _, test in parts])
    ends = np.cumsum([test.size for _, test in parts])
    places = [np.arange(end - test.size, end) for end, (_, test) in zip(ends, parts, strict=True)]
    settings: list[dict[str, Any]] = [{"method": one.method} | one.params for one in candidates]
    with progress(len(candidates) * len(parts), "choosing a method") as bar:
        tried = try_settings(settings, _fits(candidates, data, parts, bar), data[rows], places, Scoring(label))
    order = sorted(range(len(candidates)), key=lambda number: (number != tried.best, -tried.table[number].mean))
    table = tuple((candidates[number], tried.table[number]) for number in order)
    best = candidates[tried.best]
    n_queries = np.unique(query[rows]).size
    return Chosen(best.make().fit(data), best, label, n_queries, table, _reason(table, label, n_queries))


def _parts(query: Array, n_queries: int, seed: int) -> list[tuple[Array, Array]]:
    """Return rows to train and to test on: as many of five parts as hold enough queries."""
    n_parts = min(N_SPLITS, -(-ENOUGH_QUERIES * N_SPLITS // n_queries))
    every = QueryKFold(N_SPLITS, seed=seed).split(query[:, None], qid=query)
    return [part for _, part in zip(range(n_parts), every, strict=False)]


def _fits(candidates: Sequence[Candidate], data: Dataset, parts: list[tuple[Array, Array]], bar: Bar) -> Iterator[Fit]:
    for place, (train, test) in enumerate(parts):
        for number, candidate in enumerate(candidates):
            yield Fit(number, place, fresh_for_part(candidate.make()).fit(data[train]), data[test])
            bar.advance()


def _reason(table: tuple[tuple[Candidate, Trial], ...], measure: str, n_queries: int) -> str:
    """Say which is best, by how much, and before which other method."""
    best, trial = table[0]
    held_out = f"on {counted(n_queries, 'held-out query', 'held-out queries')}"
    said = f"{best.about}: {measure} {trial.mean:.4f} {held_out}"
    others = [(one, tried) for one, tried in table[1:] if one.method != best.method]
    if not others:
        return said
    one, tried = others[0]
    return f"{said}, {one.about} {tried.mean:.4f} ({tried.behind:.4f} ± {tried.behind_error:.4f} behind)"
