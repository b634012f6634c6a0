"""What the service can do: requests as values in, answers as plain values out, each from one model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rulerank.clicks.interleaving import interleave, key_of
from rulerank.errors import DataError
from rulerank.serve.model_watch import WatchedReranker
from rulerank.serve.reranker import CANDIDATES, Reranker
from rulerank.serve.results import Ranking, Result
from rulerank.serve.web.documents import DocumentList, check_different, read_documents
from rulerank.web.requests import RequestError

Payload = dict[str, Any]
N_REASONS = 3  # short ones, of each document
MOST_LINES = 8  # of an explanation in sentences


class Service:
    """A reranker as HTTP sees it.

    features_only: documents come with ready features, whatever the model file holds beside its ranker.
    """

    def __init__(
        self,
        reranker: Reranker | WatchedReranker,
        *,
        features_only: bool = False,
        scored: Callable[[int], None] = lambda n_docs: None,  # is told how many documents each answer took
    ) -> None:
        self.reranker = reranker
        self.features_only = features_only or reranker.features is None
        self.scored = scored
        self._bare = (reranker.current(), _without_texts(reranker.current()))

    def rank(
        self,
        query: str | None = None,
        documents: list[Any] | None = None,
        feature_names: list[str] | None = None,
        top: int = 10,
        reasons: bool = False,
        features: bool = False,
        candidates: int = CANDIDATES,
        vectors: Any = None,
    ) -> Payload:
        """Rank documents: the best first."""
        model = self.reranker.current()
        docs = read_documents(documents, feature_names)
        found = self._ranked(model, query, docs, top, candidates, vectors)
        results = [_result(result, reasons=reasons, features=features) for result in found]
        return {"query": query, "version": model.version, "n_docs": found.n_docs, "results": results}

    def search(self, q: str, top: int = 10, reasons: bool = False, candidates: int = CANDIDATES) -> Payload:
        """Search the index: today's ranking and the model's, side by side."""
        model = self.reranker.current()
        found = self._ranked(model, q, None, None, candidates, None)
        first = sorted(found, key=lambda result: result.today or 0)[:top]
        return {
            "query": q,
            "version": model.version,
            "n_docs": found.n_docs,
            "results": [_result(result, reasons=reasons) | _texts(result) for result in found[:top]],
            "today": [_result(result) | _texts(result) for result in first],
        }

    def interleave(
        self,
        session: str,
        query: str | None = None,
        a: list[str] | None = None,
        b: list[str] | None = None,
        documents: list[Any] | None = None,
        feature_names: list[str] | None = None,
        top: int = 10,
        candidates: int = CANDIDATES,
        vectors: Any = None,
    ) -> Payload:
        """Mix two orders into one list: those given, or today's and the model's."""
        if (a is None) != (b is None) or (a is not None and documents is not None):
            message = "give both orders, a and b, without documents; or neither, to mix today's ranking and the model's"
            raise RequestError(422, "bad_value", message, field="a" if a is None else "b" if b is None else "documents")
        version = None
        if a is None or b is None:
            model = self.reranker.current()
            docs = read_documents(documents, feature_names)
            found = self._ranked(model, query, docs, None, candidates, vectors)
            a = [result.id for result in sorted(found, key=lambda result: result.today or 0)]
            b, version = [result.id for result in found], model.version
        check_different(a, "a")
        check_different(b, "b")
        mixed = interleave(a, b, key_of(session, query or ""), top=top)
        places = enumerate(zip(mixed.docs, mixed.teams, strict=True), 1)
        results = [{"id": doc, "position": place, "team": team} for place, (doc, team) in places]
        return {"query": query, "session": session, "version": version, "results": results}

    def explain(
        self,
        doc: str,
        versus: str | None = None,
        query: str | None = None,
        documents: list[Any] | None = None,
        feature_names: list[str] | None = None,
        vectors: Any = None,
    ) -> Payload:
        """Explain the score of a document, or why it ranks above or below another one."""
        model = self.reranker.current()
        docs = read_documents(documents, feature_names)
        if versus == doc:
            raise RequestError(422, "bad_value", "versus must be another document than doc", field="versus")
        for name, one in (("doc", doc), ("versus", versus)):
            if docs is not None and one is not None and one not in docs.ids:
                message = f"{name} must be the id of one of the documents: there is none {one!a:.60}"
                raise RequestError(422, "bad_value", message, field=name)
        reranker = self._reranker_for(model, query, docs)
        try:
            if docs is None:
                why = reranker.explain(query or "", doc, versus, vectors=vectors)
            else:
                place = docs.ids.index(doc)
                other = None if versus is None else docs.ids.index(versus)
                why = reranker.explain(query or "", place, other, docs.docs, vectors=vectors)
        except DataError as error:
            raise _refusal(error, docs, "doc") from None
        self.scored(1 if docs is None else len(docs.ids))
        return {
            "version": model.version,
            "lines": why.lines(MOST_LINES),
            "digits": why.digits,
            "explanation": why.to_dict(),
        }

    @property
    def n_documents(self) -> int | None:
        """How many documents the index holds; None: there is no index."""
        features = None if self.features_only else self.reranker.features
        return None if features is None else int(features.ids_.size)

    def _ranked(
        self,
        model: Reranker,
        query: str | None,
        docs: DocumentList | None,
        top: int | None,
        candidates: int,
        vectors: Any,
    ) -> Ranking:
        reranker = self._reranker_for(model, query, docs)
        try:
            found = reranker.rank(query or "", docs and docs.docs, top, candidates=candidates, vectors=vectors)
        except DataError as error:
            raise _refusal(error, docs, "query") from None
        self.scored(found.n_docs)
        return found

    def _reranker_for(self, model: Reranker, query: str | None, docs: DocumentList | None) -> Reranker:
        """Return what ranks these documents: a ranker alone, where they come with their features."""
        if docs is None and self.features_only:
            message = "the request must hold documents with their features"
            raise RequestError(422, "missing_value", message, field="documents")
        if query is None and (docs is None or not docs.has_features):
            message = "the request must hold query: the words by which texts are ranked"
            raise RequestError(422, "missing_value", message, field="query")
        return self._alone(model) if docs is not None and docs.has_features else model

    def _alone(self, model: Reranker) -> Reranker:
        known, bare = self._bare
        if known is not model:  # another model has taken over
            bare = _without_texts(model)
            self._bare = (model, bare)  # one reference: threads see both or neither
        return bare


def _without_texts(model: Reranker) -> Reranker:
    if model.features is None:
        return model
    return Reranker(model.ranker, today=None if model.today is None else model.today.option)


def _refusal(error: DataError, docs: DocumentList | None, otherwise: str) -> RequestError:
    field = otherwise if docs is None else "documents"
    message = str(error).replace("give docs,", "give documents,")  # as the field is called here
    return RequestError(422, "not_possible", message, field=field)


def _result(result: Result, *, reasons: bool = False, features: bool = False) -> Payload:
    found: Payload = {"id": result.id, "rank": result.rank, "score": result.score, "today": result.today}
    if features:
        found["features"] = result.features
    if reasons:
        found["reasons"] = result.top_reasons(N_REASONS)
    return found


def _texts(result: Result) -> Payload:
    shown = result.document or {}
    return {name: _text(shown.get(name)) for name in ("title", "text", "url")}


def _text(value: object) -> str | None:
    return None if value is None else str(value)[:400]
