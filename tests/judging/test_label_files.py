"""Answers of one person in the terminal: in a label store at once, in a file of labels at the end."""

from pathlib import Path

import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.judging.given_labels import labels_to_learn_from, read_labels
from rulerank.judging.label_files import PERSON, append_labels, appended_format, keep_answers
from rulerank.judging.loop import Judging
from rulerank.judging.offers import EMPTY, SKIPPED, STOPPED
from rulerank.judging.pool import Pool
from rulerank.judging.store import LabelStore
from rulerank.judging.terminal import NOTHING, ask_all
from rulerank.judging.transfer import export_labels
from rulerank.sampling.chooser import STEP, Chooser

WORLD = rr.make_world(n_queries=5, docs_per_query=8, n_features=6, seed=5)
POOL = Pool(WORLD)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "labels.csv")


def judging_in(store):
    return Judging(POOL, store, sampler=rr.SSAR(), max_grade=4)


def typed(*answers):
    waiting = list(answers)

    def read():
        if not waiting:
            raise EOFError
        return waiting.pop(0)

    return read


def grade(store, row, given):
    store.add(*POOL.pairs[row], given, PERSON)


def test_answers_are_in_the_file_at_the_end_and_the_store_beside_it_is_gone(path):
    with keep_answers(POOL, path) as store:
        grade(store, 3, 1)
        grade(store, 4, 2)
        assert Path(path).read_bytes() == b""
    assert read_labels(POOL, path, strict=True) == {3: 1, 4: 2}
    assert [file.name for file in Path(path).parent.iterdir()] == ["labels.csv"]


def test_a_session_that_was_cut_short_goes_on_with_what_it_had(path):
    def fail():
        with keep_answers(POOL, path) as store:
            grade(store, 3, 1)
            raise RuntimeError("the power is gone")

    with pytest.raises(RuntimeError, match="the power is gone"):
        fail()
    with keep_answers(POOL, path) as store:
        assert [label.grade for label in store.labels(PERSON)] == [1]
        grade(store, 4, 2)
    assert read_labels(POOL, path, strict=True) == {3: 1, 4: 2}


def test_a_store_that_is_named_keeps_the_answers_itself(tmp_path):
    target = str(tmp_path / "labels.db")
    for row in (3, 4):
        with keep_answers(POOL, target) as store:
            grade(store, row, 1)
    with LabelStore(target) as store:
        assert [(label.query, label.doc) for label in store.labels()] == [POOL.pairs[3], POOL.pairs[4]]


def test_undo_stops_at_what_the_file_held_before(path):
    with keep_answers(POOL, path) as store:
        grade(store, 3, 1)
    before = read_labels(POOL, path, strict=True)
    content = Path(path).read_bytes()
    with keep_answers(POOL, path, before) as store:
        judging = judging_in(store)
        judging.grade(PERSON, *POOL.pairs[4], 2)
        assert judging.progress(PERSON).labelled == 2
        assert judging.undo(PERSON).grade == 2
        assert judging.undo(PERSON) is None
        assert judging.progress(PERSON).labelled == 1
    assert Path(path).read_bytes() == content


def test_labels_of_a_store_take_more_lines_beside_their_comments(path, tmp_path):
    (query, doc), (other, next_doc) = POOL.pairs[0], POOL.pairs[1]
    with LabelStore(tmp_path / "team.db") as store:
        store.add(query, doc, 2, "ann")
        export_labels(store, path)
    assert appended_format(Path(path)) == "csv"
    append_labels(POOL, path, {1: 1})
    assert Path(path).read_text().splitlines()[2] == f"{other},{next_doc},1,"
    assert read_labels(POOL, path, strict=True) == {0: 2, 1: 1}


def test_labels_without_a_grade_are_nothing_to_learn_from(path):
    Path(path).write_text("qid,docid,grade\nq1,q1-d1,\n")
    with pytest.raises(DataError, match="no document has a grade, so there is nothing to learn from"):
        labels_to_learn_from(POOL, path)


def test_the_terminal_says_why_it_ended(path, capsys):
    with keep_answers(POOL, path) as store:
        assert ask_all(judging_in(store), 2, typed("u", "1", "u", "0", "2", "1")) == "budget"
        assert [label.grade for label in store.labels()] == [0, 2]
        assert NOTHING in capsys.readouterr().err
        assert ask_all(judging_in(store), None, typed("q")) == "quit"
        assert ask_all(judging_in(store), None, typed()) == "quit"
        assert ask_all(judging_in(store), None, typed(*"s" * len(POOL))) == "skipped"
    with keep_answers(POOL, path, POOL.own_grades) as store:
        assert ask_all(judging_in(store), None, typed()) == "natural"


def test_what_was_skipped_is_told_from_what_the_sampler_does_not_want(path):
    with keep_answers(POOL, path) as store:
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
    for row in range(2 * STEP + 3):
        chooser.add(row, POOL.own_grades[row])
        rows.append(row)
        nexts.append(chooser.next())
    while rows:
        nexts.pop()
        assert chooser.undo() == rows.pop()
        assert chooser.next() == nexts[-1]
    assert chooser.undo() is None
