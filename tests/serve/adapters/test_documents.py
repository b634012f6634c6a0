"""What adapters share: which field holds the text, what is loaded, and what is said where a library is missing."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.serve.adapters.documents import field_of_text, ranked

PACKAGES = {
    "pyterrier": ("pyterrier", "pyterrier"),
    "haystack": ("haystack", "haystack-ai"),
    "langchain": ("langchain_core", "langchain-core"),
    "llama_index": ("llama_index", "llama-index-core"),
}


@pytest.mark.parametrize("name", PACKAGES)
def test_a_library_that_is_missing_is_named(name, monkeypatch):
    package, distribution = PACKAGES[name]
    for loaded in [one for one in sys.modules if one.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.delitem(sys.modules, f"rulerank.serve.adapters.{name}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)  # importing it raises ImportError
    extra = name.replace("_", "-")
    with pytest.raises(
        ImportError,
        match=rf"this needs {distribution}, which is not installed; install it with: pip install 'rulerank\[{extra}\]'",
    ):
        __import__(f"rulerank.serve.adapters.{name}")


def test_none_is_loaded_unless_it_is_used():
    code = (
        "import sys, rulerank as rr, rulerank.serve.adapters.documents, rulerank.serve; rr.Reranker; "
        f"print([one for one in {[package for package, _ in PACKAGES.values()]} if one in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


LONG = ["a long text of many words that goes on and on " * 5, "another long text of many words that goes on " * 5]


@pytest.mark.parametrize(
    ("kinds", "given", "field"),
    [
        ({"title": "title", "story": "long text"}, None, "story"),
        ({"story": "text"}, None, "story"),
        ({"title": "title", "body": "text"}, None, "body"),
        ({"title": "title", "story": "long text", "plot": "long text", "text": "text"}, None, "text"),
        ({"title": "title", "plot": "title"}, "plot", "plot"),
        ({"title": "title", "plot": "title"}, None, "several fields may have the text of a document: name it, text_f"),
        ({"title": "title", "plot": "title"}, "body", "text_field: no field 'body'; the fields are title, plot"),
    ],
    ids=str,
)
def test_the_field_of_the_text_is_found_or_asked_for(kinds, given, field):
    features = rr.TextFeatures(fields=kinds).fit(rr.Documents(["0", "1"], dict.fromkeys(kinds, LONG)))
    if " " in field:
        with pytest.raises(DataError, match=field):
            field_of_text(features, given)
    else:
        assert field_of_text(features, given) == field


def test_ready_features_lie_in_the_metadata_or_under_a_key(synthetic, dicts):
    reranker = rr.Reranker(rr.GlobalRules().fit(synthetic))
    expected = reranker.rank("", dicts, top=None)
    ids = [doc["id"] for doc in dicts]
    adapter = SimpleNamespace(reranker=reranker, text_field=None, by_id=False, n_reasons=0)
    for metadata in ([doc | {"source": "shop"} for doc in dicts], [{"features": doc} for doc in dicts]):
        found = ranked(adapter, "", [(None, meta, id) for meta, id in zip(metadata, ids, strict=True)], None)
        assert [(one["id"], one["score"]) for _, one in found] == [(one.id, one.score) for one in expected]
    with pytest.raises(DataError, match="the documents lack 6 of the 6 features of the model"):
        ranked(adapter, "", [(None, None, id) for id in ids], None)
