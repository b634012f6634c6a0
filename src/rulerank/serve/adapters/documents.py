"""Shared by the adapters: texts with metadata in, scores and contributions as metadata out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from rulerank._util.parameters import shown
from rulerank._util.words import listed
from rulerank.errors import DataError
from rulerank.serve.model_watch import WatchedReranker
from rulerank.serve.reranker import Reranker
from rulerank.serve.rows import FEATURES, comes_along
from rulerank.text.text_features import TextFeatures

KEY = "rulerank"  # the metadata key that adapters write, besides the score of the library
USUAL = ("text", "content", "body", "description")  # usual names of the text field

AnyReranker = Reranker | WatchedReranker


def opened(reranker: Any) -> AnyReranker:
    """Return a reranker, given as such or as a path, which is then watched."""
    if isinstance(reranker, str | PathLike):
        return Reranker.watch(reranker)
    if not isinstance(reranker, Reranker | WatchedReranker):
        raise DataError(f"reranker must be a rr.Reranker or the path of a saved one: got {shown(reranker)}")
    return reranker


def ranked(
    adapter: Any, query: str, documents: Sequence[tuple[str | None, Mapping[str, Any] | None, Any]], top: int | None
) -> list[tuple[int, dict[str, Any]]]:
    """Rank documents (text, metadata, id); return their indexes, best first, with new metadata.

    adapter: has reranker, text_field, by_id and n_reasons. With TextFeatures, the text is one field and the other
    fields come from the metadata; with by_id, the indexed documents are used instead. Without TextFeatures, the
    metadata has the features, by name or under the key `features`.
    """
    model = adapter.reranker.current()  # one model for the whole call
    docs: list[Any]
    if adapter.by_id:
        docs = [str(id) for _, _, id in documents]
    elif model.features is None:
        docs = [{"id": id, FEATURES: (meta or {}).get(FEATURES, meta or {})} for _, meta, id in documents]
    else:
        field = field_of_text(model.features, adapter.text_field)
        names = {one.name for one in model.features.fields_}
        docs = [
            {name: value for name, value in (meta or {}).items() if name in names or comes_along(name)}
            | {field: text, "id": id}
            for text, meta, id in documents
        ]
    found, version = model.rank(query, docs, top), model.version
    return [
        (one.place, one.to_dict(features=False, n_reasons=adapter.n_reasons) | {"version": version}) for one in found
    ]


def field_of_text(features: TextFeatures, given: str | None = None) -> str:
    """Return the field with the text of a document: the given one, or the only candidate."""
    names = [field.name for field in features.fields_]
    if given is not None:
        if given not in names:
            raise DataError(f"text_field: no field {given!r:.60}; the fields are {listed(names)}")
        return given
    long = [field.name for field in features.fields_ if field.kind == "long text"]
    searched = [field.name for field in features.fields_ if field.searched]
    for found in (long, searched, [name for name in USUAL if name in searched][:1]):
        if len(found) == 1:
            return found[0]
    raise DataError(
        f"several fields may have the text of a document: name it, text_field={(long or searched or names)[0]!r}; "
        f"the fields are {listed(names)}"
    )
