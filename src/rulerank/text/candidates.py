"""Candidates of queries: the best by BM25 over all fields, the nearest by vectors, both, judged documents, or a run.

The inverted index is built at its first use; its loops check nothing.
"""

from __future__ import annotations

import heapq
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rulerank._util.loops import compiled, in_blocks
from rulerank._util.words import counted
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.io.trec import Qrels, Run
from rulerank.text.kernels import Forward, QueryWords, Weighting, count_documents


@dataclass(frozen=True, eq=False)
class Rows:
    """Pairs of query and document by number, those of a query together, and the features of an engine."""

    docs: Array  # int64
    queries: Array  # int64
    extra: Array  # bool: not a candidate, there because it is judged
    engine: Mapping[str, Array] = field(default_factory=dict)


def rows_to_compute(
    qids: Array,
    doc_numbers: Mapping[str, int],
    best: Callable[[], list[Array]] | None,
    qrels: Qrels | None,
    pairs: Run | None,
    judged_extra: bool = True,
) -> Rows:
    """Return the listed pairs, or the candidates of every query and then the judged documents that are not among them.

    judged_extra: False leaves out the latter, unless there are no candidates (best is None).

    Unknown queries and documents are left out, with a warning that counts them.
    """
    query_numbers = {one: number for number, one in enumerate(qids.tolist())}
    judged: dict[int, list[int]] = {}
    if qrels is not None:
        docs, queries, _ = _known(qrels.qid, qrels.docid, query_numbers, doc_numbers, "judgements")
        for query, doc in zip(queries.tolist(), docs.tolist(), strict=True):
            judged.setdefault(query, []).append(doc)
    engine = {}
    if pairs is not None:
        docs, queries, kept = _known(pairs.qid, pairs.docid, query_numbers, doc_numbers, "pairs")
        order = np.argsort(queries, kind="stable")
        columns = {"engine_rank": pairs.ranks(), "engine_score": pairs.score}
        engine = {name: column[kept][order] for name, column in columns.items()}
        docs, queries = docs[order], queries[order]
        extra = np.zeros(docs.size, dtype=bool)
    else:
        found = best() if best is not None else [np.empty(0, dtype=np.int64)] * len(qids)
        n_found = [len(own) for own in found]
        if judged_extra or best is None:
            found = _with_judged(found, judged)
        docs = np.concatenate([np.empty(0, dtype=np.int64), *found])
        queries = np.repeat(np.arange(len(found)), [len(own) for own in found])
        added = [np.arange(len(own)) >= n for own, n in zip(found, n_found, strict=True)]
        extra = np.concatenate([np.zeros(0, dtype=bool), *added]) & (best is not None)
    n_empty = len(qids) - len(np.unique(queries))
    if not docs.size:
        raise DataError("no query has a candidate: no word of the queries is in the documents, or no pair is known")
    if n_empty:
        some = ", ".join(repr(one) for one in np.delete(qids, np.unique(queries))[:3])
        warnings.warn(f"{counted(n_empty, 'query', 'queries')} without any document left out: {some} ...", stacklevel=3)
    return Rows(docs, queries, extra, engine)


def run_features(runs: Mapping[str, Run], rows: Rows, qids: Array, ids: Array) -> dict[str, Array]:
    """Return the score of each row in each run, NaN where the run lacks it, and 1 / rank, 0 where it does."""
    found = {}
    asked = list(zip(qids[rows.queries].tolist(), ids[rows.docs].tolist(), strict=True))
    for name, run in runs.items():
        places = {pair: place for place, pair in enumerate(run.pairs())}
        own = np.array([places.get(pair, -1) for pair in asked])
        if (own < 0).all():
            raise DataError(f"run {name!r} has none of the candidates: check the ids of its queries and documents")
        found[f"score({name})"] = np.where(own < 0, np.nan, run.score[own])
        found[f"reciprocal_rank({name})"] = np.where(own < 0, 0.0, 1.0 / run.ranks()[own])
    return found


def _known(
    qid: Array, docid: Array, query_numbers: Mapping[str, int], doc_numbers: Mapping[str, int], what: str
) -> tuple[Array, Array, Array]:
    docs = np.array([doc_numbers.get(one, -1) for one in docid.tolist()], dtype=np.int64)
    queries = np.array([query_numbers.get(one, -1) for one in qid.tolist()], dtype=np.int64)
    for numbers, ids, kind in ((queries, qid, "queries"), (docs, docid, "documents")):
        n_lost = int((numbers < 0).sum())
        if n_lost:
            first = ids[np.argmax(numbers < 0)]
            missed = "count as not retrieved" if (what, kind) == ("judgements", "documents") else "left out"
            warnings.warn(
                f"{n_lost:,} of {len(ids):,} {what} {missed}: they are of unknown {kind}, such as {first!r:.60}",
                stacklevel=4,
            )
    kept = (docs >= 0) & (queries >= 0)
    return docs[kept], queries[kept], kept


def _with_judged(found: Sequence[Array], judged: Mapping[int, Sequence[int]]) -> list[Array]:
    joined = []
    for query, own in enumerate(found):
        seen = set(own.tolist())
        more = [doc for doc in judged.get(query, ()) if doc not in seen]
        joined.append(np.concatenate((own, np.array(more, dtype=np.int64))) if more else own)
    return joined


class InvertedIndex(NamedTuple):
    """The documents of each word."""

    starts: Array  # int64[n_words + 1]: where the documents of each word start
    docs: Array  # int32[n_postings]: documents, in their order
    tf: Array  # float32[n_postings]: how often the word is in the document, weighted by field
    damp: Array  # float64[n_docs]: k1 (1 - b + b length / mean length)


def inverted_index(forward: Forward, weighting: Weighting) -> InvertedIndex:
    """Return the postings of all words that count in some field."""
    idf, mean_lengths, field_weights, k1, b = weighting
    starts = np.zeros(idf.size, dtype=np.int64)
    count_documents(forward.tokens, forward.starts, np.full(idf.size - 1, -1, dtype=np.int64), starts[1:])
    np.cumsum(starts, out=starts)
    docs = np.empty(starts[-1], dtype=np.int32)
    tf = np.zeros(starts[-1], dtype=np.float32)
    seen, free = np.full(idf.size - 1, -1, dtype=np.int64), starts[:-1].copy()
    fill_postings(forward.tokens, forward.starts, field_weights, seen, free, docs, tf)
    length = np.zeros(forward.lengths.shape[1])
    for weight, lengths in zip(field_weights, forward.lengths, strict=True):  # in the order of the features' sum
        length += weight * lengths
    return InvertedIndex(starts, docs, tf, k1 * (1.0 - b + b * length / mean_lengths[-1]))


@compiled
def fill_postings(
    tokens: Array, starts: Array, field_weights: Array, seen: Array, free: Array, post_docs: Array, post_tf: Array
) -> None:
    """Write the postings; seen: int64[n_words] of -1; free: int64[n_words], where each word's next posting goes."""
    for doc in range(starts.shape[1] - 1):
        for part in range(starts.shape[0]):
            for i in range(starts[part, doc], starts[part, doc + 1]):
                word = tokens[i]
                if word < 0:
                    continue
                if seen[word] != doc:
                    seen[word] = doc
                    post_docs[free[word]] = doc
                    free[word] += 1
                post_tf[free[word] - 1] += field_weights[part]


def best_documents(index: InvertedIndex, words: QueryWords, top: int, n_jobs: int | None) -> list[Array]:
    """Return, for each query, its best documents by BM25, best first; equal ones in the order of the index."""
    n_queries, n_docs = words.term_starts.size - 1, index.damp.size
    best: list[Array] = [np.empty(0, dtype=np.int64)] * n_queries

    def work(start: int, stop: int) -> None:
        scores, touched, out = np.zeros(n_docs), np.empty(n_docs, dtype=np.int32), np.empty(top, dtype=np.int64)
        for query in range(start, stop):
            best[query] = out[: top_documents(index, words, query, scores, touched, out)].copy()

    in_blocks(work, n_queries, n_jobs, min_block=16)
    return best


@compiled
def top_documents(
    index: InvertedIndex, words: QueryWords, query: int, scores: Array, touched: Array, out: Array
) -> int:
    """Write the best documents by BM25, best first and equal ones in their order; return how many there are.

    scores: float64[n_docs] of zeros, which they are again in the end; touched: int32[n_docs].
    """
    n_touched = 0
    for t in range(words.term_starts[query], words.term_starts[query + 1]):
        word, weight = words.terms[t], words.counts[t] * words.weights[t]
        if word < 0 or weight <= 0:
            continue
        for i in range(index.starts[word], index.starts[word + 1]):
            doc, tf = index.docs[i], np.float64(index.tf[i])
            if tf <= 0.0:  # only in fields of weight 0
                continue
            if scores[doc] == 0.0:
                touched[n_touched] = doc
                n_touched += 1
            scores[doc] += weight * tf / (tf + index.damp[doc])
    heap = [(0.0, np.int64(0)) for _ in range(0)]  # the worst document first
    for doc in touched[:n_touched]:
        entry = (scores[doc], np.int64(-doc))
        scores[doc] = 0.0
        if len(heap) < out.size:
            heapq.heappush(heap, entry)
        elif len(heap) > 0 and entry > heap[0]:
            heapq.heapreplace(heap, entry)
    n_kept = len(heap)
    for place in range(n_kept - 1, -1, -1):
        out[place] = -heapq.heappop(heap)[1]
    return n_kept


def highest(docs: Array, scores: Array, top: int) -> Array:
    """Return the documents of the highest scores, best first; equal ones in their order.

    >>> highest(np.array([4, 7, 2, 5]), np.array([1.0, 3.0, 2.0, 3.0]), 3).tolist()
    [5, 7, 2]
    """
    if 0 < top < docs.size:
        kept = scores >= np.partition(scores, docs.size - top)[docs.size - top]
        docs, scores = docs[kept], scores[kept]
    return docs[np.lexsort((docs, -scores))[:top]]


def nearest(docs: Array, rows: Array, queries: Array, top: int, n_jobs: int | None) -> list[Array]:
    """Return, for each query, the documents with the highest cosine, best first and equal ones in their order.

    rows: the vectors of docs, float32 of unit length; queries: the same, or zeros for none, which find nothing. The
    search is exact: blocks of matrix products.
    """
    best: list[Array] = [np.empty(0, dtype=np.int64)] * len(queries)
    step = max(1, 2**24 // max(1, len(rows)))  # queries at once, so that the scores take 64 MB

    def work(start: int, stop: int) -> None:
        for first in range(start, stop, step):
            own = queries[first : min(stop, first + step)]
            for place, scores in enumerate(own @ rows.T if len(own) > 1 else (rows @ own[0])[None], start=first):
                if queries[place].any():
                    best[place] = highest(docs, scores, top)

    in_blocks(work, len(queries), n_jobs, min_block=step)
    return best


def fused(first: Array, second: Array, top: int, k: int = 60) -> Array:
    """Return the best documents of two lists by reciprocal rank fusion, best first.

    >>> fused(np.array([7, 8]), np.array([8, 9]), 2).tolist()
    [8, 7]
    """
    docs = np.unique(np.concatenate((first, second)))
    scores = np.zeros(docs.size)
    for ranked in (first, second):
        scores[np.searchsorted(docs, ranked)] += 1.0 / (k + 1 + np.arange(ranked.size))
    return highest(docs, scores, top)
