"""What the service answers: the numbers of the Reranker, also when many wait or it stops."""

import json
import threading
import time

import numpy as np
import pytest

import rulerank as rr
from prometheus_counts import counts
from rulerank.serve.web.app import SCORES, Limits

QUERY = "women rain jacket"


def test_ready_features_are_ranked_to_the_bits_of_predict(of_features, served_synthetic):
    synthetic, (ranker, _), rows = served_synthetic
    answer = of_features.post("/rank", json={"documents": rows, "top": 20}).json()
    scores = ranker.predict(synthetic[np.arange(20)])
    assert {result["id"]: result["score"] for result in answer["results"]} == {
        f"d{row}": score for row, score in enumerate(scores.tolist())
    }
    assert [result["rank"] for result in answer["results"]] == [*range(1, 21)]
    assert sorted(result["baseline_rank"] for result in answer["results"]) == [*range(1, 21)]
    assert answer["n_docs"] == 20
    assert answer["version"] == rr.Reranker(ranker).version


def test_reasons_and_features_come_when_they_are_asked_for_and_add_up(of_features, served_synthetic):
    *_, rows = served_synthetic
    plain = of_features.post("/rank", json={"documents": rows}).json()["results"]
    asked = of_features.post("/rank", json={"documents": rows, "reasons": True, "features": True}).json()["results"]
    assert len(plain) == 10
    for without, result in zip(plain, asked, strict=True):
        assert without == {name: result[name] for name in ("id", "rank", "score", "baseline_rank")}
        assert sum(reason["adds"] for reason in result["reasons"]) == pytest.approx(result["score"], rel=1e-9)
        own = next(row["features"] for row in rows if row["id"] == result["id"])
        assert result["features"] == own


def test_texts_are_ranked_as_the_reranker_ranks_them(of_texts, reranker):
    found = reranker.rank(QUERY)
    whole = of_texts.post("/rank", json={"query": QUERY}).json()
    assert [(one["id"], one["score"]) for one in whole["results"]] == [(one.id, one.score) for one in found]
    ids = found.ids[::-1]
    by_id = of_texts.post("/rank", json={"query": QUERY, "documents": ids}).json()
    assert [one["score"] for one in by_id["results"]] == reranker.rank(QUERY, ids).scores
    new = [{"id": "a", "fields": {"title": "Rain jacket", "price": 3.5}}, {"fields": {"title": "Kettle"}}]
    made_up = of_texts.post("/rank", json={"query": QUERY, "documents": new}).json()
    assert [one["id"] for one in made_up["results"]] == ["a", "1"]
    few = of_texts.post("/rank", json={"query": QUERY, "candidates": 3}).json()
    assert few["n_docs"] == 3


def test_a_search_shows_both_rankings(of_texts, of_features, reranker):
    assert of_features.get("/search", params={"q": QUERY}).json()["error"]["code"] == "not_found"
    answer = of_texts.get("/search", params={"q": QUERY, "top": 5, "reasons": "true"}).json()
    assert [one["id"] for one in answer["results"]] == reranker.rank(QUERY, top=5).ids
    assert [one["baseline_rank"] for one in answer["baseline"]] == [1, 2, 3, 4, 5]
    assert answer["results"][0]["title"]
    assert answer["results"][0]["reasons"]
    nothing = of_texts.get("/search", params={"q": "zzzz"}).json()
    assert (nothing["n_docs"], nothing["results"], nothing["baseline"]) == (0, [], [])


def test_explanations_are_those_of_the_reranker(of_texts, of_features, reranker, served_synthetic):
    first, second = reranker.rank(QUERY, top=2).ids
    one = of_texts.post("/explain", json={"query": QUERY, "doc": first}).json()
    assert one["explanation"] == json.loads(reranker.explain(QUERY, first).to_json())
    two = of_texts.post("/explain", json={"query": QUERY, "doc": first, "versus": second}).json()
    assert two["explanation"]["kind"] == "versus"
    assert two["lines"] == reranker.explain(QUERY, first, second).lines(8)
    *_, rows = served_synthetic
    of_rows = of_features.post("/explain", json={"documents": rows, "doc": "d3", "versus": "d4"}).json()
    assert {of_rows["explanation"][end]["document"] for end in ("high", "low")} == {"d3", "d4"}


def test_health_tells_the_model_and_the_documents(of_texts, of_features, reranker):
    health = of_texts.get("/healthz").json()
    assert health["model"]["version"] == reranker.version
    assert health["model"]["method"] == "GlobalRules"
    assert (health["documents"], health["baseline"], health["problem"]) == (200, "BM25", None)
    health = of_features.get("/healthz").json()
    assert (health["documents"], health["baseline"]) == (None, "the given order")


class Held(rr.Reranker):
    """A reranker that ranks when it is let go."""

    def __init__(self, ranker):
        super().__init__(ranker)
        self.begun, self.let_go = threading.Semaphore(0), threading.Event()

    def rank(self, *arguments, **options):
        self.begun.release()
        self.let_go.wait(60)
        return super().rank(*arguments, **options)


def test_an_answer_that_takes_too_long_is_given_up(serve, served_synthetic):
    _, (ranker, _), rows = served_synthetic
    held = Held(ranker)
    with serve(held, limits=Limits(seconds=0.2)).remote() as client:
        try:
            answer = client.post("/rank", json={"documents": rows})
        finally:
            held.let_go.set()
        assert (answer.status_code, answer.json()["error"]["code"]) == (504, "timed_out")
        assert answer.json()["error"]["message"].startswith("the request took longer than 0.2 s: send fewer")
        assert counts(client.get("/metrics").text)["rulerank_requests_total", "/rank", "504"] == 1


def test_who_comes_when_too_many_wait_is_told_at_once_and_who_waits_is_answered_when_it_stops(
    serve, served_synthetic, monkeypatch
):
    monkeypatch.setattr("rulerank.serve.web.app.MOST_WAITING", 2)
    _, (ranker, _), rows = served_synthetic
    held = Held(ranker)
    served = serve(held)
    answers = []

    def ask():
        with served.remote() as client:
            answers.append(client.post("/rank", json={"documents": rows}).status_code)

    waiting = [threading.Thread(target=ask) for _ in range(2)]
    try:
        for thread in waiting:
            thread.start()
            assert held.begun.acquire(timeout=60)
        with served.remote() as client:
            answer = client.post("/rank", json={"documents": rows})
        served.server.should_exit = True
    finally:
        held.let_go.set()
    for thread in waiting:
        thread.join()
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "busy")
    assert answer.headers["retry-after"] == "1"
    assert answers == [200, 200]


def test_metrics_count_requests_documents_scores_missing_values_and_refusals(ask, served_synthetic):
    synthetic, (ranker, _), rows = served_synthetic
    client = ask(rr.Reranker(ranker))
    for _ in range(3):
        client.post("/rank", json={"documents": rows})
    client.post("/rank", json={})
    client.get("/nowhere")
    found = counts(client.get("/metrics").text)
    assert found["rulerank_requests_total", "/rank", "200"] == 3
    assert found["rulerank_requests_total", "/rank", "422"] == 1
    assert found["rulerank_requests_total", "other", "404"] == 1
    assert found["rulerank_request_seconds_bucket", "+Inf", "/rank"] == 4
    assert found["rulerank_documents_scored_total",] == 60
    scores, version = ranker.predict(synthetic[np.arange(20)]), rr.Reranker(ranker).version
    for bound in SCORES:
        assert found["rulerank_score_bucket", str(bound), version] == 3 * (scores <= bound).sum()
    assert found["rulerank_score_count", version] == 60
    missing = {name: 3 * sum(row["features"][name] is None for row in rows) for name in synthetic.feature_names}
    assert any(missing.values())
    for name, n in missing.items():
        assert found.get(("rulerank_missing_values_total", name), 0) == n
    assert found["rulerank_requests_in_work",] == 1
    assert found["rulerank_model_info", rr.Reranker(ranker).version, "0"] == 1
    assert found["rulerank_model_since_seconds", "0"] <= time.time()
    assert found["rulerank_model_reloads_total",] == found["rulerank_model_failed_reloads_total",] == 0
