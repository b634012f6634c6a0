"""Fuse rankings by fixed rules, of the same documents or TREC runs; docs/fusion.md: what ties and missing ones get.

The arrays of the loops, which check nothing:

starts  int64[n_queries + 1]      first row of each query, when rows are sorted by query
points_of_places, one list at a time:
scores  float64[n_rows]           -inf = missing from the list
order   int64[n_rows]             rows sorted by query, then from the highest score to the lowest
points  float64[n]                what the places are worth, from the first; n is the longest query's number of rows
out     float64[n_rows]           points of each row
pairwise_wins:
scores  float64[n_lists, n_rows]  of rows sorted by query; -inf = missing from the list
wins    float64[n_rows]           rows beaten, plus half of those drawn with
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from rulerank._util.loops import compiled, in_blocks
from rulerank._util.parameters import unmasked
from rulerank.dataset import Array, check_column, query_index
from rulerank.errors import DataError
from rulerank.io.trec import Run, run_from_scores
from rulerank.normalize import normalize_by_query

RRF_K = 60  # of Cormack, Clarke and Büttcher 2009
PAIRS_PER_THREAD = 100_000


def comb_sum(scores: Array, query: Array) -> Array:
    """Add up the scores, put onto 0 .. 1 by query and list; a missing document gets 0."""
    return neutral_sum(np.nan_to_num(on_one_scale(scores, query)))


def comb_mnz(scores: Array, query: Array) -> Array:
    """Return CombSUM times the number of lists that have the document."""
    return comb_sum(scores, query) * (~np.isnan(scores)).sum(axis=0)


def borda(scores: Array, query: Array) -> Array:
    """Add up points: as many as the query has documents for the first place, one less for each further one."""
    sizes = np.bincount(query)
    places = _points(scores, query, -np.arange(sizes.max(), dtype=np.float64), missing_are_last=True)
    return neutral_sum(places) + len(scores) * sizes[query]


def condorcet(scores: Array, query: Array) -> Array:
    """Count the documents of the query that a majority of lists has below the document; a draw counts half."""
    order, starts = _by_query(query)
    sorted_scores = _missing_last(scores[:, order])
    sorted_wins = np.zeros(query.size)

    def work(first: int, last: int) -> None:
        pairwise_wins(sorted_scores, starts, first, last, sorted_wins)

    n_queries = starts.size - 1
    n_pairs = int((np.diff(starts) ** 2).sum()) * len(scores) // 2
    in_blocks(work, n_queries, min_block=max(1, n_queries * PAIRS_PER_THREAD // max(1, n_pairs)))
    wins = np.empty(query.size)
    wins[order] = sorted_wins
    return wins


def rrf(scores: Array, query: Array) -> Array:
    """Add up 1 / (60 + place); a missing document gets nothing."""
    points = 1.0 / (RRF_K + 1 + np.arange(np.bincount(query).max()))
    return neutral_sum(_points(scores, query, points, missing_are_last=False))


METHODS: dict[str, Callable[[Array, Array], Array]] = {
    "comb_sum": comb_sum,
    "comb_mnz": comb_mnz,
    "borda": borda,
    "condorcet": condorcet,
    "rrf": rrf,
}
LINEAR = "linear"  # comb_sum with weights
CHOICES = (*METHODS, LINEAR)


@overload
def fuse(
    scores: Sequence[Run], qid: None = None, method: str = ..., weights: ArrayLike | None = ..., tag: str | None = ...
) -> Run: ...
@overload
def fuse(scores: ArrayLike, qid: ArrayLike, method: str = ..., weights: ArrayLike | None = ...) -> Array: ...
def fuse(
    scores: Any,
    qid: ArrayLike | None = None,
    method: str = "comb_mnz",
    weights: ArrayLike | None = None,
    tag: str | None = None,
) -> Array | Run:
    """Fuse the scores of several rankers into one score per row, or several runs into one run, best first.

    scores: (n_rankers, n_rows), the higher the better; NaN where a document is missing from a ranker's list. Or runs,
        which need not hold the same documents and queries.
    qid: the query of each row; runs have theirs.
    method: "comb_sum", "comb_mnz", "borda", "condorcet", "rrf" or "linear".
    weights: one per ranker, for "linear".
    tag: the name of the new run, by default the method's.

    >>> fuse([[0.9, 0.5, 0.1], [20, 30, 10]], qid=["a", "a", "a"], method="comb_sum").tolist()
    [1.5, 1.5, 0.0]
    >>> fuse([[0.9, 0.5, 0.1], [20, 30, np.nan]], qid=["a", "a", "a"], method="borda").tolist()
    [5.0, 5.0, 2.0]
    >>> one = Run(["q", "q"], ["a", "b"], [9.0, 8.0], ["one", "one"])
    >>> two = Run(["q", "q"], ["b", "c"], [0.7, 0.1], ["two", "two"])
    >>> fused = fuse([one, two], method="rrf")
    >>> fused.docid.tolist(), fused.score.round(4).tolist()
    (['b', 'a', 'c'], [0.0325, 0.0164, 0.0161])
    """
    if method not in CHOICES:
        raise DataError(f"unknown method {method!r}; choose from {', '.join(CHOICES)}")
    if isinstance(scores, list | tuple) and any(isinstance(one, Run) for one in scores):
        if qid is not None:
            raise DataError("runs include their queries: leave out qid, fuse(runs, method='rrf')")
        return _fused_runs(scores, method, weights, tag)
    if qid is None:
        runs = "or runs, such as [rr.read_run(one), rr.read_run(two)]"
        raise DataError(f"expected scores and qid, the query of each row, {runs}: got {scores!r:.80}")
    lists = check_lists(scores)
    query = query_index(check_column("qid", qid, lists.shape[1]))[0]
    if method == LINEAR:
        return linear(lists, query, check_weights(weights, len(lists)))
    if weights is not None:
        raise DataError(f"only method='linear' takes weights: leave them out for method={method!r}")
    return METHODS[method](lists, query) if query.size else np.zeros(0)


def _fused_runs(runs: Sequence[Run], method: str, weights: ArrayLike | None, tag: str | None) -> Run:
    """Fuse over all documents of the runs; a query that a run lacks is one whose documents it misses."""
    if not all(isinstance(run, Run) for run in runs):
        raise DataError(f"expected runs, such as [rr.read_run(one), rr.read_run(two)]: got {runs!r:.80}")
    row: dict[tuple[str, str], int] = {}
    rows = [
        np.array([row.setdefault(pair, len(row)) for pair in zip(run.qid, run.docid, strict=True)], dtype=np.int64)
        for run in runs
    ]
    scores = np.full((len(runs), len(row)), np.nan)
    for own, run, found in zip(scores, runs, rows, strict=True):
        own[found] = run.score
    ids = np.empty((2, len(row)), dtype=object)
    for place, (qid, docid) in enumerate(row):
        ids[0, place], ids[1, place] = qid, docid
    return run_from_scores((ids[0], ids[1]), fuse(scores, ids[0], method, weights), tag or method)


def linear(scores: Array, query: Array, weights: Array) -> Array:
    """Add up the scores as CombSUM does, each list with its weight."""
    return neutral_sum(np.nan_to_num(on_one_scale(scores, query)) * weights[:, None])


def on_one_scale(scores: Array, query: Array) -> Array:
    """Put the scores of each query and list onto 0 .. 1; equal ones become 0, missing ones stay missing."""
    if not query.size:
        return scores
    return normalize_by_query(np.ascontiguousarray(scores.T), query, "minmax").T


def neutral_sum(parts: Array) -> Array:
    """Add up over the lists in an order of size, so that the order of the lists does not change a bit.

    >>> parts = np.array([[0.1, 0.3], [0.2, 0.2], [0.3, 0.1]])
    >>> len(set(neutral_sum(parts).tolist())), len(set((parts[0] + parts[1] + parts[2]).tolist()))
    (1, 2)
    """
    total = np.zeros(parts.shape[1])
    for part in np.sort(parts, axis=0):
        total += part
    return total


def check_lists(scores: ArrayLike) -> Array:
    """Return scores as float64 (n_rankers, n_rows) after looking at every value."""
    try:
        lists = np.asarray(unmasked(scores), dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("scores must be lists of numbers of equal length: (n_rankers, n_rows)") from None
    if lists.ndim != 2 or not len(lists):
        raise DataError(f"scores must have one row per ranker, (n_rankers, n_rows): got the shape {lists.shape}")
    infinite = np.argwhere(np.isinf(lists))
    if infinite.size:
        ranker, row = infinite[0]
        raise DataError(f"scores must be finite, or NaN for a missing document: ranker {ranker}, row {row} is infinity")
    return lists


def check_weights(weights: ArrayLike | None, n_rankers: int) -> Array:
    """Return one finite weight per ranker."""
    if weights is None:
        raise DataError("method='linear' needs weights, one per ranker")
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"weights must be numbers: got {weights!r}") from None
    if values.shape != (n_rankers,) or not np.isfinite(values).all():
        raise DataError(f"weights must be {n_rankers} finite numbers, one per ranker: got {values.tolist()}")
    return values


def _points(scores: Array, query: Array, points: Array, *, missing_are_last: bool) -> Array:
    """Return the points of each document's place in each list, (n_lists, n_rows)."""
    starts = _by_query(query)[1]
    parts = np.empty(scores.shape)

    def work(first: int, last: int) -> None:
        for one, part in zip(_missing_last(scores[first:last]), parts[first:last], strict=True):
            # sorted by NumPy: np.argsort inside the cached loop crashed once other cached loops that sort had run
            order = np.lexsort((-one, query))
            points_of_places(one, order, starts, points, missing_are_last, part)

    in_blocks(work, len(scores))
    return parts


def _by_query(query: Array) -> tuple[Array, Array]:
    return np.argsort(query, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(query))])


def _missing_last(scores: Array) -> Array:
    return np.where(np.isnan(scores), -np.inf, scores)


@compiled
def points_of_places(
    scores: Array, order: Array, starts: Array, points: Array, missing_are_last: bool, out: Array
) -> None:
    """Give every row the mean points of the places that its ties share; missing rows are last together, or get none."""
    for q in range(starts.size - 1):
        start = starts[q]
        n_docs = starts[q + 1] - start
        place = 0
        while place < n_docs:
            score = scores[order[start + place]]
            end = place
            total = 0.0
            while end < n_docs and scores[order[start + end]] == score:
                total += points[end]
                end += 1
            if score == -np.inf and not missing_are_last:
                total = 0.0
            for i in range(place, end):
                out[order[start + i]] = total / (end - place)
            place = end


@compiled
def pairwise_wins(scores: Array, starts: Array, first: int, last: int, wins: Array) -> None:
    """Let every two rows of a query meet: the one that more lists have above the other wins."""
    for q in range(first, last):
        start = starts[q]
        stop = starts[q + 1]
        ahead = np.empty(stop - start, dtype=np.int32)
        for i in range(start, stop):
            ahead[:] = 0
            for ranker in range(scores.shape[0]):
                own = scores[ranker, i]
                for j in range(i + 1, stop):
                    ahead[j - start] += np.int32(own > scores[ranker, j]) - np.int32(own < scores[ranker, j])
            for j in range(i + 1, stop):
                if ahead[j - start] > 0:
                    wins[i] += 1.0
                elif ahead[j - start] < 0:
                    wins[j] += 1.0
                else:
                    wins[i] += 0.5
                    wins[j] += 0.5
