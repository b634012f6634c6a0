"""Decisions, kinds of raters and settings in the store: superseded, undone, never deleted; older stores brought up."""

import shutil
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from rulerank.errors import DataError
from rulerank.judging.labels import Decision, RaterKind, Setting, Settings
from rulerank.judging.store import LabelStore


def test_a_decision_stays_beside_the_labels_and_can_be_superseded_and_undone(store):
    store.add("q", "d", 0, "ann")
    first = store.decide("q", "d", 2, "lea", page="disputes")
    second = store.decide("q", "d", None, "leo")
    assert store.decisions() == [second]
    assert [one.superseded_by for one in store.history_of(Decision)] == [second.id, None]
    undone = store.undo_decision("q", "d", "lea", page="disputes")
    assert (undone.id, undone.withdrawn_by, undone.withdrawn_page) == (second.id, "lea", "disputes")
    assert store.decisions() == [first]
    assert store.undo_decision("q", "d", "lea").id == first.id
    assert store.undo_decision("q", "d", "lea") is None
    assert [one.withdrawn is not None for one in store.history_of(Decision)] == [True, True]
    assert [one.grade for one in store.labels()] == [0]


def test_a_rater_is_a_person_unless_it_is_said_otherwise(store):
    store.add("q", "d", 1, "gpt")
    assert store.other_raters() == {}
    store.set_rater_kind("gpt", "llm", "lea")
    store.set_rater_kind("old", "project", "lea")
    assert store.other_raters() == {"gpt": "llm", "old": "project"}
    store.set_rater_kind("old", "person", "lea")
    assert store.other_raters() == {"gpt": "llm"}
    assert [(one.name, one.kind, one.rater) for one in store.history_of(RaterKind)] == [
        ("gpt", "llm", "lea"),
        ("old", "project", "lea"),
        ("old", "person", "lea"),
    ]
    with pytest.raises(
        DataError, match="the kind of a rater must be one of person, llm, clicks, project, other: got 'robot'"
    ):
        store.set_rater_kind("gpt", "robot", "lea")


def test_settings_are_the_same_in_all_processes_and_after_a_restart(target):
    with LabelStore(target) as one, LabelStore(target) as other:
        assert one.settings() == Settings()
        one.change_setting("combine", "majority", "lea", page="admin")
        one.change_setting("judgements", 3, "lea")
        one.change_setting("training_raters", ["old", "gpt"], "lea")
        one.change_setting("judgements", 2, "leo")
        expected = Settings("majority", 2, ("gpt", "old"))
        assert other.settings() == expected
    with LabelStore(target) as again:
        assert again.settings() == expected
        assert [(one.name, one.value, one.rater) for one in again.history_of(Setting)][-1] == ("judgements", 2, "leo")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("colour", "red", "unknown setting 'colour'; choose from combine, judgements, training_raters"),
        ("combine", "vote", "labels can be combined by median, .*: got 'vote'"),
        ("judgements", 0, "raters per document must be an integer from 1 to 9: got 0"),
        ("judgements", True, "raters per document must be an integer from 1 to 9: got True"),
        ("training_raters", "gpt", "the raters for training must be a list of names: got 'gpt'"),
    ],
)
def test_a_setting_that_is_none_is_refused(tmp_path, name, value, message):
    with LabelStore(tmp_path / "labels.db") as store:
        with pytest.raises(DataError, match=message):
            store.change_setting(name, value, "lea")
        assert store.history_of(Setting) == []


def test_decisions_at_once_leave_one_in_force(target):
    stores = [LabelStore(target) for _ in range(2)]
    meet = threading.Barrier(4)

    def decide(number):
        for grade in range(5):
            meet.wait()
            stores[number % 2].decide("q", "d", grade, f"admin {number}")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(decide, range(4)))
    history = stores[0].history_of(Decision)
    assert [one.id for one in history] == list(range(1, 21))
    assert [one.superseded_by for one in history] == [*range(2, 21), None]
    for store in stores:
        store.close()


def test_a_store_of_version_0_1_keeps_its_raters_and_settings_under_their_new_names(tmp_path):
    path = shutil.copy(Path(__file__).parents[1] / "data" / "v0.1" / "labels.db", tmp_path)
    setting = "INSERT INTO settings (id, name, value, rater, time) VALUES (9, 'training_judges', '[\"gpt\"]', 'ann', ?)"
    with closing(sqlite3.connect(path)) as old, old:
        old.execute(setting, ["2026-11-17T09:12:00.000000+00:00"])
    for _ in range(2):  # brought up to date, and opened again
        with LabelStore(path) as store:
            assert store.settings().training_raters == ("gpt",)
            assert store.other_raters() == {"gpt": "llm"}
    with LabelStore(path) as store:
        store.set_rater_kind("gpt", "other", "lea")
        assert [one.superseded_by for one in store.history_of(RaterKind)] == [2, None]
    with closing(sqlite3.connect(path)) as new:
        indexes = {name for (name,) in new.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
        assert "rater_kinds_current" in indexes
        assert "judges_current" not in indexes
