"""What is learned beside the requests: sentences that nobody waits long for, and one training at a time."""

import threading

import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.judging import learning as standing_module
from rulerank.judging.learning import FIRST, NO_TODAY, Standing
from rulerank.judging.loop import Judging
from rulerank.judging.pool import Pool
from rulerank.judging.store import LabelStore
from rulerank.today import find_today

WORLD = rr.make_ranking(n_queries=6, docs_per_query=8, n_features=4, seed=2)
TODAY = find_today(WORLD.feature_names, "bm25_body")
GRADES = {row: int(WORLD.y[row]) for row in range(20)}


class Slow:
    """Stands for a training that ends when it is told to."""

    def __init__(self):
        self.begun, self.go_on, self.n_calls = threading.Event(), threading.Event(), 0

    def __call__(self, data, today):
        self.n_calls += 1
        self.begun.set()
        assert self.go_on.wait(30)
        return self

    def lines(self):
        return [f"said {self.n_calls} times"]


@pytest.fixture
def slow(monkeypatch):
    slow = Slow()
    monkeypatch.setattr(standing_module, "select_from_today", slow)
    monkeypatch.setattr(standing_module, "PATIENCE", 0.01)
    yield slow
    slow.go_on.set()


def finish(standing):
    if (work := standing._work) is not None:
        work.join(30)


def test_nobody_waits_for_sentences_that_take_long(slow):
    standing = Standing(Pool(WORLD), TODAY)
    assert standing.lines(GRADES) == (FIRST,)
    assert standing.lines(GRADES) == (FIRST,)  # and it is not begun again
    slow.go_on.set()
    finish(standing)
    assert standing.lines(GRADES) == ("said 1 times",)
    slow.go_on.clear()
    more = GRADES | {30: 0}
    assert standing.lines(more) == ("said 1 times", "This is of 20 labels: newer ones are being looked at.")
    slow.go_on.set()
    finish(standing)
    assert standing.lines(more) == ("said 2 times",)


def test_what_goes_wrong_is_a_sentence_too(monkeypatch):
    def fail(data, today):
        raise DataError("this cannot be")

    monkeypatch.setattr(standing_module, "select_from_today", fail)
    assert Standing(Pool(WORLD), TODAY).lines(GRADES) == (
        "Nothing can be said of a model of these labels: this cannot be.",
    )
    assert Standing(Pool(WORLD), None).lines(GRADES) == (NO_TODAY,)


def test_what_became_of_a_training_is_known(tmp_path):
    with LabelStore(tmp_path / "labels.db") as store:
        judging = Judging(Pool(WORLD), store, max_grade=4)
        assert judging.training is None
        with pytest.raises(DataError, match="nothing can be learned yet: no document has a grade"):
            judging.save_model(tmp_path / "m.rulerank", "QI")
        failed = judging.training
        assert (failed.running, failed.saved) == (False, None)
        assert failed.problem.startswith("nothing can be learned yet")
        store.add_all([(*judging.pool.pairs[row], grade, "ann") for row, grade in GRADES.items()])
        saved = judging.save_model(tmp_path / "m.rulerank", "QI")
        done = judging.training
        assert (done.running, done.saved, done.problem) == (False, saved, None)


def test_a_page_that_starts_is_ready_before_it_is_asked(tmp_path):
    with LabelStore(tmp_path / "labels.db") as store:
        judging = Judging(Pool(WORLD), store)
        store.add_all([(*judging.pool.pairs[row], grade, "ann") for row, grade in GRADES.items()])
        judging.prepare()
        assert judging.learning._last[0] == GRADES
    judging.prepare()  # the store is closed: whoever asks is told
