"""Grades that are the same in every query, and labels that nearly all have one grade: said wherever they count."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rulerank as rr
from rulerank.dataset import has_contrast, one_sided
from rulerank.errors import DataError
from rulerank.rankers.base import Ranker

NOTHING = "no query has documents of two grades \\(all {} have grade 1\\), so there is nothing to {}: grade more docum"


@pytest.fixture(scope="module")
def synthetic():
    return rr.datasets.make_ranking(n_queries=12, docs_per_query=12, n_features=4, seed=0)


@pytest.fixture(scope="module")
def positive(synthetic):
    """The relevant documents alone, as judgements list them."""
    return replace(synthetic, y=np.ones(len(synthetic), dtype=int))


@pytest.mark.parametrize(
    ("grades", "queries", "expected"),
    [([], [], False), ([1], [0], False), ([0, 1], [0, 1], False), ([0, 1], [0, 0], True), ([1, 0, 1], [0, 1, 1], True)],
)
def test_contrast_is_within_a_query(grades, queries, expected):
    assert has_contrast(np.array(grades, dtype=int), np.array(queries, dtype=int)) == expected


@pytest.mark.parametrize("ranker", [rr.QueryRules(), rr.FittedRules(), rr.QueryIntercepts(), rr.Competence()])
def test_nothing_is_learned_from_one_grade(ranker, positive):
    with pytest.raises(DataError, match=NOTHING.format(144, "learn from")):
        ranker.fit(positive)
    with pytest.raises(DataError, match="each query has one grade only"):
        ranker.fit(replace(positive, y=(positive.qid == positive.qid[0]).astype(int)))
    with pytest.raises(DataError, match="nothing to learn from"):
        ranker.fit(replace(positive, y=np.where(np.arange(len(positive)) % 2, 1, -1)))


@pytest.mark.parametrize("ranker", [rr.GlobalRules(), rr.StableRules()])
def test_rankers_to_which_rows_can_be_added_warn(ranker, positive, synthetic):
    with pytest.warns(UserWarning, match="no query has documents of two grades, so nothing can be learned: add rows"):
        ranker.fit(positive)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker.fit(synthetic)
    with pytest.raises(DataError, match="nothing to learn from"):
        ranker.fit(replace(positive, y=np.where(np.arange(len(positive)) % 2, 1, -1)))


def test_what_chooses_says_so_before_it_works(positive, synthetic):
    for ranker in (None, rr.GlobalRules()):
        with pytest.raises(DataError, match=NOTHING.format(144, "learn from")):
            rr.select(positive, ranker)
    with pytest.raises(DataError, match="nothing to choose by in the validation part"):
        rr.select(synthetic, rr.QueryIntercepts(), vali=positive)
    with pytest.raises(DataError, match="nothing to show gains by"):
        rr.experiment.label_curve(positive, ["QI"], ["random"], n_splits=2, baseline="bm25_body")


def test_folds_without_contrast_end_nothing(synthetic):
    one = replace(synthetic, y=np.where(synthetic.qid == synthetic.qid[0], synthetic.y > 0, 1).astype(int))
    tuned = rr.select(one, rr.QueryIntercepts(missing="mean"), {"l2": [1.0, 10.0]})
    assert isinstance(tuned.ranker, Ranker)
    assert not tuned.ranker.of_a_part
    rules = rr.select(one, rr.GlobalRules(max_size=1), {"votes": ["evidence", "mean"]})
    assert len(rules.table) == 2
    members = {"a": rr.QueryIntercepts(l2=1.0, missing="mean"), "b": rr.GlobalRules(max_size=1)}
    assert rr.Competence(members=members).fit(one).predict(one).size == len(one)


def test_what_starts_from_the_baseline_stays_there_and_says_so(synthetic, positive):
    with pytest.warns(UserWarning, match="nothing can be learned: the model is the baseline ranking, or hard"):
        rr.Anchored(baseline="bm25_body").fit(positive)
    between = replace(positive, y=np.where(positive.qid == positive.qid[0], 0, 1))  # a contrast of queries alone
    learned = rr.select(between, baseline="bm25_body")
    assert learned.facts["top_changed"] == 0
    assert "so nothing was learned: the model equals the baseline ranking." in learned.lines()[1]
    assert learned.to_dict()["learned"] is False
    with pytest.raises(DataError, match="nothing to learn from"):
        rr.select(positive, rr.QueryIntercepts(missing="mean"), baseline="bm25_body")


def test_parts_are_looked_at_together(synthetic, positive):
    parts = [positive[positive.qid == query] for query in dict.fromkeys(positive.qid)]
    for call in (
        lambda: rr.scale.fit_partitions(rr.GlobalRules(), parts),
        lambda: rr.scale.evaluate_partitions(rr.GlobalRules().fit(synthetic), parts),
    ):
        with pytest.raises(DataError, match="no query has documents of two grades \\(each query has one grade only"):
            call()
    parts[0] = synthetic[synthetic.qid == synthetic.qid[0]]
    assert rr.scale.evaluate_partitions(rr.scale.fit_partitions(rr.GlobalRules(), parts), parts).n_queries == 12


def test_over_eighty_percent_of_one_grade_are_warned_of():
    assert one_sided([1] * 8 + [0] * 2) is None
    assert one_sided([1] * 9) is None  # too few to say so
    assert one_sided([0] * 83 + [1] * 17).startswith("83 of 100 labels have grade 0: a model learns from different")


def test_commands_say_it_too_and_write_nothing(run, tmp_path, monkeypatch, synthetic, positive):
    monkeypatch.chdir(tmp_path)
    rr.io.write_table(positive, "positive.csv")
    for command in (["train", "positive.csv", "-o", "m.rulerank"], ["compare", "positive.csv", "--method", "QI"]):
        done = run(*command)
        assert done.code == 2
        assert "have grade 1), so there is nothing to" in done.err
    assert not Path("m.rulerank").exists()
    most = np.where(np.arange(len(synthetic)) % 12, positive.y, 0)
    rr.io.write_table(replace(synthetic, y=most), "most.csv")
    warned = "132 of 144 labels have grade 1: a model learns from different grades within a query"
    assert warned in run("train", "most.csv", "--method", "RE-GR", "-o", "m.rulerank").err
