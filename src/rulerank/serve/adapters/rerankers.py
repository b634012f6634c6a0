"""rerankers (AnswerDotAI): a ranker like all others of that library (rerankers 0.10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rulerank.errors import DataError, MissingExtraError
from rulerank.serve.adapters.documents import KEY, about, opened, ranked

try:
    from rerankers.documents import Document
    from rerankers.models.ranker import BaseRanker
    from rerankers.results import RankedResults, Result
except ImportError as error:
    raise MissingExtraError("rerankers", "rerankers") from error


class RulerankRanker(BaseRanker):
    """Rerank texts, or the library's documents, whose metadata then say the reasons.

    reranker: a rr.Reranker, or the path of a saved one, which is followed when it is replaced.
    text_field: the field that holds the text; the others are looked for in the metadata.
    by_id: take the texts of the index instead, by the documents' ids.

    >>> import rulerank as rr
    >>> world = rr.make_ranking(n_queries=20, n_features=2, seed=0)
    >>> ranker = RulerankRanker(rr.Reranker(rr.QueryIntercepts().fit(world)))
    >>> documents = [
    ...     Document("Skimmed milk", doc_id=7, metadata={"bm25_body": 0.1, "bm25_title": 0.2}),
    ...     Document("Fresh milk", doc_id=8, metadata={"bm25_body": 0.9, "bm25_title": 0.8}),
    ... ]
    >>> best = ranker.rank("fresh milk", documents).top_k(1)[0]
    >>> best.doc_id, round(best.score, 3), best.metadata["rulerank"]["reasons"][1]["text"]
    (8, 1.028, 'bm25_title 0.8, highest of 2')
    """

    def __init__(
        self,
        reranker: Any,
        verbose: int = 0,
        text_field: str | None = None,
        by_id: bool = False,
        n_reasons: int = 3,
    ) -> None:
        self.reranker = opened(reranker)
        self.verbose = verbose
        self.text_field = text_field
        self.by_id = by_id
        self.n_reasons = n_reasons

    def score(self, query: str, doc: str | Document) -> float:
        """Return the score of one document alone."""
        return float(self.rank(query, doc)[0].score)

    def rank(
        self,
        query: str,
        docs: str | Document | Sequence[str | Document],
        doc_ids: Sequence[str | int] | None = None,
        metadata: Sequence[dict[str, Any]] | None = None,
    ) -> RankedResults:
        """Return all documents, best first; ranks count from 1."""
        given = [docs] if isinstance(docs, str | Document) else list(docs)
        for name, values in (("doc_ids", doc_ids), ("metadata", metadata)):
            if values is not None and len(values) != len(given):
                raise DataError(f"{name} must have one entry per document: expected {len(given)}, got {len(values)}")
        own = [_document(doc, place, doc_ids, metadata) for place, doc in enumerate(given)]
        found = ranked(
            self.reranker,
            query,
            [doc.text for doc in own],
            [doc.metadata for doc in own],
            [doc.doc_id for doc in own],
            text_field=self.text_field,
            by_id=self.by_id,
        )
        results = []
        for one in found:
            doc = own[one.place]
            more = doc.metadata | {KEY: about(one, found.version, self.n_reasons)}
            results.append(Result(Document(doc.text, doc.doc_id, more), score=one.score, rank=one.rank))
        return RankedResults(results, query, has_scores=True)


def _document(doc: Any, place: int, doc_ids: Sequence[str | int] | None, metadata: Any) -> Document:
    """Return a document of the library, called by its place if nothing else is said."""
    is_document = isinstance(doc, Document)
    if not is_document and not isinstance(doc, str):
        raise DataError(f"docs must be texts or documents of rerankers: number {place} is a {type(doc).__name__}")
    if is_document and doc.text is None:
        raise DataError(f"docs must have texts: number {place} is an {doc.document_type}")
    own_id = doc.doc_id if is_document and doc.doc_id is not None else place
    own = doc.metadata if is_document else {}
    return Document(
        doc.text if is_document else doc,
        own_id if doc_ids is None else doc_ids[place],
        own if metadata is None else metadata[place],
    )
