"""Loops over words of candidate documents. Nothing here checks its arguments; `index.py` and `matching.py` do.

docs      int64[n_rows]    the document of each row; the rows of a query lie together
queries   int64[n_rows]    the query of each row
out       float64[n_rows, n_fields + 1, N_MEASURES]

The rows of one query and document get the same bits whatever stands beside them: every sum runs over the words of the
query in their order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rulerank._util.loops import compiled
from rulerank.dataset import Array
from rulerank.text.fields import MATCHING

MEASURES = (*MATCHING[:-1], "best")  # all but grams, and the best share of the query that a field covers
BM25, COSINE, COVERED, EXACT, RUN, LENGTH, BEST = range(len(MEASURES))
N_MEASURES = len(MEASURES)


class Forward(NamedTuple):
    """The words of documents, field after field and document after document."""

    tokens: Array  # int32[n_tokens]: words; -1 between the items of a list, -2 a word that the index does not know
    starts: Array  # int64[n_fields, n_docs + 1]: where each document's words start in tokens
    lengths: Array  # int32[n_fields, n_docs]: how many words these are, without what stands between items
    norms: Array  # float64[n_fields + 1, n_docs]: lengths of the tf-idf vectors, of all fields together last


class QueryWords(NamedTuple):
    """The words of queries: query q has the terms from term_starts[q] to term_starts[q + 1]."""

    terms: Array  # int32[n_terms]: the distinct words of each query, -2 not known
    weights: Array  # float64[n_terms]: idf, or 0
    counts: Array  # int64[n_terms]: how often the query has the word
    term_starts: Array  # int64[n_queries + 1]
    places: Array  # int32[n_places]: for each word of a query, in order, which of its distinct words it is
    place_starts: Array  # int64[n_queries + 1]


class Weighting(NamedTuple):
    """What words and fields weigh in a collection."""

    idf: Array  # float64[n_words + 1], the last of words not known
    mean_lengths: Array  # float64[n_fields + 1], of all fields, weighted, last
    field_weights: Array  # float64[n_fields]
    k1: float
    b: float


@compiled
def count_documents(tokens: Array, starts: Array, seen: Array, out: Array) -> None:
    """Add to out[word] the number of documents that have it in any field; seen: int64[n_words] of -1."""
    n_fields, n_docs = starts.shape[0], starts.shape[1] - 1
    for doc in range(n_docs):
        for field in range(n_fields):
            for i in range(starts[field, doc], starts[field, doc + 1]):
                word = tokens[i]
                if word >= 0 and seen[word] != doc:
                    seen[word] = doc
                    out[word] += 1


@compiled
def vector_norms(tokens: Array, starts: Array, idf: Array, out: Array) -> None:
    """Write the lengths of tf-idf vectors, by field and of all fields together, into out."""
    n_fields, n_docs = starts.shape[0], starts.shape[1] - 1
    for doc in range(n_docs):
        n_all = 0
        for field in range(n_fields):
            n_all += starts[field, doc + 1] - starts[field, doc]
        words = np.empty(n_all, dtype=np.int32)
        n_all = 0
        for field in range(n_fields):
            first = n_all
            for i in range(starts[field, doc], starts[field, doc + 1]):
                if tokens[i] >= 0:
                    words[n_all] = tokens[i]
                    n_all += 1
            out[field, doc] = _norm(np.sort(words[first:n_all]), idf)
        out[n_fields, doc] = _norm(np.sort(words[:n_all]), idf)


@compiled
def _norm(words: Array, idf: Array) -> float:
    total = 0.0
    i = 0
    while i < words.size:
        n = 1
        while i + n < words.size and words[i + n] == words[i]:
            n += 1
        weight = (1.0 + np.log(n)) * idf[words[i]]
        total += weight * weight
        i += n
    return np.sqrt(total)


@compiled
def match(forward: Forward, words: QueryWords, weighting: Weighting, docs: Array, queries: Array, out: Array) -> None:
    """Write every measure of every row."""
    tokens, starts, lengths, norms = forward
    terms, _, _, term_starts, places, place_starts = words
    idf, mean_lengths, field_weights, k1, b = weighting
    n_fields = starts.shape[0]
    slot = np.full(idf.size - 1, -1, dtype=np.int32)  # of each word of the index: its place among the query's terms
    known = -1
    for row in range(docs.size):
        query, doc = queries[row], docs[row]
        first, last = term_starts[query], term_starts[query + 1]
        if query != known:
            if known >= 0:
                for t in range(term_starts[known], term_starts[known + 1]):
                    if terms[t] >= 0:
                        slot[terms[t]] = -1
            for t in range(first, last):
                if terms[t] >= 0:
                    slot[terms[t]] = t - first
            known = query
            n_terms = last - first
            sequence = places[place_starts[query] : place_starts[query + 1]]
            n_places = sequence.size
            found = np.zeros((n_fields, n_terms), dtype=np.int64)
            tf, weighted = np.zeros(n_terms, dtype=np.int64), np.zeros(n_terms)
            runs, before = np.zeros(n_places + 1, dtype=np.int64), np.zeros(n_places + 1, dtype=np.int64)
        whole = out[row, n_fields]
        whole[:] = np.nan
        best = np.nan
        n_all = 0
        for field in range(n_fields):
            one = out[row, field]
            one[:] = np.nan
            found[field, :] = 0
            n_words = lengths[field, doc]
            n_all += n_words
            if n_words == 0 or n_places == 0:
                if n_words > 0:
                    one[LENGTH] = n_words
                continue
            exact, longest = 0, 0
            before[:] = 0
            agrees, in_item = True, 0
            begin, end = starts[field, doc], starts[field, doc + 1]
            for i in range(begin, end + 1):
                word = tokens[i] if i < end else -1
                if word == -1:  # an item ends
                    if agrees and in_item == n_places:
                        exact = 1
                    agrees, in_item = True, 0
                    before[:] = 0
                    continue
                place = slot[word] if word >= 0 else -1
                if agrees and in_item < n_places:
                    agrees = place >= 0 and sequence[in_item] == place
                in_item += 1
                if place < 0:
                    if longest > 0:
                        before[:] = 0
                    continue
                found[field, place] += 1
                for j in range(n_places):
                    runs[j + 1] = before[j] + 1 if sequence[j] == place else 0
                    if runs[j + 1] > longest:
                        longest = runs[j + 1]
                before[:] = runs
            one[EXACT], one[RUN], one[LENGTH] = exact, longest, n_words
            damp = k1 * (1.0 - b + b * n_words / mean_lengths[field])
            _weigh(words, first, idf, found[field], found[field], damp, norms[field, doc], one)
            if not np.isnan(one[COVERED]):
                best = one[COVERED] if np.isnan(best) else max(best, one[COVERED])
            for measure in (EXACT, RUN):
                if np.isnan(whole[measure]) or one[measure] > whole[measure]:
                    whole[measure] = one[measure]
        if n_all == 0:
            continue
        whole[LENGTH] = n_all
        if n_places == 0:
            continue
        whole[BEST] = best
        length = 0.0
        weighted[:], tf[:] = 0.0, 0
        for field in range(n_fields):
            length += field_weights[field] * lengths[field, doc]
            for t in range(n_terms):
                weighted[t] += field_weights[field] * found[field, t]
                tf[t] += found[field, t]
        damp = k1 * (1.0 - b + b * length / mean_lengths[n_fields])
        _weigh(words, first, idf, tf, weighted, damp, norms[n_fields, doc], whole)


@compiled
def _weigh(
    words: QueryWords, first: int, idf: Array, tf: Array, weighted: Array, damp: Any, norm: float, out: Array
) -> None:
    """Write the measures that weigh the words of a query, from term first on; tf: how often a document has each."""
    score, covered, product = 0.0, 0.0, 0.0
    total, n_terms, query_norm = 0.0, 0, 0.0
    for t in range(tf.size):
        count, weight = words.counts[first + t], words.weights[first + t]
        share = (1.0 + np.log(count)) * weight
        total += weight
        n_terms += weight > 0
        query_norm += share * share
        if tf[t] > 0 and weight > 0:
            if weighted[t] > 0:
                score += count * weight * weighted[t] / (weighted[t] + damp)
            covered += weight
            product += share * (1.0 + np.log(tf[t])) * idf[words.terms[first + t]]
    out[BM25] = score
    if n_terms > 0:
        out[COVERED] = covered / total
        out[COSINE] = product / (np.sqrt(query_norm) * norm) if product > 0 else 0.0  # no word may be known


@compiled
def shared_grams(
    codes: Array, starts: Array, docs: Array, queries: Array, grams: Array, gram_starts: Array, out: Array
) -> None:
    """Write the share of 3-grams that texts and queries have in common of those that either has (Jaccard).

    codes: uint32, the letters and digits of each document; grams: int64, sorted and distinct, those of each query.
    """
    for row in range(docs.size):
        begin, end = starts[docs[row]], starts[docs[row] + 1]
        first, last = gram_starts[queries[row]], gram_starts[queries[row] + 1]
        if begin == end or first == last:
            out[row] = np.nan
            continue
        own = np.empty(end - begin, dtype=np.int64)
        fill_grams(codes, begin, end, own)
        own.sort()
        n_own, n_shared = 0, 0
        j = first
        for i in range(own.size):
            if i > 0 and own[i] == own[i - 1]:
                continue
            n_own += 1
            while j < last and grams[j] < own[i]:
                j += 1
            n_shared += j < last and grams[j] == own[i]
        out[row] = n_shared / (n_own + (last - first) - n_shared)


@compiled
def fill_grams(codes: Array, begin: int, end: int, out: Array) -> None:
    """Write the 3-grams of ^text$ as numbers: 21 bits a character, 1 before the first, 2 after the last."""
    for i in range(begin, end):
        before = np.int64(codes[i - 1]) if i > begin else np.int64(1)
        after = np.int64(codes[i + 1]) if i + 1 < end else np.int64(2)
        out[i - begin] = (before << 42) | (np.int64(codes[i]) << 21) | after


@compiled
def cosines(vectors: Array, docs: Array, queries: Array, of_queries: Array, out: Array) -> None:
    """Write the cosine of a document's vector and its query's; NaN where either is missing or nothing but zeros."""
    for row in range(docs.size):
        product, own, other = 0.0, 0.0, 0.0
        for i in range(vectors.shape[1]):
            a, c = np.float64(vectors[docs[row], i]), np.float64(of_queries[queries[row], i])
            product += a * c
            own += a * a
            other += c * c
        out[row] = product / np.sqrt(own * other) if own > 0 and other > 0 else np.nan
