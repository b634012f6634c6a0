"""The index: the words of every document as numbers, statistics of words and fields, and the layout of the loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.text.analyser import Analyser, Words, letters
from rulerank.text.fields import Feature, Field, as_codes, as_numbers, as_texts, as_vectors
from rulerank.text.kernels import Forward, Weighting, count_documents, vector_norms
from rulerank.text.vectors import Meaning, VectorCache, embedded_fields

Values = Mapping[str, Sequence[Any]]  # field: one value per document


def check(fits: Any, problem: str) -> None:
    """Raise a DataError with this problem unless `fits` is true."""
    if not fits:
        raise DataError(problem)


def words_of(analyser: Analyser, words: Words, names: Sequence[str], values: Values) -> tuple[Array, Array, Array]:
    """Return the words of searched fields as numbers: tokens, starts and lengths of `Forward`."""
    tokens, starts, lengths = [np.empty(0, dtype=np.int32)], [], []
    n_before = 0
    for name in names:
        numbers, ends = analyser.numbers(as_texts(values[name]), words)
        tokens.append(numbers)
        starts.append(ends + n_before)
        between = np.concatenate(([0], np.cumsum(numbers == -1)))
        lengths.append((np.diff(ends) - (between[ends[1:]] - between[ends[:-1]])).astype(np.int32))
        n_before += numbers.size
    n_docs = len(next(iter(values.values()), ()))
    return (
        np.concatenate(tokens),
        np.array(starts, dtype=np.int64).reshape(len(names), n_docs + 1),
        np.array(lengths, dtype=np.int32).reshape(len(names), n_docs),
    )


def weighting_of(
    laid: tuple[Array, Array, Array], n_words: int, field_weights: Array, k1: float, b: float
) -> Weighting:
    """Return the idf of words and the mean lengths of fields.

    idf is ln(1 + (N - df + .5) / (df + .5)) over all fields; lengths are means of the documents that have the field.
    """
    tokens, starts, lengths = laid
    df, n_docs = np.zeros(n_words + 1, dtype=np.int64), lengths.shape[1]
    count_documents(tokens, starts, np.full(n_words, -1, dtype=np.int64), df)
    filled = np.maximum(1, (lengths > 0).sum(axis=1))
    weighted = (field_weights[:, None] * lengths).sum(axis=0)
    means = np.append(lengths.sum(axis=1) / filled, weighted.sum() / max(1, n_docs))
    idf = np.log(1.0 + (n_docs - df + 0.5) / (df + 0.5))
    return Weighting(idf, np.where(means > 0, means, 1.0), field_weights, float(k1), float(b))


@dataclass(frozen=True, eq=False)
class Collection:
    """A fitted collection: all that is needed to compute the features of any query and document."""

    fields: tuple[Field, ...]
    features: tuple[Feature, ...]
    analyser: Analyser
    vocabulary: dict[str, int]
    weighting: Weighting
    kinds: Mapping[str, tuple[str, ...]]  # of category fields
    sizes: Mapping[str, int]  # of vector fields
    meaning: Meaning | None = None

    @property
    def searched(self) -> list[str]:
        return [field.name for field in self.fields if field.searched]

    def fields_of(self, *kinds: str) -> list[str]:
        """Return the names of the fields of some kinds."""
        return [field.name for field in self.fields if field.kind in kinds]

    @property
    def shown(self) -> dict[str, str]:
        """Display names of a document's fields in the judging UI, and the field of each."""
        found = {"title": self.fields_of("title"), "text": self.fields_of("long text"), "url": self.fields_of("link")}
        roles = {role: role if role in names else names[0] for role, names in found.items() if names}
        taken = {*roles, *roles.values(), "query_text"}
        readable = (field.name for field in self.fields if field.kind not in ("vector", "empty"))
        return roles | {name: name for name in readable if name not in taken}


@dataclass(frozen=True, eq=False)
class IndexedDocuments:
    """Documents in the layout of the loops."""

    forward: Forward
    letters: Mapping[str, tuple[Array, Array]]  # of fields with a grams feature: code points and where each text starts
    columns: Mapping[str, Array]  # numbers and codes of categories, float64, by field
    vectors: Mapping[str, Array]
    meanings: Mapping[str, Array]  # of fields with a meaning feature: float16
    shown: Mapping[str, Sequence[str | None]]  # role or field: what people read


def documents_of(
    known: Collection, values: Values, laid: tuple[Array, Array, Array] | None = None, cache: VectorCache | None = None
) -> IndexedDocuments:
    """Lay documents out, by what is known of the collection; words that it lacks are not learned.

    laid: what `words_of` gave for them.
    """
    if laid is None:
        words = Words(known.analyser.stem, known.vocabulary, grows=False)
        laid = words_of(known.analyser, words, known.searched, values)
    norms = np.zeros((len(laid[1]) + 1, laid[1].shape[1] - 1))
    vector_norms(laid[0], laid[1], known.weighting.idf, norms)
    columns = {
        field.name: as_codes(values[field.name], known.kinds[field.name])
        if field.kind == "category"
        else as_numbers(field.kind, values[field.name])
        for field in known.fields
        if field.kind in ("category", "number", "year", "date")
    }
    return IndexedDocuments(
        Forward(*laid, norms),
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
