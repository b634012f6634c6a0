"""A small pool, and the page served on this machine for as long as a test lasts."""

import threading
from dataclasses import dataclass

import httpx
import pytest
import uvicorn

from rulerank.judging.loop import Judging
from rulerank.judging.pool import Pool
from rulerank.judging.store import LabelStore
from rulerank.judging.web.app import create_app
from rulerank.web.server import make_server, open_socket, url_of
from rulerank.worlds import make_world


@dataclass
class Served:
    """A running server, and what it serves."""

    url: str
    port: int
    judging: Judging
    server: uvicorn.Server
    thread: threading.Thread

    def client(self, **options):
        return httpx.Client(base_url=self.url, timeout=120, **options)

    def labels(self):
        return [(label.query, label.doc, label.grade, label.rater) for label in self.judging.store.history()]

    def stop(self):
        self.server.should_exit = True
        self.thread.join(timeout=120)
        assert not self.thread.is_alive()


def small_pool(texts=None, n_queries=3, docs_per_query=5):
    data = make_world(n_queries=n_queries, docs_per_query=docs_per_query, n_features=4, seed=1)
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
        listening = open_socket("127.0.0.1", port)
        server = make_server(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        served = Served(url_of(listening), listening.getsockname()[1], judging, server, thread)
        running.append((served, listening))
        thread.start()
        return served

    yield serve
    for served, listening in running:
        served.stop()
        listening.close()
        served.judging.store.close()
