"""The index: every document's words as numbers, what is known of words and fields, documents as the loops read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.text.analyser import Analyser, Words, letters
from rulerank.text.fields import Feature, Field, as_codes, as_numbers, as_texts, as_vectors
from rulerank.text.kernels import count_documents, vector_norms
from rulerank.text.vectors import Meaning, VectorCache, embedded_fields

Values = Mapping[str, Sequence[Any]]  # field: one value per document


@dataclass(frozen=True, eq=False)
class Forward:
    """Words of documents in the layout of `kernels.py`."""

    tokens: Array
    starts: Array
    lengths: Array

    @property
    def n_docs(self) -> int:
        return self.starts.shape[1] - 1

    def check(self, n_words: int) -> None:
        """Refuse what would let a loop read beyond its arrays: a file may hold anything."""
        fits = self.starts.ndim == 2 and self.starts.dtype == np.int64 and self.starts.shape[1] > 0
        fits = fits and self.tokens.ndim == 1 and self.tokens.dtype == np.int32
        fits = fits and self.lengths.shape == (len(self.starts), self.n_docs) and self.lengths.dtype == np.int32
        check(fits and not (np.diff(self.starts, axis=1) < 0).any(), "the words of the documents do not lie in a row")
        fits = not self.starts.size or 0 <= self.starts.min() <= self.starts.max() <= self.tokens.size
        check(fits, "the words of the documents lie outside of the index")
        fits = not self.tokens.size or -2 <= self.tokens.min() <= self.tokens.max() < n_words
        check(fits, "the index has words that its vocabulary lacks")


def check(fits: bool, problem: str) -> None:
    """Raise an error with what is wrong unless it fits."""
    if not fits:
        raise DataError(problem)


def forward_index(
    analyser: Analyser,
    words: Words,
    fields: Sequence[str],
    values: Mapping[str, Sequence[str | list[str] | None]],
    n_docs: int,
) -> Forward:
    """Return the words of text fields as numbers."""
    tokens, starts, lengths = [], np.zeros((len(fields), n_docs + 1), dtype=np.int64), []
    n_before = 0
    for place, field in enumerate(fields):
        numbers, ends = analyser.numbers(values[field], words)
        tokens.append(numbers)
        starts[place] = ends + n_before
        between = np.concatenate(([0], np.cumsum(numbers == -1)))
        lengths.append((np.diff(ends) - (between[ends[1:]] - between[ends[:-1]])).astype(np.int32))
        n_before += numbers.size
    return Forward(
        np.concatenate(tokens) if tokens else np.empty(0, dtype=np.int32),
        starts,
        np.array(lengths, dtype=np.int32).reshape(len(fields), n_docs),
    )


def statistics(forward: Forward, n_words: int, field_weights: Array) -> tuple[Array, Array]:
    """Return how rare words are and how long fields are: `idf` and `mean_lengths` of a `Collection`.

    idf is ln(1 + (N - df + .5) / (df + .5)) over all fields; lengths are means of the documents that have the field.
    """
    df = np.zeros(n_words + 1, dtype=np.int64)
    count_documents(forward.tokens, forward.starts, np.full(n_words, -1, dtype=np.int64), df)
    idf = np.log(1.0 + (forward.n_docs - df + 0.5) / (df + 0.5))
    filled = np.maximum(1, (forward.lengths > 0).sum(axis=1))
    weighted = (field_weights[:, None] * forward.lengths).sum(axis=0)
    means = np.append(forward.lengths.sum(axis=1) / filled, weighted.sum() / max(1, forward.n_docs))
    return idf, np.where(means > 0, means, 1.0)


@dataclass(frozen=True, eq=False)
class Collection:
    """What is known of a collection once it is fitted; the features of a pair need nothing else but the pair."""

    fields: tuple[Field, ...]
    features: tuple[Feature, ...]
    analyser: Analyser
    vocabulary: dict[str, int]
    idf: Array  # float64[n_words + 1], the last of words not known
    mean_lengths: Array  # float64[n_searched + 1], of all fields, weighted, last
    field_weights: Array  # float64[n_searched]
    kinds: Mapping[str, tuple[str, ...]]  # of category fields
    sizes: Mapping[str, int]  # of vector fields
    k1: float
    b: float
    meaning: Meaning | None = None

    @property
    def searched(self) -> list[str]:
        return [field.name for field in self.fields if field.searched]

    def fields_of(self, *kinds: str) -> list[str]:
        """Return the names of the fields of some kinds."""
        return [field.name for field in self.fields if field.kind in kinds]

    @property
    def shown(self) -> dict[str, str]:
        """What people read of a document, by its name on the judging page, and the field that holds it."""
        found = {"title": self.fields_of("title"), "text": self.fields_of("long text"), "url": self.fields_of("link")}
        roles = {role: role if role in names else names[0] for role, names in found.items() if names}
        taken = {*roles, *roles.values(), "query_text"}
        readable = (field.name for field in self.fields if field.kind not in ("vector", "empty"))
        return roles | {name: name for name in readable if name not in taken}


@dataclass(frozen=True, eq=False)
class IndexedDocuments:
    """Documents in the layout of the loops."""

    forward: Forward
    norms: Array
    letters: Mapping[str, tuple[Array, Array]]  # of fields with a grams feature: code points and where each text starts
    columns: Mapping[str, Array]  # numbers and codes of categories, float64, by field
    vectors: Mapping[str, Array]
    meanings: Mapping[str, Array]  # of fields with a meaning feature: float16
    shown: Mapping[str, Sequence[str | None]]  # role or field: what people read


def documents_of(
    known: Collection, values: Values, n_docs: int, forward: Forward | None = None, cache: VectorCache | None = None
) -> IndexedDocuments:
    """Lay documents out, by what is known of the collection; words that it lacks are not learned."""
    if forward is None:
        words = Words(known.analyser.stem, known.vocabulary, grows=False)
        texts = {name: as_texts(values[name]) for name in known.searched}
        forward = forward_index(known.analyser, words, known.searched, texts, n_docs)
    norms = np.zeros((len(forward.starts) + 1, n_docs))
    vector_norms(forward.tokens, forward.starts, known.idf, norms)
    columns = {
        field.name: as_codes(values[field.name], known.kinds[field.name])
        if field.kind == "category"
        else as_numbers(field.kind, values[field.name])
        for field in known.fields
        if field.kind in ("category", "number", "year", "date")
    }
    return IndexedDocuments(
        forward,
        norms,
        {
            feature.field: letters(as_texts(values[feature.field]))
            for feature in known.features
            if feature.measure == "grams"
        },
        columns,
        {name: as_vectors(name, values[name], size) for name, size in known.sizes.items()},
        {
            feature.field: known.meaning.of_documents(*embedded_fields(feature.field, known.fields), values, cache)
            for feature in known.features
            if feature.measure == "meaning" and known.meaning is not None
        },
        {role: [_shown(value) for value in values[name]] for role, name in known.shown.items()},
    )


def _shown(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(map(str, value)) or None
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)
