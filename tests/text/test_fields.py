"""Kinds of fields are found by what they hold."""

import re

import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.text.fields import find_fields, kind_of


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("tags", [["a"], ["b", "c"], None], "list"),
        ("embedding", [[0.1, 0.2], [0.3, 0.4]], "vector"),
        ("sku", ["7", "8", "9"], "id"),
        ("imdbId", ["tt1", "tt2"], "id"),
        ("code", [f"a{i}" for i in range(30)], "id"),
        ("year", [1999, 2004, None], "year"),
        ("year", ["1999", "2004", "1999"], "year"),
        ("price", [1, 2000, 3.5], "number"),
        ("price", ["1.5", "2", "3"], "number"),
        ("photo", ["https://a.example/1.jpg", "http://b.example/2"], "link"),
        ("released", ["2024-01-31", "2024-02-01", None], "date"),
        ("brand", ["lg", "sony"] * 5, "category"),
        ("overview", ["word " * 30, "word " * 40], "long text"),
        ("title", ["Dune", "Alien"], "title"),
        ("maker", ["Jo Doe", "Al Roe", "Jo Doe"], "text"),
        ("nothing", [None, None], "empty"),
    ],
)
def test_the_kind_of_a_field(name, values, kind):
    assert kind_of(name, values) == kind


def test_the_first_short_text_that_differs_everywhere_is_the_title():
    texts = rr.Documents(["1", "2", "3"], {"maker": ["a b", "a b", "c d"], "what": ["red box", "blue box", "big box"]})
    assert [field.kind for field in find_fields(texts)] == ["text", "title"]


def test_a_kind_that_is_named_is_taken():
    texts = rr.Documents(["1", "2"], {"isbn": ["12", "13"], "title": ["a b", "c d"]})
    assert [field.kind for field in find_fields(texts, {"isbn": "text", "title": None})] == ["text", "title"]


def test_vectors_must_be_of_one_size():
    texts = rr.Documents(["1", "2"], {"title": ["a b", "c d"], "vector": [[1.0, 2.0], [1.0]]})
    with pytest.raises(DataError, match="vectors of field 'vector' must all be of one size: got 1, 2"):
        rr.TextFeatures().fit(texts)


def test_a_vector_gives_a_cosine_and_a_query_without_one_has_none():
    texts = rr.Documents(["1", "2"], {"title": ["a b", "c d"], "vector": [[1.0, 0.0], [0.0, 2.0]]})
    features = rr.TextFeatures(features=["cosine(vector)"]).fit(texts)
    queries = rr.Queries(["q", "p"], ["a", "a"], {"vector": [[0, 3], None]})
    pairs = rr.Run(["q", "q", "p"], ["1", "2", "1"], [2.0, 1.0, 1.0], ["engine"] * 3)
    found = features.dataset(queries, pairs=pairs).X[:, 0].tolist()
    assert found[:2] == [0.0, 1.0]
    assert found[2] != found[2]
    with pytest.raises(DataError, match="vectors of field 'vector' must all be of one size: got 2, 3"):
        features.for_query("a", ["1"], vectors={"vector": [1, 2, 3]})


@pytest.mark.parametrize(
    ("kind", "values", "message"),
    [
        (
            "date",
            ["Spring 1961", "2024-01-31", None],
            "field 'when' is read as date: 1 of 2 values cannot be read and count as missing, such as 'Spring 1961'; "
            "dates are written 2026-11-18; to name another kind: fields=..., on the command line --fields ...",
        ),
        ("number", ["$20", "abc", "7"], "field 'when' is read as number: 2 of 3 values cannot be read and count as"),
        (
            "year",
            ["1999", "soon", "1e300"],
            "2 of 3 values cannot be read and count as missing, such as 'soon'; numbers",
        ),
    ],
)
def test_values_that_are_not_of_their_kind_are_counted(kind, values, message):
    texts = rr.Documents(["1", "2", "3"], {"title": ["a b", "c d", "e f"], "when": values})
    with pytest.warns(UserWarning, match=re.escape(message)):
        features = rr.TextFeatures({"all": None, "when": kind}, ["when"]).fit(texts)
    field = features.fields_[1]
    n_read = sum(value is not None for value in values) - field.n_unread
    assert field.coverage == n_read / 3
    data = features.for_query("a c e", ["1", "2", "3"])
    assert (data.X == data.X).sum() == n_read


def test_a_field_has_the_same_kind_whether_or_not_others_are_named():
    texts = rr.Documents(["1", "2", "3"], {"author": ["Al Roe", "Jo Doe", "Ed Poe"], "title": ["a b", "c d", "e f"]})
    assert [field.kind for field in find_fields(texts)] == ["text", "title"]
    assert [field.kind for field in find_fields(texts, ["author"])] == ["text"]
    assert [field.kind for field in find_fields(texts, {"author": None})] == ["text"]
    untitled = rr.Documents(["1", "2", "3"], {"what": ["red box", "blue box", "big box"], "year": [1999, 2000, 2001]})
    for named in (None, ["what"], {"what": None}, {"all": None, "year": "number"}):
        assert find_fields(untitled, named)[0].kind == "title"
    assert find_fields(untitled, {"what": "text"})[0].kind == "text"


def test_all_stands_for_every_field():
    texts = rr.Documents(["1", "2"], {"title": ["a b", "c d"], "year": [1999, 2004], "zip": [10115, 80331]})
    found = find_fields(texts, {"zip": "category", "all": None, "year": "number"})
    assert [(field.name, field.kind) for field in found] == [
        ("title", "title"),
        ("year", "number"),
        ("zip", "category"),
    ]
    named_all = rr.Documents(["1", "2"], {"all": ["a b", "c d"], "year": [1999, 2004]})
    assert [field.name for field in find_fields(named_all, ["all"])] == ["all"]
    with pytest.raises(DataError, match="there is no field 'zap'; the documents have title, year, zip"):
        find_fields(texts, ["all", "zap"])
