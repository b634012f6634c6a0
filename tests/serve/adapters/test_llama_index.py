"""The postprocessor gives LlamaIndex' nodes the reranker's order, scores and reasons."""

import asyncio

import pytest

from rulerank.errors import DataError


@pytest.fixture
def module(adapter):
    return adapter("llama_index", "llama_index")


@pytest.fixture
def nodes(module, products):
    from llama_index.core.schema import TextNode

    return [
        module.NodeWithScore(node=TextNode(text=text, metadata=meta, id_=one), score=0.5)
        for one, text, meta in products
    ]


def test_examples_run(module, examples_run):
    examples_run(module)


def test_nodes_are_those_of_the_reranker(module, nodes, reranker, query, found, agrees):
    reranks = module.RulerankPostprocessor(reranker=reranker)
    out = reranks.postprocess_nodes(nodes, query_str=query)
    assert [one.node.node_id for one in out] == found.ids
    assert [one.score for one in out] == found.scores
    agrees([one.metadata["rulerank"] for one in out])
    assert not any("rulerank" in one.metadata for one in nodes)  # the input is left as it was
    again = asyncio.run(reranks.apostprocess_nodes(out, query_str=query))
    assert [one.node.node_id for one in again] == found.ids


def test_a_language_model_is_not_shown_the_reasons(module, nodes, reranker, query):
    out = module.RulerankPostprocessor(reranker=reranker, top_n=2).postprocess_nodes(nodes, query_str=query)
    for _ in range(2):
        for one in out:
            for mode in (module.MetadataMode.LLM, module.MetadataMode.EMBED):
                content = one.node.get_content(metadata_mode=mode)
                assert "rulerank" not in content
                assert "price" in content
            assert one.node.excluded_llm_metadata_keys.count("rulerank") == 1
        out = module.RulerankPostprocessor(reranker=reranker).postprocess_nodes(out, query_str=query)


def test_options_and_paths(module, nodes, reranker, query, agrees, tmp_path):
    reranker.save(tmp_path / "shop.rulerank")
    reranks = module.RulerankPostprocessor(reranker=tmp_path / "shop.rulerank", top_n=3, by_id=True, n_reasons=1)
    out = reranks.postprocess_nodes(nodes, query_str=query)
    agrees([one.metadata["rulerank"] for one in out], n_reasons=1)
    assert len(out) == 3
    assert reranks.postprocess_nodes([], query_str=query) == []
    assert reranks.class_name() == "RulerankPostprocessor"


def test_a_query_is_needed(module, nodes, reranker):
    with pytest.raises(DataError, match="reranking needs the query: give query_str or query_bundle"):
        module.RulerankPostprocessor(reranker=reranker).postprocess_nodes(nodes)
