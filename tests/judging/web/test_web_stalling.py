"""Requests that stall are let go on both sites, whose server is one, and thousands of them do not keep a rater out."""

import socket
import time
from urllib.parse import urlsplit

import httpx

from rulerank.web import requests
from rulerank.web import server as web_server

N_STALLED = 500


def stalled(served, sent=b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"):
    connection = socket.create_connection(("127.0.0.1", urlsplit(served.url).port), timeout=120)
    connection.sendall(sent)
    return connection


def is_closed(connection):
    """Wait until the other side has hung up."""
    try:
        while connection.recv(4096):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


def test_a_head_that_never_ends_is_let_go(serve, monkeypatch):
    monkeypatch.setattr(web_server, "HEAD_SECONDS", 0.3)
    served = serve(rater="ann")
    for sent in (b"", b"GET / HTTP/1.1\r\n", b"G"):
        with stalled(served, sent) as connection:
            assert is_closed(connection)


def test_a_body_that_never_ends_is_refused(serve, monkeypatch):
    monkeypatch.setattr(requests, "BODY_SECONDS", 0.3)
    served = serve(rater="ann")
    head = b"POST /api/labels HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    for sent in (head + b"Content-Length: 99\r\n\r\n{", head + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"):
        with stalled(served, sent) as connection:
            answer = b""
            while chunk := connection.recv(4096):
                answer += chunk
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b'"code":"too_slow"' in answer
    assert served.labels() == []


def test_thousands_of_stalled_connections_keep_nobody_out(serve):
    served = serve(rater="ann")
    open_ones = []
    try:
        with served.client() as client:
            client.get("/api/next")
            for number in range(N_STALLED):
                open_ones.append(stalled(served))
                if number % 500 == 499:
                    assert client.get("/api/next").status_code == 200
            patience = time.monotonic() + 120
            while len(served.server.server_state.connections) > web_server.MOST_CONNECTIONS:
                assert time.monotonic() < patience
                time.sleep(0.01)
        body = {"query": "q1", "doc": "q1-d1", "grade": 1}
        assert httpx.post(f"{served.url}api/labels", json=body, timeout=120).status_code == 200
    finally:
        for connection in open_ones:
            connection.close()
