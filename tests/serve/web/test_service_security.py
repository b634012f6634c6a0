"""Who may talk to the service: this machine, or who has the token; never another site's page."""

import pytest

import rulerank as rr
from rulerank.serve.web.app import API

TOKEN = "a secret that is long"
PATHS = ["/", "/rank", "/search?q=x", "/healthz", "/metrics", "/openapi.json", "/static/try.js", "/shared/style.css"]


@pytest.fixture(scope="module")
def ranker(served_synthetic):
    return rr.Reranker(served_synthetic[1][0])


def test_without_the_token_nothing_is_served(ask, ranker):
    client = ask(ranker, token=TOKEN)
    for path in PATHS:
        for answer in (client.get(path), client.post(path), client.get(path, headers={"authorization": "Bearer no"})):
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "wrong_token")
            assert "`rulerank serve` printed" in answer.json()["error"]["message"]


def test_the_token_opens_the_service_as_a_header_and_the_page_as_a_cookie(ask, ranker):
    client = ask(ranker, token=TOKEN)
    by_header = {"authorization": f"Bearer {TOKEN}", "host": "search.example"}
    assert client.get("/healthz", headers=by_header).status_code == 200
    assert client.get("/openapi.json", headers=by_header).json()["security"] == [{"token": []}]
    assert client.get("/", params={"token": TOKEN}).headers["refresh"] == "0; url=/"
    assert client.get("/").status_code == 200


def test_another_name_for_this_machine_and_pages_of_other_sites_are_refused(of_features):
    for path in PATHS:
        assert of_features.get(path, headers={"host": "evil.example"}).json()["error"]["code"] == "wrong_host"
    for headers in ({"sec-fetch-site": "cross-site"}, {"origin": "http://evil.example"}, {"origin": "null"}):
        assert of_features.post("/rank", json={}, headers=headers).json()["error"]["code"] == "wrong_origin"
    for path in API:
        answer = of_features.get(path, headers={"sec-fetch-site": "cross-site"})
        assert answer.json()["error"]["code"] == "wrong_origin"
