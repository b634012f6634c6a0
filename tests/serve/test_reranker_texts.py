"""Reranking texts: the index's own candidates, documents by id, and documents that the index has never seen."""

import numpy as np
import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.model_file import load


@pytest.fixture(scope="module")
def query(shop):
    return shop.queries.texts[0]


def test_the_index_gives_the_candidates_when_no_documents_are_named(reranker, features, query):
    found = reranker.rank(query, top=None, candidates=15)
    data = features.for_query(query, top=15)
    expected = reranker.ranker.predict(data)
    assert len(found) == len(data)
    assert {result.id: result.score for result in found} == dict(zip(data.docid, expected, strict=True))
    assert [data.docid[result.place] for result in found] == found.ids
    assert [result.baseline_rank for result in found] == [result.place + 1 for result in found]


def test_ids_and_dicts_of_the_same_documents_score_alike(reranker, shop, query):
    documents = {doc["id"]: doc for doc in shop.records}
    ids = [*documents][:20]
    by_id = reranker.rank(query, ids, top=None)
    by_text = reranker.rank(query, [documents[one] for one in ids], top=None)
    assert by_id.ids == by_text.ids
    assert by_id.scores == by_text.scores
    assert by_id[0].features == by_text[0].features
    assert by_text[0].document == documents[by_text.ids[0]]
    shown = by_id[0].document
    assert {"title", "text", "url"} <= {*shown}
    assert shown["title"] == documents[by_id.ids[0]]["title"]


def test_categories_are_called_by_name_and_go_back_in(reranker, ranker, query):
    found = reranker.rank(query, top=None)
    assert isinstance(found[0].features["brand"], str)
    alone = rr.Reranker(ranker)
    again = alone.rank("", [{"id": result.id, "features": result.features} for result in found], top=None)
    assert again.ids == found.ids
    assert again.scores == found.scores
    assert again[0].features == found[0].features
    new = alone.rank("", [found[0].features | {"brand": "never seen"}])[0]
    assert abs(sum(reason.adds for reason in new.reasons) - new.score) < 1e-9
    for wrong in (2, 0.0, True, ["a", "b"]):
        with pytest.raises(DataError, match=r"^document 0: the model knows 'brand' as a category \('.*\): give n"):
            alone.rank("", [found[0].features | {"brand": wrong}])
    missing, empty = (alone.rank("", [found[0].features | {"brand": none}])[0] for none in (None, ""))
    assert missing.score == empty.score
    assert new.features["brand"] == "never seen"


def test_ready_features_may_come_where_there_are_texts(reranker, features, query):
    found = reranker.rank(query, top=None)
    docs = [{"id": result.id, "features": result.features} for result in found]
    assert reranker.rank(query, docs, top=None).scores == found.scores
    data = features.for_query(query)
    assert sorted(reranker.rank(query, data, top=None).scores) == sorted(found.scores)
    with pytest.raises(DataError, match="all docs must have features, or none: 1 of 2 have them"):
        reranker.rank(query, [docs[0], {"title": "tent"}])


def test_data_frames_and_generators_are_lists_of_documents(reranker, shop, query):
    import pandas as pd
    import polars as pl

    docs = shop.records[:6]
    expected = reranker.rank(query, docs)
    for given in (pd.DataFrame(docs), pl.DataFrame(docs), (doc for doc in docs)):
        found = reranker.rank(query, given)
        assert (found.ids, found.scores) == (expected.ids, expected.scores)
    assert reranker.explain(query, docs[2]["id"], docs=(doc for doc in docs)).document == docs[2]["id"]
    ids = (doc["id"] for doc in docs)
    assert reranker.rank(query, ids).scores == expected.scores


def test_what_is_no_character_is_no_word(reranker):
    plain = reranker.rank("watering can", top=None)
    assert reranker.rank("watering \ud800 can\x00\x01", top=None).ids == plain.ids
    assert len(reranker.rank("can", [{"title": "a \udfff can"}])) == 1


def test_a_reranker_can_be_pickled_and_copied(reranker, query, tmp_path):
    import copy
    import pickle

    reranker.save(tmp_path / "model.rulerank")
    watched = rr.Reranker.watch(tmp_path / "model.rulerank")
    expected = reranker.rank(query).to_dict()
    for one in (reranker, watched):
        assert pickle.loads(pickle.dumps(one)).rank(query).to_dict() == expected
        assert copy.deepcopy(one).rank(query).to_dict() == expected


def test_a_dict_without_fields_is_the_indexed_document(reranker, shop, query):
    ids = [*shop.documents.ids[:5]]
    expected = reranker.rank(query, ids)
    found = reranker.rank(query, [{"id": one, "source": "engine"} for one in ids])
    assert (found.ids, found.scores) == (expected.ids, expected.scores)
    assert found[0].document == expected[0].document | {"id": found[0].id, "source": "engine"}
    with pytest.raises(DataError, match="there is no document 'nope' in the index; give its fields as a dict"):
        reranker.rank(query, [{"id": "nope"}])
    assert reranker.rank(query, [{}])[0].features["price"] is None  # a document of nothing


def test_documents_bring_what_the_engine_said(shop, features, query, tmp_path):
    lines = []
    for qid, text in zip(shop.queries.ids, shop.queries.texts, strict=True):
        found = features.for_query(text, top=10).docid
        lines += [f"{qid} Q0 {one} {place} {20 - place}.5 engine" for place, one in enumerate(found, start=1)]
    (tmp_path / "engine.run").write_text("\n".join(lines))
    pairs = rr.read_run(str(tmp_path / "engine.run"))
    data = shop.graded(features.dataset(shop.queries, pairs=pairs))
    reranker = rr.Reranker(rr.GlobalRules().fit(data), features, baseline="engine_rank")
    assert {"engine_rank", "engine_score"} <= {*reranker.feature_names}
    rows = data[data.qid == shop.queries.ids[0]]
    docs = [
        {"id": one, "engine_rank": place, "engine_score": 20.5 - place}
        for place, one in enumerate(rows.docid.tolist(), start=1)
    ]
    found = reranker.rank(query, docs, top=None)
    expected = reranker.ranker.predict(rows)
    assert [expected[result.place] for result in found] == found.scores
    assert [result.baseline_rank for result in found] == [result.place + 1 for result in found]
    texts = {doc["id"]: doc for doc in shop.records}
    assert reranker.rank(query, [texts[doc["id"]] | doc for doc in docs], top=None).scores == found.scores
    assert reranker.explain(query, found[0].id, docs=docs).score == found[0].score
    reranker.save(tmp_path / "model.rulerank")
    again = load(tmp_path / "model.rulerank")
    assert again.rank(query, docs, top=None).to_dict() == found.to_dict()
    for without in (None, found.ids):
        with pytest.raises(DataError, match="the ranker needs engine_rank, engine_score with the documents: "):
            reranker.rank(query, without)
    with pytest.raises(DataError, match="the documents lack 1 of the 2 features of the model: engine_score; give null"):
        reranker.rank(query, [{"id": found.ids[0], "engine_rank": 1}])


def test_a_field_that_holds_no_text_is_refused(reranker, query):
    with pytest.raises(DataError, match="row 0: field 'title' must hold text, a number, or a list"):
        reranker.rank(query, [{"title": {}}])


def test_whole_numbers_are_ids(ranker, shop):
    numbers = rr.Documents([str(number) for number in range(200)], shop.documents.fields)
    reranker = rr.Reranker(ranker, rr.TextFeatures().fit(numbers))
    assert sorted(reranker.rank("tent", [1, np.int64(2)]).ids) == ["1", "2"]


def test_an_empty_document_and_one_of_a_megabyte_are_ranked(reranker, query):
    long = "waterproof tent " * 65_536
    found = reranker.rank(query, [{}, {"title": long, "description": long}, {"id": "x", "title": query}])
    assert sorted(found.ids) == ["0", "1", "x"]
    assert len(reranker.rank(long, ["p0001"])) == 1


# the baseline ranking


def test_the_baselines_rank_is_that_of_the_named_feature(ranker, features, query):
    reranker = rr.Reranker(ranker, features, baseline="-price")
    found = reranker.rank(query, top=None)
    price = [result.features["price"] for result in sorted(found, key=lambda result: result.baseline_rank)]
    assert price == sorted(price)
    with pytest.raises(DataError, match="baseline ranking: there is no feature 'bm25'; the data has grams"):
        rr.Reranker(ranker, features, baseline="bm25")


def test_documents_may_bring_the_baselines_score_along(synthetic, dicts):
    ranker = rr.GlobalRules().fit(synthetic)
    reranker = rr.Reranker(ranker, baseline="engine_rank")
    docs = [doc | {"engine_rank": len(dicts) - place} for place, doc in enumerate(dicts)]
    found = reranker.rank("", docs, top=None)
    assert all(result.baseline_rank == len(dicts) - result.place for result in found)
    docs[0]["engine_rank"] = None
    assert {result.place: result.baseline_rank for result in reranker.rank("", docs, top=None)}[0] == len(dicts)
    beside = [{"features": doc, "engine_rank": doc["engine_rank"]} for doc in docs]
    for doc in beside:
        doc["features"] = {name: value for name, value in doc["features"].items() if name != "engine_rank"}
    assert [one.baseline_rank for one in reranker.rank("", beside)] == [
        one.baseline_rank for one in reranker.rank("", docs)
    ]
    nested = [{"features": doc} for doc in docs]
    assert [result.baseline_rank for result in reranker.rank("", nested)] == [
        result.baseline_rank for result in reranker.rank("", docs)
    ]
    with pytest.raises(DataError, match="baseline: no document has the feature 'engine_rank'"):
        reranker.rank("", dicts)


# explanations


def test_a_document_is_explained_alone_and_beside_another(reranker, shop, query):
    found = reranker.rank(query, top=None)
    why = reranker.explain(query, found[0].id)
    assert why.score == found[0].score
    assert why.document == found[0].id
    both = reranker.explain(query, found[2].id, found[0].id)
    assert (both.high.document, both.low.document) == (found[0].id, found[2].id)
    assert both.high.score - both.low.score == both.difference
    in_list = reranker.explain(query, found[-1].id, versus=found[0].id, docs=found.ids)
    assert in_list.high.document == found[0].id
    far = next(one for one in shop.documents.ids if one not in found.ids)
    assert reranker.explain(query, far).document == far


def test_a_score_that_depends_on_the_list_is_explained_in_it(shop, features, query):
    data = shop.graded(features.dataset(shop.queries, top=20))
    reranker = rr.Reranker(rr.GlobalRules(normalize="zscore").fit(data), features)
    assert reranker.list_matters
    found = reranker.rank(query, top=None, candidates=10)
    why = reranker.explain(query, found[1].id, candidates=10)
    assert why.score == found[1].score
    few = found.ids[:4]
    again = reranker.rank(query, few)
    assert reranker.explain(query, few[2], docs=few).score == next(r.score for r in again if r.id == few[2])
    far = next(one for one in shop.documents.ids if one not in found.ids)
    with pytest.raises(
        DataError, match=f"the document '{far}' is not among the 10 candidates of the query: give docs, the list"
    ):
        reranker.explain(query, far, candidates=10)
    with pytest.raises(DataError, match="the document 'nope' is not in docs: give one of their ids"):
        reranker.explain(query, "nope", docs=few)
