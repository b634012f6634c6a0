"""The figures of an experiment are those of evaluate, and its tests those of the significance module."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

import rulerank as rr
from failing_rankers import First
from rulerank.errors import DataError
from rulerank.evaluation import compare_results, evaluate
from rulerank.experiment.run import run_experiment
from rulerank.experiment.summary import check_rules, mark, summarise
from rulerank.experiment.systems import choose_systems

FOLDS = rr.make_folds(rr.make_ranking(n_queries=18, docs_per_query=8, n_features=5), n_folds=3)


@cache
def experiment():
    return run_experiment(FOLDS, {"up": First(), "down": First(sign=-1.0), "up again": First(sign=2.0)})


@pytest.fixture(scope="module")
def summary():
    return summarise(experiment(), ["ERR@5"])


def results(name):
    cells = experiment().cells
    return [evaluate(fold.test.y, cells[name, n].test, fold.test.qid, "MAP") for n, fold in enumerate(FOLDS)]


def test_figures_are_those_of_each_fold_and_their_mean(summary):
    expected = [result.means["MAP"] for result in results("up")]
    row = summary.row("up")
    np.testing.assert_array_equal(row.folds[summary.place("MAP")], expected)
    assert row.means[summary.place("MAP")] == pytest.approx(np.mean(expected))
    assert {str(measure) for measure in summary.measures} > {"MAP", "NDCG@1", "NDCG@10", "P@10", "ERR@5"}
    assert row.n_tied == sum(result.n_tied for result in results("up"))


def test_differences_agree_with_those_of_compare(summary):
    whole = rr.Dataset.concat([fold.test for fold in FOLDS])
    scores = {name: np.concatenate([experiment().cells[name, n].test for n in range(3)]) for name in ("up", "down")}
    pair = compare_results({name: evaluate(whole.y, scores[name], whole.qid, "MAP") for name in scores}).pairs[0]
    found = next(d for d in summary.differences("MAP") if d.a == "down")
    assert (found.b, found.measure) == ("up", "MAP")
    assert found.difference == pytest.approx(-pair.difference)
    assert (found.low, found.high) == (pytest.approx(-pair.high), pytest.approx(-pair.low))
    for test in ("t", "randomisation"):
        assert found.p[test] == pytest.approx(pair.p[test])
        assert found.p_holm[test] >= found.p[test]
    by_fold = [[result.means["MAP"] for result in results(name)] for name in ("down", "up")]
    assert found.p["folds"] == pytest.approx(stats.ttest_rel(*by_fold).pvalue)
    assert (found.wins, found.losses) == (pair.losses, pair.wins)


def test_a_measure_is_found_however_it_is_written(summary):
    assert summary.place("ndcg@10") == summary.place("NDCG@10") == summary.place(summary.measures[10])


def test_a_system_that_ranks_alike_does_not_differ(summary):
    same = next(d for d in summary.differences("MAP") if d.a == "up again")
    assert (same.difference, set(same.p.values()), set(same.p_holm.values()), mark(same)) == (0, {1}, {1}, "")
    best = summary.ranked("MAP")[0]
    assert best in summary.ties_with_best("MAP")
    assert {"up", "up again"} <= summary.ties_with_best("MAP") or best == "down"


def test_draws_are_averaged_query_by_query(summary):
    both = np.array([experiment().cells["up", 0].test, experiment().cells["down", 0].test])
    cells = experiment().cells | {("up", 0): replace(experiment().cells["up", 0], test=both)}
    mixed = summarise(replace(experiment(), cells=cells))
    expected = (summary.row("up").folds[0, 0] + summary.row("down").folds[0, 0]) / 2
    assert mixed.row("up").folds[0, 0] == pytest.approx(expected)


def test_the_system_compared_with_is_re_gr_unless_another_is_named(summary):
    found = run_experiment(FOLDS, ["QI", "RE-GR"])
    assert summarise(found).against == "RE-GR"
    assert summarise(found, against="QI").against == "QI"
    assert summary.against == "up"
    with pytest.raises(DataError, match="cannot compare with 'RRF', which has no scores; choose from QI, RE-GR"):
        summarise(found, against="RRF")


def test_an_experiment_in_which_nothing_finished_says_why():
    failed = run_experiment(FOLDS, {"bad": First("badly")})
    with pytest.raises(DataError, match="no system finished on all folds; bad: ValueError: no luck today"):
        summarise(failed)


@pytest.mark.parametrize(
    ("measures", "convention", "ties", "against", "message"),
    [
        (["MAPP"], "standard", None, None, "unknown measure 'MAPP'"),
        (["MAP"], "letor9", None, None, "unknown convention 'letor9'"),
        (["MAP"], "standard", "lucky", None, "unknown tie rule 'lucky'"),
        (["MAP"], "standard", "docid", None, "ties='docid' needs the document ids"),
        (["MAP"], "standard", None, "RE-GR", "cannot compare with 'RE-GR', which is not run; choose from QI"),
    ],
)
def test_rules_are_checked_before_the_work(measures, convention, ties, against, message):
    folds = [replace(fold, test=replace(fold.test, docid=None)) for fold in FOLDS]
    with pytest.raises(DataError, match=message):
        check_rules(folds, choose_systems(["QI"]), measures, convention, ties, against)
