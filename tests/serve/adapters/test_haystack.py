"""The component gives Haystack's documents the reranker's order, scores and reasons, in a pipeline too."""

import pytest

from rulerank.errors import DataError


@pytest.fixture
def module(adapter):
    return adapter("haystack", "haystack")


@pytest.fixture
def documents(module, products):
    return [module.Document(content=text, meta=meta, id=one) for one, text, meta in products]


def test_examples_run(module, examples_run):
    examples_run(module)


def test_documents_are_those_of_the_reranker(module, documents, reranker, query, found, agrees):
    out = module.RulerankRanker(reranker).run(query, documents)["documents"]
    assert [doc.id for doc in out] == found.ids
    assert [doc.score for doc in out] == found.scores
    agrees([doc.meta["rulerank"] for doc in out])
    assert not any("rulerank" in doc.meta or doc.score for doc in documents)  # the input is left as it was


def test_it_runs_in_a_pipeline_that_is_written_and_read(module, documents, reranker, query, found, agrees, tmp_path):
    from haystack import Pipeline

    reranker.save(tmp_path / "shop.rulerank")
    pipeline = Pipeline()
    pipeline.add_component("ranker", module.RulerankRanker(tmp_path / "shop.rulerank", top_k=3, n_reasons=1))
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["rulerank.*"])
    for one in (pipeline, again):
        out = one.run({"ranker": {"query": query, "documents": documents}})["ranker"]["documents"]
        agrees([doc.meta["rulerank"] for doc in out], n_reasons=1)
        assert len(out) == 3
        out = one.run({"ranker": {"query": query, "documents": documents, "top_k": 1}})["ranker"]["documents"]
        assert [doc.id for doc in out] == found.ids[:1]


def test_the_texts_of_the_index_are_found_by_id(module, documents, reranker, query, agrees):
    bare = [module.Document(content=None, id=doc.id) for doc in documents]
    out = module.RulerankRanker(reranker, by_id=True).run(query, bare)["documents"]
    agrees([doc.meta["rulerank"] for doc in out])
    assert module.RulerankRanker(reranker).run(query, [])["documents"] == []


def test_a_component_without_a_path_cannot_be_written(module, reranker):
    with pytest.raises(DataError, match="a component is written with the path of its model: save the reranker and"):
        module.RulerankRanker(reranker).to_dict()
