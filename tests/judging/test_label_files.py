"""A file of labels keeps what one person says in the labelling loop, as a store does for a team."""

from contextlib import closing
from pathlib import Path

import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.judging.given_labels import labels_to_learn_from, read_labels
from rulerank.judging.label_files import PERSON, LabelFile, appended_format
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


def judging_in(file, **options):
    return Judging(POOL, file, sampler=rr.SSAR(), max_grade=4, **options)


def typed(*answers):
    waiting = list(answers)

    def read():
        if not waiting:
            raise EOFError
        return waiting.pop(0)

    return read


def test_a_file_and_a_store_lead_through_the_same_documents(path, tmp_path):
    with closing(LabelFile(POOL, path, "csv")) as file, LabelStore(tmp_path / "labels.db") as store:
        loops = [judging_in(file), judging_in(store)]
        for step in range(30):
            tasks = [judging.next(PERSON) for judging in loops]
            assert tasks[0] == tasks[1]
            if tasks[0] is None:
                break
            query, doc = tasks[0].query, tasks[0].doc
            for judging in loops:
                if step % 7 == 3:
                    judging.skip(PERSON, query, doc)
                else:
                    judging.grade(PERSON, query, doc, POOL.own_grades[POOL.row(query, doc)])
                if step % 5 == 4:
                    judging.undo(PERSON)
            assert loops[0].progress(PERSON) == loops[1].progress(PERSON)
        kept = [[(label.query, label.doc, label.grade) for label in one.store.labels()] for one in loops]
        assert kept[0] == kept[1]
        assert len(kept[0]) > 5
    assert list(read_labels(POOL, path, strict=True).items()) == [(POOL.row(q, d), grade) for q, d, grade in kept[0]]


def test_undo_stops_at_what_the_file_held_before(path):
    with closing(LabelFile(POOL, path, "csv")) as file:
        judging_in(file).grade(PERSON, *POOL.pairs[3], 1)
    before = read_labels(POOL, path, strict=True)
    content = Path(path).read_bytes()
    with closing(LabelFile(POOL, path, "csv", before)) as file:
        judging = judging_in(file)
        judging.grade(PERSON, *POOL.pairs[4], 2)
        assert judging.progress(PERSON).labelled == 2
        assert judging.undo(PERSON).grade == 2
        assert judging.undo(PERSON) is None
        assert judging.progress(PERSON).labelled == 1
    assert Path(path).read_bytes() == content


def test_labels_of_a_store_take_more_lines_beside_their_comments(path, tmp_path):
    (query, doc), (other, next_doc) = POOL.pairs[0], POOL.pairs[1]
    with LabelStore(tmp_path / "labels.db") as store:
        store.add(query, doc, 2, "ann")
        export_labels(store, path)
    assert appended_format(Path(path)) == "csv"
    with closing(LabelFile(POOL, path, "csv", read_labels(POOL, path, strict=True))) as file:
        file.add(other, next_doc, 1, PERSON)
    assert Path(path).read_text().splitlines()[2] == f"{other},{next_doc},1,"
    assert read_labels(POOL, path, strict=True) == {0: 2, 1: 1}


def test_a_grade_given_again_is_the_one_that_counts_until_it_is_undone(path):
    with closing(LabelFile(POOL, path, "csv", {3: 0})) as file:
        judging = judging_in(file)
        judging.grade(PERSON, *POOL.pairs[3], 4)
        assert [label.grade for label in file.labels()] == [4]
        assert judging.overview().queries[0].mean_grade == 4
        assert read_labels(POOL, path, strict=True) == {3: 4}
        judging.undo(PERSON)
        assert judging.overview().queries[0].mean_grade == 0


def test_a_file_has_no_word_for_what_cannot_be_judged(path):
    with closing(LabelFile(POOL, path, "csv")) as file:
        with pytest.raises(DataError, match="a file of labels has no word for a document that cannot be judged: skip"):
            judging_in(file).grade(PERSON, *POOL.pairs[0], None)
        assert file.labels() == []
    assert Path(path).read_bytes() == b""


def test_labels_without_a_grade_are_nothing_to_learn_from(path):
    Path(path).write_text("qid,docid,grade\nq1,q1-d1,\n")
    with pytest.raises(DataError, match="no document has a grade, so there is nothing to learn from"):
        labels_to_learn_from(POOL, path)


def test_the_terminal_says_why_it_ended(path, capsys):
    with closing(LabelFile(POOL, path, "csv")) as file:
        assert ask_all(judging_in(file), 2, typed("u", "1", "u", "0", "2", "1")) == "budget"
        assert [label.grade for label in file.labels()] == [0, 2]
        assert NOTHING in capsys.readouterr().err
        assert ask_all(judging_in(file), None, typed("q")) == "quit"
        assert ask_all(judging_in(file), None, typed()) == "quit"
        assert ask_all(judging_in(file), None, typed(*"s" * len(POOL))) == "skipped"
    with closing(LabelFile(POOL, path, "csv", POOL.own_grades)) as file:
        assert ask_all(judging_in(file), None, typed()) == "natural"


def test_what_was_skipped_is_told_from_what_the_sampler_does_not_want(path):
    with closing(LabelFile(POOL, path, "csv")) as file:
        judging = judging_in(file)
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
