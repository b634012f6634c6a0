"""All labels at a glance: counts by query and by rater, and how good a model of the labels so far is."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rulerank.dataset import query_index
from rulerank.evaluation import evaluate
from rulerank.judging.agreement import Agreement
from rulerank.judging.labels import Label, Plain
from rulerank.judging.pool import Pool
from rulerank.judging.train import GROWTH, Grades, PoolModel
from rulerank.splitting import QueryKFold

FIRST = 10  # labels of the first point of the curve; each further one has twice as many
MOST_POINTS = 8
FOLDS = 5
SLOW = 1.0  # seconds above which a curve that is a little old will do

Labels = Mapping[int, Mapping[str, Label]]  # row -> rater -> label


@dataclass(frozen=True, slots=True)
class QueryCount(Plain):
    """Labels of one query."""

    query: str
    query_text: str | None
    n_docs: int
    labelled: int
    cannot_judge: int
    mean_grade: float | None


@dataclass(frozen=True, slots=True)
class RaterCount(Plain):
    """Labels of one rater."""

    rater: str
    graded: int
    cannot_judge: int
    skipped: int
    mean_grade: float | None


@dataclass(frozen=True, slots=True)
class CurvePoint(Plain):
    """The cross-validated MAP of a model trained on the first labels that were given."""

    n_labels: int
    map: float | None  # None: too few queries with labels yet, or not computed yet
    n_queries: int  # queries the figure is a mean of


@dataclass(frozen=True, slots=True)
class LabelOverview(Plain):
    """All labels at a glance."""

    labelled: int
    cannot_judge: int
    pool_size: int
    elsewhere: int  # labels in the store whose document is not in the pool
    closeness: float
    queries: tuple[QueryCount, ...]
    raters: tuple[RaterCount, ...]
    agreement: Agreement
    rules: tuple[str, ...]  # the strongest of the current model
    curve: tuple[CurvePoint, ...]

    def to_dict(self) -> dict[str, Any]:
        plain: dict[str, Any] = asdict(self)
        return plain | {"agreement": self.agreement.to_dict()}


def count_queries(pool: Pool, grades: Mapping[int, int], labels: Labels) -> tuple[QueryCount, ...]:
    """Count the labels of every query of the pool, in its order."""
    given: dict[int, list[int | None]] = defaultdict(list)
    for row in labels:
        given[int(pool.query_numbers[row])].append(grades.get(row))
    counts = []
    first_rows = np.unique(pool.query_numbers, return_index=True)[1]
    for number, n_docs in enumerate(np.bincount(pool.query_numbers).tolist()):
        graded = [grade for grade in given[number] if grade is not None]
        counts.append(
            QueryCount(
                query=pool.queries[number],
                query_text=pool.shown(int(first_rows[number])).get("query_text"),
                n_docs=n_docs,
                labelled=len(graded),
                cannot_judge=len(given[number]) - len(graded),
                mean_grade=_mean(graded),
            )
        )
    return tuple(counts)


def count_rater(rater: str, labels: Labels, n_skipped: int) -> RaterCount:
    """Count the labels of one rater."""
    given = [by_rater[rater].grade for by_rater in labels.values() if rater in by_rater]
    graded = [grade for grade in given if grade is not None]
    return RaterCount(rater, len(graded), len(given) - len(graded), n_skipped, _mean(graded))


def _mean(grades: Sequence[int]) -> float | None:
    return round(sum(grades) / len(grades), 2) if grades else None


class Curve:
    """Measure models of the first n labels, by query: trained on some queries' labels, tested on all of the others'.

    Every point is tested on the same documents, all that are labelled by now, so that the points can be compared.
    """

    def __init__(self, model: PoolModel) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._labels: list[tuple[int, int]] = []  # that the curve was made of
        self._points: tuple[CurvePoint, ...] = ()
        self._seconds = 0.0

    def points(self, grades: Grades) -> tuple[CurvePoint, ...]:
        """Return the curve of labels given in the order of time."""
        labels = list(grades.items())
        with self._lock:
            slow = self._seconds > SLOW and len(self._labels) <= len(labels) < GROWTH * len(self._labels)
            if labels != self._labels and not slow:
                start = time.perf_counter()
                self._points = self._measure(labels)
                self._labels, self._seconds = labels, time.perf_counter() - start
            return self._points

    def _measure(self, labels: list[tuple[int, int]]) -> tuple[CurvePoint, ...]:
        sizes = sizes_of(len(labels))
        rows, y = np.array(labels, dtype=np.int64).reshape(-1, 2).T
        queries, ids = query_index(self._model.pool.query_numbers[rows])
        # a query tells good from bad only where it has both
        n_docs, n_relevant = np.bincount(queries), np.bincount(queries, weights=y > 0)
        telling = ((n_relevant > 0) & (n_relevant < n_docs))[queries]
        if ids.size < 2 or not telling.any():
            return tuple(CurvePoint(size, None, 0) for size in sizes)
        scores = np.full((len(sizes), rows.size), np.nan)
        for train, test in QueryKFold(n_splits=min(FOLDS, ids.size)).split(rows, qid=queries):
            for number, size in enumerate(sizes):
                ranker = self._model.train(dict(labels[i] for i in train.tolist() if i < size))
                if ranker is not None:
                    scores[number, test] = ranker.predict(self._model.pool.data[rows[test]])
        points = []
        for size, scored in zip(sizes, scores, strict=True):
            if np.isnan(scored[telling]).any():
                points.append(CurvePoint(size, None, 0))
                continue
            result = evaluate(y[telling], scored[telling], queries[telling], "MAP")
            points.append(CurvePoint(size, round(result.means["MAP"], 4), result.n_queries))
        return tuple(points)


def sizes_of(n_labels: int) -> list[int]:
    """Return how many labels each point of the curve has.

    >>> sizes_of(50), sizes_of(10), sizes_of(3), sizes_of(0)
    ([10, 20, 40, 50], [10], [3], [])
    """
    sizes = [n_labels] if n_labels else []
    size = FIRST
    while size < n_labels:
        sizes.insert(-1, size)
        size *= 2
    return sizes[-MOST_POINTS:]
