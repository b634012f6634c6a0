"""What the service can do: requests as values in, answers as plain values out, each from one model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from rulerank.clicks.interleaving import interleave, key_of
from rulerank.dataset import UNLABELLED, Dataset
from rulerank.errors import DataError
from rulerank.serve.model_watch import WatchedReranker
from rulerank.serve.reranker import CANDIDATES, Reranker
from rulerank.serve.results import Ranking, Result
from rulerank.serve.web.documents import Given
from rulerank.web.refusals import RequestError

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
        query: str | None,
        documents: Given | None,
        feature_names: tuple[str, ...] | None,
        top: int | None,
        reasons: bool | None,
        features: bool | None,
        candidates: int | None = None,
        vectors: Any = None,
    ) -> Payload:
        """Rank documents."""
        model = self.reranker.current()
        documents = with_names(documents, feature_names)
        found = self._ranked(model, query, documents, 10 if top is None else top, candidates, vectors)
        results = [_result(result, reasons=bool(reasons), features=bool(features)) for result in found]
        return {"query": query, "version": model.version, "n_docs": found.n_docs, "results": results}

    def search(self, q: str, top: int | None, reasons: bool | None, candidates: int | None = None) -> Payload:
        """Search the index: today's ranking and the model's, side by side."""
        model = self.reranker.current()
        top = 10 if top is None else top
        found = self._ranked(model, q, None, None, candidates, None)
        first = sorted(found, key=lambda result: result.today or 0)[:top]
        return {
            "query": q,
            "version": model.version,
            "n_docs": found.n_docs,
            "results": [_result(result, reasons=bool(reasons)) | _texts(result) for result in found[:top]],
            "today": [_result(result) | _texts(result) for result in first],
        }

    def interleave(
        self,
        session: str,
        query: str | None,
        a: list[str] | None,
        b: list[str] | None,
        documents: Given | None,
        feature_names: tuple[str, ...] | None,
        top: int | None,
        candidates: int | None = None,
        vectors: Any = None,
    ) -> Payload:
        """Mix two orders into one list: those given, or today's and the model's."""
        if (a is None) != (b is None) or (a is not None and documents is not None):
            message = "give both orders, a and b, without documents; or neither, to mix today's ranking and the model's"
            raise RequestError(422, "bad_value", message, field="a" if a is None else "b" if b is None else "documents")
        version = None
        if a is None or b is None:
            if documents is None and self.features_only:
                message = "the request must hold documents with their features, or two orders, a and b"
                raise RequestError(422, "missing_value", message, field="documents")
            model = self.reranker.current()
            found = self._ranked(model, query, with_names(documents, feature_names), None, candidates, vectors)
            a = [result.id for result in sorted(found, key=lambda result: result.today or 0)]
            b, version = [result.id for result in found], model.version
        mixed = interleave(a, b, key_of(session, query or ""), top=10 if top is None else top)
        places = enumerate(zip(mixed.docs, mixed.teams, strict=True), 1)
        results = [{"id": doc, "position": place, "team": team} for place, (doc, team) in places]
        return {"query": query, "session": session, "version": version, "results": results}

    def explain(
        self,
        query: str | None,
        doc: str,
        versus: str | None,
        documents: Given | None,
        feature_names: tuple[str, ...] | None,
        vectors: Any = None,
    ) -> Payload:
        """Explain the score of a document, or why it stands above or below another one."""
        model = self.reranker.current()
        documents = with_names(documents, feature_names)
        if versus == doc:
            raise RequestError(422, "bad_value", "versus must be another document than doc", field="versus")
        for name, one in (("doc", doc), ("versus", versus)):
            if documents is not None and one is not None and one not in documents.ids:
                message = f"{name} must be the id of one of the documents: there is none {one!a:.60}"
                raise RequestError(422, "bad_value", message, field=name)
        ranking, docs = self._of(model, query, documents)
        try:
            if docs is None:
                why = ranking.explain(query or "", doc, versus, vectors=vectors)
            else:
                assert documents is not None
                place = documents.ids.index(doc)
                other = None if versus is None else documents.ids.index(versus)
                why = ranking.explain(query or "", place, other, docs, vectors=vectors)
        except DataError as error:
            raise _refusal(error, documents, "doc") from None
        self.scored(1 if documents is None else len(documents.ids))
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
        documents: Given | None,
        top: int | None,
        candidates: int | None,
        vectors: Any,
    ) -> Ranking:
        ranking, docs = self._of(model, query, documents)
        try:
            found = ranking.rank(query or "", docs, top, candidates=candidates or CANDIDATES, vectors=vectors)
        except DataError as error:
            raise _refusal(error, documents, "query") from None
        self.scored(found.n_docs)
        return found

    def _of(self, model: Reranker, query: str | None, documents: Given | None) -> tuple[Reranker, Any]:
        """Return what ranks these documents: as a ranker alone, where they come with their features."""
        if query is None and (documents is None or not documents.has_features):
            message = "the request must hold query: the words by which texts are ranked"
            raise RequestError(422, "missing_value", message, field="query")
        if documents is None:
            return model, None
        return (self._alone(model) if documents.has_features else model), documents.docs

    def _alone(self, model: Reranker) -> Reranker:
        known, bare = self._bare
        if known is not model:  # another model has taken over
            bare = _without_texts(model)
            self._bare = (model, bare)  # one reference: threads see both or neither
        return bare


def with_names(documents: Given | None, names: tuple[str, ...] | None) -> Given | None:
    """Return documents whose features came as lists as a table with the names beside them."""
    if documents is None or documents.rows is None:
        if names is not None:
            message = "feature_names must come with documents whose features are lists of numbers"
            raise RequestError(422, "bad_value", message, field="feature_names")
        return documents
    n_values = len(documents.rows[0])
    if names is None or len(names) != n_values or len({*names}) < n_values:
        message = f"feature_names must be the {n_values} different names of the numbers that documents have"
        raise RequestError(422, "bad_value" if names else "missing_value", message, field="feature_names")
    with np.errstate(over="ignore"):
        try:
            X = np.array(documents.rows, dtype=np.float32)
        except OverflowError:  # whole numbers beyond every float
            X = np.array([[_float(value) for value in row] for row in documents.rows], dtype=np.float32)
    if np.isinf(X).any():
        place, column = (int(found[0]) for found in np.nonzero(np.isinf(X)))
        field = f"documents[{place}].features"
        message = f"{field} must be numbers that fit float32, or null where missing: {names[column]!a:.60} does not"
        raise RequestError(422, "bad_value", message, field=field)
    ids = np.empty(len(documents.ids), dtype=object)
    ids[:] = documents.ids
    n_docs = len(ids)
    data = Dataset(X, np.full(n_docs, UNLABELLED), np.zeros(n_docs, dtype=np.int64), ids, names)
    return replace(documents, docs=data)


def _float(value: Any) -> float:
    try:
        return np.nan if value is None else float(value)
    except OverflowError:
        return np.inf


def _without_texts(model: Reranker) -> Reranker:
    if model.features is None:
        return model
    return Reranker(model.ranker, today=None if model.today is None else model.today.option)


def _refusal(error: DataError, documents: Given | None, otherwise: str) -> RequestError:
    field = otherwise if documents is None else "documents"
    message = str(error).replace("give docs,", "give documents,")  # as the field is called here
    return RequestError(422, "not_possible", message, field=field)


def _result(result: Result, *, reasons: bool = False, features: bool = False) -> Payload:
    found = {"id": result.id, "rank": result.rank, "score": result.score, "today": result.today}
    if features:
        found["features"] = result.features
    if reasons:
        found["reasons"] = [reason.to_dict() for reason in result.top_reasons(N_REASONS)]
    return found


def _texts(result: Result) -> Payload:
    shown = result.document or {}
    return {name: _text(shown.get(name)) for name in ("title", "text", "url")}


def _text(value: object) -> str | None:
    return None if value is None else str(value)[:400]
