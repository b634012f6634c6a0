import numpy as np
import pytest

from papers.baselines import AdaRank, RankBoost
from rulerank.errors import DataError
from rulerank.evaluation import evaluate
from rulerank.rankers.global_rules import GlobalRules
from rulerank.training.validating import fit_tuned
from rulerank.worlds import make_world

TRAIN, VALI = make_world(n_queries=15, seed=1), make_world(n_queries=15, seed=2)


def value_of(ranker, measure):
    return evaluate(VALI.y, ranker.predict(VALI), VALI.qid, measure).means[measure]


def test_the_best_setting_and_the_best_number_of_rounds_are_found_as_if_each_were_fitted():
    tuned = fit_tuned(RankBoost(n_rounds=12), TRAIN, VALI, {"n_thresholds": [4, 64]}, measure="NDCG@10")
    tried = {
        (n_thresholds, n): value_of(RankBoost(n, n_thresholds).fit(TRAIN), "NDCG@10")
        for n_thresholds in (4, 64)
        for n in range(1, 13)
    }
    n_thresholds, n = max(tried, key=tried.get)
    assert (tuned.ranker.n_thresholds, tuned.ranker.n_rounds) == (n_thresholds, n)
    assert tuned.best.params == {"n_thresholds": n_thresholds}
    assert tuned.best.stage == n
    assert tuned.best.mean == pytest.approx(tried[n_thresholds, n])
    assert np.array_equal(tuned.ranker.predict(VALI), RankBoost(n, n_thresholds).fit(TRAIN).predict(VALI))
    assert [trial.params["n_thresholds"] for trial in tuned.table] == [4, 64]


def test_a_ranker_without_stages_is_fitted_once_for_each_setting():
    tuned = fit_tuned(GlobalRules(), TRAIN, VALI, {"max_size": [1, 2]})
    values = [value_of(GlobalRules(max_size=size).fit(TRAIN), "MAP") for size in (1, 2)]
    assert [trial.mean for trial in tuned.table] == values
    assert tuned.best.stage is None
    assert tuned.ranker.max_size == [1, 2][int(np.argmax(values))]


def test_without_a_grid_the_ranker_itself_is_fitted():
    tuned = fit_tuned(AdaRank(n_rounds=5, missing="mean"), TRAIN, VALI)
    assert tuned.table == (tuned.best,)
    assert 1 <= tuned.ranker.n_rounds <= 5


def test_an_unknown_parameter_is_named():
    with pytest.raises(
        DataError, match=r"^AdaRank has no parameter 'C'; it has measure, missing, n_jobs, n_rounds, norm"
    ):
        fit_tuned(AdaRank(), TRAIN, VALI, {"C": [1]})
