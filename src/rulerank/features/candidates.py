"""The best documents of a query by BM25 over all fields, from an inverted index that is made when it is first asked."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.features.candidate_kernels import count_postings, fill_postings, top_documents
from rulerank.features.documents import Collection
from rulerank.features.index import Forward, Statistics
from rulerank.features.query import QueryWords


class Inverted(NamedTuple):
    """The documents of each word, in the layout of `candidate_kernels.py`."""

    post_starts: Array
    post_docs: Array
    post_tf: Array
    damp: Array


def inverted_index(
    forward: Forward, known: Statistics | Collection, field_weights: Array, k1: float, b: float
) -> Inverted:
    """Return the postings of all words that count in some field."""
    n_words = known.idf.size - 1
    starts = np.zeros(n_words + 1, dtype=np.int64)
    count_postings(forward.tokens, forward.starts, np.full(n_words, -1, dtype=np.int64), starts)
    np.cumsum(starts, out=starts)
    docs = np.empty(starts[-1], dtype=np.int32)
    tf = np.zeros(starts[-1], dtype=np.float32)
    fill_postings(
        forward.tokens,
        forward.starts,
        field_weights,
        np.full(n_words, -1, dtype=np.int64),
        starts[:-1].copy(),
        docs,
        tf,
    )
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
