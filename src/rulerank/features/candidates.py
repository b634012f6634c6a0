"""Which pairs of a query and a document to look at: the best by BM25 over all fields, judged ones, or those listed.

The inverted index is made when it is first asked.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rulerank.core.threads import in_blocks
from rulerank.core.words import counted
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.features.candidate_kernels import count_postings, fill_postings, top_documents
from rulerank.features.index import Collection, Forward
from rulerank.features.matching import QueryWords
from rulerank.io.texts import Pairs
from rulerank.io.trec import Qrels


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


class Inverted(NamedTuple):
    """The documents of each word, in the layout of `candidate_kernels.py`."""

    post_starts: Array
    post_docs: Array
    post_tf: Array
    damp: Array


def inverted_index(forward: Forward, known: Collection) -> Inverted:
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
    return Inverted(starts, docs, tf, k1 * (1.0 - b + b * length / known.mean_lengths[-1]))


def best_documents(index: Inverted, words: QueryWords, top: int, n_jobs: int | None) -> list[Array]:
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
