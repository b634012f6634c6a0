"""LlamaIndex: a node postprocessor that reranks (llama-index-core 0.14)."""

from __future__ import annotations

from typing import Any

from rulerank.errors import DataError, MissingExtraError
from rulerank.serve.adapters.documents import KEY, opened, ranked

try:
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
except ImportError as error:
    raise MissingExtraError("llama-index", "llama-index-core") from error


class RulerankPostprocessor(BaseNodePostprocessor):
    """Rerank the nodes of a retriever; adds contributions to their metadata, excluded from prompts.

    reranker: a rr.Reranker, or the path of a saved one, which is reloaded when it is replaced.
    top_n: maximum number of results; None: all.
    text_field: the field with the node's text; the other fields come from the metadata.
    by_id: use the indexed documents of these ids instead.

    >>> import rulerank as rr
    >>> from llama_index.core.schema import TextNode
    >>> data = rr.datasets.make_ranking(n_queries=20, n_features=2, seed=0)
    >>> reranks = RulerankPostprocessor(reranker=rr.Reranker(rr.QueryIntercepts().fit(data)), top_n=1)
    >>> nodes = [
    ...     NodeWithScore(node=TextNode(text="Skimmed milk", metadata={"bm25_body": 0.1, "bm25_title": 0.2})),
    ...     NodeWithScore(node=TextNode(text="Fresh milk", metadata={"bm25_body": 0.9, "bm25_title": 0.8})),
    ... ]
    >>> best = reranks.postprocess_nodes(nodes, query_str="fresh milk")[0]
    >>> best.text, round(best.score, 3), best.metadata["rulerank"]["reasons"][1]["text"]
    ('Fresh milk', 1.028, 'bm25_title 0.8, highest of 2')
    """

    reranker: Any
    top_n: int | None = None
    text_field: str | None = None
    by_id: bool = False
    n_reasons: int = 3

    def model_post_init(self, context: Any, /) -> None:
        self.reranker = opened(self.reranker)

    @classmethod
    def class_name(cls) -> str:
        return "RulerankPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise DataError("reranking needs the query: give query_str or query_bundle")
        own = [one.node for one in nodes]
        given = [(node.get_content(metadata_mode=MetadataMode.NONE), node.metadata, node.node_id) for node in own]
        found = ranked(self, query_bundle.query_str, given, self.top_n)
        kept = [(_with_metadata(own[place], about), about["score"]) for place, about in found]
        return [NodeWithScore(node=node, score=score) for node, score in kept]


def _with_metadata(node: Any, new: dict[str, Any]) -> Any:
    """Return a copy of a node with new metadata, excluded from prompts and embeddings."""
    changes: dict[str, Any] = {"metadata": node.metadata | {KEY: new}}
    for name in ("excluded_llm_metadata_keys", "excluded_embed_metadata_keys"):
        before = getattr(node, name, [])
        changes[name] = before if KEY in before else [*before, KEY]
    return node.model_copy(update=changes)
