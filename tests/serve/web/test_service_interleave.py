"""POST /interleave: the library's lists, the same bytes for the same session, and refusals that name the field."""

import pytest

import rulerank as rr
from rulerank.clicks.interleaving import key_of

QUERY = "women rain jacket"
PLACES = [f"d{number}" for number in range(12)]


def as_list(answer):
    assert [one["position"] for one in answer["results"]] == [*range(1, len(answer["results"]) + 1)]
    return tuple(one["id"] for one in answer["results"]), tuple(one["team"] for one in answer["results"])


def test_todays_ranking_and_the_models_are_mixed(of_texts, of_features, reranker, served_world):
    answer = of_texts.post("/interleave", json={"session": "s1", "query": QUERY, "top": 6}).json()
    found = reranker.rank(QUERY)
    today = [one.id for one in sorted(found, key=lambda one: one.today)]
    mixed = rr.interleave(today, found.ids, key_of("s1", QUERY), top=6)
    assert as_list(answer) == (mixed.docs, mixed.teams)
    assert (answer["session"], answer["version"]) == ("s1", reranker.version)
    *_, rows = served_world
    answer = of_features.post("/interleave", json={"session": "s1", "documents": rows}).json()
    order = of_features.post("/rank", json={"documents": rows, "top": 20}).json()["results"]
    mixed = rr.interleave([row["id"] for row in rows], [one["id"] for one in order], key_of("s1", ""))
    assert as_list(answer) == (mixed.docs, mixed.teams)


def test_two_given_orders_need_no_model_and_give_the_same_bytes_again(of_features):
    body = {"session": "s1", "query": QUERY, "a": PLACES, "b": PLACES[::-1], "top": 8}
    first = of_features.post("/interleave", json=body)
    mixed = rr.interleave(PLACES, PLACES[::-1], key_of("s1", QUERY), top=8)
    assert as_list(first.json()) == (mixed.docs, mixed.teams)
    assert first.json()["version"] is None
    assert of_features.post("/interleave", json=body).content == first.content
    others = {of_features.post("/interleave", json=body | {"session": f"s{n}"}).content for n in range(2, 8)}
    assert len(others) > 2
    assert 'route="/interleave",status="200"} 8' in of_features.get("/metrics").text


REFUSED = [  # body, field, part of the message
    ({"a": ["x"], "b": ["y"]}, "session", "the request must hold session"),
    ({"session": "s", "a": ["x"]}, "b", "give both orders, a and b, without documents; or neither"),
    ({"session": "s", "b": ["x"]}, "a", "give both orders, a and b, without documents; or neither"),
    ({"session": "s", "a": ["x"], "b": []}, "b", "b must be a list of 1 to 1,000 ids, best first: got []"),
    ({"session": "s", "a": ["x", "x"], "b": ["y"]}, "a", "a must be different ids: got 'x'"),
    ({"session": "s", "a": ["x", 7], "b": ["y"]}, "a[1]", "a[1] must be an id, a text of 1 to 1000 characters: got 7"),
    ({"session": "s"}, "documents", "the request must hold documents with their features, or two orders, a and b"),
    ({"session": "s", "a": ["x"], "b": ["y"], "top": 0}, "top", "top must be a whole number from 1 to 1000: got 0"),
    ({"session": "", "a": ["x"], "b": ["y"]}, "session", "session must be a text of 1 to 1000 characters: got ''"),
]


@pytest.mark.parametrize(("body", "field", "message"), REFUSED)
def test_a_request_that_cannot_be_is_refused_by_its_field(of_features, body, field, message):
    answer = of_features.post("/interleave", json=body)
    error = answer.json()["error"]
    assert (answer.status_code, error["field"]) == (422, field)
    assert message in error["message"]


def test_orders_and_documents_do_not_go_together(of_features, served_world):
    *_, rows = served_world
    answer = of_features.post("/interleave", json={"session": "s", "a": ["x"], "b": ["y"], "documents": rows})
    assert answer.json()["error"]["field"] == "documents"
