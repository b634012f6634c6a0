"""What TextFeatures learned as plain values and arrays, and back, checked: loops read these arrays without looking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rulerank.dataset import Array
from rulerank.features.analyser import Analyser
from rulerank.features.fields import KINDS, Field
from rulerank.features.index import Collection, Documents, Forward, check
from rulerank.features.names import features_named


def collection_state(known: Collection) -> dict[str, Any]:
    return {
        "fields": [[field.name, field.kind, field.coverage] for field in known.fields],
        "features": [feature.name for feature in known.features],
        "language": known.analyser.language,
        "stop_words": sorted(known.analyser.stop_words),
        "vocabulary": pack_strings([*known.vocabulary]),
        "idf": known.idf,
        "mean_lengths": known.mean_lengths,
        "field_weights": known.field_weights,
        "kinds": [[name, list(kinds)] for name, kinds in known.kinds.items()],
        "sizes": [[name, size] for name, size in known.sizes.items()],
        "k1": known.k1,
        "b": known.b,
    }


def collection_from_state(state: dict[str, Any]) -> Collection:
    fields = tuple(Field(str(name), str(kind), float(share)) for name, kind, share in state["fields"])
    check(all(field.kind in KINDS for field in fields), "a field has a kind that is not known")
    analyser = Analyser(state["language"])
    analyser.stop_words = frozenset(map(str, state["stop_words"]))
    words = unpack_strings(state["vocabulary"])
    vocabulary = {str(word): number for number, word in enumerate(words)}
    known = Collection(
        fields,
        features_named([str(name) for name in state["features"]], fields),
        analyser,
        vocabulary,
        state["idf"],
        state["mean_lengths"],
        state["field_weights"],
        {str(name): tuple(map(str, kinds)) for name, kinds in state["kinds"]},
        {str(name): int(size) for name, size in state["sizes"]},
        float(state["k1"]),
        float(state["b"]),
    )
    n_searched = len(known.searched)
    _check_floats("idf", known.idf, (len(words) + 1,))
    _check_floats("mean_lengths", known.mean_lengths, (n_searched + 1,))
    _check_floats("field_weights", known.field_weights, (n_searched,))
    check(len(vocabulary) == len(words), "its words do not differ")
    check({*known.kinds} == {*known.fields_of("category")}, "its categories do not fit its fields")
    check({*known.sizes} == {*known.fields_of("vector")}, "its vectors do not fit its fields")
    return known


def documents_state(documents: Documents) -> dict[str, Any]:
    forward = documents.forward
    return {
        "tokens": forward.tokens,
        "starts": forward.starts,
        "lengths": forward.lengths,
        "norms": documents.norms,
        "letters": [[name, *arrays] for name, arrays in documents.letters.items()],
        "columns": [[name, column] for name, column in documents.columns.items()],
        "vectors": [[name, rows] for name, rows in documents.vectors.items()],
        "shown": [[role, pack_strings(values)] for role, values in documents.shown.items()],
    }


def documents_from_state(state: dict[str, Any], known: Collection, n_docs: int) -> Documents:
    forward = Forward(state["tokens"], state["starts"], state["lengths"])
    forward.check(len(known.vocabulary))
    fits = forward.starts.shape == (len(known.searched), n_docs + 1)
    check(fits, "its words are of another number of fields or documents")
    documents = Documents(
        forward,
        state["norms"],
        {str(name): (codes, starts) for name, codes, starts in state["letters"]},
        {str(name): column for name, column in state["columns"]},
        {str(name): rows for name, rows in state["vectors"]},
        {str(role): unpack_strings(packed) for role, packed in state["shown"]},
    )
    _check_floats("norms", documents.norms, (len(known.searched) + 1, n_docs))
    for codes, starts in documents.letters.values():
        fits = (
            codes.dtype == np.uint32 and codes.ndim == 1 and starts.dtype == np.int64 and starts.shape == (n_docs + 1,)
        )
        fits = fits and starts[0] == 0 and starts[-1] == codes.size and not (np.diff(starts) < 0).any()
        check(fits, "the letters of its documents do not lie in a row")
    for name, column in documents.columns.items():
        fits = column.dtype == np.float64 and column.shape == (n_docs,)
        check(fits, f"its column {name!r} does not have one number per document")
    for name, rows in documents.vectors.items():
        fits = rows.dtype == np.float32 and rows.shape == (n_docs, known.sizes.get(name))
        check(fits, f"its vectors {name!r} do not have one row per document")
    grams = {feature.field for feature in known.features if feature.measure == "grams"}
    fits = {*documents.columns} == {*known.fields_of("number", "year", "date", "category")}
    fits = fits and {*documents.vectors} == {*known.sizes} and {*documents.letters} == grams
    check(fits, "its columns do not fit its fields")
    fits = all(len(values) == n_docs for values in documents.shown.values())
    check(fits, "its texts are of another number of documents")
    return documents


def pack_strings(values: Sequence[str | None]) -> dict[str, Array]:
    """Return texts as bytes: JSON of a million words would be slow.

    >>> unpack_strings(pack_strings(["a", None, "", "é"]))
    ['a', None, '', 'é']
    """
    encoded = [b"" if value is None else value.encode() for value in values]
    ends = np.cumsum([len(one) for one in encoded], dtype=np.int64)
    there = np.array([value is not None for value in values], dtype=np.uint8)
    return {"bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8), "ends": ends, "there": there}


def unpack_strings(packed: dict[str, Array]) -> list[Any]:
    """Return the texts that `pack_strings` packed."""
    content, ends = packed["bytes"].tobytes(), packed["ends"].tolist()
    fits = [0, *ends] == sorted([0, *ends]) and ends[-1:] in ([], [len(content)])
    check(fits, "its texts do not lie in a row")
    parts = zip([0, *ends[:-1]], ends, packed["there"].tolist(), strict=True)
    return [content[start:end].decode() if is_there else None for start, end, is_there in parts]


def _check_floats(name: str, array: Array, shape: tuple[int, ...]) -> None:
    fits = array.dtype == np.float64 and array.shape == shape and np.isfinite(array).all()
    check(bool(fits), f"{name} must be {shape} finite numbers")
