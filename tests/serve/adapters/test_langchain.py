"""LangChain's documents get the order, scores and reasons of the reranker; no library is loaded unused."""

import asyncio
import subprocess
import sys

import numpy as np
import pytest

import rulerank as rr
from rulerank.errors import DataError

PACKAGES = {"pyterrier": ("pyterrier", "pyterrier"), "langchain": ("langchain_core", "langchain-core")}


@pytest.fixture
def module(adapter):
    return adapter("langchain", "langchain_core")


@pytest.fixture(scope="module")
def query(shop):
    return shop.queries.texts[0]


@pytest.fixture(scope="module")
def found(reranker, query):
    return reranker.rank(query, sorted(reranker.rank(query, candidates=10, top=None).ids), top=None)


@pytest.fixture
def documents(module, shop, found):
    """The same ten documents in the order in which they were given."""
    records = {doc["id"]: dict(doc) for doc in shop.records}
    given = [records[one.id] for one in sorted(found, key=lambda one: one.place)]
    return [module.Document(page_content=doc.pop("description"), id=doc.pop("id"), metadata=doc) for doc in given]


def test_examples_run(module, examples_run):
    examples_run(module)


def test_documents_are_those_of_the_reranker(module, documents, reranker, query, found):
    compressor = module.RulerankCompressor(reranker=reranker)
    out = compressor.compress_documents(documents, query)
    for doc, expected in zip(out, found, strict=True):
        about = expected.to_dict(features=False) | {"version": found.version}
        assert (doc.id, doc.metadata["relevance_score"], doc.metadata["rulerank"]) == (
            expected.id,
            expected.score,
            about,
        )
    assert not any("rulerank" in doc.metadata for doc in documents)  # the input does not change
    assert [doc.id for doc in compressor.compress_documents(out, query)] == found.ids
    assert list(compressor.compress_documents([], query)) == []


def test_options_paths_and_ids_in_metadata(module, documents, reranker, query, found, tmp_path):
    reranker.save(tmp_path / "shop.rulerank")
    compressor = module.RulerankCompressor(reranker=tmp_path / "shop.rulerank", top_n=3, by_id=True, n_reasons=1)
    bare = [module.Document(page_content="", metadata={"id": doc.id}) for doc in documents]
    out = asyncio.run(compressor.acompress_documents(bare, query))
    assert [doc.metadata["rulerank"]["id"] for doc in out] == found.ids[:3]
    assert out[0].metadata["rulerank"]["reasons"] == found[0].to_dict(n_reasons=1)["reasons"]
    with pytest.raises(ValueError, match=r"reranker must be a rr\.Reranker or the path of a saved one: got 7"):
        module.RulerankCompressor(reranker=7)


@pytest.mark.parametrize(
    ("kinds", "given", "field"),
    [
        ({"title": "title", "story": "long text"}, None, "story"),
        ({"story": "text"}, None, "story"),
        ({"title": "title", "plot": "title"}, "plot", "plot"),
        ({"title": "title", "plot": "title"}, None, None),
        ({"title": "title", "plot": "title"}, "body", None),
    ],
    ids=str,
)
def test_the_field_of_the_text_is_found_or_asked_for(module, kinds, given, field):
    long = [f"{word} long text of many words that goes on and on " * 5 for word in ("first", "second")]
    features = rr.TextFeatures(fields=kinds).fit(rr.Documents(["0", "1"], dict.fromkeys(kinds, long)))
    data = rr.Dataset(np.eye(2, len(features.feature_names_)), [0, 1], [0, 0], feature_names=features.feature_names_)
    reranker = rr.Reranker(rr.GlobalRules().fit(data), features)
    compressor = module.RulerankCompressor(reranker=reranker, text_field=given)
    documents = [module.Document(page_content="first")]
    if field is None:
        with pytest.raises(DataError, match="text_field must be the field that page_content holds: choose from title"):
            compressor.compress_documents(documents, "first")
    else:
        expected = reranker.rank("first", [{field: "first"}])
        assert compressor.compress_documents(documents, "first")[0].metadata["relevance_score"] == expected[0].score


def test_features_are_in_the_metadata_or_under_a_key(module, synthetic, dicts):
    reranker = rr.Reranker(rr.GlobalRules().fit(synthetic))
    expected, compressor = reranker.rank("", dicts, top=None), module.RulerankCompressor(reranker=reranker)
    for metadata in (
        [doc | {"source": "shop"} for doc in dicts],
        [{"features": doc, "id": doc["id"]} for doc in dicts],
    ):
        given = [module.Document(page_content="", metadata=meta) for meta in metadata]
        about = [doc.metadata["rulerank"] for doc in compressor.compress_documents(given, "")]
        assert [(one["id"], one["score"]) for one in about] == [(one.id, one.score) for one in expected]
    with pytest.raises(DataError, match="the documents lack 6 of the 6 features of the model"):
        compressor.compress_documents([module.Document(page_content="x")], "")


@pytest.mark.parametrize("name", PACKAGES)
def test_a_library_that_is_missing_is_named(name, monkeypatch):
    package, distribution = PACKAGES[name]
    for loaded in [one for one in sys.modules if one.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.delitem(sys.modules, f"rulerank.serve.adapters.{name}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)  # importing it raises ImportError
    with pytest.raises(ImportError, match=rf"this needs {distribution}, which .* pip install 'rulerank\[{name}\]'"):
        __import__(f"rulerank.serve.adapters.{name}")


def test_none_is_loaded_unless_it_is_used():
    code = (
        "import sys, rulerank as rr, rulerank.serve.adapters, rulerank.serve; rr.Reranker; "
        f"print([one for one in {[package for package, _ in PACKAGES.values()]} if one in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
