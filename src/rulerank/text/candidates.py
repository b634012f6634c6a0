"""Which pairs of a query and a document to look at: the best by BM25 over all fields, judged ones, or those listed.

The inverted index is made when it is first asked. Its loops check nothing:

post_starts  int64[n_words + 1]   where the documents of each word start in post_docs
post_docs    int32[n_postings]    documents, in their order
post_tf      float32[n_postings]  how often the word is in the document, weighted by field
damp         float64[n_docs]      k1 (1 - b + b length / mean length)
terms, weights, counts            of the query, as in `kernels.py`
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rulerank._util.loops import compiled, in_blocks
from rulerank._util.words import counted
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.io.texts import Pairs
from rulerank.io.trec import Qrels
from rulerank.text.index import Collection, Forward
from rulerank.text.matching import QueryWords


@dataclass(frozen=True, eq=False)
class Rows:
    """Pairs by number, those of a query together, and what an engine said."""

    docs: Array  # int64
    queries: Array  # int64
    extra: Array  # bool: no candidate, and there because it is judged
    engine: Mapping[str, Array] = field(default_factory=dict)


def rows_to_compute(
    qids: Array,
    doc_numbers: Mapping[str, int],
    best: Callable[[], list[Array]] | None,
    qrels: Qrels | None,
    pairs: Pairs | None,
    judged_extra: bool = True,
) -> Rows:
    """Return the listed pairs, or the candidates of every query and then the judged documents that are not among them.

    judged_extra: False leaves out the latter, unless there are no candidates (best is None).

    Queries and documents that are not there are left out, with a warning that says how many.
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
        columns = {f"engine_{name}": getattr(pairs, name) for name in ("rank", "score")}
        engine = {name: column[kept][order] for name, column in columns.items() if column is not None}
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


def run_features(runs: Mapping[str, Pairs], rows: Rows, qids: Array, ids: Array) -> dict[str, Array]:
    """Return the score of each row in each run, NaN where the run lacks it, and 1 / rank, 0 where it does."""
    found = {}
    asked = list(zip(qids[rows.queries].tolist(), ids[rows.docs].tolist(), strict=True))
    for name, run in runs.items():
        places = {pair: place for place, pair in enumerate(zip(run.qid.tolist(), run.docid.tolist(), strict=True))}
        own = np.array([places.get(pair, -1) for pair in asked])
        if run.rank is None or run.score is None:
            raise DataError(f"run {name!r} must have ranks and scores, as a TREC run has")
        if (own < 0).all():
            raise DataError(f"run {name!r} has none of the candidates: check the ids of its queries and documents")
        found[f"score({name})"] = np.where(own < 0, np.nan, run.score[own])
        found[f"reciprocal_rank({name})"] = np.where(own < 0, 0.0, 1.0 / run.rank[own])
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
                f"{n_lost:,} of {len(ids):,} {what} {missed}: they are of {kind} that are not there, "
                f"such as {first!r:.60}",
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
    """The documents of each word, in the layout of the loops below."""

    post_starts: Array
    post_docs: Array
    post_tf: Array
    damp: Array


def inverted_index(forward: Forward, known: Collection) -> InvertedIndex:
    """Return the postings of all words that count in some field."""
    n_words, field_weights, k1, b = known.idf.size - 1, known.field_weights, known.k1, known.b
    starts = np.zeros(n_words + 1, dtype=np.int64)
    count_postings(forward.tokens, forward.starts, np.full(n_words, -1, dtype=np.int64), starts)
    np.cumsum(starts, out=starts)
    docs = np.empty(starts[-1], dtype=np.int32)
    tf = np.zeros(starts[-1], dtype=np.float32)
    seen, free = np.full(n_words, -1, dtype=np.int64), starts[:-1].copy()
    fill_postings(forward.tokens, forward.starts, field_weights, seen, free, docs, tf)
    length = np.zeros(forward.n_docs)
    for weight, lengths in zip(field_weights, forward.lengths, strict=True):  # in the order of the features' sum
        length += weight * lengths
    return InvertedIndex(starts, docs, tf, k1 * (1.0 - b + b * length / known.mean_lengths[-1]))


def best_documents(index: InvertedIndex, words: QueryWords, top: int, n_jobs: int | None) -> list[Array]:
    """Return, for each query, its best documents, best first; equal ones in the order of the index."""
    n_queries = words.term_starts.size - 1
    found: list[Array] = [np.empty(0, dtype=np.int64)] * n_queries
    n_docs = index.damp.size

    def work(start: int, stop: int) -> None:
        scores, touched = np.zeros(n_docs), np.empty(n_docs, dtype=np.int32)
        docs, best = np.empty(min(top, n_docs), dtype=np.int64), np.empty(min(top, n_docs))
        for query in range(start, stop):
            own = words.one(query)
            n = top_documents(
                *index, words.terms[own], words.weights[own], words.counts[own], scores, touched, docs, best
            )
            found[query] = docs[:n].copy()

    in_blocks(work, n_queries, n_jobs, min_block=16)
    return found


@compiled
def count_postings(tokens: Array, starts: Array, seen: Array, out: Array) -> None:
    """Add to out[word + 1] the number of documents that have it; seen: int64[n_words] of -1."""
    for doc in range(starts.shape[1] - 1):
        for part in range(starts.shape[0]):
            for i in range(starts[part, doc], starts[part, doc + 1]):
                word = tokens[i]
                if word >= 0 and seen[word] != doc:
                    seen[word] = doc
                    out[word + 1] += 1


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


@compiled
def top_documents(
    post_starts: Array,
    post_docs: Array,
    post_tf: Array,
    damp: Array,
    terms: Array,
    weights: Array,
    counts: Array,
    scores: Array,
    touched: Array,
    out_docs: Array,
    out_scores: Array,
) -> int:
    """Write the best documents, best first and equal ones in their order; return how many there are.

    scores: float64[n_docs] of zeros, which they are again in the end; touched: int32[n_docs].
    """
    n_touched = 0
    for t in range(terms.size):
        if terms[t] < 0 or weights[t] <= 0:
            continue
        for i in range(post_starts[terms[t]], post_starts[terms[t] + 1]):
            doc, tf = post_docs[i], np.float64(post_tf[i])
            if tf <= 0.0:  # only in fields of weight 0
                continue
            if scores[doc] == 0.0:
                touched[n_touched] = doc
                n_touched += 1
            scores[doc] += counts[t] * weights[t] * tf / (tf + damp[doc])
    n_kept = 0  # out is a heap with the worst document first
    for i in range(n_touched):
        doc = touched[i]
        score = scores[doc]
        scores[doc] = 0.0
        if n_kept < out_docs.size:
            place = n_kept
            n_kept += 1
            while place > 0:
                parent = (place - 1) // 2
                if not _worse(score, doc, out_scores[parent], out_docs[parent]):
                    break
                out_scores[place], out_docs[place] = out_scores[parent], out_docs[parent]
                place = parent
            out_scores[place], out_docs[place] = score, doc
        elif _worse(out_scores[0], out_docs[0], score, doc):
            _sift(out_scores, out_docs, n_kept, score, doc)
    for n_left in range(n_kept - 1, 0, -1):  # take out the worst, and put it at the end
        score, doc = out_scores[n_left], out_docs[n_left]
        worst_score, worst_doc = out_scores[0], out_docs[0]
        _sift(out_scores, out_docs, n_left, score, doc)
        out_scores[n_left], out_docs[n_left] = worst_score, worst_doc
    return n_kept


@compiled
def _worse(score: float, doc: int, other_score: float, other_doc: int) -> bool:
    return score < other_score or (score == other_score and doc > other_doc)


@compiled
def _sift(scores: Array, docs: Array, n_kept: int, score: float, doc: int) -> None:
    """Put a document at the place of the heap's first one, and let it sink."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= n_kept:
            break
        if child + 1 < n_kept and _worse(scores[child + 1], docs[child + 1], scores[child], docs[child]):
            child += 1
        if not _worse(scores[child], docs[child], score, doc):
            break
        scores[place], docs[place] = scores[child], docs[child]
        place = child
    scores[place], docs[place] = score, doc
