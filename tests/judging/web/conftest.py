"""A small pool, and the page served on this machine for as long as a test lasts."""

import threading
from contextlib import nullcontext

import pytest
from starlette.responses import Response
from starlette.testclient import TestClient

from rulerank.datasets.ranking import make_ranking
from rulerank.judging.loop import Judging
from rulerank.judging.pool import Pool
from rulerank.judging.store import LabelStore
from rulerank.judging.web.app import create_app
from rulerank.web.server import make_server, open_socket, url_of


class Served:
    """What is served: to clients in this process, and to whoever asks for its address by a server, started then."""

    def __init__(self, app, judging, port):
        self.judging = judging
        self.away = ""  # a path that nobody answers

        async def answer(scope, receive, send):
            asked = Response("away", 503) if scope.get("path") == self.away else app
            await asked(scope, receive, send)

        self.app = answer
        self._running = None
        self.port = port or 8765  # of clients, until a server has one
        if port:
            self._start(port)

    def go_away(self, path):
        """Answer nothing sensible to requests for a path, until `come_back`.

        Playwright's `route` is no way to do so on an open page: a request right after it may still get through.
        """
        self.away = path

    def come_back(self):
        self.away = ""

    def _start(self, port=0):
        if self._running is None:
            listening = open_socket("127.0.0.1", port)
            self.port = listening.getsockname()[1]
            server = make_server(self.app)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
            self._running = listening, server, thread
            thread.start()
        return self._running

    @property
    def url(self):
        return url_of(self._start()[0])

    @property
    def server(self):
        return self._start()[1]

    def client(self, params=None, **options):
        options = {"follow_redirects": False, "raise_server_exceptions": False} | options
        client = TestClient(self.app, f"http://127.0.0.1:{self.port}", **options)
        client.params = params or {}
        return nullcontext(client)

    def labels(self):
        return [(label.query, label.doc, label.grade, label.rater) for label in self.judging.store.history()]

    def stop(self):
        if self._running is not None:
            listening, server, thread = self._running
            server.should_exit = True
            thread.join(timeout=120)
            assert not thread.is_alive()
            listening.close()
            self._running = None


def small_pool(texts=None, n_queries=3, docs_per_query=5):
    data = make_ranking(n_queries=n_queries, docs_per_query=docs_per_query, n_features=4, seed=1)
    titles = [f"Title of {doc}" for doc in data.docid]
    return Pool(data, {"query_text": [f"words of {query}" for query in data.qid], "title": titles} | (texts or {}))


@pytest.fixture(scope="session")
def make_pool():
    """Make a pool of 3 queries with 5 documents each: make_pool({"text": [...]})."""
    return small_pool


@pytest.fixture
def serve(tmp_path):
    """Start the page: serve(pool, rater="ann", token=...) -> Served; it is stopped when the test is over."""
    running = []

    def serve(pool=None, *, port=0, max_grade=2, overlap=0.0, labels="labels.db", **options):
        pool = pool or small_pool()
        store = LabelStore(tmp_path / labels)
        judging = Judging(pool, store, max_grade=max_grade, overlap=overlap)
        app = create_app(judging, **{"model_path": tmp_path / "model.rulerank"} | options)
        running.append(Served(app, judging, port))
        return running[-1]

    yield serve
    for served in running:
        served.stop()
        served.judging.store.close()
