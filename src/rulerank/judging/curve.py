"""The label-efficiency curve so far: how good a model of the first 10, 20, 40, ... labels is."""

from __future__ import annotations

import threading
import time

import numpy as np

from rulerank.dataset import query_index
from rulerank.evaluation import evaluate
from rulerank.judging.train import GROWTH, Grades, PoolModel
from rulerank.judging.views import CurvePoint
from rulerank.splitting import QueryKFold

FIRST = 10  # labels of the first point; each further one has twice as many
MOST_POINTS = 8
FOLDS = 5
SLOW = 1.0  # seconds above which a curve that is a little old will do


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
