"""The API hands out documents, keeps grades, and answers every mistake with a reason."""

import json

import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.judging.guidelines import parse_guidelines
from rulerank.judging.labels import StoreError
from rulerank.judging.loop import Judging
from rulerank.judging.offers import EMPTY
from rulerank.judging.store import LabelStore
from rulerank.judging.web.app import create_app
from rulerank.web.requests import MAX_BODY


@pytest.fixture
def served(serve):
    return serve(rater="ann")


@pytest.fixture
def client(served):
    with served.client() as client:
        yield client


@pytest.fixture
def listing(serve, make_pool):
    return serve(make_pool(n_queries=4, docs_per_query=6), rater="ann", n_listed=3)


def first(client, rater="ann"):
    task = client.get("/api/next", params={"rater": rater}).json()["task"]
    return {"query": task["query"], "doc": task["doc"]}


def test_a_grade_is_kept_the_next_document_comes_with_the_answer_and_undo_takes_it_back(client, served):
    shown = client.get("/api/next").json()
    assert (shown["task"]["title"], shown["task"]["judged"]) == (f"Title of {shown['task']['doc']}", False)
    assert shown["progress"]["labelled"] == 0
    task = first(client)
    answer = client.post("/api/labels", json=task | {"grade": 2}).json()
    assert (answer["label"]["grade"], answer["label"]["rater"]) == (2, "ann")
    assert answer["task"]["doc"] != task["doc"]
    assert answer["progress"]["mine"] == 1
    assert served.labels() == [(task["query"], task["doc"], 2, "ann")]
    answer = client.post("/api/undo", json={}).json()
    assert answer["undone"]["grade"] == 2
    assert (answer["task"]["query"], answer["task"]["doc"]) == (task["query"], task["doc"])
    assert client.post("/api/undo", json={}).json()["undone"] is None


def test_own_labels_are_listed_and_can_be_revised(client):
    task = first(client)
    client.post("/api/labels", json=task | {"grade": 0})
    shown = client.get("/api/document", params=task).json()["task"]
    assert (shown["judged"], shown["grade"]) == (True, 0)
    client.post("/api/labels", json=task | {"grade": 2})
    (label,) = client.get("/api/labels").json()["labels"]
    assert (label["grade"], label["in_pool"], label["title"]) == (2, True, f"Title of {task['doc']}")
    assert client.get("/api/labels", params={"rater": "ben"}).json() == {"labels": []}


def test_training_writes_a_model_that_can_be_loaded(client, served, tmp_path):
    for grade in (0, 1, 2, 0, 1, 2):
        client.post("/api/labels", json=first(client) | {"grade": grade})
    done = client.post("/api/train", json={"method": "RE-GR"}).json()
    (note,) = done.pop("notes")
    assert note.startswith("RE-GR learned from 6 labels is usually worse than the baseline ranking")
    assert done.pop("lines") == []
    assert done == {"path": str(tmp_path / "model.rulerank"), "method": "RE-GR", "n_labels": 6}
    assert rr.load(done["path"]).predict(served.judging.pool.data).shape == (15,)


MISTAKES = {
    "malformed": (400, "malformed", {"content": b'{"query": ', "headers": {"content-type": "application/json"}}),
    "a form": (415, "not_json", {"data": {"grade": "1"}}),
    "too large": (413, "too_large", {"json": {"query": "q" * MAX_BODY}}),
    "a missing value": (422, "missing_value", {"json": {"query": "q1", "grade": 1}}),
    "an unknown value": (422, "bad_value", {"json": {"query": "q1", "doc": "q1-d1", "grade": 1, "rank": 1}}),
    "a grade too high": (422, "bad_value", {"json": {"query": "q1", "doc": "q1-d1", "grade": 3}}),
    "a grade as text": (422, "bad_value", {"json": {"query": "q1", "doc": "q1-d1", "grade": "1"}}),
    "half a character": (400, "malformed", {"json": {"query": "\ud800", "doc": "q1-d1", "grade": 1}}),
    "an empty id": (422, "bad_value", {"json": {"query": "", "doc": "q1-d1", "grade": 1}}),
    "an unknown document": (404, "unknown_document", {"json": {"query": "q1", "doc": "q2-d1", "grade": 1}}),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_gets_a_reason_and_changes_nothing(mistake, client, served):
    status, code, request = MISTAKES[mistake]
    if "json" in request:  # escaped, so that half a character arrives as it is
        request = {"content": json.dumps(request["json"]), "headers": {"content-type": "application/json"}}
    answer = client.post("/api/labels", **request)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.json()["error"]["message"]
    assert served.labels() == []


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 61, "\u202e"])
def test_a_rater_needs_a_name_that_can_be_read(name, client, served):
    answer = client.post("/api/labels", params={"rater": name}, json=first(client) | {"grade": 1})
    assert (answer.status_code, answer.json()["error"]["code"]) in ((422, "bad_rater"), (422, "bad_value"))
    assert served.labels() == []


def test_a_store_in_trouble_is_a_503_after_which_the_page_tries_again(client, served, monkeypatch):
    def fail(*_, **__):
        raise StoreError("labels.db: the disk is full")

    task = first(client)
    monkeypatch.setattr(served.judging.store, "add", fail)
    answer = client.post("/api/labels", json=task | {"grade": 1})
    assert answer.status_code == 503
    assert answer.json()["error"] == {"code": "store_trouble", "message": "labels.db: the disk is full"}


def judge(client, listed, docs=None):
    for doc in listed["docs"][:docs]:
        body = {"query": listed["query"], "doc": doc["doc"], "grade": 1, "page": "list"}
        answer = client.post("/api/labels", json=body).json()
        assert answer["task"] is None  # the page has its documents
    return answer


def test_a_list_comes_again_with_its_grades_and_when_none_is_left_the_reason_is_told(listing):
    with listing.client() as client:
        refused = client.get("/api/list", params={"query": "q99"})
        assert (refused.status_code, refused.json()["error"]["message"]) == (422, "the pool has no query 'q99'")
        listed = client.get("/api/list").json()["list"]
        assert len(listed["docs"]) == 3
        assert judge(client, listed, 1)["progress"]["mine"] == 1
        again = client.get("/api/list").json()["list"]
        assert [doc["doc"] for doc in again["docs"]] == [doc["doc"] for doc in listed["docs"]]
        assert [doc["grade"] for doc in again["docs"]] == [1, None, None]
        for _ in range(4):
            judge(client, client.get("/api/list").json()["list"])
        answer = client.get("/api/list").json()
    assert answer["list"] is None
    assert (answer["progress"]["done"], answer["progress"]["reason"]) == (True, EMPTY)


def test_the_lead_chooses_what_comes_first_and_the_address_decides(serve):
    first = serve(rater="ann", lists_first=True, labels="a.db")
    usual = serve(rater="ann", labels="b.db")
    with first.client() as lists, usual.client() as ones:
        assert 'id="list"' in lists.get("/").text
        assert 'id="judge"' in lists.get("/one").text
        assert 'id="judge"' in lists.get("/", params={"query": "q1", "doc": "q1-d1"}).text  # to revise
        assert 'id="judge"' in ones.get("/").text
        assert 'id="list"' in ones.get("/list").text


@pytest.mark.parametrize("page", ["admin", "import", "terminal"])
def test_a_request_cannot_say_that_it_came_from_elsewhere(listing, page):
    body = {"query": "q", "doc": "d", "grade": 1, "page": page}
    with listing.client() as client:
        answer = client.post("/api/labels", json=body)
    assert answer.status_code == 422
    assert "page" in answer.json()["error"]["message"]


def test_every_answer_names_the_store_and_a_request_for_another_is_refused(client, served):
    identity = client.get("/api/next").headers["rulerank-store"]
    assert identity == served.judging.store.identity
    body = {"query": "q1", "doc": "q1-d1", "grade": 1}
    for method, path, options in (("POST", "/api/labels", {"json": body}), ("GET", "/api/next", {})):
        answer = client.request(method, path, headers={"rulerank-store": "another"}, **options)
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "other_store")
        assert answer.json()["error"]["message"].startswith("this request is for another label store")
    assert served.labels() == []
    assert client.post("/api/labels", json=body, headers={"rulerank-store": identity}).status_code == 200


def test_a_first_visit_asks_for_a_name_and_the_next_one_knows_it(serve):
    with serve().client() as client:
        assert "Who is judging?" in client.get("/").text
        assert "Who is judging?" in client.get("/labels", follow_redirects=True).text
        assert 'data-rater="Zoë &amp; 李"' in client.get("/", params={"rater": "Zoë & 李"}).text
        assert 'data-rater="Zoë &amp; 李"' in client.get("/").text
        assert client.get("/api/next").json()["progress"]["rater"] == "Zoë & 李"
        assert "Zoë &amp; 李" in client.get("/?who").text


def test_the_guidelines_decide_which_grades_there_are(serve):
    guidelines = parse_guidelines("0: no\n1: yes\n  example: a tent with a roof")
    served = serve(rater="ann", max_grade=1, guidelines=guidelines)
    with served.client() as client:
        page = client.get("/").text
        assert page.count('class="grade-button') == 2
        assert "<kbd>0</kbd> … <kbd>1</kbd>" in page
        assert "a tent with a roof" in page
        query, doc = served.judging.pool.pairs[0]
        refused = client.post("/api/labels", json={"query": query, "doc": doc, "grade": 2})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_value")


def test_guidelines_that_contradict_the_loop_are_refused(make_pool, tmp_path):
    with LabelStore(tmp_path / "labels.db") as store:
        judging = Judging(make_pool(), store, max_grade=4)
        with pytest.raises(DataError, match="the guidelines have grades 0 to 1, but the judging loop has 0 to 4"):
            create_app(judging, guidelines=parse_guidelines("0: no\n1: yes"))


def test_an_admin_who_opens_a_page_without_a_name_gets_that_page(serve):
    with serve().client() as client:
        assert "Who is judging?" in client.get("/admin").text
        assert "<h1>Admin</h1>" in client.get("/admin", params={"rater": "lea"}).text
        assert "<h1>Admin</h1>" in client.get("/admin").text
