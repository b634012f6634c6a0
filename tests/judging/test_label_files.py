"""Files of labels, and a person who judges in the terminal."""

import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.judging.label_files import labels_to_learn_from
from rulerank.judging.loop import Judging
from rulerank.judging.offers import EMPTY, SKIPPED, STOPPED
from rulerank.judging.pool import Pool
from rulerank.judging.terminal import NOTHING, PERSON, ask_all
from rulerank.sampling.selection import Chooser

WORLD = rr.make_ranking(n_queries=5, docs_per_query=8, n_features=6, seed=5)
POOL = Pool(WORLD)


def judging_in(store):
    return Judging(POOL, store, sampler=rr.SSAR(), max_grade=4)


def typed(*answers):
    waiting = list(answers)
    return lambda: waiting.pop(0) if waiting else "q"


def test_labels_without_a_grade_are_nothing_to_learn_from(tmp_path):
    (tmp_path / "labels.csv").write_text("qid,docid,grade\nq1,q1-d1,\n")
    with pytest.raises(DataError, match="no document has a grade, so there is nothing to learn from"):
        labels_to_learn_from(POOL, str(tmp_path / "labels.csv"))


def test_the_terminal_says_why_it_ended(store, capsys):
    assert ask_all(judging_in(store), 2, typed("u", "1", "u", "0", "2", "1")) == "budget"
    assert [label.grade for label in store.labels()] == [0, 2]
    assert NOTHING in capsys.readouterr().err
    assert ask_all(judging_in(store), None, typed("q")) == "quit"
    assert ask_all(judging_in(store), None, typed(*"s" * len(POOL))) == "skipped"
    store.add_all([(*pair, POOL.own_grades[row], PERSON) for row, pair in enumerate(POOL.pairs)])
    assert ask_all(judging_in(store), None, typed()) == "natural"


def test_undo_stops_at_what_others_have_said(store):
    store.add(*POOL.pairs[3], 1, "ann")
    assert ask_all(judging_in(store), None, typed("2", "u", "u", "q")) == "quit"
    assert [label.rater for label in store.labels()] == ["ann"]


def test_what_was_skipped_is_told_from_what_the_sampler_does_not_want(store):
    judging = judging_in(store)
    for label in range(3):
        judging.grade(PERSON, *POOL.pairs[label], label)
    while (task := judging.next(PERSON)) is not None:
        judging.skip(PERSON, task.query, task.doc)
    stop = judging.stop(PERSON)
    n_seen = judging.progress(PERSON).skipped + 3
    assert stop == ("skipped", EMPTY if n_seen == len(POOL) else SKIPPED)
    for row in range(3, len(POOL)):
        judging.grade(PERSON, *POOL.pairs[row], POOL.own_grades[row])
    assert judging.next(PERSON) is None
    assert judging.stop(PERSON) == ("natural", EMPTY)
    assert STOPPED not in (SKIPPED, EMPTY)


def test_the_chooser_unlearns_one_label_at_a_time():
    chooser, rows = Chooser(rr.SSAR(), WORLD), []
    nexts = [chooser.next()]
    for row in range(20):
        chooser.add(row, POOL.own_grades[row])
        rows.append(row)
        nexts.append(chooser.next())
    while rows:
        nexts.pop()
        assert chooser.undo() == rows.pop()
        assert chooser.next() == nexts[-1]
    assert chooser.undo() is None
