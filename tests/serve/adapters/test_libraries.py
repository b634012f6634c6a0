"""Adapters give LangChain's documents, LlamaIndex' nodes and Haystack's documents the order, scores and reasons."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from rulerank.errors import DataError

NAMES = {"langchain": "langchain_core", "llama_index": "llama_index", "haystack": "haystack"}


@dataclass
class Library:
    """One library: how its documents are made, ranked and read."""

    module: Any
    make: Any  # of text, metadata, id
    rank: Any  # documents by an adapter
    read: Any  # a document's id, score and metadata
    options: dict[str, str]  # what it calls ours

    def adapter(self, reranker, **options):
        kind = next(kind for name, kind in vars(self.module).items() if name.startswith("Rulerank"))
        return kind(reranker=reranker, **{self.options.get(name, name): value for name, value in options.items()})


@pytest.fixture(params=NAMES)
def library(request, adapter, query):
    module = adapter(request.param, NAMES[request.param])
    if request.param == "langchain":
        return Library(
            module,
            lambda text, meta, id: module.Document(page_content=text, metadata=meta, id=id),
            lambda made, docs: made.compress_documents(docs, query),
            lambda doc: (doc.id, doc.metadata.get("relevance_score"), doc.metadata),
            {},
        )
    if request.param == "haystack":
        return Library(
            module,
            lambda text, meta, id: module.Document(content=text, meta=meta, id=id),
            lambda made, docs: made.run(query, docs)["documents"],
            lambda doc: (doc.id, doc.score, doc.meta),
            {"top_n": "top_k"},
        )
    from llama_index.core.schema import TextNode

    return Library(
        module,
        lambda text, meta, id: module.NodeWithScore(node=TextNode(text=text, metadata=meta, id_=id), score=0.5),
        lambda made, docs: made.postprocess_nodes(docs, query_str=query),
        lambda one: (one.node.node_id, one.score, one.metadata),
        {},
    )


@pytest.fixture
def documents(library, products):
    return [library.make(text, meta, id) for id, text, meta in products]


def check(library, out, found, n_reasons=3):
    """Documents are those of the reranker, in its order, and their metadata say what it says."""
    for doc, expected in zip(out, found, strict=False):
        id, score, meta = library.read(doc)
        assert (id, score) == (expected.id, expected.score)
        assert meta["rulerank"] == expected.to_dict(features=False, n_reasons=n_reasons) | {"version": found.version}


def test_examples_run(library, examples_run):
    examples_run(library.module)


def test_documents_are_those_of_the_reranker(library, documents, reranker, found):
    out = library.rank(library.adapter(reranker), documents)
    assert len(out) == len(found)
    check(library, out, found)
    assert not any("rulerank" in library.read(doc)[2] for doc in documents)  # the input is left as it was
    assert [library.read(doc)[0] for doc in library.rank(library.adapter(reranker), out)] == found.ids  # and again
    assert list(library.rank(library.adapter(reranker), [])) == []


def test_options_and_paths(library, products, reranker, found, tmp_path):
    reranker.save(tmp_path / "shop.rulerank")
    made = library.adapter(tmp_path / "shop.rulerank", top_n=3, by_id=True, n_reasons=1)
    out = library.rank(made, [library.make("", {}, id) for id, _, _ in products])
    assert len(out) == 3
    check(library, out, found, n_reasons=1)
    with pytest.raises(ValueError, match=r"reranker must be a rr\.Reranker or the path of a saved one: got 7"):
        library.adapter(7)


def test_langchain_takes_ids_from_metadata_and_works_in_time(adapter, products, reranker, query, found):
    module = adapter("langchain", "langchain_core")
    bare = [module.Document(page_content="", metadata={"id": id}) for id, _, _ in products]
    compressor = module.RulerankCompressor(reranker=reranker, by_id=True)
    out = asyncio.run(compressor.acompress_documents(bare, query))
    assert [doc.metadata["rulerank"]["id"] for doc in out] == found.ids


def test_a_language_model_is_not_shown_the_reasons(adapter, products, reranker, query):
    module = adapter("llama_index", "llama_index")
    from llama_index.core.schema import TextNode

    reranks = module.RulerankPostprocessor(reranker=reranker)
    out = [module.NodeWithScore(node=TextNode(text=text, metadata=meta, id_=id)) for id, text, meta in products]
    with pytest.raises(DataError, match="reranking needs the query: give query_str or query_bundle"):
        reranks.postprocess_nodes(out)
    for _ in range(2):
        out = reranks.postprocess_nodes(out, query_str=query)
        for one in out:
            for mode in (module.MetadataMode.LLM, module.MetadataMode.EMBED):
                content = one.node.get_content(metadata_mode=mode)
                assert "rulerank" not in content
                assert "price" in content
            assert one.node.excluded_llm_metadata_keys.count("rulerank") == 1


def test_a_pipeline_of_haystack_is_written_and_read(adapter, products, reranker, query, found, tmp_path):
    module = adapter("haystack", "haystack")
    from haystack import Pipeline

    documents = [module.Document(content=text, meta=meta, id=id) for id, text, meta in products]
    reranker.save(tmp_path / "shop.rulerank")
    pipeline = Pipeline()
    pipeline.add_component("ranker", module.RulerankRanker(tmp_path / "shop.rulerank", top_k=3))
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["rulerank.*"])
    out = again.run({"ranker": {"query": query, "documents": documents}})["ranker"]["documents"]
    assert [doc.id for doc in out] == found.ids[:3]
    out = again.run({"ranker": {"query": query, "documents": documents, "top_k": 1}})["ranker"]["documents"]
    assert [doc.id for doc in out] == found.ids[:1]
    with pytest.raises(DataError, match="only a component with a path can be serialised: save the reranker and"):
        module.RulerankRanker(reranker).to_dict()
