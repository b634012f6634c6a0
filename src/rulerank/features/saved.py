"""What TextFeatures learned as plain values and arrays, and back, checked: loops read these arrays without looking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.features.analyser import Analyser
from rulerank.features.fields import KINDS, Field
from rulerank.features.index import Collection, Documents, Forward
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
    if any(field.kind not in KINDS for field in fields):
        raise DataError("a field has a kind that is not known")
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
    if len(vocabulary) < len(words) or {*known.kinds} != {*known.fields_of("category")}:
        raise DataError("its words or categories do not fit its fields")
    if {*known.sizes} != {*known.fields_of("vector")}:
        raise DataError("its vectors do not fit its fields")
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
    if forward.starts.shape != (len(known.searched), n_docs + 1):
        raise DataError("its words are of another number of fields or documents")
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
        if not fits or starts[0] != 0 or starts[-1] != codes.size or (np.diff(starts) < 0).any():
            raise DataError("the letters of its documents do not lie in a row")
    for name, column in documents.columns.items():
        if column.dtype != np.float64 or column.shape != (n_docs,):
            raise DataError(f"its column {name!r} does not have one number per document")
    for name, rows in documents.vectors.items():
        if rows.dtype != np.float32 or rows.shape != (n_docs, known.sizes.get(name)):
            raise DataError(f"its vectors {name!r} do not have one row per document")
    needs = {*known.fields_of("number", "year", "date", "category")}
    grams = {feature.field for feature in known.features if feature.measure == "grams"}
    if {*documents.columns} != needs or {*documents.vectors} != {*known.sizes} or {*documents.letters} != grams:
        raise DataError("its columns do not fit its fields")
    if any(len(values) != n_docs for values in documents.shown.values()):
        raise DataError("its texts are of another number of documents")
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
    if any(end < start for start, end in zip([0, *ends], ends, strict=False)) or (ends and ends[-1] != len(content)):
        raise DataError("its texts do not lie in a row")
    there = packed["there"].tolist()
    parts = zip([0, *ends[:-1]], ends, there, strict=True)
    return [content[start:end].decode() if is_there else None for start, end, is_there in parts]


def _check_floats(name: str, array: Array, shape: tuple[int, ...]) -> None:
    if array.dtype != np.float64 or array.shape != shape or not np.isfinite(array).all():
        raise DataError(f"{name} must be {shape} finite numbers")
