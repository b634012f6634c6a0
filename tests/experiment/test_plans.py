"""What a system does with a fold: chooses on vali."""

import numpy as np
import pytest

import rulerank as rr
from failing_rankers import First
from rulerank.evaluation.rankings import feature_scores
from rulerank.experiment.cells import code_of, plain
from rulerank.experiment.plans import WARM_QUERIES, BestFeature, rank
from rulerank.training.selection import Scoring

FOLD = rr.make_folds(rr.make_ranking(n_queries=20, docs_per_query=8, n_features=5), n_folds=5)[0]


def value_of(data, scores, measure):
    return Scoring(measure).mean(data, scores)


def test_the_setting_that_is_best_on_vali_is_kept():
    scores = rank(First(), {"sign": [-1.0, 1.0]}, FOLD.train, FOLD, "MAP")
    assert [trial.params for trial in scores.tried] == [{"sign": 1.0}, {"sign": -1.0}]  # the best first
    best = max(scores.tried, key=lambda trial: trial.mean)
    assert scores.params == best.params
    assert best.mean == value_of(FOLD.vali, scores.vali, "MAP")


def test_of_equal_settings_the_first_is_kept():
    assert rank(First(), {"fail": ["a", "b"]}, FOLD.train, FOLD, "MAP").params == {"fail": "a"}


def test_a_ranker_that_cannot_learn_from_the_few_queries_of_the_warm_up_still_runs():
    assert WARM_QUERIES * 8 < 50 < len(FOLD.train)
    assert rank(First("few"), {}, FOLD.train, FOLD, "MAP").test.shape == (len(FOLD.test),)


def test_the_best_feature_is_the_best_on_vali_either_way_round():
    scores = BestFeature().run(FOLD, "MAP")
    names = [sign + name for name in FOLD.vali.feature_names for sign in ("", "-")]
    tried = [value_of(FOLD.vali, feature_scores(FOLD.vali, name), "MAP") for name in names]
    assert scores.params == {"feature": names[int(np.argmax(tried))]}
    np.testing.assert_array_equal(scores.test, feature_scores(FOLD.test, scores.params["feature"]))
    assert scores.n_labels == 0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64(0.5), 0.5),
        ({"a": (1, None)}, {"a": [1, None]}),
        (First(), {"First": {"fail": None, "sign": 1.0}, "code": code_of(First), "version": ""}),
        (First, repr(First)),
    ],
)
def test_anything_can_be_described_in_plain_values(value, expected):
    assert plain(value) == expected
