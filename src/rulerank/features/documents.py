"""What features are computed from: what is known of a collection, and documents laid out for the loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rulerank.dataset import Array
from rulerank.features.analyser import Analyser, Words
from rulerank.features.columns import as_codes, as_numbers, as_texts, as_vectors
from rulerank.features.fields import Field
from rulerank.features.grams import letters
from rulerank.features.index import Forward, forward_index, norms_of
from rulerank.features.names import Feature

Values = Mapping[str, Sequence[Any]]  # field: one value per document


@dataclass(frozen=True, eq=False)
class Collection:
    """What is known of a collection once it is fitted; the features of a pair need nothing else but the pair."""

    fields: tuple[Field, ...]
    features: tuple[Feature, ...]
    analyser: Analyser
    vocabulary: dict[str, int]
    idf: Array  # float64[n_words + 1], the last of words not known
    mean_lengths: Array  # float64[n_searched + 1], of all fields last
    field_weights: Array  # float64[n_searched]
    kinds: Mapping[str, tuple[str, ...]]  # of category fields
    sizes: Mapping[str, int]  # of vector fields
    k1: float
    b: float

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
class Documents:
    """Documents in the layout of the loops."""

    forward: Forward
    norms: Array
    letters: Mapping[str, tuple[Array, Array]]  # of fields with a grams feature: code points and where each text starts
    columns: Mapping[str, Array]  # numbers and codes of categories, float64, by field
    vectors: Mapping[str, Array]
    shown: Mapping[str, Sequence[str | None]]  # role or field: what people read

    @property
    def n_docs(self) -> int:
        return self.forward.n_docs


def documents_of(known: Collection, values: Values, n_docs: int, forward: Forward | None = None) -> Documents:
    """Lay documents out, by what is known of the collection; words that it lacks are not learned."""
    if forward is None:
        words = Words(known.analyser.stem, known.vocabulary, grows=False)
        texts = {name: as_texts(values[name]) for name in known.searched}
        forward = forward_index(known.analyser, words, known.searched, texts, n_docs)
    columns = {
        field.name: as_codes(values[field.name], known.kinds[field.name])
        if field.kind == "category"
        else as_numbers(field.kind, values[field.name])
        for field in known.fields
        if field.kind in ("category", "number", "year", "date")
    }
    return Documents(
        forward,
        norms_of(forward, known.idf),
        {
            feature.field: letters(as_texts(values[feature.field]))
            for feature in known.features
            if feature.measure == "grams"
        },
        columns,
        {name: as_vectors(name, values[name], size) for name, size in known.sizes.items()},
        {role: [_shown(value) for value in values[name]] for role, name in known.shown.items()},
    )


def _shown(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(map(str, value)) or None
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)
