"""The API hands out documents, keeps grades, and answers every mistake with a reason."""

import json

import httpx
import pytest

import rulerank as rr
from rulerank.judging.labels import StoreError
from rulerank.methods import METHODS
from rulerank.web.requests import MAX_BODY


@pytest.fixture
def served(serve):
    return serve(rater="ann")


@pytest.fixture
def client(served):
    with served.client() as client:
        yield client


def first(client, rater="ann"):
    task = client.get("/api/next", params={"rater": rater}).json()["task"]
    return {"query": task["query"], "doc": task["doc"]}


def test_a_document_is_shown_with_its_texts_and_without_the_rankers_opinion(client):
    answer = client.get("/api/next").json()
    assert answer["task"]["title"] == f"Title of {answer['task']['doc']}"
    assert answer["task"]["judged"] is False
    assert "estimate" not in json.dumps(answer)
    assert answer["progress"]["labelled"] == 0


def test_a_grade_is_kept_and_the_next_document_comes_with_the_answer(client, served):
    task = first(client)
    answer = client.post("/api/labels", json=task | {"grade": 2}).json()
    assert (answer["label"]["grade"], answer["label"]["rater"]) == (2, "ann")
    assert answer["task"]["doc"] != task["doc"]
    assert answer["progress"]["mine"] == 1
    assert served.labels() == [(task["query"], task["doc"], 2, "ann")]


def test_the_estimate_comes_once_there_are_labels_and_only_after_the_grade(client):
    task = first(client)
    for place in range(8):
        before = client.get("/api/estimate", params=task)
        assert (before.status_code, before.json()["error"]["code"]) == (422, "not_judged")
        judged, answer = task, client.post("/api/labels", json=task | {"grade": place % 2}).json()
        task = {name: answer["task"][name] for name in ("query", "doc")}
        estimate = client.get("/api/estimate", params=judged).json()["estimate"]
        assert (estimate is None) == (place < 4)
    assert 0 <= estimate["grade"] <= 2
    assert estimate["n_labels"] == 7
    assert estimate["reasons"]


def test_a_grade_sent_again_because_its_answer_was_lost_is_one_label(client, served):
    task = first(client) | {"grade": 1}
    ids = [client.post("/api/labels", json=task).json()["label"]["id"] for _ in range(3)]
    assert ids == [1, 1, 1]
    assert client.post("/api/undo", json={}).json()["undone"]["id"] == 1
    assert client.post("/api/labels", json=task).json()["label"]["id"] == 2
    assert served.judging.progress("ann").mine == 1


def test_null_means_cannot_judge(client, served):
    client.post("/api/labels", json=first(client) | {"grade": None})
    assert served.judging.progress("ann").cannot_judge == 1


def test_a_skipped_document_does_not_come_back(client):
    task = first(client)
    answer = client.post("/api/skip", json=task).json()
    assert answer["task"]["doc"] != task["doc"]
    assert answer["progress"]["skipped"] == 1


def test_undo_takes_back_the_last_label_and_shows_its_document(client):
    task = first(client)
    client.post("/api/labels", json=task | {"grade": 2})
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


def test_features_come_with_how_unusual_they_are(client):
    features = client.get("/api/features", params=first(client)).json()["features"]
    assert [feature["name"] for feature in features] == ["bm25_body", "bm25_title", "pagerank", "clicks"]
    assert all(feature["value"] is None or 0 <= feature["percentile"] <= 100 for feature in features)


def test_two_raters_never_get_the_same_document(client):
    assert first(client, "ann") != first(client, "ben")


def test_judging_goes_on_after_the_samplers_stop_when_asked(client, served):
    while (task := client.get("/api/next").json()["task"]) is not None:
        client.post("/api/labels", json={"query": task["query"], "doc": task["doc"], "grade": 0})
    assert client.get("/api/progress").json()["progress"]["done"] is True
    assert len(served.labels()) < 15
    assert client.get("/api/next", params={"keep_going": "true"}).json()["task"] is not None


def test_training_writes_a_model_that_can_be_loaded(client, served, tmp_path):
    for grade in (0, 1, 2, 0, 1, 2):
        client.post("/api/labels", json=first(client) | {"grade": grade})
    done = client.post("/api/train", json={"method": "RE-GR"}).json()
    (note,) = done.pop("notes")
    assert note.startswith("RE-GR learned from 6 labels is mostly worse than today's ranking")
    assert done == {"path": str(tmp_path / "model.rulerank"), "method": "RE-GR", "n_labels": 6}
    assert rr.load(done["path"]).predict(served.judging.pool.data).shape == (15,)


def test_every_method_that_can_be_chosen_trains(client, served):
    for grade in (0, 1, 2, 0, 1, 2, 0, 1, 2):
        client.post("/api/labels", json=first(client) | {"grade": grade})
    answers = {name: client.post("/api/train", json={"method": name}) for name in METHODS}
    assert {name: answer.text for name, answer in answers.items() if answer.status_code != 200} == {}


def test_labels_that_teach_nothing_make_no_model(client, served):
    for number, grade in enumerate((0, 1, 2), start=1):  # each query has one grade only
        client.post("/api/labels", json={"query": f"q{number}", "doc": f"q{number}-d1", "grade": grade})
    answer = client.post("/api/train", json={"method": "QI"})
    assert answer.status_code == 422
    assert answer.json()["error"]["message"].startswith("nothing can be learned yet: no query has labels of two grades")


def test_training_without_labels_says_what_is_missing(client, tmp_path):
    answer = client.post("/api/train", json={"method": "RE-GR"})
    assert answer.status_code == 422
    assert "nothing can be learned yet" in answer.json()["error"]["message"]
    assert not (tmp_path / "model.rulerank").exists()


def test_the_overview_is_the_page_and_the_json(client):
    client.post("/api/labels", json=first(client) | {"grade": 1})
    overview = client.get("/api/overview").json()["overview"]
    assert overview["labelled"] == 1
    assert [row["rater"] for row in overview["raters"]] == ["ann"]
    assert "of 15 documents labelled" in client.get("/overview").text


MISTAKES = {
    "malformed": (400, "malformed", {"content": b'{"query": ', "headers": {"content-type": "application/json"}}),
    "not utf-8": (400, "malformed", {"content": b'"\xff"', "headers": {"content-type": "application/json"}}),
    "a form": (415, "not_json", {"data": {"grade": "1"}}),
    "too large": (413, "too_large", {"json": {"query": "q" * MAX_BODY}}),
    "a missing value": (422, "missing_value", {"json": {"query": "q1", "grade": 1}}),
    "an unknown value": (422, "bad_value", {"json": {"query": "q1", "doc": "q1-d1", "grade": 1, "rank": 1}}),
    "a grade too high": (422, "bad_value", {"json": {"query": "q1", "doc": "q1-d1", "grade": 3}}),
    "a grade that is none": (422, "bad_value", {"json": {"query": "q1", "doc": "q1-d1", "grade": True}}),
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


def test_a_body_without_a_length_is_cut_off_when_it_grows_too_large(served):
    endless = (b" " * 1000 for _ in range(100))
    answer = httpx.post(f"{served.url}api/labels", content=endless, headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert served.labels() == []


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 61, "\u202e"])
def test_a_rater_needs_a_name_that_can_be_read(name, client, served):
    answer = client.post("/api/labels", params={"rater": name}, json=first(client) | {"grade": 1})
    assert (answer.status_code, answer.json()["error"]["code"]) in ((422, "bad_rater"), (422, "bad_value"))
    assert served.labels() == []


def test_without_a_name_nothing_is_handed_out(serve):
    with serve().client() as client:
        answer = client.get("/api/next")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "no_rater")


def test_a_store_in_trouble_is_a_503_after_which_the_page_tries_again(client, served, monkeypatch):
    def fail(*_, **__):
        raise StoreError("labels.db: the disk is full")

    task = first(client)
    monkeypatch.setattr(served.judging.store, "add", fail)
    answer = client.post("/api/labels", json=task | {"grade": 1})
    assert answer.status_code == 503
    assert answer.json()["error"] == {"code": "store_trouble", "message": "labels.db: the disk is full"}


def test_unknown_paths_and_methods_have_the_same_shape(client):
    lost, wrong = client.get("/api/nothing"), client.request("DELETE", "/api/labels")
    assert (lost.status_code, lost.json()["error"]["code"]) == (404, "not_found")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (405, "wrong_method")
    assert set(wrong.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}
