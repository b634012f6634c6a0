"""The lead's disputes over HTTP: largest first, decided once however often it is sent, and where raters agree."""

import pytest

from rulerank.judging.agreement import TOO_FEW
from rulerank.judging.web.lead_api import DISPUTES_PER_PAGE, QUERIES_PER_PAGE
from rulerank.web.security import Tokens

SECRET = "a secret that is long"
SAID = {"q1-d1": (0, 2), "q1-d2": (1, 1), "q1-d3": (1, 2), "q1-d4": (0, 1)}


@pytest.fixture
def lead(serve):
    """A server on which ann and bob disagree on three documents, and the lead who asks it."""
    served = serve()
    for doc, grades in SAID.items():
        for rater, grade in zip(("ann", "bob"), grades, strict=True):
            served.judging.grade(rater, "q1", doc, grade, page="list")
    with served.client(params={"rater": "lea"}) as client:
        yield served, client


def docs(answer):
    return [one["task"]["doc"] for one in answer.json()["disputes"]]


def decide(client, doc="q1-d1", grade=1, **more):
    return client.post("/api/decisions", json={"query": "q1", "doc": doc, "grade": grade} | more)


def undo(client, doc="q1-d1", **more):
    return client.post("/api/undo-decision", json={"query": "q1", "doc": doc} | more)


def test_disputes_come_largest_first_with_who_said_what_and_where(lead):
    served, client = lead
    served.judging.grade("cem", "q1", "q1-d1", None, page="document")
    served.judging.grade("gpt", "q1", "q1-d1", 2, page="somewhere")
    served.judging.store.name_judge("gpt", "llm", "lea")
    found = client.get("/api/disputes").json()
    assert (found["found"], found["left"], found["decided"], found["pages"]) == (3, 3, 0, 1)
    first = found["disputes"][0]
    assert (first["task"]["doc"], first["task"]["title"], first["spread"]) == ("q1-d1", "Title of q1-d1", 2)
    assert first["decision"] is None
    assert [(one["rater"], one["grade"], one["kind"], one["where"]) for one in first["labels"]] == [
        ("ann", 0, "person", "the list of a query"),
        ("bob", 2, "person", "the list of a query"),
        ("cem", None, "person", "one document at a time"),
        ("gpt", 2, "llm", "somewhere"),
    ]
    assert [one["spread"] for one in found["disputes"]] == [2, 1, 1]


def test_what_is_decided_is_left_no_more_and_counts_first(lead):
    served, client = lead
    answer = decide(client, page="disputes").json()
    assert [answer["decision"][name] for name in ("grade", "rater", "page")] == [1, "lea", "disputes"]
    assert (answer["left"], answer["decided"]) == (2, 1)
    assert docs(client.get("/api/disputes")) == ["q1-d3", "q1-d4"]
    assert docs(client.get("/api/disputes", params={"state": "decided"})) == ["q1-d1"]
    assert docs(client.get("/api/disputes", params={"state": "all"})) == ["q1-d1", "q1-d3", "q1-d4"]
    assert served.judging.grades()[served.judging.pool.row("q1", "q1-d1")] == 1
    decide(client, "q1-d2", None)  # nobody disputes it: it can be decided all the same
    decided = client.get("/api/disputes", params={"state": "decided"}).json()["disputes"]
    assert [(one["task"]["doc"], one["spread"], one["decision"]["grade"]) for one in decided] == [
        ("q1-d2", 0, None),
        ("q1-d1", 2, 1),
    ]


def test_a_decision_that_is_sent_twice_counts_once(lead):
    served, client = lead
    first, second = (decide(client, judgement="key press 1").json() for _ in range(2))
    assert first == second
    assert len(served.judging.store.decision_history()) == 1
    decide(client, grade=2)
    for _ in range(2):
        answer = undo(client, judgement="key press 2").json()
        assert (answer["undone"]["grade"], answer["decision"]["grade"]) == (2, 1)  # the one before is in force again
    answer = undo(client).json()
    assert (answer["decision"], answer["left"]) == (None, 3)
    assert undo(client).json()["undone"] is None
    refused = decide(client, "q1-d3", judgement="key press 1")
    assert refused.status_code == 422
    assert "stands for another judgement" in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"query": "q1", "doc": "q9", "grade": 1}, 404, "the pool has no document 'q9' of query 'q1'"),
        ({"query": "q1", "doc": "q1-d1", "grade": 7}, 422, "grade must be"),
        ({"query": "q1", "doc": "q1-d1", "grade": "1"}, 422, "grade must be"),
        ({"query": "q1", "doc": "q1-d1"}, 422, "the request must hold grade"),
        ({"query": "q1", "doc": "q1-d1", "grade": 1, "page": "the moon"}, 422, "page must be"),
    ],
)
def test_what_is_no_decision_is_refused_and_nothing_is_kept(lead, body, status, message):
    served, client = lead
    answer = client.post("/api/decisions", json=body)
    assert (answer.status_code, answer.json()["error"]["message"][: len(message)]) == (status, message)
    assert served.judging.store.decision_history() == []
    assert client.get("/api/disputes", params={"state": "mine"}).status_code == 422


def test_disputes_and_queries_come_a_page_at_a_time(serve, make_pool):
    served = serve(make_pool(n_queries=25, docs_per_query=2))
    for place, (query, doc) in enumerate(served.judging.pool.pairs):
        served.judging.grade("ann", query, doc, 0)
        served.judging.grade("bob", query, doc, int(place % 2 == 0 or place < 20))
    with served.client(params={"rater": "lea"}) as client:
        first = client.get("/api/disputes").json()
        assert (len(first["disputes"]), first["found"], first["pages"]) == (DISPUTES_PER_PAGE, 35, 2)
        last = client.get("/api/disputes", params={"page": 9}).json()
        assert (len(last["disputes"]), last["page"]) == (15, 2)
        queries = client.get("/api/agreement").json()["queries"]
        assert (len(queries["queries"]), queries["found"], queries["pages"]) == (QUERIES_PER_PAGE, 25, 2)
        assert [row["share"]["value"] for row in queries["queries"]] == [0.0] * 10 + [0.5] * 10  # the worst first
        assert queries["queries"][0]["query_text"] == "words of q1"
        page = client.get("/disputes", params={"page": "2"}).text
        assert "page 2 of 2" in page


def test_agreement_has_intervals_or_says_why_there_is_none(lead):
    served, client = lead
    found = client.get("/api/agreement").json()
    assert found["sentence"].startswith("A document that several people judged has ")
    assert [part["name"] for part in found["raters"]] == ["ann", "bob"]
    assert found["raters"][0]["share"] == {"value": 0.25, "low": 0.058, "high": 0.644, "n_docs": 4}
    assert [part["name"] for part in found["grades"]] == ["0", "1", "2"]
    assert [found["alpha"][name] for name in ("low", "reason")] == [None, TOO_FEW]
    assert found["judges"] == []
    for text in (client.get("/disputes").text, client.get("/overview").text):
        assert found["sentence"] in text
        assert TOO_FEW in text
    served.judging.grade("gpt", "q2", "q2-d1", 1)
    served.judging.store.name_judge("gpt", "llm", "lea")
    assert "no document that people have graded, too" in client.get("/disputes").text


def test_with_enough_documents_alpha_has_its_interval(serve, make_pool):
    served = serve(make_pool(n_queries=4))
    for place, (query, doc) in enumerate(served.judging.pool.pairs):
        served.judging.grade("ann", query, doc, place % 3)
        served.judging.grade("bob", query, doc, place % 3 if place % 4 else 1)
    with served.client(params={"rater": "lea"}) as client:
        alpha = client.get("/api/agreement").json()["alpha"]
        assert -1 <= alpha["low"] < alpha["value"] < alpha["high"] <= 1
        assert alpha["reason"] == ""
        assert f"interval {alpha['low']:.2f} to {alpha['high']:.2f}" in client.get("/overview").text


def test_nobody_has_judged_yet(serve):
    with serve().client(params={"rater": "lea"}) as client:
        assert client.get("/api/disputes").json() == {
            "disputes": [], "found": 0, "page": 1, "pages": 1, "left": 0, "decided": 0,
        }  # fmt: skip
        assert client.get("/api/agreement").json()["alpha"]["reason"] == "no document was graded by two raters"
        assert client.get("/disputes").status_code == 200


def test_a_personal_link_decides_nothing(serve):
    served = serve(token=SECRET)
    with served.client(headers={"authorization": f"Bearer {Tokens(SECRET).invite('ann')}"}) as client:
        answers = [client.get(path) for path in ("/api/disputes", "/api/agreement", "/disputes")]
        answers += [decide(client), undo(client)]
        assert [answer.status_code for answer in answers] == [403] * 5
        assert "/disputes" not in client.get("/overview", headers={"accept": "text/html"}).text
    assert served.judging.store.decision_history() == []


def test_what_another_judge_sees_otherwise_is_the_last_of_the_disputes(lead):
    served, client = lead
    n_before = client.get("/api/disputes").json()["left"]
    served.judging.grade("gpt", "q1", "q1-d2", 0)  # people say 1
    served.judging.store.name_judge("gpt", "llm", "lea")
    found = client.get("/api/disputes").json()
    assert found["left"] == n_before + 1
    assert found["disputes"][-1]["task"]["doc"] == "q1-d2"
    assert [label["kind"] for label in found["disputes"][-1]["labels"]].count("llm") == 1
