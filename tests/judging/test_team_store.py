"""Decisions, judges and settings in the store: superseded, undone, never deleted; older stores brought up."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from rulerank.errors import DataError
from rulerank.judging.labels import Decision, JudgeKind, Setting, Settings
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
    assert [(one.judge, one.kind, one.rater) for one in store.history_of(JudgeKind)] == [
        ("gpt", "llm", "lea"),
        ("old", "project", "lea"),
        ("old", "person", "lea"),
    ]
    with pytest.raises(DataError, match="a rater is one of person, llm, clicks, project, other: got 'robot'"):
        store.name_judge("gpt", "robot", "lea")


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
        assert [(one.name, one.value, one.rater) for one in again.history_of(Setting)][-1] == ("judgements", 2, "leo")


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
        assert store.history_of(Setting) == []


def test_decisions_at_once_leave_one_in_force(target):
    stores = [LabelStore(target) for _ in range(2)]
    meet = threading.Barrier(4)

    def decide(number):
        for grade in range(5):
            meet.wait()
            stores[number % 2].decide("q", "d", grade, f"lead {number}")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(decide, range(4)))
    history = stores[0].history_of(Decision)
    assert [one.id for one in history] == list(range(1, 21))
    assert [one.superseded_by for one in history] == [*range(2, 21), None]
    for store in stores:
        store.close()
