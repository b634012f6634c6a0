"""The ranker for `rerankers` gives texts and documents the reranker's order, scores and reasons."""

import asyncio

import pytest

from rulerank.errors import DataError


@pytest.fixture
def module(adapter):
    return adapter("rerankers", "rerankers")


@pytest.fixture
def documents(module, products):
    return [module.Document(text, one, meta) for one, text, meta in products]


def test_examples_run(module, examples_run):
    examples_run(module)


def test_results_are_those_of_the_reranker(module, documents, reranker, query, found, agrees):
    ranker = module.RulerankRanker(reranker)
    out = ranker.rank(query, documents)
    assert [one.doc_id for one in out] == found.ids
    assert [(one.score, one.rank) for one in out] == [(one.score, one.rank) for one in found]
    agrees([one.metadata["rulerank"] for one in out])
    assert out.query == query
    assert out.results_count() == len(documents)
    assert [one.doc_id for one in out.top_k(3)] == found.ids[:3]
    assert out.get_score_by_docid(found.ids[1]) == found.scores[1]
    assert not any("rulerank" in doc.metadata for doc in documents)  # the input is left as it was
    again = asyncio.run(_ranked(ranker, query, documents))
    assert [one.doc_id for one in again] == found.ids
    assert ranker.score(query, documents[found[0].place]) == found.scores[0]


async def _ranked(ranker, query, documents):
    return await ranker.rank_async(query, documents)


def test_plain_texts_keep_their_ids(module, reranker, products, query):
    texts = [text for _, text, _ in products]
    ranker = module.RulerankRanker(reranker)
    expected = reranker.rank(query, [{"description": text} for text in texts], top=None)
    assert [one.doc_id for one in ranker.rank(query, texts)] == [one.place for one in expected]
    ids = [100 + place for place in range(len(texts))]
    assert [one.doc_id for one in ranker.rank(query, texts, ids)] == [100 + one.place for one in expected]
    metadata = [meta for _, _, meta in products]
    full = [{"description": text} | meta for text, meta in zip(texts, metadata, strict=True)]
    expected = reranker.rank(query, full, top=None)
    assert [one.score for one in ranker.rank(query, texts, metadata=metadata)] == expected.scores
    assert ranker.rank(query, texts[0])[0].text == texts[0]
    assert list(ranker.rank(query, [])) == []


def test_what_does_not_fit_is_refused(module, reranker, query):
    ranker = module.RulerankRanker(reranker)
    with pytest.raises(DataError, match="doc_ids must have one entry per document: expected 2, got 1"):
        ranker.rank(query, ["a", "b"], [1])
    with pytest.raises(DataError, match="metadata must have one entry per document: expected 1, got 2"):
        ranker.rank(query, "a", metadata=[{}, {}])
    with pytest.raises(DataError, match="docs must be texts or documents of rerankers: number 1 is a int"):
        ranker.rank(query, ["a", 7])
    image = module.Document(document_type="image", image_path="a.png")
    with pytest.raises(DataError, match="docs must have texts: number 0 is an image"):
        ranker.rank(query, [image])
    assert issubclass(module.RulerankRanker, module.BaseRanker)
