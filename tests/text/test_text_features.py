"""Text features: equal to their plain twins, to bm25s, and the same bits however they are computed."""

import math
import warnings

import numpy as np
import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.judging.pool import read_pool


def test_a_field_of_weight_zero_brings_no_candidates():
    texts = rr.Documents(["1", "2"], {"title": ["milk", "cheese"], "body": ["cheese milk", "cheese cheese"]})
    for k1 in (0.0, 1.2):
        features = rr.TextFeatures({"title": "title", "body": "text"}, k1=k1, weights={"body": 0}).fit(texts)
        assert features.for_query("milk milk cheese").docid.tolist() in (["1", "2"], ["2", "1"])
        assert features.for_query("milk").docid.tolist() == ["1"]
        assert features.for_query("milk", ["2"]).X[0, features.feature_names_.index("bm25(all)")] == 0


FILMS = rr.Documents(
    ["1", "2", "3"],
    {
        "title": ["It", "Insidious: Chapter 2", "X"],
        "overview": ["A clown. " * 20, None, "Actors on a farm. " * 10],
        "genres": [["Horror"], ["Horror", "Thriller"], []],
        "year": [2017, 2013, None],
        "votes": [17000, 5000, 0],
        "url": ["https://a.example/it.jpg", None, "https://a.example/x.jpg"],
    },
)


def test_missing_is_missing_and_not_zero():
    data = rr.TextFeatures(features=["covered(overview)", "bm25(genres)", "year", "near(year)"]).fit(FILMS)
    X = data.for_query("horror 2013", ["1", "2", "3"]).X
    assert np.isnan(X).tolist() == [[False] * 4, [True, False, False, False], [False, True, True, True]]
    assert X[1].tolist()[2:] == [2013, 1.0]
    assert np.isnan(data.for_query("horror", ["1"]).X[0, 3])


def test_one_letter_words_and_stop_words_are_found():
    features = rr.TextFeatures().fit(FILMS)
    for query, doc in (("it", "1"), ("insidious 2", "2"), ("x", "3")):
        assert features.for_query(query).docid[0] == doc


def test_texts_travel_with_the_rows():
    queries = rr.Queries(["q"], ["insidious"])
    data = rr.TextFeatures().fit(FILMS).dataset(queries, rr.Qrels(["q", "q"], ["2", "3"], [1, 0]))
    assert {name: texts.tolist() for name, texts in data.texts.items()} == {
        "query_text": ["insidious", "insidious"],
        "title": ["Insidious: Chapter 2", "X"],
        "text": [None, "Actors on a farm. " * 10],
        "url": [None, "https://a.example/x.jpg"],
        "genres": ["Horror, Thriller", None],
    }
    assert (data.docid.tolist(), data.y.tolist()) == (["2", "3"], [1, 0])


PAPERS = rr.Documents(
    ["1", "2", "3"],
    {
        "headline": ["Red box", "Blue box", "Big box"],
        "author": ["Al Roe", None, "Jo Doe"],
        "day": ["2024-01-31", "2024-02-01", None],
        "year": [2024, 2024, 2023],
        "price": [7.0, 7.5, None],
        "vector": [[1.0], [2.0], [3.0]],
        "grade": ["A", "B", "A"],
        "query_text": ["x", "y", "z"],
    },
)


def test_all_fields_are_kept_for_people_to_read():
    """Under their own names; numbers and categories that are features are read there."""
    features = rr.TextFeatures(features=["bm25(all)", "day", "year"]).fit(PAPERS)
    texts = features.for_query("box", ["1", "2", "3"]).texts
    assert {name: column.tolist() for name, column in texts.items()} == {
        "query_text": ["box"] * 3,
        "title": ["Red box", "Blue box", "Big box"],
        "author": ["Al Roe", None, "Jo Doe"],
        "day": ["2024-01-31", "2024-02-01", None],
        "price": ["7", "7.5", None],
        "grade": ["A", "B", "A"],
    }


@pytest.mark.parametrize("format", ["csv", "tsv", "parquet"])
def test_a_pool_of_any_format_keeps_the_fields(format, tmp_path):
    data = rr.TextFeatures().fit(PAPERS).dataset(rr.Queries(["q"], ["box"]))
    path = tmp_path / f"pool.{format}"
    rr.io.write_table(data, path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again, pool = rr.read_table(path), read_pool(path, show=["author", "day", "year"])
    assert again.feature_names == data.feature_names == pool.data.feature_names
    assert {name: column.tolist() for name, column in again.texts.items()} == {
        name: column.tolist() for name, column in data.texts.items()
    }
    row = pool.row("q", "1")
    assert [(field.name, field.text) for field in pool.shown(row)["fields"]] == [
        ("author", "Al Roe"),
        ("day", "2024-01-31"),
        ("year", "2024"),
    ]


def test_candidates_that_nobody_judged_are_not_labelled():
    queries = rr.Queries(["q"], ["horror"])
    features = rr.TextFeatures().fit(FILMS)
    data = features.dataset(queries, rr.Qrels(["q"], ["3"], [1]), unjudged="skip")
    assert dict(zip(data.docid, data.y.tolist(), strict=True)) == {"1": -1, "2": -1, "3": 1}
    with pytest.warns(UserWarning, match="no judgement has grade 0: 2 documents without a judgement count"):
        data = features.dataset(queries, rr.Qrels(["q"], ["3"], [1]))
    assert dict(zip(data.docid, data.y.tolist(), strict=True)) == {"1": 0, "2": 0, "3": 1}
    assert dict(zip(data.docid, data.base.extra.tolist(), strict=True)) == {"1": False, "2": False, "3": True}
    assert "3" not in features.dataset(queries, rr.Qrels(["q"], ["3"], [1]), unjudged=0, judged_extra=False).docid


def test_pairs_bring_the_rank_and_score_of_the_engine():
    pairs = rr.read_run(__import__("io").BytesIO(b"q Q0 3 1 9.5 solr\nq Q0 1 2 7.0 solr\n"))
    data = rr.TextFeatures(features=["year"]).fit(FILMS).dataset(rr.Queries(["q"], ["x"]), pairs=pairs)
    assert data.feature_names == ("year", "engine_rank", "engine_score")
    assert data.docid.tolist() == ["3", "1"]
    assert data.X[:, 1:].tolist() == [[1.0, 9.5], [2.0, 7.0]]


def test_what_is_not_there_is_left_out_and_counted():
    features = rr.TextFeatures().fit(FILMS)
    qrels = rr.Qrels(["q", "q", "p"], ["1", "7", "1"], [1, 1, 1])
    with pytest.warns(UserWarning, match="left out") as caught:
        data = features.dataset(rr.Queries(["q", "empty"], ["it", "zzz"]), qrels, top=0)
    assert len(data) == 1
    messages = [str(one.message) for one in caught]
    assert "1 of 3 judgements left out: they are of unknown queries, such as 'p'" in messages
    assert "1 of 3 judgements count as not retrieved: they are of unknown documents, such as '7'" in messages
    assert "1 query without any document left out: 'empty' ..." in messages


def test_no_candidate_at_all_is_an_error():
    with pytest.raises(DataError, match="no query has a candidate: no word of the queries is in the documents"):
        rr.TextFeatures().fit(FILMS).dataset(rr.Queries(["q"], ["zzz"]))


def test_a_query_with_no_known_word_has_zeros_and_one_without_words_has_nothing():
    features = rr.TextFeatures(features=["bm25(title)", "covered(title)", "grams(title)", "length(title)"]).fit(FILMS)
    assert features.for_query("zzz", ["1"]).X.tolist() == [[0, 0, 0, 1]]
    assert len(features.for_query("zzz")) == 0
    nothing = features.for_query("!!! 👍", ["1"]).X[0]
    assert np.isnan(nothing).tolist() == [True, True, True, False]


def test_a_new_category_of_a_given_document_is_a_new_name_and_not_missing():
    texts = rr.Documents(["1", "2", "3"], {"title": ["milk", "tea", "milk tea"], "brand": ["lg", "sony", "lg"]})
    made = rr.TextFeatures({"title": "title", "brand": "category"}, ["brand"]).fit(texts)
    found = made.for_query("milk", [{"brand": "sony"}, {"brand": "new"}, {"id": "x"}])
    assert found.docid.tolist() == ["0", "1", "x"]
    assert found.categories == {"brand": ("lg", "sony", "new")}
    assert np.array_equal(found.X[:, 0], [1, 2, np.nan], equal_nan=True)
    assert made.for_query("milk").categories == {"brand": ("lg", "sony")}


def test_logarithms_of_numbers():
    data = rr.TextFeatures(features=["votes", "log(votes)"]).fit(FILMS).for_query("x", ["1", "2", "3"])
    assert data.X[[0, 2], 1].tolist() == pytest.approx([math.log(17001), 0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"fields": ["titel"]},
            "there is no field 'titel'; the documents have title, overview, genres, year, votes, url",
        ),
        ({"fields": {"title": "txt"}}, "unknown kind 'txt' of field 'title'; choose from title, text, long text"),
        ({"fields": "title"}, "fields must be a list of names, or a dict of kinds by name: got 'title'"),
        ({"features": ["bm25(titel)"]}, r"unknown feature 'bm25\(titel\)': there is no field 'titel', only title"),
        ({"features": ["bm26(title)"]}, r"unknown feature 'bm26\(title\)'; choose from bm25\(title\), cosine\(title\)"),
        ({"features": ["year", "year"]}, "features must differ: 'year' appears twice"),
        ({"features": "year"}, "features must be a list of names such as"),
        ({"language": "klingon"}, "unknown language 'klingon'; choose from none, ar"),
        ({"weights": {"year": 2}}, "weights: 'year' is not a field of searched words; choose from title"),
        ({"weights": {"title": -1}}, "weights must be a dict of numbers from 0 to 1000 by field"),
        ({"k1": -1}, "k1 must be a number from 0 to 100: got -1"),
        ({"fields": ["url"]}, "no field gives a feature: name fields and their kinds"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(DataError, match=message):
        rr.TextFeatures(**parameters).fit(FILMS)


def test_wrong_calls_are_named():
    with pytest.raises(DataError, match=r"expected documents from rr\.read_documents: got list"):
        rr.TextFeatures().fit(["a"])
    with pytest.raises(DataError, match="expected at least one document"):
        rr.TextFeatures().fit(rr.Documents([], {}))
    with pytest.raises(DataError, match="TextFeatures is not fitted"):
        rr.TextFeatures().for_query("x")
    features = rr.TextFeatures().fit(FILMS)
    with pytest.raises(DataError, match="there is no document '9' in the index; give its fields as a dict"):
        features.for_query("x", ["9"])
    with pytest.raises(DataError, match=r"expected queries from rr\.read_queries: got str"):
        features.dataset("x")
    with pytest.raises(DataError, match="a document must be a dict of fields: number 1 is a int"):
        features.for_query("x", [{}, 3])
    assert repr(features) == "TextFeatures(3 documents, 13 features)"


def test_fields_of_dates_are_features_of_dates():
    texts = rr.Documents(["1", "2"], {"title": ["red hat", "blue hat"], "added": ["2026-11-18", "2020-01-01"]})
    data = rr.TextFeatures().fit(texts).for_query("hat")
    assert data.dates == ("added",)
    assert sorted(data.X[:, data.feature_names.index("added")].tolist()) == [18262, 20775]
