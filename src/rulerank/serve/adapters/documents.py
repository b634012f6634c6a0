"""What the adapters share: texts with metadata in, scores and reasons as metadata out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from rulerank.core.parameters import shown
from rulerank.core.words import listed
from rulerank.errors import DataError
from rulerank.features.text_features import TextFeatures
from rulerank.serve.model_watch import WatchedReranker
from rulerank.serve.reranker import Reranker
from rulerank.serve.rows import ENGINE, FEATURES

KEY = "rulerank"  # the one key of metadata that adapters write, beside the score where the library has a place for it
USUAL = ("text", "content", "body", "description")  # names of the field that holds a document's text

AnyReranker = Reranker | WatchedReranker


def opened(reranker: Any) -> AnyReranker:
    """Return a reranker, given as such or by the path of a file, which is then followed."""
    if isinstance(reranker, str | PathLike):
        return Reranker.watch(reranker)
    if not isinstance(reranker, Reranker | WatchedReranker):
        raise DataError(f"reranker must be a rr.Reranker or the path of a saved one: got {shown(reranker)}")
    return reranker


def ranked(
    adapter: Any, query: str, documents: Sequence[tuple[str | None, Mapping[str, Any] | None, Any]], top: int | None
) -> list[tuple[int, dict[str, Any]]]:
    """Rank documents, each a text, metadata and an id: their places, best first, and what is known of each as metadata.

    adapter: has reranker, text_field, by_id and n_reasons. With TextFeatures, the text is one field and metadata of
    the same names are the others; by_id takes the indexed documents of these ids instead. Without, metadata holds the
    features, by name or under the key `features`.
    """
    model = adapter.reranker.current()  # one model, for its fields and its scores
    docs: list[Any]
    if adapter.by_id:
        docs = [str(id) for _, _, id in documents]
    elif model.features is None:
        docs = [{"id": id, FEATURES: (meta or {}).get(FEATURES, meta or {})} for _, meta, id in documents]
    else:
        field = field_of_text(model.features, adapter.text_field)
        names = {*(one.name for one in model.features.fields_), *ENGINE}
        docs = [
            {name: value for name, value in (meta or {}).items() if name in names} | {field: text, "id": id}
            for text, meta, id in documents
        ]
    found, version = model.rank(query, docs, top), model.version
    return [
        (one.place, one.to_dict(features=False, n_reasons=adapter.n_reasons) | {"version": version}) for one in found
    ]


def field_of_text(features: TextFeatures, given: str | None = None) -> str:
    """Return the field that holds the text of a document: the one that was named, or the only one it can be."""
    names = [field.name for field in features.fields_]
    if given is not None:
        if given not in names:
            raise DataError(f"text_field: there is no field {given!r:.60}; the fields are {listed(names)}")
        return given
    long = [field.name for field in features.fields_ if field.kind == "long text"]
    searched = [field.name for field in features.fields_ if field.searched]
    for found in (long, searched, [name for name in USUAL if name in searched][:1]):
        if len(found) == 1:
            return found[0]
    raise DataError(
        f"several fields may hold the text of a document: name it, text_field={(long or searched or names)[0]!r}; "
        f"the fields are {listed(names)}"
    )
