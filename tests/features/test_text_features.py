"""Text features: equal to their plain twins, to bm25s, and the same bits however they are computed."""

import math
import subprocess
import sys

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain import text_features as plain

import rulerank as rr
from rulerank.errors import DataError

WORDS = ["milk", "fresh", "x", "2", "sugar", "red", "box"]
word_lists = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8)
documents = st.lists(st.tuples(word_lists, st.lists(word_lists, min_size=1, max_size=3)), min_size=1, max_size=6)


def texts_of(docs):
    fields = {
        "title": [" ".join(title) for title, _ in docs],
        "tags": [[" ".join(item) for item in items] for _, items in docs],
        "price": [float(i) for i in range(len(docs))],
    }
    return rr.Texts([f"d{i}" for i in range(len(docs))], fields)


KINDS = {"title": "title", "tags": "list", "price": "number"}


def fitted(docs, **parameters):
    return rr.TextFeatures(KINDS, "all", "none", **parameters).fit(texts_of(docs))


@given(documents, word_lists)
def test_every_feature_agrees_with_the_plain_way(docs, query):
    features = fitted(docs)
    fields = [[title, [word for item in items for word in item]] for title, items in docs]
    data = features.for_query(" ".join(query), list(features.ids_))
    for row, (title, items) in enumerate(docs):
        found = dict(zip(data.feature_names, data.X[row].tolist(), strict=True))
        both = [*title, *fields[row][1]]
        wanted = {
            "bm25(all)": plain.bm25(fields, [3, 1], query, row),
            "covered(title)": plain.covered(fields, query, title),
            "covered(all)": plain.covered(fields, query, both),
            "covered(best)": max(plain.covered(fields, query, field) for field in fields[row]),
            "terms(tags)": plain.terms(query, fields[row][1]),
            "cosine(title)": plain.cosine(fields, query, title),
            "cosine(all)": plain.cosine(fields, query, both),
            "run(title)": plain.run(query, [title]),
            "run(tags)": plain.run(query, items),
            "phrase(tags)": plain.run(query, items) == len(query),
            "exact(title)": title == query,
            "exact(tags)": query in items,
            "prefix(title)": title[: len(query)] == query,
            "length(tags)": len(fields[row][1]),
            "length(all)": len(both),
            "grams(title)": plain.grams(" ".join(query), " ".join(title)),
            "price": row,
            "query_terms": len(set(query)),
        }
        if len(query) > 1:
            wanted["pairs(tags)"] = plain.pairs(query, items)
        if len({word for word in query if word in title}) > 1:
            wanted["close(title)"] = plain.close(query, title)
        if set(query) & {*title}:
            wanted["first(title)"] = plain.first(query, title)
        for name, value in wanted.items():
            assert found[name] == pytest.approx(float(value), rel=1e-5, abs=1e-6), name


@given(st.lists(word_lists, min_size=2, max_size=6), word_lists)
def test_bm25_equals_bm25s(docs, query):
    query = [word for word in query if any(word in doc for doc in docs)] or docs[0][:1]
    peer = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
    peer.index(docs, show_progress=False)
    texts = rr.Texts([str(i) for i in range(len(docs))], {"body": [" ".join(doc) for doc in docs]})
    features = rr.TextFeatures({"body": "text"}, ["bm25(body)", "bm25(all)"], "none").fit(texts)
    data = features.for_query(" ".join(query), list(features.ids_))
    expected = peer.get_scores(query)
    assert data.X[:, 0] == pytest.approx(expected, rel=1e-5)
    assert data.X[:, 1] == pytest.approx(expected, rel=1e-5)


@given(st.lists(st.tuples(word_lists, word_lists), min_size=2, max_size=6), word_lists)
def test_bm25_of_all_fields_is_bm25s_with_the_title_three_times(docs, query):
    query = [word for word in query if any(word in title + body for title, body in docs)] or docs[0][0][:1]
    peer = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
    peer.index([title * 3 + body for title, body in docs], show_progress=False)
    fields = {"title": [" ".join(title) for title, _ in docs], "body": [" ".join(body) for _, body in docs]}
    texts = rr.Texts([str(i) for i in range(len(docs))], fields)
    features = rr.TextFeatures({"title": "title", "body": "text"}, ["bm25(all)"], "none").fit(texts)
    data = features.for_query(" ".join(query), list(features.ids_))
    assert data.X[:, 0] == pytest.approx(peer.get_scores(query), rel=1e-5)


@given(documents, st.lists(word_lists, min_size=1, max_size=4), st.integers(1, 8))
def test_candidates_are_the_best_by_bm25_and_equal_ones_in_their_order(docs, asked, top):
    features = fitted(docs)
    queries = rr.Queries([f"q{i}" for i in range(len(asked))], [" ".join(query) for query in asked])
    for query, words in zip(queries.texts, asked, strict=True):
        every = features.for_query(query, list(features.ids_))
        scores = every.X[:, every.feature_names.index("bm25(all)")]
        exact = [plain.bm25([[t, [word for item in i for word in item]] for t, i in docs], [3, 1], words, row) for row in range(len(docs))]
        best = sorted((row for row in range(len(docs)) if exact[row] > 0), key=lambda row: (-scores[row], row))[:top]
        found = features.for_query(query, top=top)
        # float32 may call scores equal that are not: compare what they are worth
        assert found.X[:, every.feature_names.index("bm25(all)")].tolist() == scores[best].tolist()


@settings(max_examples=25)
@given(documents, st.lists(word_lists, min_size=1, max_size=4))
def test_a_feature_is_the_same_bits_alone_in_a_batch_and_on_any_number_of_threads(docs, asked):
    names = [name for name in fitted(docs).feature_names_ if not name.startswith("rank(")]  # depends on the others
    texts = texts_of(docs)
    asked = [[docs[0][0][0], *query] for query in asked]  # a word that some document has
    queries = rr.Queries([f"q{i}" for i in range(len(asked))], [" ".join(query) for query in asked])
    batches = []
    for n_jobs in (1, 2):
        features = rr.TextFeatures(KINDS, names, "none", n_jobs=n_jobs).fit(texts)
        batches.append(features.dataset(queries, top=3))
    assert batches[0].X.tobytes() == batches[1].X.tobytes()
    text_of = dict(zip(queries.ids, queries.texts, strict=True))
    place = {one: i for i, one in enumerate(texts.ids)}
    for row in range(len(batches[0])):
        query, doc = text_of[batches[0].qid[row]], batches[0].docid[row]
        bits = batches[0].X[row].tobytes()
        assert features.for_query(query, [doc]).X.tobytes() == bits
        as_dict = {name: values[place[doc]] for name, values in texts.fields.items()}
        assert features.for_query(query, [as_dict]).X.tobytes() == bits


def test_the_saved_file_gives_the_same_bits_in_another_process(tmp_path):
    rng = np.random.default_rng(0)
    docs = [
        (list(rng.choice(WORDS, 4)), [list(rng.choice(WORDS, 3)) for _ in range(rng.integers(1, 4))]) for _ in range(60)
    ]
    texts = texts_of(docs)
    fields = texts.fields | {
        "brand": [["sony", "lg", None][i % 3] for i in range(60)],
        "vector": [rng.normal(size=4).tolist() for _ in range(60)],
        "day": [f"2024-01-{i % 28 + 1:02d}" for i in range(60)],
        "made": [1990 + i % 30 for i in range(60)],
    }
    features = rr.TextFeatures(features="all").fit(rr.Texts(texts.ids, fields))
    features.save(tmp_path / "text.rulerank")
    code = (
        "import sys, rulerank as rr; features = rr.load(sys.argv[1]);"
        "data = features.for_query('fresh milk 1995', vectors={'vector': [1, 2, 3, 4]}, top=30);"
        "sys.stdout.write(data.X.tobytes().hex() + ' ' + ','.join(data.docid))"
    )
    words = [sys.executable, "-c", code, str(tmp_path / "text.rulerank")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    data = features.for_query("fresh milk 1995", vectors={"vector": [1, 2, 3, 4]}, top=30)
    assert done.stdout == data.X.tobytes().hex() + " " + ",".join(data.docid)
    assert len(data) == 30
    assert data.categories == {"brand": ("lg", "sony")}
    again = rr.load(tmp_path / "text.rulerank")
    again.save(tmp_path / "again.rulerank")
    assert (tmp_path / "again.rulerank").read_bytes() == (tmp_path / "text.rulerank").read_bytes()


def test_a_field_of_weight_zero_brings_no_candidates():
    texts = rr.Texts(["1", "2"], {"title": ["milk", "cheese"], "body": ["cheese milk", "cheese cheese"]})
    for k1 in (0.0, 1.2):
        features = rr.TextFeatures({"title": "title", "body": "text"}, k1=k1, weights={"body": 0}).fit(texts)
        assert features.for_query("milk milk cheese").docid.tolist() in (["1", "2"], ["2", "1"])
        assert features.for_query("milk").docid.tolist() == ["1"]
        assert features.for_query("milk", ["2"]).X[0, features.feature_names_.index("bm25(all)")] == 0


FILMS = rr.Texts(
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
    }
    assert (data.docid.tolist(), data.y.tolist()) == (["2", "3"], [1, 0])


def test_candidates_that_nobody_judged_are_not_labelled():
    queries = rr.Queries(["q"], ["horror"])
    data = rr.TextFeatures().fit(FILMS).dataset(queries, rr.Qrels(["q"], ["3"], [1]))
    assert dict(zip(data.docid, data.y.tolist(), strict=True)) == {"1": -1, "2": -1, "3": 1}


def test_pairs_bring_the_rank_and_score_of_the_engine():
    pairs = rr.read_pairs(__import__("io").BytesIO(b"q Q0 3 1 9.5 solr\nq Q0 1 2 7.0 solr\n"))
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
    assert "1 of 3 judgements left out: they are of queries that are not there, such as 'p'" in messages
    assert "1 of 3 judgements left out: they are of documents that are not there, such as '7'" in messages
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


def test_a_category_that_is_new_is_missing():
    texts = rr.Texts(
        [str(i) for i in range(60)], {"brand": ["lg", "sony"] * 30, "name": [f"tv {i}" for i in range(60)]}
    )
    features = rr.TextFeatures(features=["brand"]).fit(texts)
    data = features.for_query("tv", [{"brand": "sony"}, {"brand": "acme"}, {"id": "x"}])
    assert np.array_equal(data.X[:, 0], [1, np.nan, np.nan], equal_nan=True)
    assert data.docid.tolist() == ["0", "1", "x"]


def test_ranks_within_the_query_share_ties():
    data = rr.TextFeatures(features=["votes", "rank(votes)", "log(votes)"]).fit(FILMS).for_query("x", ["1", "2", "3"])
    assert data.X[:, 1].tolist() == [1, 2, 3]
    assert data.X[2, 2] == 0
    assert data.X[0, 2] == pytest.approx(math.log(17001))


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
        ({"features": ["year", "year"]}, "features must differ: 'year' is there twice"),
        ({"features": "year"}, "features must be a list of names such as"),
        ({"language": "klingon"}, "unknown language 'klingon'; choose from none, ar"),
        ({"weights": {"year": 2}}, "weights: 'year' is no field whose words are searched; these are title"),
        ({"weights": {"title": -1}}, "weights must be a dict of numbers from 0 to 1000 by field"),
        ({"k1": -1}, "k1 must be a number from 0 to 100: got -1"),
        ({"fields": ["url"]}, "no field gives a feature: name fields and their kinds"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(DataError, match=message):
        rr.TextFeatures(**parameters).fit(FILMS)


def test_wrong_calls_are_named():
    with pytest.raises(DataError, match=r"expected documents that rr\.read_texts gave: got list"):
        rr.TextFeatures().fit(["a"])
    with pytest.raises(DataError, match="expected at least one document"):
        rr.TextFeatures().fit(rr.Texts([], {}))
    with pytest.raises(DataError, match="TextFeatures is not fitted"):
        rr.TextFeatures().for_query("x")
    features = rr.TextFeatures().fit(FILMS)
    with pytest.raises(DataError, match="there is no document '9' in the index; give its fields as a dict"):
        features.for_query("x", ["9"])
    with pytest.raises(DataError, match=r"expected queries that rr\.read_queries gave: got str"):
        features.dataset("x")
    with pytest.raises(DataError, match="a document must be a dict of fields: number 1 is a int"):
        features.for_query("x", [{}, 3])
    assert repr(features) == "TextFeatures(3 documents, 12 features)"
