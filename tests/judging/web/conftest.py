"""A small pool, and the page served on this machine for as long as a test lasts."""

import pytest

from rulerank.datasets.ranking import make_ranking
from rulerank.judging.loop import Judging
from rulerank.judging.pool import Pool
from rulerank.judging.store import LabelStore
from rulerank.judging.web.app import create_app
from served_apps import Served


class ServedPage(Served):
    """The page and its judging loop."""

    judging: Judging

    def labels(self):
        return [(label.query, label.doc, label.grade, label.rater) for label in self.judging.store.history()]


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

    def serve(pool=None, *, port=0, max_grade=2, overlap=0.0, n_listed=10, labels="labels.db", **options):
        pool = pool or small_pool()
        store = LabelStore(tmp_path / labels)
        judging = Judging(pool, store, max_grade=max_grade, overlap=overlap, n_listed=n_listed)
        app = create_app(judging, **{"model_path": tmp_path / "model.rulerank"} | options)
        running.append(ServedPage(app, port))
        running[-1].judging = judging
        return running[-1]

    yield serve
    for served in running:
        served.stop()
        served.judging.store.close()
