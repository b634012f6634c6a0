"""LangChain: a document compressor that reranks (langchain-core 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rulerank._util.words import listed
from rulerank.errors import DataError, MissingExtraError
from rulerank.serve.adapters import opened
from rulerank.serve.reranker import Reranker
from rulerank.serve.rows import FEATURES, comes_along

try:
    from langchain_core.documents import BaseDocumentCompressor, Document
except ImportError as error:
    raise MissingExtraError("langchain", "langchain-core") from error


class RulerankCompressor(BaseDocumentCompressor):
    """Rerank the documents of a retriever; adds score and contributions to their metadata.

    reranker: a rr.Reranker, or the path of a saved one, which is reloaded when it is replaced.
    top_n: maximum number of results; None: all.
    text_field: with TextFeatures, the field with page_content; the other fields come from the metadata.
    by_id: use the indexed documents of these ids instead. Without TextFeatures, the metadata has the features, by name
        or under the key `features`.
    n_reasons: number of contributions; 0: none.

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
        model = self.reranker.current()  # one model for the whole call
        found = model.rank(query, self._docs(model, documents), self.top_n)
        new = [one.to_dict(features=False, n_reasons=self.n_reasons) | {"version": model.version} for one in found]
        return [
            documents[one.place].model_copy(
                update={"metadata": documents[one.place].metadata | {"relevance_score": one.score, "rulerank": about}}
            )
            for one, about in zip(found, new, strict=True)
        ]

    def _docs(self, model: Reranker, documents: Sequence[Document]) -> list[Any]:
        """Return the documents for the reranker."""
        ids = [doc.metadata.get("id") if doc.id is None else doc.id for doc in documents]
        pairs = [*zip(documents, ids, strict=True)]
        if self.by_id:
            return [str(id) for id in ids]
        if model.features is None:
            return [{"id": id, FEATURES: doc.metadata.get(FEATURES, doc.metadata)} for doc, id in pairs]
        fields = model.features.fields_
        names = [field.name for field in fields]
        long = [field.name for field in fields if field.kind == "long text"]
        texts = [self.text_field] if self.text_field else long or [field.name for field in fields if field.searched]
        if len(texts) != 1 or texts[0] not in names:
            raise DataError(f"text_field must be the field that page_content holds: choose from {listed(names)}")
        return [
            {name: value for name, value in doc.metadata.items() if name in names or comes_along(name)}
            | {texts[0]: doc.page_content, "id": id}
            for doc, id in pairs
        ]
