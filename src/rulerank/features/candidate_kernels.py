"""Loops over an inverted index. Nothing here checks its arguments; `candidates.py` does.

post_starts  int64[n_words + 1]   where the documents of each word start in post_docs
post_docs    int32[n_postings]    documents, in their order
post_tf      float32[n_postings]  how often the word is in the document, weighted by field
damp         float64[n_docs]      k1 (1 - b + b length / mean length)
terms, weights, counts            of the query, as in `kernels.py`
"""

from __future__ import annotations

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.dataset import Array


@compiled
def count_postings(tokens: Array, starts: Array, seen: Array, out: Array) -> None:
    """Add to out[word + 1] the number of documents that have it; seen: int64[n_words] of -1."""
    for doc in range(starts.shape[1] - 1):
        for field in range(starts.shape[0]):
            for i in range(starts[field, doc], starts[field, doc + 1]):
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
        for field in range(starts.shape[0]):
            for i in range(starts[field, doc], starts[field, doc + 1]):
                word = tokens[i]
                if word < 0:
                    continue
                if seen[word] != doc:
                    seen[word] = doc
                    post_docs[free[word]] = doc
                    free[word] += 1
                post_tf[free[word] - 1] += field_weights[field]


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
