"""LangChain: a document compressor that reranks (langchain-core 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rulerank.errors import MissingExtraError
from rulerank.serve.adapters.documents import KEY, about, opened, ranked

try:
    from langchain_core.documents import BaseDocumentCompressor, Document
except ImportError as error:
    raise MissingExtraError("langchain", "langchain-core") from error


class RulerankCompressor(BaseDocumentCompressor):
    """Rerank the documents of a retriever; their metadata then say the score and the reasons.

    reranker: a rr.Reranker, or the path of a saved one, which is followed when it is replaced.
    top_n: how many to keep; None keeps all.
    text_field: the field that holds page_content; the others are looked for in the metadata.
    by_id: take the texts of the index instead, by the documents' ids.

    `metadata["relevance_score"]` is the score, `metadata["rulerank"]` has rank, reasons and the model's version.

    >>> import rulerank as rr
    >>> world = rr.make_ranking(n_queries=20, n_features=2, seed=0)
    >>> compressor = RulerankCompressor(reranker=rr.Reranker(rr.QueryIntercepts().fit(world)), top_n=1)
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
        found = ranked(
            self.reranker,
            query,
            [doc.page_content for doc in documents],
            [doc.metadata for doc in documents],
            [doc.metadata.get("id") if doc.id is None else doc.id for doc in documents],
            top=self.top_n,
            text_field=self.text_field,
            by_id=self.by_id,
        )
        more = [{"relevance_score": one.score, KEY: about(one, found.version, self.n_reasons)} for one in found]
        kept = [documents[one.place] for one in found]
        return [doc.model_copy(update={"metadata": doc.metadata | new}) for doc, new in zip(kept, more, strict=True)]
