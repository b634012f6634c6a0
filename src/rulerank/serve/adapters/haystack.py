"""Haystack: a component that reranks (haystack-ai 3)."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike, fspath
from typing import Any

from rulerank.errors import DataError, MissingExtraError
from rulerank.serve.adapters.documents import KEY, opened, ranked

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError as error:
    raise MissingExtraError("haystack", "haystack-ai") from error


@component
class RulerankRanker:
    """Rerank the documents of a retriever; adds contributions to their meta.

    reranker: a rr.Reranker, or the path of a saved one, which is reloaded when it is replaced. Only a pipeline with a
        path can be serialised.
    top_k: maximum number of results; None: all.
    text_field: the field with the content; the other fields come from the meta.
    by_id: use the indexed documents of these ids instead.

    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=20, n_features=2, seed=0)
    >>> ranks = RulerankRanker(rr.Reranker(rr.QueryIntercepts().fit(data)), top_k=1)
    >>> documents = [
    ...     Document(content="Skimmed milk", meta={"bm25_body": 0.1, "bm25_title": 0.2}),
    ...     Document(content="Fresh milk", meta={"bm25_body": 0.9, "bm25_title": 0.8}),
    ... ]
    >>> best = ranks.run("fresh milk", documents)["documents"][0]
    >>> best.content, round(best.score, 3), best.meta["rulerank"]["reasons"][1]["text"]
    ('Fresh milk', 1.028, 'bm25_title 0.8, highest of 2')
    """

    def __init__(
        self,
        reranker: Any,
        top_k: int | None = None,
        text_field: str | None = None,
        by_id: bool = False,
        n_reasons: int = 3,
    ) -> None:
        self.path = fspath(reranker) if isinstance(reranker, str | PathLike) else None
        self.reranker = opened(reranker)
        self.top_k = top_k
        self.text_field = text_field
        self.by_id = by_id
        self.n_reasons = n_reasons

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document], top_k: int | None = None) -> dict[str, list[Document]]:
        """Return the documents in their new order."""
        given = [(doc.content, doc.meta, doc.id) for doc in documents]
        found = ranked(self, query, given, self.top_k if top_k is None else top_k)
        kept = [(documents[place], about) for place, about in found]
        return {"documents": [replace(doc, score=about["score"], meta=doc.meta | {KEY: about}) for doc, about in kept]}

    def to_dict(self) -> dict[str, Any]:
        """Return the component in the format of Haystack."""
        if self.path is None:
            raise DataError("only a component with a path can be serialised: save the reranker and give its path")
        more = {name: getattr(self, name) for name in ("top_k", "text_field", "by_id", "n_reasons")}
        found: dict[str, Any] = default_to_dict(self, reranker=self.path, **more)
        return found

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RulerankRanker:
        """Return the component from `to_dict`."""
        made: RulerankRanker = default_from_dict(cls, data)
        return made
