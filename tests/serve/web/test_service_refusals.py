"""What the service refuses, and the words that name the field."""

import json

import polars as pl
import pytest

import rulerank as rr
from rulerank.serve.web.app import Limits

QUERY = "women rain jacket"
JSON = {"content-type": "application/json"}
ROW = {"id": "a", "features": {"bm25_body": 1.0}}
WHOLE = dict.fromkeys(("bm25_body", "bm25_title", "pagerank", "clicks", "freshness"), 1)

OF_FEATURES = [  # body, field, part of the message
    ({}, "documents", "documents is missing: the documents to rank"),
    ({"documents": []}, "documents", "documents must be a list of length at least 1: got []"),
    ({"documents": {}}, "documents", "documents must be a list: got {}"),
    ({"documents": [ROW, ROW]}, "documents[1]", "must have a different id from documents[0]: got 'a'"),
    ({"documents": [ROW, {"id": "0"}]}, "documents[1].features", "documents[1].features is missing"),
    ({"documents": [{"features": {}}]}, "documents[0].features", "must be an object of length at least 1: got {}"),
    ({"documents": [ROW, 7]}, "documents[1]", "must be an object: got 7"),
    ({"documents": [ROW | {"id": ""}]}, "documents[0].id", "must be a text of length at least 1: got ''"),
    ({"documents": [ROW | {"id": 7}]}, "documents[0].id", "must be a text: got 7"),
    ({"documents": [ROW | {"title": "x"}]}, "documents[0].title", "unknown field documents[0].title"),
    ({"documents": [{"features": {"b": True}}]}, "documents[0].features", "a number, a text or null: got {'b': True}"),
    ({"documents": [{"features": WHOLE | {"clicks": "x"}}]}, "documents", "feature 'clicks' must be a number"),
    ({"documents": [{"features": WHOLE | {"clicks": 1e39}}]}, "documents", "must be finite and fit float32"),
    ({"documents": [{"features": {"a": 10**400}}]}, "documents[0].features", "(Number out of range)"),
    ({"documents": [ROW]}, "documents", "the documents lack 4 of the 5 features of the model"),
    ({"documents": [ROW], "top": 0}, "top", "top must be a whole number at least 1: got 0"),
    ({"documents": [ROW], "top": 1.5}, "top", "top must be a whole number: got 1.5"),
    ({"documents": [ROW], "top": 10**30}, "top", "top must be a whole number at most 1000: got 1000"),
    ({"documents": [ROW], "reasons": "yes"}, "reasons", "reasons must be true or false: got 'yes'"),
    ({"documents": [ROW], "query": "x" * 1001}, "query", "query must be a text of length at most 1000: got 'xxx"),
    ({"documents": [ROW], "tpo": 3}, "tpo", "unknown field tpo; choose from query, documents"),
]
OF_TEXTS = [
    ("/rank", {"documents": ["p0001"]}, "query", "query is missing"),
    ("/rank", {"query": QUERY, "documents": ["nope"]}, "documents", "there is no document 'nope' in the index"),
    ("/rank", {"query": QUERY, "documents": ["p0001", 7]}, "documents[1]", "must be a text or an object: got 7"),
    ("/rank", {"query": QUERY, "documents": ["p0001", ROW]}, "documents[1]", "an id, like documents[0]: got features"),
    ("/rank", {"query": QUERY, "documents": [{"id": "x"}]}, "documents[0]", "must have either fields or features"),
    ("/rank", {"query": QUERY, "documents": [{"fields": {"t": {}}}]}, "documents[0].fields", "a list or null: got"),
    ("/rank", {"query": QUERY, "vectors": {"image": ["x"]}}, "vectors[0]", "must be a number: got"),
    ("/rank", {"query": QUERY, "vectors": [1]}, "vectors", "must be an object: got [1]"),
    ("/rank", {"query": QUERY, "candidates": 0}, "candidates", "candidates must be a whole number at least 1: got 0"),
    ("/explain", {"query": QUERY, "doc": "nope"}, "doc", "nope"),
    ("/explain", {"query": QUERY, "doc": "p1", "versus": "p1"}, "versus", "must be a different document from doc"),
    ("/explain", {"query": QUERY, "doc": "p0001", "documents": ["p0002"]}, "doc", "must be the id of one of the docum"),
    ("/explain", {"query": QUERY}, "doc", "doc is missing: The id of the document to explain."),
    ("/search?q=", None, "q", "q must be a text of length at least 1: got ''"),
    ("/search", None, "q", "q is missing"),
    ("/search?q=x&q=y", None, "q", "the URL must not have q twice"),
    ("/search?q=x&tpo=3", None, "tpo", "unknown field tpo"),
    ("/search?q=x&top=99999999999999999999", None, "top", "top must be a whole number: got '9999"),
    ("/search?q=x&reasons=1", None, "reasons", "reasons must be true or false: got 1"),
]


@pytest.mark.parametrize(
    ("kind", "path", "body", "field", "message"),
    [("features", "/rank", *one) for one in OF_FEATURES] + [("texts", *one) for one in OF_TEXTS],
)
def test_a_refusal_names_the_field(kind, path, body, field, message, of_features, of_texts):
    client = of_features if kind == "features" else of_texts
    answer = client.get(path) if body is None else client.post(path, content=json.dumps(body), headers=JSON)
    error = answer.json()["error"]
    assert (answer.status_code, error["field"]) == (422, field)
    assert message in error["message"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "the body is not JSON in UTF-8"),
        (b'{"query": "\xff"}', "the body is not JSON in UTF-8"),
        ('{"query": "x"}'.encode("utf-16"), "the body is not JSON in UTF-8"),
        (b'{"documents": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "the body is not JSON in UTF-8"),
        (b'{"documents": [{"features": {"bm25_body": NaN}}]}', "NaN is not valid JSON, use null for missing values"),
        (b'{"documents": [{"features": {"bm25_body": -Infinity}}]}', "Infinity is not valid JSON"),
    ],
)
def test_what_is_not_json_is_said_to_be_so(content, message, of_features):
    answer = of_features.post("/rank", content=content, headers=JSON)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "malformed")
    assert message in answer.json()["error"]["message"]


def test_a_body_must_be_an_object_of_the_right_content_type_and_size(ask, served_synthetic):
    _, (ranker, _), rows = served_synthetic
    client = ask(rr.Reranker(ranker), limits=Limits(documents=19, body=5000))
    answer = client.post("/rank", content=b"[]", headers=JSON)
    assert (answer.status_code, answer.json()["error"]["message"]) == (422, "the body must be a JSON object")
    answer = client.post("/rank", content=b"{}", headers={"content-type": "text/plain"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "not_json")
    answer = client.post("/rank", json={"documents": [{"features": {"a": 1}}] * 20})
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, "documents")
    expected = "documents must be a list of length at most 19: got a list of 20"
    assert answer.json()["error"]["message"] == expected
    answer = client.post("/rank", json={"documents": rows, "query": "x" * 5000})
    assert (answer.status_code, answer.json()["error"]["message"]) == (413, "the body must be at most 5,000 bytes")


def test_whole_numbers_may_be_written_as_floats_and_numbers_beyond_all_bounds_are_refused(
    of_features, served_synthetic
):
    *_, rows = served_synthetic
    assert len(of_features.post("/rank", json={"documents": rows, "top": 2.0}).json()["results"]) == 2
    body = b'{"documents": [{"features": {"a": 1e400}}]}'
    answer = of_features.post("/rank", content=body, headers=JSON)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, "documents[0].features")


def test_a_number_for_a_category_is_refused(ask):
    frame = pl.DataFrame(
        {"brand": ["lg", "sony"] * 20, "price": [1.0, 2.0] * 20}, {"brand": pl.Categorical, "price": pl.Float64}
    )
    client = ask(rr.Reranker(rr.GlobalRules().fit(frame, [1, 0] * 20, qid=[1, 1, 2, 2] * 10)))
    answer = client.post("/rank", json={"documents": [{"features": {"brand": 1, "price": 1}}]})
    assert answer.status_code == 422
    assert "the model knows 'brand' as a category ('lg', 'sony'): give names, not" in answer.text
