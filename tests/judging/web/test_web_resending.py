"""What comes twice, late or to the wrong place: one label per judgement, and no other store gets it."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from long_tests import LONG

N_PAIRS = 1000 if LONG else 100


@pytest.fixture
def served(serve):
    return serve(rater="ann")


@pytest.fixture
def client(served):
    with served.client() as client:
        yield client


@pytest.mark.parametrize("with_ids", [True, False])
def test_two_equal_posts_at_once_make_one_label(with_ids, serve, make_pool):
    served = serve(make_pool(n_queries=20, docs_per_query=N_PAIRS // 20), rater="ann")
    meet = threading.Barrier(2)

    def send(_):
        ids = []
        with served.client() as client:
            for number, (query, doc) in enumerate(served.judging.pool.pairs):
                body = {"query": query, "doc": doc, "grade": number % 3}
                meet.wait()
                answer = client.post("/api/labels", json=body | ({"judgement": f"j{number}"} if with_ids else {}))
                ids.append(answer.json()["label"]["id"])
        return ids

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(send, range(2))
    assert first == second
    assert len(served.labels()) == len(served.judging.pool) == N_PAIRS
    with served.client() as client:
        assert client.post("/api/undo", json={}).json()["undone"]["id"] == N_PAIRS
    assert len(served.judging.store.labels()) == N_PAIRS - 1  # the grade is not left in force


def test_a_resent_older_grade_leaves_the_newer_one_in_force(client, served):
    document = {"query": "q1", "doc": "q1-d1"}
    older = document | {"grade": 1, "judgement": "older"}
    first = client.post("/api/labels", json=older).json()["label"]
    client.post("/api/labels", json=document | {"grade": 2, "judgement": "newer"})
    assert client.post("/api/labels", json=older).json()["label"] == first
    assert [label.grade for label in served.judging.store.labels()] == [2]


def test_an_undo_sent_again_undoes_once(client, served):
    for number in (1, 2):
        client.post("/api/labels", json={"query": "q1", "doc": f"q1-d{number}", "grade": 1})
    answers = [client.post("/api/undo", json={"judgement": "u"}).json() for _ in range(3)]
    assert [answer["undone"]["doc"] for answer in answers] == ["q1-d2"] * 3
    assert len(served.judging.store.labels()) == 1


def test_an_id_of_another_judgement_is_refused(client, served):
    body = {"query": "q1", "doc": "q1-d1", "grade": 1, "judgement": "a"}
    client.post("/api/labels", json=body)
    answer = client.post("/api/labels", json=body | {"doc": "q1-d2"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "not_possible")
    assert "the judgement id 'a' stands for another judgement" in answer.json()["error"]["message"]
    assert len(served.labels()) == 1


def test_every_answer_names_the_store_and_a_request_for_another_is_refused(client, served):
    identity = client.get("/api/next").headers["rulerank-store"]
    assert identity == served.judging.store.identity
    body = {"query": "q1", "doc": "q1-d1", "grade": 1}
    for method, path, options in (("POST", "/api/labels", {"json": body}), ("GET", "/api/next", {})):
        answer = client.request(method, path, headers={"rulerank-store": "another"}, **options)
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "other_store")
        assert answer.json()["error"]["message"].startswith("this was meant for another label store")
    assert served.labels() == []
    assert client.post("/api/labels", json=body, headers={"rulerank-store": identity}).status_code == 200
