"""The store against a plain list of facts, over whatever people may do in whatever order."""

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from rulerank.judging.store import LabelStore

QUERIES, DOCS, RATERS = (st.sampled_from(names) for names in (["q1", "q2"], ["a", "b"], ["ann", "bob", "eve"]))
GRADES = st.one_of(st.none(), st.integers(0, 4))


class PlainStore:
    """The same promises, kept with lists: slow, obviously right."""

    def __init__(self):
        self.facts = []  # [query, doc, grade, rater, superseded_by, withdrawn?]; the id is the place, from 1
        self.claims = {}
        self.skips = []

    def current(self):
        return [number for number, fact in enumerate(self.facts, 1) if fact[4] is None and not fact[5]]

    def add(self, query, doc, grade, rater):
        for number in self.current():
            fact = self.facts[number - 1]
            if (fact[0], fact[1], fact[3]) == (query, doc, rater):
                fact[4] = len(self.facts) + 1
        self.facts.append([query, doc, grade, rater, None, False])
        self.claims.pop((query, doc, rater), None)
        self.skips = [skip for skip in self.skips if skip != (query, doc, rater)]

    def undo(self, rater):
        mine = [number for number in self.current() if self.facts[number - 1][3] == rater]
        if not mine:
            return None
        self.facts[mine[-1] - 1][5] = True
        for fact in self.facts:
            if fact[4] == mine[-1]:
                fact[4] = None
        return mine[-1]

    def claim(self, query, doc, rater, raters, until, now):
        self.claims = {key: end for key, end in self.claims.items() if end > now}
        people = {who for q, d, who in self.claims if (q, d) == (query, doc)}
        people |= {f[3] for n in self.current() if (f := self.facts[n - 1])[:2] == [query, doc]}
        if rater not in people and len(people) >= raters:
            return False
        self.claims[query, doc, rater] = until
        return True

    def skip(self, query, doc, rater):
        self.claims.pop((query, doc, rater), None)
        self.skips = [skip for skip in self.skips if skip != (query, doc, rater)] + [(query, doc, rater)]


class Stores(RuleBasedStateMachine):
    target = None  # where PostgreSQL's is; else a new file

    @initialize()
    def begin(self):
        self.folder = tempfile.TemporaryDirectory()
        self.where = Path(self.folder.name, "labels.db") if self.target is None else self.target()
        self.now = datetime(2026, 1, 5, tzinfo=UTC)
        self.plain = PlainStore()
        self.open()

    def open(self):
        self.store = LabelStore(self.where, clock=lambda: self.now)

    def pass_time(self, seconds=1):
        self.now += timedelta(seconds=seconds)

    @rule(query=QUERIES, doc=DOCS, grade=GRADES, rater=RATERS)
    def add(self, query, doc, grade, rater):
        self.pass_time()
        assert self.store.add(query, doc, grade, rater).grade == grade
        self.plain.add(query, doc, grade, rater)

    @rule(rater=RATERS)
    def undo(self, rater):
        self.pass_time()
        undone = self.store.undo(rater)
        assert (None if undone is None else undone.id) == self.plain.undo(rater)

    @rule(query=QUERIES, doc=DOCS, rater=RATERS, raters=st.integers(1, 3), seconds=st.integers(1, 20))
    def claim(self, query, doc, rater, raters, seconds):
        self.pass_time()
        got = self.store.claim(query, doc, rater, raters=raters, seconds=seconds)
        until = self.now + timedelta(seconds=seconds)
        assert got == self.plain.claim(query, doc, rater, raters, until, self.now)

    @rule(query=QUERIES, doc=DOCS, rater=RATERS)
    def skip(self, query, doc, rater):
        self.pass_time()
        self.store.skip(query, doc, rater)
        self.plain.skip(query, doc, rater)

    @rule(seconds=st.integers(1, 20))
    def wait(self, seconds):
        self.pass_time(seconds)

    @rule()
    def reopen(self):
        self.store.close()
        self.open()

    @invariant()
    def the_same_is_in_both(self):
        if not hasattr(self, "store"):
            return
        history = [
            [label.query, label.doc, label.grade, label.rater, label.superseded_by, label.withdrawn is not None]
            for label in self.store.history()
        ]
        assert history == self.plain.facts
        assert [label.id for label in self.store.labels()] == self.plain.current()
        live = {key: end for key, end in self.plain.claims.items() if end > self.now}
        assert {
            (claim.query, claim.doc, claim.rater): datetime.fromtimestamp(claim.until, UTC)
            for claim in self.store.glance("ann").claims
        } == live
        for rater in ("ann", "bob", "eve"):
            assert self.store.skipped(rater) == [skip[:2] for skip in self.plain.skips if skip[2] == rater]

    def teardown(self):
        if hasattr(self, "store"):
            self.store.close()
            self.folder.cleanup()


@pytest.mark.parametrize(("backend", "n_examples"), [("sqlite", 25), ("postgresql", 5)])
def test_the_store_does_what_a_plain_list_does(backend, n_examples, request):
    if backend == "sqlite":
        machine = Stores
    else:
        new_url = request.getfixturevalue("postgres").new_url
        machine = type("PostgresStores", (Stores,), {"target": staticmethod(new_url)})
    run_state_machine_as_test(
        machine, settings=settings(max_examples=n_examples, stateful_step_count=20, deadline=None)
    )
