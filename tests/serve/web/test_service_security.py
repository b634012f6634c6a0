"""Who may talk to the service: this machine, or who has the token; never another site's page."""

import socket

import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.web import bodies, connections
from rulerank.web.server import check_token

TOKEN = "a secret that is long"
PATHS = ["/", "/rank", "/search?q=x", "/healthz", "/metrics", "/openapi.json", "/static/try.js", "/shared/style.css"]


@pytest.fixture
def ranker(served_world):
    return rr.Reranker(served_world[1][0])


@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_nothing_is_served(path, serve, ranker):
    with serve(ranker, token=TOKEN).client() as client:
        for answer in (client.get(path), client.post(path), client.get(path, headers={"authorization": "Bearer no"})):
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "wrong_token")
            assert "`rulerank serve` printed" in answer.json()["error"]["message"]


def test_the_token_opens_the_service_as_a_header_and_the_page_as_a_cookie(serve, ranker):
    served = serve(ranker, token=TOKEN)
    with served.client(headers={"authorization": f"Bearer {TOKEN}", "host": "search.example"}) as client:
        assert client.get("/healthz").status_code == 200
        assert client.get("/openapi.json").json()["security"] == [{"token": []}]
    with served.client() as client:
        assert client.get("/", params={"token": TOKEN}).headers["refresh"] == "0; url=/"
        assert client.get("/").status_code == 200


def test_another_name_for_this_machine_is_refused(serve, ranker):
    with serve(ranker).client(headers={"host": "evil.example"}) as client:
        for path in PATHS:
            assert client.get(path).json()["error"]["code"] == "wrong_host"


@pytest.mark.parametrize(
    "headers", [{"sec-fetch-site": "cross-site"}, {"origin": "http://evil.example"}, {"origin": "null"}]
)
def test_pages_of_other_sites_are_refused(headers, serve, ranker):
    with serve(ranker).client(headers=headers) as client:
        assert client.post("/rank", json={}).json()["error"]["code"] == "wrong_origin"
        if "sec-fetch-site" in headers:
            assert client.get("/healthz").json()["error"]["code"] == "wrong_origin"


def test_every_answer_brings_the_headers_of_safety(serve, ranker):
    with serve(ranker).client() as client:
        for path in PATHS:
            headers = client.get(path).headers
            assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
            assert headers["x-content-type-options"] == "nosniff"
            assert "server" not in headers


def test_beyond_this_machine_a_token_is_needed():
    with pytest.raises(DataError, match="a secret of at least 12 characters that every client gets"):
        check_token("0.0.0.0", None, "client")


def test_senders_that_stall_are_cut_off(serve, ranker, monkeypatch):
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.3)
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.3)
    served = serve(ranker)
    head = b"POST /rank HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    for sent in (head + b"Content-Length: 99\r\n\r\n{", head + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"):
        with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
            connection.sendall(sent)
            answer = b""
            while chunk := connection.recv(4096):
                answer += chunk
        assert answer.startswith(b"HTTP/1.1 408 ")
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
        connection.sendall(head)
        assert connection.recv(4096) == b""
