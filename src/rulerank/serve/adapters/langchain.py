"""LangChain: a document compressor that reranks (langchain-core 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rulerank.errors import MissingExtraError
from rulerank.serve.adapters.documents import KEY, opened, ranked

try:
    from langchain_core.documents import BaseDocumentCompressor, Document
except ImportError as error:
    raise MissingExtraError("langchain", "langchain-core") from error


class RulerankCompressor(BaseDocumentCompressor):
    """Rerank the documents of a retriever; adds score and contributions to their metadata.

    reranker: a rr.Reranker, or the path of a saved one, which is reloaded when it is replaced.
    top_n: maximum number of results; None: all.
    text_field: the field with page_content; the other fields come from the metadata.
    by_id: use the indexed documents of these ids instead.

    `metadata["relevance_score"]` is the score, `metadata["rulerank"]` has rank, reasons and model version.

    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=20, n_features=2, seed=0)
    >>> compressor = RulerankCompressor(reranker=rr.Reranker(rr.QueryIntercepts().fit(data)), top_n=1)
    >>> documents = [
    ...     Document("Skimmed milk", metadata={"bm25_body": 0.1, "bm25_title": 0.2}),
    ...     Document("Fresh milk", metadata={"bm25_body": 0.9, "bm25_title": 0.8}),
    ... ]
    >>> best = compressor.compress_documents(documents, "fresh milk")[0]
    >>> best.page_content, round(best.metadata["relevance_score"], 3), best.metadata["rulerank"]["reasons"][1]["text"]
    ('Fresh milk', 1.028, 'bm25_title 0.8, highest of 2')
    """

    reranker: Any
    top_n: int | None = None
    text_field: str | None = None
    by_id: bool = False
    n_reasons: int = 3

    def model_post_init(self, context: Any, /) -> None:
        self.reranker = opened(self.reranker)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Any = None
    ) -> Sequence[Document]:
        """Return the documents in their new order."""
        ids = [doc.metadata.get("id") if doc.id is None else doc.id for doc in documents]
        given = [(doc.page_content, doc.metadata, id) for doc, id in zip(documents, ids, strict=True)]
        found = ranked(self, query, given, self.top_n)
        kept = [(documents[place], {"relevance_score": about["score"], KEY: about}) for place, about in found]
        return [doc.model_copy(update={"metadata": doc.metadata | new}) for doc, new in kept]
