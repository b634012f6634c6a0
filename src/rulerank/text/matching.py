"""The words of queries, and one number for every feature of every pair of a query and a document."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank._util.loops import Bar, in_blocks
from rulerank.dataset import Array
from rulerank.text.analyser import UNKNOWN, Analyser, grams
from rulerank.text.fields import ALL, Feature, as_vectors
from rulerank.text.index import Collection, IndexedDocuments
from rulerank.text.kernels import MEASURES, N_MEASURES, cosines, match, shared_grams

LONG = 4  # words that are no stop words make a query long: its stop words then weigh nothing
YEAR = re.compile(r"(?<!\d)(1[89]\d\d|20\d\d|2100)(?!\d)")


@dataclass(frozen=True, eq=False)
class QueryWords:
    """The words of queries in the layout of `kernels.py`."""

    terms: Array
    weights: Array
    counts: Array
    term_starts: Array
    places: Array
    place_starts: Array

    def one(self, query: int) -> slice:
        """Return where the terms of a query lie."""
        return slice(int(self.term_starts[query]), int(self.term_starts[query + 1]))


def query_words(texts: Sequence[str], analyser: Analyser, vocabulary: dict[str, int], idf: Array) -> QueryWords:
    """Return the words of queries; the stop words of a long query keep their places but weigh nothing."""
    terms: list[int] = []
    weights: list[float] = []
    counts: list[int] = []
    places: list[int] = []
    term_starts, place_starts = [0], [0]
    for text in texts:
        words = analyser.words(text)
        distinct = Counter(words)  # in the order in which they appear first
        n_telling = sum(word not in analyser.stop_words for word in distinct)
        for word, count in distinct.items():
            number = vocabulary.get(word, UNKNOWN)
            ignored = n_telling >= LONG and word in analyser.stop_words
            terms.append(number)
            weights.append(0.0 if ignored else float(idf[number if number >= 0 else -1]))
            counts.append(count)
        place = {word: i for i, word in enumerate(distinct)}
        places += [place[word] for word in words]
        term_starts.append(len(terms))
        place_starts.append(len(places))
    return QueryWords(
        np.array(terms, dtype=np.int32),
        np.array(weights, dtype=np.float64),
        np.array(counts, dtype=np.int64),
        np.array(term_starts, dtype=np.int64),
        np.array(places, dtype=np.int32),
        np.array(place_starts, dtype=np.int64),
    )


def year_in(text: str) -> float:
    """Return the year that a query names, or NaN; of several the last.

    >>> year_in("dune 1984"), year_in("insidious 2")
    (1984.0, nan)
    """
    found = YEAR.findall(text)
    return float(found[-1]) if found else float("nan")


STEP = 4096  # rows worked on together, so that memory stays bounded


@dataclass(frozen=True, eq=False)
class QueryArrays:
    """Queries in the layout of the loops."""

    words: QueryWords
    grams: tuple[Array, Array]
    years: Array
    vectors: Mapping[str, Array]
    meaning: Array  # float32, of no columns without an embedder
    n_words: Array  # distinct ones, those that weigh nothing left out
    mean_idf: Array


def asked(known: Collection, texts: Sequence[str], vectors: Mapping[str, Sequence[Any]]) -> QueryArrays:
    """Lay queries out, by what is known of the collection."""
    words = query_words(texts, known.analyser, known.vocabulary, known.idf)
    none: list[Any] = [None] * len(texts)
    n_words, mean_idf = np.full(len(texts), 0.0), np.full(len(texts), np.nan)
    for query in range(len(texts)):
        weights = words.weights[words.one(query)]
        n_words[query] = (weights > 0).sum()
        if n_words[query]:
            mean_idf[query] = weights.sum() / n_words[query]
    return QueryArrays(
        words,
        grams(texts),
        np.array([year_in(text) for text in texts]),
        {name: as_vectors(name, vectors.get(name, none), size) for name, size in known.sizes.items()},
        np.empty((len(texts), 0)) if known.meaning is None else known.meaning.rows(texts).astype(np.float32),
        n_words,
        mean_idf,
    )


def feature_values(
    known: Collection,
    documents: IndexedDocuments,
    queries: QueryArrays,
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


def _values(known: Collection, documents: IndexedDocuments, queries: QueryArrays, docs: Array, numbers: Array) -> Array:
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


def _other(feature: Feature, documents: IndexedDocuments, queries: QueryArrays, docs: Array, numbers: Array) -> Array:
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
    if measure == "meaning":
        out = np.empty(docs.size)
        rows = documents.meanings[field][docs].astype(np.float32)
        cosines(rows, np.arange(docs.size), numbers, queries.meaning, out)
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
