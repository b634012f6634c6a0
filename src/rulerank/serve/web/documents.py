"""The documents of a request: ids of the index, texts, or ready features; all of one kind, checked before any work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType

from rulerank.dataset import UNLABELLED, Array, Dataset
from rulerank.web.requests import MAX_TEXT, RequestError, bad_value, text, whole

LONGEST_VECTOR = 10_000
MOST_FEATURES = 10_000

Id = Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)]
Scalar = str | int | float | bool | None
Fields = Annotated[dict[str, Scalar | Annotated[list[Scalar], Meta(max_length=LONGEST_VECTOR)]], Meta(min_length=1)]
Features = Annotated[dict[str, float | str | None], Meta(min_length=1)]
Row = Annotated[list[float | None], Meta(min_length=1, max_length=MOST_FEATURES)]
Vector = Annotated[list[Annotated[float, Meta(gt=-1e38, lt=1e38)]], Meta(min_length=1, max_length=LONGEST_VECTOR)]


class FeatureDocument(Struct, forbid_unknown_fields=True):
    """A document by its features: by name, or a list in the order of `feature_names`."""

    features: Features | Row
    id: Id | UnsetType = UNSET


class AnyDocument(Struct, forbid_unknown_fields=True):
    """A document by its features or by its texts."""

    fields: Fields | UnsetType = UNSET
    features: Features | Row | UnsetType = UNSET
    id: Id | UnsetType = UNSET


def document_types(most: int, texts: bool) -> dict[str, Any]:
    """Return what the values of requests may be; most: documents of one; texts: there is an index."""
    rows = 'features: {"id": "d1", "features": {"bm25": 2.5}}, null where a value is missing'
    about = f"The documents to rank, by their {rows}."
    if texts:
        about = (
            'The documents to rank: ids of the index; texts, {"id": "d1", "fields": {"title": "..."}}; or ready '
            f"{rows}. Without them, the best of the index by BM25."
        )
    item = Id | AnyDocument if texts else FeatureDocument
    names = 'The features whose values documents have as lists, {"id": "d1", "features": [2.5, null]}, in order.'
    only_once = {"uniqueItems": True}
    types = {
        "documents": Annotated[list[item], Meta(min_length=1, max_length=most, description=about)],  # type: ignore[valid-type]
        "feature_names": Annotated[list[Id], Meta(min_length=1, max_length=MOST_FEATURES, description=names)],
        "query": text("The query's words; not needed where documents come with their features."),
        "q": text("The query's words."),
        "doc": text("The id of the document to explain."),
        "versus": text("The id of another document to compare it with."),
        "session": text(
            "What tells this list from others, such as the session: the same one gives the same list for the query."
        ),
        "top": whole("How many documents to answer, the best ones [10].", 1, most),
        "reasons": Annotated[bool, Meta(description="Say of each document what its score is made of [false].")],
        "features": Annotated[bool, Meta(description="Answer the features of each document, too [false].")],
    }
    for team in ("a", "b"):
        about = f"One of two orders to mix, ids best first: team {team}."
        limits = Meta(min_length=1, max_length=most, description=about, extra_json_schema=only_once)
        types[team] = Annotated[list[Id], limits]
    if texts:
        about = "How many documents of the index are candidates, the best by BM25 [100]."
        types["candidates"] = whole(about, 1, most)
        about = "The query's vectors by field, where the index has fields of vectors."
        types["vectors"] = Annotated[dict[str, Vector], Meta(description=about)]
    return types


@dataclass(frozen=True, slots=True)
class DocumentList:
    """The documents of a request."""

    docs: Any  # ids, fields by name, {"id", "features"} or a Dataset, as a Reranker takes them
    ids: list[str]  # the place in the list where there is none
    has_features: bool = False  # they come with ready features


def read_documents(
    given: Sequence[str | FeatureDocument | AnyDocument] | None, names: Sequence[str] | None
) -> DocumentList | None:
    """Return the documents of a request, or name the one that is unlike the others; names: of features in lists."""
    kinds = [kind_of(place, doc) for place, doc in enumerate(given or ())]
    if names is not None and kinds[:1] != ["list of features"]:
        message = "feature_names must come with documents whose features are lists of numbers"
        raise RequestError(422, "bad_value", message, field="feature_names")
    if given is None:
        return None
    for place, kind in enumerate(kinds):
        if kind != kinds[0]:
            message = f"documents[{place}] must have what documents[0] has, {kinds[0]}: got {kind}"
            raise RequestError(422, "bad_value", message, field=f"documents[{place}]")
    ids = [doc if isinstance(doc, str) else doc.id or str(place) for place, doc in enumerate(given)]
    check_different(ids, "documents")
    rows: list[Any] = [doc if isinstance(doc, str) else getattr(doc, kinds[0].split()[-1]) for doc in given]
    if kinds[0] == "an id":
        return DocumentList(rows, ids)
    if kinds[0] == "fields":
        return DocumentList([row | {"id": name} for name, row in zip(ids, rows, strict=True)], ids)
    if kinds[0] == "features":
        return DocumentList(
            [{"id": name, "features": row} for name, row in zip(ids, rows, strict=True)], ids, has_features=True
        )
    return DocumentList(table_of(rows, ids, names), ids, has_features=True)


def kind_of(place: int, doc: str | FeatureDocument | AnyDocument) -> str:
    if isinstance(doc, str):
        return "an id"
    fields = getattr(doc, "fields", UNSET)
    if (doc.features is UNSET) == (fields is UNSET):
        message = f"documents[{place}] must hold either fields or features"
        raise RequestError(422, "bad_value", message, field=f"documents[{place}]")
    return "fields" if doc.features is UNSET else "list of features" if isinstance(doc.features, list) else "features"


def check_different(ids: Sequence[str], name: str) -> None:
    """Refuse ids of which one comes twice."""
    if len({*ids}) < len(ids):
        first = {doc: place for place, doc in reversed([*enumerate(ids)])}
        place, doc = next((place, doc) for place, doc in enumerate(ids) if first[doc] != place)
        raise bad_value(f"{name}[{place}]", f"another id than {name}[{first[doc]}]", doc)


def table_of(rows: list[list[float | None]], ids: Sequence[str], names: Sequence[str] | None) -> Dataset:
    """Return features that came as lists, with their names."""
    n_values, n_docs = len(rows[0]), len(rows)
    place = next((place for place, row in enumerate(rows) if len(row) != n_values), None)
    if place is not None:
        expected = f"a list of as many numbers as the first, {n_values}"
        raise bad_value(f"documents[{place}].features", expected, rows[place])
    if names is None or len(names) != n_values or len({*names}) < n_values:
        message = f"feature_names must be the {n_values} different names of the numbers that documents have"
        raise RequestError(422, "bad_value" if names else "missing_value", message, field="feature_names")
    with np.errstate(over="ignore"):
        X = np.array(rows, dtype=np.float32)
    if np.isinf(X).any():
        place, column = (int(found[0]) for found in np.nonzero(np.isinf(X)))
        field = f"documents[{place}].features"
        message = f"{field} must be numbers that fit float32, or null where missing: {names[column]!a:.60} does not"
        raise RequestError(422, "bad_value", message, field=field)
    docid: Array = np.empty(n_docs, dtype=object)
    docid[:] = ids
    return Dataset(X, np.full(n_docs, UNLABELLED), np.zeros(n_docs, dtype=np.int64), docid, tuple(names))
