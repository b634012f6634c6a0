"""Lists over HTTP: what is told before judging and after, and what a page that shows them gets."""

import pytest

from rulerank.judging.offers import ListChoices


@pytest.fixture
def served(serve, make_pool):
    return serve(make_pool(n_queries=4, docs_per_query=6), rater="ann", lists=ListChoices(3))


def judge(client, listed, docs=None):
    for doc in listed["docs"][:docs]:
        body = {"query": listed["query"], "doc": doc["doc"], "grade": 1, "page": "list"}
        answer = client.post("/api/labels", json=body).json()
        assert answer["task"] is None  # the page has its documents
    return answer


def test_a_list_tells_no_rank_and_comes_again_with_its_grades(served):
    with served.client() as client:
        listed = client.get("/api/list").json()["list"]
        assert len(listed["docs"]) == 3
        assert {doc["rank"] for doc in listed["docs"]} == {None}
        assert judge(client, listed, 1)["progress"]["mine"] == 1
        again = client.get("/api/list").json()["list"]
    assert [doc["doc"] for doc in again["docs"]] == [doc["doc"] for doc in listed["docs"]]
    assert [doc["grade"] for doc in again["docs"]] == [1, None, None]


def test_the_lead_may_show_the_rank(serve, make_pool):
    with serve(make_pool(), rater="ann", lists=ListChoices(4, shows_rank=True)).client() as client:
        listed = client.get("/api/list").json()["list"]
    assert [doc["rank"] for doc in listed["docs"]] == [1, 2, 3, 4]


def test_a_page_with_documents_claims_no_other(served):
    with served.client() as client:
        judge(client, client.get("/api/list").json()["list"], 1)
        assert len(served.judging.store.claims()) == 2  # the rest of the list


def test_when_no_list_is_left_the_reason_is_told(served):
    with served.client() as client:
        for _ in range(4):
            judge(client, client.get("/api/list").json()["list"])
        answer = client.get("/api/list").json()
    assert answer["list"] is None
    assert (answer["progress"]["done"], answer["progress"]["reason"]) == (True, "every list has been judged or skipped")


def test_an_unknown_query_has_no_list(served):
    with served.client() as client:
        refused = client.get("/api/list", params={"query": "q99"})
        assert (refused.status_code, refused.json()["error"]["message"]) == (422, "the pool has no query 'q99'")


def test_the_lead_chooses_what_comes_first_and_the_address_decides(serve):
    first = serve(rater="ann", lists=ListChoices(come_first=True), labels="a.db")
    usual = serve(rater="ann", labels="b.db")
    with first.client() as lists, usual.client() as ones:
        assert 'id="list"' in lists.get("/").text
        assert 'id="judge"' in lists.get("/one").text
        assert 'id="judge"' in lists.get("/", params={"query": "q1", "doc": "q1-d1"}).text  # to revise
        assert 'id="judge"' in ones.get("/").text
        assert 'id="list"' in ones.get("/list").text


@pytest.mark.parametrize("page", ["lead", "import", "terminal"])
def test_a_request_cannot_say_that_it_came_from_elsewhere(served, page):
    body = {"query": "q", "doc": "d", "grade": 1, "page": page}
    with served.client() as client:
        answer = client.post("/api/labels", json=body)
    assert answer.status_code == 422
    assert "page" in answer.json()["error"]["message"]
