"""Ask for documents from all ranks of the baseline, one query after the other."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

import numpy as np

from rulerank._util.parameters import Parameter, Whole, unmasked
from rulerank.baseline import BASELINE, find_baseline
from rulerank.dataset import Array, Dataset, check_column, query_index
from rulerank.errors import DataError
from rulerank.sampling.selection import LabelledRows, Sampler, check_label, labels_of

LAST_PLACES = (1, 2, 3, 5, 7, 10, 15, 20, 30)  # of the baseline's rank in each stratum; a tenth stratum has the rest
N_STRATA = len(LAST_PLACES) + 1


class StratifiedSampler(Sampler):
    """Choose which documents to label: queries in random order, in each one document of every stratum of the
    baseline's rank.

    The strata are the ranks 1, 2, 3, 4-5, 6-7, 8-10, 11-15, 16-20, 21-30 and the rest ("strat10"), the document of
    each and their order are drawn at random. When every query has had its turn, a second round draws again, and so on
    until all are labelled: it has no stopping rule. Nothing depends on the grades, so labels may come in any order.

    Parameters
    ----------
    baseline: the ranking that users see now: a feature, a sum of features, a fitted ranker, a run, a file of these, or
        a score of each row, the best highest.
    seed: random seed.

    After `select`: `order_`, the rows in the order they were asked for; `grades_`; `stop_`, "natural" when all are
    labelled, "budget", or "interrupted" when ask raised an error.

    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=5, docs_per_query=40, seed=0)
    >>> chosen = StratifiedSampler(baseline="bm25_body").select(data, lambda row: data.y[row], budget=20)
    >>> np.unique(data.qid[chosen], return_counts=True)[1].tolist()
    [10, 10]
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {"baseline": BASELINE, "seed": Whole(0, meaning="random seed")}

    def __init__(self, baseline: Any = None, seed: int = 0) -> None:
        self.baseline = baseline
        self.seed = seed

    def begin(self, X: Any, qid: Any = None, start: Any = None) -> StrataSelection:
        self.check_parameters()
        data = X if isinstance(X, Dataset) else None
        if data is not None:
            qid, X = data.qid if qid is None else qid, data.X
        X = np.asarray(unmasked(X))
        if X.ndim != 2 or not X.shape[0]:
            raise DataError("expected documents to choose from, one row each: there are none")
        if qid is None:
            raise DataError("queries are visited in turn: give the query of each row, qid=qid")
        if self.baseline is None:
            raise DataError("strata are those of the baseline ranking: name its feature, such as baseline='bm25'")
        qid = check_column("qid", qid, len(X))
        if data is None:
            data = Dataset(X, np.zeros(len(X)), qid)
        scores = find_baseline(data.feature_names, self.baseline, data.categories).scores(data)
        order = draw_order(scores, qid, self.seed)
        selection = StrataSelection(order)
        selection.add_all(labels_of(start))
        return selection


class StrataSelection(LabelledRows):
    """Names one row after the other in an order that is drawn beforehand; `StratifiedSampler.begin` makes it.

    >>> selection = StratifiedSampler(baseline=0).begin([[3.0], [2.0], [1.0]], qid=["q", "q", "q"])
    >>> first = selection.next()
    >>> selection.add(first, grade=1)
    >>> selection.next() == first
    False
    """

    def __init__(self, planned: Array) -> None:
        super().__init__()
        self._planned = planned
        self._at = 0  # what comes before is labelled

    @property
    def closeness(self) -> float:
        """The share of all rows that is labelled: there is no other stop."""
        return len(self._grades) / len(self._planned)

    def next(self, skip: Collection[int] = ()) -> int | None:
        """Return the row to label next, never one in skip; None when all are labelled or skipped."""
        for at in range(self._at, len(self._planned)):
            row = int(self._planned[at])
            if row not in self._grades and row not in skip:
                return row
        return None

    def add(self, row: int, grade: Any) -> None:
        """Learn that a row is labelled, whether or not `next` named it."""
        row, grade = check_label(row, grade, len(self._planned), self._grades)
        self._grades[row] = grade
        while self._at < len(self._planned) and int(self._planned[self._at]) in self._grades:
            self._at += 1


def draw_order(scores: Array, qid: Array, seed: int) -> Array:
    """Return all rows in the order to label them: rounds over the queries, in each one row of every stratum.

    Lots are drawn from the seed and the ids of the queries, so that the order of rows in a file does not matter to
    the order of queries; rows that the baseline ranking has level are in random order.

    >>> draw_order(np.array([1.0, 3.0, 2.0]), np.array(["a", "a", "a"]), seed=0).size
    3
    """
    numbers, ids = query_index(qid)
    by_query = np.argsort(numbers, kind="stable")
    blocks = np.split(by_query, np.searchsorted(numbers[by_query], np.arange(1, len(ids))))
    keys = np.empty((len(qid), 3))  # round, lot of the query, lot within the query
    for name, rows in zip(ids.tolist(), blocks, strict=True):
        rng = np.random.default_rng(_lot_of(seed, str(name)))
        query_lot = rng.random()
        ranked = rows[np.lexsort((rng.random(rows.size), -scores[rows]))]
        place = np.arange(1, rows.size + 1)
        stratum = np.searchsorted(LAST_PLACES, place)
        lots = rng.random(rows.size)
        drawn = np.lexsort((lots, stratum))  # by stratum, at random within each
        firsts = np.searchsorted(stratum[drawn], np.arange(N_STRATA))
        turn = np.empty(rows.size)
        turn[drawn] = np.arange(rows.size) - firsts[stratum[drawn]]
        keys[ranked] = np.column_stack([turn, np.full(rows.size, query_lot), rng.random(rows.size)])
    return np.lexsort((keys[:, 2], keys[:, 1], keys[:, 0]))


def _lot_of(seed: int, name: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{seed}|{name}".encode(), digest_size=8).digest())
