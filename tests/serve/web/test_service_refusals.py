"""What the service refuses, and the words that name the field."""

import json

import polars as pl
import pytest

import rulerank as rr
from rulerank.serve.web.api import Limits

QUERY = "women rain jacket"
JSON = {"content-type": "application/json"}
ROW = {"id": "a", "features": {"bm25_body": 1.0}}

WHOLE = dict.fromkeys(("bm25_body", "bm25_title", "pagerank", "clicks", "freshness"), 1)

LIST = {"id": "l", "features": [1, 2, 3, 4, None]}

REFUSED = [  # body, field, part of the message
    ({}, "documents", "the request must hold documents"),
    ({"documents": []}, "documents", "documents must be a list of ids, of {id, fields} or of {id, features}"),
    ({"documents": {}}, "documents", "got {}"),
    ({"documents": [ROW, ROW]}, "documents[1]", "must have another id than documents[0]: got 'a'"),
    ({"documents": [ROW, {"id": "0"}]}, "documents[1].features", "must be an object of values by name: got None"),
    ({"documents": [{"features": {}}]}, "documents[0].features", "must be an object of values by name: got {}"),
    ({"documents": [ROW, 7]}, "documents[1]", "must be an object with features"),
    ({"documents": [ROW | {"id": ""}]}, "documents[0].id", "must be an id, a text of 1 to 1000 characters: got ''"),
    ({"documents": [ROW | {"id": 7}]}, "documents[0].id", "got 7"),
    ({"documents": [ROW | {"title": "x"}]}, "documents[0]", "must hold id and features only: got \"'title'\""),
    ({"documents": [{"features": {"bm25_body": True}}]}, "documents[0].features.bm25_body", "must be a number"),
    ({"documents": [{"features": {"bm25_body": [1]}}]}, "documents[0].features.bm25_body", "got [1]"),
    ({"documents": [{"features": WHOLE | {"bm25_body": "x"}}]}, "documents", "feature 'bm25_body' must be a number"),
    ({"documents": [{"features": WHOLE | {"bm25_body": 1e39}}]}, "documents", "must be finite and fit float32"),
    ({"documents": [{"features": WHOLE | {"bm25_body": 10**400}}]}, "documents", "must be finite and fit float32"),
    ({"documents": [LIST]}, "feature_names", "feature_names must be the 5 different names of the numbers"),
    ({"documents": [LIST], "feature_names": ["a"]}, "feature_names", "feature_names must be the 5 different names"),
    ({"documents": [LIST], "feature_names": [7]}, "feature_names", "must be a list of 1 to 10,000 names of features"),
    ({"documents": [LIST], "feature_names": ["a", "b", "c", "d", "e"]}, "documents", "bm25_body"),
    ({"documents": [ROW], "feature_names": ["a"]}, "feature_names", "must come with documents whose features are"),
    ({"documents": [LIST, {"features": [1]}]}, "documents[1].features", "must be a list of as many numbers as the"),
    ({"documents": [LIST, ROW]}, "documents[1].features", "must be a list of numbers, as the first is"),
    ({"documents": [{"features": [1, "x"]}]}, "documents[0].features", "must be a list of numbers, null where missi"),
    ({"documents": [{"features": [1e39]}], "feature_names": ["a"]}, "documents[0].features", "numbers that fit float"),
    ({"documents": [{"features": [10**400]}], "feature_names": ["a"]}, "documents[0].features", "'a' does not"),
    ({"documents": [ROW]}, "documents", "the documents lack 4 of the 5 features of the model"),
    ({"documents": ["d1"]}, "documents[0]", "this service ranks ready features"),
    ({"documents": [ROW], "top": 0}, "top", "top must be a whole number from 1 to 1000: got 0"),
    ({"documents": [ROW], "top": 1.5}, "top", "got 1.5"),
    ({"documents": [ROW], "reasons": "yes"}, "reasons", "reasons must be true or false: got 'yes'"),
    ({"documents": [ROW], "query": ""}, "query", "query must be a text of 1 to 1000 characters"),
    ({"documents": [ROW], "query": "\ud800"}, "query", "query must be a text in Unicode"),
    ({"documents": [ROW], "query": "x" * 1001}, "query", "query must be a text of 1 to 1000 characters"),
    ({"documents": [ROW], "tpo": 3}, "tpo", "the body must not hold 'tpo'"),
]


@pytest.mark.parametrize(("body", "field", "message"), REFUSED)
def test_a_refusal_names_the_field(body, field, message, of_features):
    answer = of_features.post("/rank", content=json.dumps(body), headers=JSON)
    error = answer.json()["error"]
    assert (answer.status_code, error["field"]) == (422, field)
    assert message in error["message"]


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ({"documents": ["p0001"]}, "query", "the request must hold query"),
        ({}, "query", "the request must hold query"),
        ({"query": QUERY, "documents": ["nope"]}, "documents", "there is no document 'nope' in the index"),
        ({"query": QUERY, "documents": ["p0001", 7]}, "documents[1]", "must be an id, a text of 1 to 1000 characters"),
        ({"query": QUERY, "documents": [7]}, "documents[0]", "must be an object with fields"),
        ({"query": QUERY, "documents": [{"fields": {"title": {}}}]}, "documents[0].fields.title", "must be a text"),
        ({"query": QUERY, "documents": [{"fields": {"tags": [["x"]]}}]}, "documents[0].fields.tags", "must be a text"),
        ({"query": QUERY, "vectors": {"image": ["x"]}}, "vectors.image", "must be a list of 1 to 10,000 numbers"),
        ({"query": QUERY, "vectors": [1]}, "vectors", "must be an object of lists of numbers by field"),
        ({"query": QUERY, "candidates": 0}, "candidates", "candidates must be a whole number from 1 to 1000"),
    ],
)  # fmt: skip
def test_a_refusal_of_texts_names_the_field(body, field, message, of_texts):
    answer = of_texts.post("/rank", json=body)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)
    assert message in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ({"query": QUERY, "doc": "nope"}, "doc", "nope"),
        ({"query": QUERY, "doc": "p0001", "versus": "p0001"}, "versus", "versus must be another document than doc"),
        ({"query": QUERY, "doc": "p0001", "documents": ["p0002"]}, "doc", "doc must be the id of one of the documents"),
        ({"query": QUERY, "doc": ["p0001"]}, "doc", "doc must be a text"),
        ({"query": QUERY}, "doc", "the request must hold doc"),
    ],
)
def test_a_refusal_to_explain_names_the_field(body, field, message, of_texts):
    answer = of_texts.post("/explain", json=body)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)
    assert message in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the body is not JSON in UTF-8"),
        (b"{", "the body is not JSON in UTF-8"),
        (b'{"query": "\xff"}', "the body is not JSON in UTF-8"),
        ('{"query": "x"}'.encode("utf-16"), "the body is not JSON in UTF-8"),
        (b'{"documents": [{"features": {"bm25_body": NaN}}]}', "NaN is not JSON; null stands for a value that is"),
        (b'{"documents": [{"features": {"bm25_body": -Infinity}}]}', "-Infinity is not JSON"),
        (b'{"documents": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "the body is not JSON in UTF-8"),
        (b'{"top": ' + b"9" * 10_000 + b"}", "the body is not JSON in UTF-8"),
    ],
)
def test_what_is_not_json_is_said_to_be_so(content, message, of_features):
    answer = of_features.post("/rank", content=content, headers=JSON)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "malformed")
    assert message in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("address", "field", "message"),
    [
        ("/search?q=", "q", "q must be a text of 1 to 1000 characters: got ''"),
        ("/search", "q", "the request must hold q"),
        ("/search?q=x&q=y", "q", "the address must not hold twice 'q'"),
        ("/search?q=x&tpo=3", "tpo", "the address must not hold 'tpo'"),
        ("/search?q=x&top=99999999999999999999", "top", "top must be a whole number from 1 to 1000"),
        ("/search?q=x&reasons=1", "reasons", "reasons must be true or false: got '1'"),
    ],
)
def test_a_refusal_of_an_address_names_the_field(address, field, message, of_texts):
    answer = of_texts.get(address)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)
    assert message in answer.json()["error"]["message"]


def test_a_body_must_be_an_object_of_the_right_content_type(of_features):
    answer = of_features.post("/rank", content=b"[]", headers=JSON)
    assert (answer.status_code, answer.json()["error"]["message"]) == (422, "the body must be a JSON object")
    answer = of_features.post("/rank", content=b"{}", headers={"content-type": "text/plain"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "not_json")


def test_too_many_documents_and_too_large_a_body_are_refused(serve, served_world):
    _, (ranker, _), rows = served_world
    with serve(rr.Reranker(ranker), limits=Limits(documents=19, body=5000)).client() as client:
        answer = client.post("/rank", json={"documents": [{"features": {"a": 1}}] * 20})
        assert (answer.status_code, answer.json()["error"]["field"]) == (422, "documents")
        assert answer.json()["error"]["message"] == "documents must be at most 19: got 20; rank the first ones"
        answer = client.post("/rank", json={"documents": rows, "query": "x" * 5000})
        assert (answer.status_code, answer.json()["error"]["message"]) == (413, "the body must be at most 5,000 bytes")


def test_a_number_for_a_category_is_refused_in_every_form(serve):
    frame = pl.DataFrame({"brand": ["lg", "sony"] * 20, "price": [1.0, 2.0] * 20})
    ranker = rr.GlobalRules().fit(frame, [1, 0] * 20, qid=[1, 1, 2, 2] * 10)
    with serve(rr.Reranker(ranker)).client() as client:

        def asked(**body):
            return client.post("/rank", content=json.dumps(body), headers=JSON)

        for path in ("/rank", "/explain"):
            body = {"documents": [{"id": "a", "features": {"brand": 1, "price": 1}}]} | (
                {"doc": "a"} if path == "/explain" else {}
            )
            answer = client.post(path, content=json.dumps(body), headers=JSON)
            assert answer.status_code == 422
            assert "the model knows 'brand' as a category ('lg', 'sony'): give names, not" in answer.text
        as_list = asked(documents=[{"features": [1, 1]}], feature_names=["brand", "price"])
        assert as_list.status_code == 422
        assert "the model knows 'brand' as a category ('lg', 'sony'): give names, not" in as_list.text
        in_list = asked(documents=[{"features": ["lg", 1]}], feature_names=["brand", "price"])
        assert "categories go in an object, by name" in in_list.json()["error"]["message"]
        named = [{"features": {"brand": brand, "price": 1}} for brand in ("sony", "lg", "never seen", None, "")]
        scores = {one["id"]: one["score"] for one in asked(documents=named).json()["results"]}
        assert scores["1"] == max(scores.values()) > scores["0"] == min(scores.values())
        assert scores["3"] == scores["4"]
