"""The words of queries, and one number for every feature of every pair of a query and a document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank._util.loops import Bar, in_blocks
from rulerank.dataset import Array
from rulerank.text.analyser import UNKNOWN, grams, in_a_row
from rulerank.text.fields import ALL, Feature, as_vectors
from rulerank.text.index import Collection, IndexedDocuments
from rulerank.text.kernels import MEASURES, N_MEASURES, QueryWords, cosines, match, shared_grams

LONG = 4  # words that are no stop words make a query long: its stop words then weigh nothing
YEAR = re.compile(r"(?<!\d)(1[89]\d\d|20\d\d|2100)(?!\d)")
STEP = 4096  # rows worked on together, so that memory stays bounded


@dataclass(frozen=True, eq=False)
class QueryArrays:
    """Queries in the layout of the loops."""

    words: QueryWords
    grams: tuple[Array, Array]
    years: Array
    vectors: Mapping[str, Array]
    meaning: Array  # float32, of no columns without an embedder


def asked(known: Collection, texts: Sequence[str], vectors: Mapping[str, Sequence[Any]]) -> QueryArrays:
    """Lay queries out; the stop words of a long query keep their places but weigh nothing."""
    idf, stop_words = known.weighting.idf, known.analyser.stop_words
    terms, weights, counts, places = [], [], [], []  # of each query
    for text in texts:
        words = known.analyser.words(text)
        distinct = Counter(words)  # in the order in which they appear first
        is_long = sum(word not in stop_words for word in distinct) >= LONG
        numbers = [known.vocabulary.get(word, UNKNOWN) for word in distinct]
        terms.append(numbers)
        weights.append([
            0.0 if is_long and word in stop_words else idf[max(number, -1)]
            for word, number in zip(distinct, numbers, strict=True)
        ])  # fmt: skip
        counts.append([*distinct.values()])
        place = {word: i for i, word in enumerate(distinct)}
        places.append([place[word] for word in words])
    flat, term_starts = in_a_row(terms, np.int32)
    in_rows = QueryWords(
        flat, in_a_row(weights, np.float64)[0], in_a_row(counts, np.int64)[0], term_starts, *in_a_row(places, np.int32)
    )
    none: list[Any] = [None] * len(texts)
    return QueryArrays(
        in_rows,
        grams(texts),
        np.array([year_in(text) for text in texts]),
        {name: as_vectors(name, vectors.get(name, none), size) for name, size in known.sizes.items()},
        np.empty((len(texts), 0)) if known.meaning is None else known.meaning.rows(texts).astype(np.float32),
    )


def year_in(text: str) -> float:
    """Return the year that a query names, or NaN; of several the last.

    >>> year_in("dune 1984"), year_in("insidious 2")
    (1984.0, nan)
    """
    years = YEAR.findall(text)
    return float(years[-1]) if years else float("nan")


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
    return out


def _values(known: Collection, documents: IndexedDocuments, queries: QueryArrays, docs: Array, numbers: Array) -> Array:
    matched = np.empty((docs.size, len(documents.forward.starts) + 1, N_MEASURES))
    match(documents.forward, queries.words, known.weighting, docs, numbers, matched)
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
    out = np.empty(docs.size)
    if measure == "grams":
        shared_grams(*documents.letters[field], docs, numbers, *queries.grams, out)
        return out
    if measure == "vector":
        cosines(documents.vectors[field], docs, numbers, queries.vectors[field], out)
        return out
    if measure == "meaning":
        rows = documents.meanings[field][docs].astype(np.float32)
        cosines(rows, np.arange(docs.size), numbers, queries.meaning, out)
        return out
    column = documents.columns[field][docs]
    if measure == "log":
        with np.errstate(invalid="ignore"):
            return np.log1p(np.where(column >= 0, column, np.nan))
    if measure == "near":
        return 1.0 / (1.0 + np.abs(column - queries.years[numbers]))
    return column  # value, category
