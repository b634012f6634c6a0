"""The compressor gives LangChain's documents the reranker's order, scores and reasons."""

import asyncio

import pytest


@pytest.fixture
def module(adapter):
    return adapter("langchain", "langchain_core")


@pytest.fixture
def documents(module, products):
    return [module.Document(page_content=text, metadata=meta, id=one) for one, text, meta in products]


def test_examples_run(module, examples_run):
    examples_run(module)


def test_documents_are_those_of_the_reranker(module, documents, reranker, query, found, agrees):
    compressor = module.RulerankCompressor(reranker=reranker)
    out = compressor.compress_documents(documents, query)
    assert [doc.id for doc in out] == found.ids
    agrees([doc.metadata["rulerank"] for doc in out])
    assert [doc.metadata["relevance_score"] for doc in out] == found.scores
    given = {doc.id: doc for doc in documents}
    for doc in out:
        assert doc.page_content == given[doc.id].page_content
        assert given[doc.id].metadata.items() <= doc.metadata.items()
    assert not any("rulerank" in doc.metadata for doc in documents)  # the input is left as it was
    agrees([doc.metadata["rulerank"] for doc in asyncio.run(compressor.acompress_documents(documents, query))])


def test_options_and_paths(module, documents, reranker, query, found, agrees, tmp_path):
    reranker.save(tmp_path / "shop.rulerank")
    compressor = module.RulerankCompressor(reranker=str(tmp_path / "shop.rulerank"), top_n=3, by_id=True, n_reasons=1)
    bare = [doc.model_copy(update={"page_content": "", "metadata": {"id": doc.id}, "id": None}) for doc in documents]
    out = compressor.compress_documents(bare, query)
    agrees([doc.metadata["rulerank"] for doc in out], n_reasons=1)
    assert len(out) == 3
    assert compressor.compress_documents([], query) == []


def test_it_works_in_a_chain(module, documents, reranker, query, found):
    from langchain_core.runnables import RunnableLambda

    compressor = module.RulerankCompressor(reranker=reranker, top_n=2)
    chain = RunnableLambda(lambda text: compressor.compress_documents(documents, text))
    assert [doc.id for doc in chain.invoke(query)] == found.ids[:2]


def test_what_is_no_reranker_is_refused(module):
    with pytest.raises(ValueError, match=r"reranker must be a rr\.Reranker or the path of a saved one: got 7"):
        module.RulerankCompressor(reranker=7)
