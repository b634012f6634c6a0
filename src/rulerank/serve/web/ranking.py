"""The requests of the service: rank, search and explain, each with one model.

The documents of a request are ids of the index, texts, or features; all of one kind, checked first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from rulerank.errors import DataError
from rulerank.serve.model_watch import WatchedReranker
from rulerank.serve.reranker import CANDIDATES, Ranking, Reranker, Result
from rulerank.web.requests import MAX_TEXT, RequestError, text, whole

LONGEST_VECTOR = 10_000
N_REASONS = 4  # contributions per document
MOST_LINES = 8  # of an explanation in sentences

Payload = dict[str, Any]
Id = Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)]
Scalar = str | int | float | bool | None
Fields = Annotated[dict[str, Scalar | Annotated[list[Scalar], Meta(max_length=LONGEST_VECTOR)]], Meta(min_length=1)]
Features = Annotated[dict[str, float | str | None], Meta(min_length=1)]
Vector = Annotated[list[Annotated[float, Meta(gt=-1e38, lt=1e38)]], Meta(min_length=1, max_length=LONGEST_VECTOR)]


class FeatureDocument(Struct, forbid_unknown_fields=True):
    """A document with features by name."""

    features: Features
    id: Id | UnsetType = UNSET


class AnyDocument(Struct, forbid_unknown_fields=True):
    """A document with features or texts."""

    fields: Fields | UnsetType = UNSET
    features: Features | UnsetType = UNSET
    id: Id | UnsetType = UNSET


def value_types(most: int, texts: bool) -> dict[str, Any]:
    """Return the types of request values; most: documents per request; texts: there is an index."""
    rows = 'features: {"id": "d1", "features": {"bm25": 2.5}}, null for missing values'
    about = f"The documents to rank, with {rows}."
    if texts:
        about = (
            'The documents to rank: ids of the index; texts, {"id": "d1", "fields": {"title": "..."}}; or '
            f"{rows}. Default: the top documents of the index by BM25."
        )
    item = Id | AnyDocument if texts else FeatureDocument
    types = {
        "documents": Annotated[list[item], Meta(min_length=1, max_length=most, description=about)],  # type: ignore[valid-type]
        "query": text("The text of the query; optional if documents have features."),
        "q": text("The text of the query."),
        "doc": text("The id of the document to explain."),
        "versus": text("The id of another document to compare it with."),
        "top": whole("Number of results [default: 10].", 1, most),
        "reasons": Annotated[bool, Meta(description="Return the contributions to each score [default: false].")],
        "features": Annotated[bool, Meta(description="Return the features of each document [default: false].")],
    }
    if texts:
        types["candidates"] = whole("Number of candidates from the index, by BM25 [default: 100].", 1, most)
        about = "The vectors of the query by field, for vector fields of the index."
        types["vectors"] = Annotated[dict[str, Vector], Meta(description=about)]
    return types


def read_documents(given: Sequence[Any] | None) -> tuple[list[Any] | None, list[str]]:
    """Return the documents of a request for a Reranker, and their ids; refuse documents of different kinds."""
    if given is None:
        return None, []
    kinds = [kind_of(place, doc) for place, doc in enumerate(given)]
    ids = [doc if isinstance(doc, str) else doc.id or str(place) for place, doc in enumerate(given)]
    first: dict[str, int] = {}
    for place, (kind, one) in enumerate(zip(kinds, ids, strict=True)):
        field, before = f"documents[{place}]", first.setdefault(one, place)
        if kind != kinds[0]:
            raise bad(field, f"{field} must be given by {kinds[0]}, like documents[0]: got {kind}")
        if before != place:
            raise bad(field, f"{field} must have a different id from documents[{before}]: got {one!a:.60}")
    if kinds[0] == "an id":
        return ids, ids
    if kinds[0] == "features":
        return [{"id": name, "features": doc.features} for name, doc in zip(ids, given, strict=True)], ids
    return [doc.fields | {"id": name} for name, doc in zip(ids, given, strict=True)], ids


def kind_of(place: int, doc: str | FeatureDocument | AnyDocument) -> str:
    if isinstance(doc, str):
        return "an id"
    fields = getattr(doc, "fields", UNSET)
    if (doc.features is UNSET) == (fields is UNSET):
        raise bad(f"documents[{place}]", f"documents[{place}] must have either fields or features")
    return "fields" if doc.features is UNSET else "features"


def bad(field: str, message: str, code: str = "bad_value") -> RequestError:
    return RequestError(422, code, message, field=field)


class Service:
    """A reranker over HTTP; without text features it ranks documents with features."""

    def __init__(
        self,
        reranker: Reranker | WatchedReranker,
        record: Callable[[Ranking], None] = lambda ranking: None,  # called with every ranking
    ) -> None:
        self.reranker = reranker
        self.record = record

    @property
    def n_documents(self) -> int | None:
        """Number of documents in the index; None without an index."""
        features = self.reranker.features
        return None if features is None else int(features.ids_.size)

    def rank(
        self,
        query: str | None = None,
        documents: list[Any] | None = None,
        top: int = 10,
        reasons: bool = False,
        features: bool = False,
        candidates: int = CANDIDATES,
        vectors: Any = None,
    ) -> Payload:
        """Rank documents, best first."""
        model, docs = self.reranker.current(), read_documents(documents)[0]
        found = self._ranked(model, query, docs, top, candidates, vectors)
        return found.to_dict(features=features, n_reasons=N_REASONS if reasons else 0) | {"query": query}

    def search(self, q: str, top: int = 10, reasons: bool = False, candidates: int = CANDIDATES) -> Payload:
        """Search the index; returns the ranking of the model and the baseline ranking."""
        model = self.reranker.current()
        found = self._ranked(model, q, None, None, candidates, None)
        first = sorted(found, key=lambda result: result.baseline_rank or 0)
        return {
            "query": q,
            "version": model.version,
            "n_docs": found.n_docs,
            "results": [_shown(result, N_REASONS if reasons else 0) for result in found[:top]],
            "baseline": [_shown(result, 0) for result in first[:top]],
        }

    def explain(
        self,
        doc: str,
        versus: str | None = None,
        query: str | None = None,
        documents: list[Any] | None = None,
        vectors: Any = None,
    ) -> Payload:
        """Explain the score of a document, or why it ranks above or below another one."""
        model, (docs, ids) = self.reranker.current(), read_documents(documents)
        if versus == doc:
            raise bad("versus", "versus must be a different document from doc")
        for name, one in (("doc", doc), ("versus", versus)):
            if docs is not None and one is not None and one not in ids:
                raise bad(name, f"{name} must be the id of one of the documents: got {one!a:.60}")
        self._check(model, query, docs)
        try:
            why = model.explain(query or "", doc, versus, docs, vectors=vectors)
        except DataError as error:
            raise _refusal(error, "doc" if docs is None else "documents") from None
        lines = why.lines(MOST_LINES)
        return {"version": model.version, "lines": lines, "digits": why.digits, "explanation": why.to_dict()}

    def _ranked(
        self, model: Reranker, query: str | None, docs: Any, top: int | None, candidates: int, vectors: Any
    ) -> Ranking:
        self._check(model, query, docs)
        try:
            found = model.rank(query or "", docs, top, candidates=candidates, vectors=vectors)
        except DataError as error:
            raise _refusal(error, "query" if docs is None else "documents") from None
        self.record(found)
        return found

    def _check(self, model: Reranker, query: str | None, docs: Any) -> None:
        """Refuse a request that lacks its documents or its query."""
        if docs is None and model.features is None:
            raise bad("documents", "documents is missing: the documents to rank, with their features", "missing_value")
        ready = docs is not None and isinstance(docs[0], dict) and "features" in docs[0]
        if query is None and not ready:
            raise bad("query", "query is missing: the text of the query", "missing_value")


def _refusal(error: DataError, field: str) -> RequestError:
    message = str(error).replace("give docs,", "give documents,")  # the name of the field in requests
    return bad(field, message, "not_possible")


def _shown(result: Result, n_reasons: int) -> Payload:
    """Return a result with the texts of its document."""
    texts = {name: (result.document or {}).get(name) for name in ("title", "text", "url")}
    cut = {name: None if value is None else str(value)[:400] for name, value in texts.items()}
    return result.to_dict(features=False, n_reasons=n_reasons) | cut
