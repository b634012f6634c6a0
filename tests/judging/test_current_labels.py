"""The labels as they stand follow the store step by step: what counts is what reading everything anew would find."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from rulerank.judging.grades import Counting, CurrentLabels, grades_of
from rulerank.judging.labels import COMBINATIONS
from rulerank.judging.pool import Pool
from rulerank.judging.store import LabelStore

POOL = Pool(rr.datasets.make_ranking(n_queries=2, docs_per_query=3, seed=0))
RATERS = st.sampled_from(["ann", "bob", "gpt"])
ROWS = st.integers(0, 5)
GRADES = st.one_of(st.none(), st.integers(0, 2))
STEPS = st.one_of(
    st.tuples(st.just("grade"), ROWS, GRADES, RATERS),
    st.tuples(st.just("undo"), RATERS),
    st.tuples(st.just("decide"), ROWS, GRADES),
    st.tuples(st.just("undecide"), ROWS),
    st.tuples(st.just("combine"), st.sampled_from([*COMBINATIONS])),
    st.tuples(st.just("kind"), st.sampled_from(["llm", "person"])),
    st.tuples(st.just("training"), st.sampled_from([["gpt"], []])),
)


def take(store, step):
    kind, *rest = step
    if kind == "grade":
        row, grade, rater = rest
        store.add(*POOL.pairs[row], grade, rater)
    elif kind == "undo":
        store.undo(*rest)
    elif kind == "decide":
        row, grade = rest
        store.decide(*POOL.pairs[row], grade, "lea")
    elif kind == "undecide":
        store.undo_decision(*POOL.pairs[rest[0]], "lea")
    elif kind == "combine":
        store.change_setting("combine", rest[0], "lea")
    elif kind == "kind":
        store.set_rater_kind("gpt", rest[0], "lea")
    else:
        store.change_setting("training_raters", rest[0], "lea")


@settings(max_examples=25, deadline=None)
@given(st.lists(STEPS, max_size=15))
def test_what_counts_is_what_reading_everything_anew_finds(steps):
    with tempfile.TemporaryDirectory() as folder, LabelStore(Path(folder, "labels.db")) as store:
        current = CurrentLabels(POOL, store)
        for step in steps:
            take(store, step)
            current.sync(store.state(), exact=True)
            counting, labels = Counting.now(store), store.labels()
            assert current.grades == {POOL.rows[pair]: grade for pair, grade in counting.grades(labels).items()}
            people = {POOL.rows[pair]: by for pair, by in counting.people(labels).items()}
            assert {row: {r: one.grade for r, one in by.items()} for row, by in current.by_row.items()} == people
            assert current.others() == {
                judge: {POOL.rows[pair]: grade for pair, grade in given.items()}
                for judge, given in grades_of(labels, counting.training_raters).items()
                if given
            }
            assert current.beyond == current.judged - current.grades.keys()


def test_between_two_models_of_the_raters_new_labels_count_by_the_median(tmp_path):
    with LabelStore(tmp_path / "labels.db") as store:
        store.change_setting("combine", "reliability", "lea")
        store.add_all(
            [(*POOL.pairs[row], row % 2, rater) for row in range(5) for rater in ("ann", "bob", "eve", "kim")]
        )
        current = CurrentLabels(POOL, store)
        current.sync(store.state())
        for rater, grade in (("ann", 0), ("eve", 1)):
            store.add(*POOL.pairs[5], grade, rater)
        current.sync(store.state())
        assert 5 not in current.grades
        current.sync(store.state(), exact=True)
        assert current.grades == {POOL.rows[pair]: g for pair, g in Counting.now(store).grades(store.labels()).items()}
        assert 5 in current.grades
