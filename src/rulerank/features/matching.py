"""One number for every feature of every pair of a query and a document."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank.core.progress import Bar
from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.features.columns import as_vectors
from rulerank.features.documents import Collection, Documents
from rulerank.features.grams import grams
from rulerank.features.kernels import MEASURES, N_MEASURES, cosines, match, shared_grams
from rulerank.features.names import ALL, Feature
from rulerank.features.query import QueryWords, query_words, year_in

STEP = 4096  # rows worked on together, so that memory stays bounded


@dataclass(frozen=True, eq=False)
class Asked:
    """Queries in the layout of the loops."""

    words: QueryWords
    grams: tuple[Array, Array]
    years: Array
    vectors: Mapping[str, Array]
    n_words: Array  # distinct ones, those that weigh nothing left out
    mean_idf: Array


def asked(known: Collection, texts: Sequence[str], vectors: Mapping[str, Sequence[Any]]) -> Asked:
    """Lay queries out, by what is known of the collection."""
    words = query_words(texts, known.analyser, known.vocabulary, known.idf)
    none: list[Any] = [None] * len(texts)
    n_words, mean_idf = np.full(len(texts), 0.0), np.full(len(texts), np.nan)
    for query in range(len(texts)):
        weights = words.weights[words.one(query)]
        n_words[query] = (weights > 0).sum()
        if n_words[query]:
            mean_idf[query] = weights.sum() / n_words[query]
    return Asked(
        words,
        grams(texts),
        np.array([year_in(text) for text in texts]),
        {name: as_vectors(name, vectors.get(name, none), size) for name, size in known.sizes.items()},
        n_words,
        mean_idf,
    )


def feature_values(
    known: Collection,
    documents: Documents,
    queries: Asked,
    docs: Array,
    numbers: Array,
    n_jobs: int | None,
    bar: Bar | None = None,
) -> Array:
    """Return float32 (n_rows, n_features): row i is document docs[i] for query numbers[i], a query all in a row."""
    out = np.empty((docs.size, len(known.features)), dtype=np.float32)

    def work(start: int, stop: int) -> None:
        for first in range(start, stop, STEP):
            rows = slice(first, min(stop, first + STEP))
            with np.errstate(over="ignore"):
                out[rows] = _values(known, documents, queries, docs[rows], numbers[rows])
            if bar is not None:
                bar.advance(rows.stop - rows.start)

    in_blocks(work, docs.size, n_jobs, min_block=1024)
    for place, feature in enumerate(known.features):
        if feature.measure == "rank":
            out[:, place] = ranks_by_query(documents.columns[feature.field][docs], numbers)
    return out


def ranks_by_query(values: Array, numbers: Array) -> Array:
    """Rank values within queries, whose rows lie together: the highest is 1, equal ones share the mean, NaN has none.

    >>> ranks_by_query(np.array([5.0, 9.0, 9.0, np.nan]), np.zeros(4)).tolist()
    [3.0, 1.5, 1.5, nan]
    """
    from scipy.stats import rankdata

    out = np.full(values.size, np.nan)
    bounds = np.flatnonzero(np.diff(numbers, prepend=-1, append=-2))
    for first, last in itertools.pairwise(bounds):
        own = np.flatnonzero(~np.isnan(values[first:last])) + first
        out[own] = rankdata(-values[own])
    return out


def _values(known: Collection, documents: Documents, queries: Asked, docs: Array, numbers: Array) -> Array:
    forward, words = documents.forward, queries.words
    matched = np.empty((docs.size, len(forward.starts) + 1, N_MEASURES))
    match(
        forward.tokens, forward.starts, forward.lengths, documents.norms, docs, numbers,
        words.terms, words.weights, words.counts, words.term_starts, words.places, words.place_starts,
        known.idf, known.field_weights, known.mean_lengths, known.k1, known.b, matched,
    )  # fmt: skip
    place = {name: i for i, name in enumerate((*known.searched, ALL))}
    values = np.empty((docs.size, len(known.features)))
    for i, feature in enumerate(known.features):
        if feature.measure in MEASURES:
            values[:, i] = matched[:, place[feature.field], MEASURES.index(feature.measure)]
        else:
            values[:, i] = _other(feature, documents, queries, docs, numbers)
    return values


def _other(feature: Feature, documents: Documents, queries: Asked, docs: Array, numbers: Array) -> Array:
    """Return a feature that does not come from words."""
    measure, field = feature.measure, feature.field
    if measure == "grams":
        out = np.empty(docs.size)
        shared_grams(*documents.letters[field], docs, numbers, *queries.grams, out)
        return out
    if measure == "vector":
        out = np.empty(docs.size)
        cosines(documents.vectors[field], docs, numbers, queries.vectors[field], out)
        return out
    if measure == "query_terms":
        return queries.n_words[numbers]
    if measure == "query_idf":
        return queries.mean_idf[numbers]
    column = documents.columns[field][docs]
    if measure == "log":
        with np.errstate(invalid="ignore"):
            return np.log1p(np.where(column >= 0, column, np.nan))
    if measure == "near":
        return 1.0 / (1.0 + np.abs(column - queries.years[numbers]))
    return column  # value, category; rank is filled in when the whole query is known
