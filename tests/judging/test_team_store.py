"""Decisions, judges and settings in the store: superseded, undone, never deleted; older stores brought up."""

import shutil
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rulerank.errors import DataError
from rulerank.judging.labels import Settings, StoreError
from rulerank.judging.store import LabelStore

OLD_STORES = Path(__file__).parents[1] / "data" / "v0.1" / "first"


@pytest.fixture
def store(target):
    start, steps = datetime(2026, 1, 5, tzinfo=UTC), iter(range(1000))
    with LabelStore(target, clock=lambda: start + timedelta(seconds=next(steps))) as made:
        yield made


def test_a_label_remembers_the_page_it_was_given_and_taken_back_on(store):
    store.add("q", "d", 1, "ann", page="list")
    store.add("q", "e", 1, "ann")
    assert store.undo("ann", page="duel").withdrawn_page == "duel"
    assert [(one.page, one.withdrawn_page) for one in store.history()] == [("list", None), (None, "duel")]
    with pytest.raises(DataError, match="a page must have at most 50 bytes"):
        store.add("q", "d", 1, "ann", page="x" * 51)


def test_a_decision_stays_beside_the_labels_and_can_be_superseded_and_undone(store):
    store.add("q", "d", 0, "ann")
    first = store.decide("q", "d", 2, "lea", page="disputes")
    second = store.decide("q", "d", None, "leo")
    assert store.decisions() == [second]
    assert [one.superseded_by for one in store.decision_history()] == [second.id, None]
    undone = store.undo_decision("q", "d", "lea", page="disputes")
    assert (undone.id, undone.withdrawn_by, undone.withdrawn_page) == (second.id, "lea", "disputes")
    assert store.decisions() == [first]
    assert store.undo_decision("q", "d", "lea").id == first.id
    assert store.undo_decision("q", "d", "lea") is None
    assert [one.withdrawn is not None for one in store.decision_history()] == [True, True]
    assert [one.grade for one in store.labels()] == [0]


def test_a_decision_that_comes_twice_counts_once(store):
    first = store.decide("q", "d", 2, "lea", judgement="a")
    store.decide("q", "d", 1, "lea", judgement="b")
    assert store.decide("q", "d", 2, "lea", judgement="a") == first
    assert [one.grade for one in store.decisions()] == [1]
    undone = store.undo_decision("q", "d", "lea", judgement="c")
    assert store.undo_decision("q", "d", "lea", judgement="c") == undone
    assert [one.grade for one in store.decisions()] == [2]
    with pytest.raises(DataError, match="stands for another judgement"):
        store.add("q", "d", 2, "lea", judgement="a")
    assert store.undo_decision("q", "e", "lea", judgement="d") is None
    assert store.undo_decision("q", "e", "lea", judgement="d") is None


def test_a_rater_is_a_person_unless_it_is_said_otherwise(store):
    store.add("q", "d", 1, "gpt")
    assert store.judges() == {}
    store.name_judge("gpt", "llm", "lea")
    store.name_judge("old", "project", "lea")
    assert store.judges() == {"gpt": "llm", "old": "project"}
    store.name_judge("old", "person", "lea")
    assert store.judges() == {"gpt": "llm"}
    assert [(one.judge, one.kind, one.rater) for one in store.judge_history()] == [
        ("gpt", "llm", "lea"),
        ("old", "project", "lea"),
        ("old", "person", "lea"),
    ]
    with pytest.raises(DataError, match="a rater is one of person, llm, clicks, project, other: got 'robot'"):
        store.name_judge("gpt", "robot", "lea")


def test_a_judge_who_is_no_person_keeps_nobody_from_judging(store):
    store.add("q", "d", 1, "gpt")
    assert not store.claim("q", "d", "ann")
    store.name_judge("gpt", "llm", "lea")
    assert store.claim("q", "d", "ann")
    assert not store.claim("q", "d", "bob")


def test_settings_are_the_same_in_all_processes_and_after_a_restart(target):
    with LabelStore(target) as one, LabelStore(target) as other:
        assert one.settings() == Settings()
        one.change_setting("combine", "majority", "lea", page="lead")
        one.change_setting("judgements", 3, "lea")
        one.change_setting("training_judges", ["old", "gpt"], "lea")
        one.change_setting("judgements", 2, "leo")
        expected = Settings("majority", 2, ("gpt", "old"))
        assert other.settings() == expected
    with LabelStore(target) as again:
        assert again.settings() == expected
        assert [(one.name, one.value, one.rater) for one in again.setting_history()][-1] == ("judgements", 2, "leo")
        assert expected.to_dict()["training_judges"] == ["gpt", "old"]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("colour", "red", "unknown setting 'colour'; choose from combine, judgements, training_judges"),
        ("combine", "vote", "labels are combined by median, .*: got 'vote'"),
        ("judgements", 0, "judgements per document are a whole number from 1 to 9: got 0"),
        ("judgements", True, "judgements per document are a whole number from 1 to 9: got True"),
        ("training_judges", "gpt", "judges that count in training are a list of names: got 'gpt'"),
    ],
)
def test_a_setting_that_is_none_is_refused(tmp_path, name, value, message):
    with LabelStore(tmp_path / "labels.db") as store:
        with pytest.raises(DataError, match=message):
            store.change_setting(name, value, "lea")
        assert store.setting_history() == []


def test_a_setting_that_only_a_newer_version_knows_is_passed_over(tmp_path):
    path = tmp_path / "labels.db"
    with LabelStore(path) as store:
        store.change_setting("judgements", 2, "lea")
        with sqlite3.connect(path) as other:
            other.execute("UPDATE settings SET name = 'colour'")
        other.close()
        assert store.settings() == Settings()


def test_the_state_changes_with_everything_that_changes_what_labels_count(store):
    def changed():
        nonlocal last
        last, before = store.state(), last
        return last != before and all(new >= old for new, old in zip(last, before, strict=True))

    last = store.state()
    store.decide("q", "d", 1, "lea")
    assert changed()
    store.undo_decision("q", "d", "lea")
    assert changed()
    store.name_judge("gpt", "llm", "lea")
    assert changed()
    store.change_setting("judgements", 2, "lea")
    assert changed()


def test_decisions_at_once_leave_one_in_force(target):
    stores = [LabelStore(target) for _ in range(2)]
    meet = threading.Barrier(4)

    def decide(number):
        for grade in range(5):
            meet.wait()
            stores[number % 2].decide("q", "d", grade, f"lead {number}")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(decide, range(4)))
    history = stores[0].decision_history()
    assert [one.id for one in history] == list(range(1, 21))
    assert [one.superseded_by for one in history] == [*range(2, 21), None]
    for store in stores:
        store.close()


@pytest.fixture
def second_version(tmp_path):
    """A store as the second version made it, with a label, a judgement and no table of checks."""
    path = Path(shutil.copy(OLD_STORES / "labels.db", tmp_path / "second.db"))
    with sqlite3.connect(path) as raw:
        raw.execute("ALTER TABLE label_store ADD COLUMN identity TEXT")
        raw.execute("UPDATE label_store SET version = 2, identity = 'the second'")
        raw.execute(
            "CREATE TABLE judgements (id TEXT NOT NULL, kind TEXT NOT NULL, rater TEXT NOT NULL, query TEXT, "
            "doc TEXT, label INTEGER, PRIMARY KEY (id), FOREIGN KEY(label) REFERENCES labels (id))"
        )
        raw.execute("INSERT INTO judgements SELECT 'a', 'label', rater, query, doc, id FROM labels WHERE id = 1")
    raw.close()
    return path


def test_a_store_of_the_second_version_is_brought_up_with_all_it_has(second_version):
    with sqlite3.connect(second_version) as raw:
        query, doc, rater = raw.execute("SELECT query, doc, rater FROM labels WHERE id = 1").fetchone()
    raw.close()
    with LabelStore(second_version) as store:
        n_labels = len(store.history())
        assert store.identity == "the second"
        assert store.add(query, doc, 0, rater, judgement="a").id == 1  # known, so nothing changes
        assert store.last_check() is None
        store.note_check(1, "Anchored", "bm25")
        store.decide(query, doc, 1, "lea")
        assert len(store.history()) == n_labels
        assert {one.page for one in store.history()} == {None}
    with LabelStore(second_version) as store:
        assert store.identity == "the second"
        assert len(store.decisions()) == 1


def test_processes_that_bring_one_store_up_at_once_do_it_once(second_version):
    meet = threading.Barrier(4)

    def opened(_):
        meet.wait()
        with LabelStore(second_version) as store:
            return store.identity

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(opened, range(4))) == {"the second"}


DAMAGES = {
    "UPDATE decisions SET grade = 'high'": "decision 1 has the grade 'high'",
    "UPDATE decisions SET time = 'noon'": "decision 1 has the time 'noon'",
    "UPDATE skips SET time = 'noon'": "the skip of 'd' has the time 'noon'",
    "UPDATE settings SET value = 'two'": "setting 1 has 'two', which is no JSON",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_fact_is_named(damage, tmp_path):
    path = tmp_path / "labels.db"
    with LabelStore(path) as store:
        store.decide("q", "d", 1, "lea")
        store.skip("q", "d", "ann")
        store.change_setting("judgements", 2, "lea")
    with sqlite3.connect(path) as other:
        other.execute(damage)
    other.close()
    with LabelStore(path) as store, pytest.raises(StoreError, match=rf"labels\.db: {DAMAGES[damage]}"):
        store.decisions(), store.skips(), store.settings()
