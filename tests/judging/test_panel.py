"""Several raters and other judges in the loop: how many judge a document, what the admin decides, who trains."""

import pytest

import rulerank as rr
from judging_data import SYNTHETIC, judge_all
from rulerank.errors import DataError
from rulerank.judging.admin import disputes_of
from rulerank.judging.loop import Judging
from rulerank.judging.pool import Pool
from rulerank.judging.store import LabelStore

POOL = Pool(SYNTHETIC)


def judge(judging, rater, n_docs):
    return [POOL.row(task.query, task.doc) for task in judge_all(judging, rater, n_docs)]


@pytest.mark.parametrize("judgements", [1, 2, 3])
def test_a_document_goes_to_as_many_people_as_the_lead_says(judging, judgements):
    judging.store.change_setting("judgements", judgements, "lea")
    seen = {rater: set(judge(judging, rater, 6)) for rater in ("ann", "bob", "eve", "kim")}
    raters = [sum(row in rows for rows in seen.values()) for row in set().union(*seen.values())]
    assert max(raters) == judgements
    assert [len(rows) for rows in seen.values()] == [6] * 4


def test_what_the_lead_has_decided_needs_no_more_opinions(judging):
    judging.store.change_setting("judgements", 2, "lea")
    (row,) = judge(judging, "ann", 1)
    judging.store.decide(*POOL.pairs[row], 1, "lea")
    assert judge(judging, "bob", 1) != [row]


def test_a_document_that_only_the_lead_has_decided_has_that_grade(judging):
    judging.store.decide(*POOL.pairs[3], 2, "lea")
    judging.store.decide(*POOL.pairs[4], None, "lea")
    progress = judging.progress("ann")
    assert (progress.labelled, progress.cannot_judge) == (1, 1)
    assert judging.overview().labelled == 1
    assert not {3, 4} & set(judge(judging, "ann", len(POOL)))


@pytest.fixture
def with_gpt(judging):
    """A judge who is no person has graded everything one step too high."""
    judging.store.add_all([(*pair, min(2, int(SYNTHETIC.y[row]) + 1), "gpt") for row, pair in enumerate(POOL.pairs)])
    judging.store.set_rater_kind("gpt", "llm", "lea")
    return judging


def test_a_judge_takes_no_document_from_the_people_and_no_part_in_their_grades(with_gpt):
    before = judge(with_gpt, "ann", 10)
    assert len(before) == 10
    progress = with_gpt.progress("ann")
    assert (progress.labelled, progress.cannot_judge) == (10, 0)
    assert with_gpt.grades() == {row: int(SYNTHETIC.y[row]) for row in before}
    assert with_gpt.overview().agreement.n_docs == 0


def test_a_judge_counts_in_training_only_if_the_lead_says_so_and_then_has_intercepts_of_its_own(with_gpt, tmp_path):
    judge(with_gpt, "ann", 24)
    alone = with_gpt.save_model(tmp_path / "alone.rulerank", "QI")
    assert "gpt" not in " ".join(alone.notes)
    assert rr.load(tmp_path / "alone.rulerank").rater_ids_ is None
    usual = with_gpt.usual_method
    with_gpt.store.change_setting("training_raters", ["gpt"], "lea")
    assert with_gpt.usual_method == "QI"
    both = with_gpt.save_model(tmp_path / "both.rulerank")
    assert f"learned from 24 labels of the people, {len(POOL)} labels of gpt: every rater has" in " ".join(both.notes)
    ranker = rr.load(tmp_path / "both.rulerank")
    assert {*ranker.rater_ids_.tolist()} == {"the people", "gpt"}
    with pytest.raises(DataError, match=r"labels of gpt count in training, .* which only QI has: train QI, or use"):
        with_gpt.save_model(tmp_path / "m.rulerank", "RE-GR")
    with_gpt.store.change_setting("training_raters", [], "lea")
    assert with_gpt.usual_method == usual != "QI"


def test_two_raters_who_say_0_and_1_leave_a_dispute_that_a_third_or_the_lead_decides(tmp_path):
    pool = Pool(rr.datasets.make_ranking(n_queries=2, docs_per_query=3, seed=0))
    with LabelStore(tmp_path / "labels.db") as store:
        store.change_setting("judgements", 3, "lea")
        judging = Judging(pool, store, max_grade=1)
        for rater, grade in (("ann", 0), ("bob", 1)):
            judging.grade(rater, *pool.pairs[0], grade)
        assert judging.grades() == {}
        progress = judging.progress("ann")
        assert (progress.labelled, progress.cannot_judge) == (0, 0)
        assert [one.doc for one in disputes_of(judging._current)] == [0]
        task = judging.next("eve")
        assert (task.query, task.doc) == pool.pairs[0]
        judging.store.decide(*pool.pairs[0], 0, "lea")
        assert judging.grades() == {0: 0}
        judging.store.undo_decision(*pool.pairs[0], "lea")
        judging.grade("eve", *pool.pairs[0], 1)
        assert judging.grades() == {0: 1}
