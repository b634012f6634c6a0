"""What all linear baselines do alike."""

from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import rulerank as rr
from papers.baselines import SVMMAP, AdaRank, ListNet, RankSVM, Regression
from rulerank.errors import DataError
from rulerank.rankers.foreign import fresh_for_part

LINEAR = [Regression, RankSVM, SVMMAP]
MARGIN = [RankSVM, SVMMAP]

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = np.digitize(X[:, 0] + rng.normal(size=60), [0.3, 1.2])
qid = np.repeat(range(6), 10)


@pytest.mark.parametrize("make", LINEAR)
def test_a_score_is_the_sum_of_what_the_features_add(make):
    ranker = make().fit(X, y, qid=qid)
    assert ranker.contributions(X).scores == pytest.approx(ranker.predict(X))
    assert ranker.contributions(X).values == pytest.approx(X * ranker.coef_)
    assert ranker.predict(np.empty((0, 3))).shape == (0,)


@pytest.mark.parametrize("make", LINEAR)
def test_missing_values_are_named_or_take_the_mean(make):
    holes = X.copy()
    holes[4, 1] = holes[7, 1] = np.nan
    with pytest.raises(
        DataError, match=r"^2 values are missing \(NaN\), in 1 of 3 features: f2; give missing=\"mean\""
    ):
        make().fit(holes, y, qid=qid)
    with pytest.raises(DataError, match="2 values are missing"):
        make().fit(X, y, qid=qid).predict(holes)
    ranker = make(missing="mean").fit(holes, y, qid=qid)
    filled = np.where(np.isnan(holes), np.nanmean(holes, axis=0), holes)
    assert ranker.n_missing_ == 2
    assert ranker.coef_ == pytest.approx(make().fit(filled, y, qid=qid).coef_, abs=1e-6)
    assert ranker.predict(holes) == pytest.approx(ranker.predict(filled))
    with pytest.raises(DataError, match="unknown missing 'zero'; choose from error, mean"):
        make(missing="zero").fit(X, y, qid=qid)


@pytest.mark.parametrize("make", MARGIN)
def test_without_different_grades_in_a_query_nothing_is_learned_and_that_is_said(make):
    for grades, queries in ((np.ones(60), qid), (y, np.arange(60))):
        with pytest.warns(
            ConvergenceWarning, match="^no query has documents of more than one .* all scores are 0$"
        ) as w:
            ranker = fresh_for_part(make()).fit(X, grades, qid=queries)
        assert w[0].filename == __file__
        assert ranker.coef_.tolist() == [0, 0, 0]
        assert ranker.n_informative_ == 0


@pytest.mark.parametrize("make", MARGIN)
def test_queries_that_say_nothing_change_nothing(make):
    more = np.concatenate([X, rng.normal(size=(6, 3))])
    grades, queries = np.append(y, [1, 2, 2, 2, 0, 0]), np.append(qid, [10, 11, 11, 11, 12, 12])
    assert make().fit(more, grades, qid=queries).coef_ == pytest.approx(make().fit(X, y, qid=qid).coef_, abs=1e-9)


@pytest.mark.parametrize("make", MARGIN)
def test_a_feature_that_is_the_same_within_every_query_has_no_weight(make):
    coef = make().fit(np.column_stack([X, 100.0 * qid]), y, qid=qid).coef_
    assert coef[3] == pytest.approx(0, abs=1e-9)
    assert make().fit(np.ones((60, 2)), y, qid=qid).coef_.tolist() == [0, 0]


@pytest.mark.parametrize("make", MARGIN)
def test_a_search_that_is_cut_off_says_how_far_it_came(make):
    with pytest.warns(
        ConvergenceWarning, match=r"^after max_iter=1 rounds .* more than eps=1e-08: raise max_iter"
    ) as w:
        ranker = make(max_iter=1, eps=1e-8, C=100.0).fit(X, y, qid=qid)
    assert w[0].filename == __file__
    assert ranker.gap_ > 1e-8


@pytest.mark.parametrize("make", MARGIN)
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0}, r"^C must be what the loss counts against small weights, a number from 1e-12 to 1e\+12: got '0'$"),
        ({"C": "big"}, "^C must be .*: got 'big'$"),
        ({"eps": 0}, "^eps must be a share of the objective, a number from 1e-08 to 1: got '0'$"),
        ({"max_iter": 0}, "^max_iter must be an integer of at least 1: got 0$"),
    ],
)
def test_wrong_parameters_are_refused(make, params, message):
    with pytest.raises(DataError, match=message):
        make(**params).fit(X, y, qid=qid)


@pytest.mark.parametrize("make", MARGIN)
def test_tuning_tries_the_grid_of_c(make):
    data = rr.Dataset(X, y, qid)
    tuned = rr.select(data, make(), {"C": [0.01, 1.0]}, n_splits=3)
    assert [trial.params for trial in tuned.table] == [{"C": 0.01}, {"C": 1.0}]


@pytest.mark.parametrize("make", [*LINEAR, AdaRank, ListNet])
def test_values_whose_squares_are_no_numbers_are_named(make):
    huge = X * [1.0, 1e300, 1.0]
    message = r"^the feature 'f2' has values of \d\.\de\+300, more than 1e\+140, .*: divide it, or give normalize="
    with pytest.raises(DataError, match=message):
        make().fit(huge, y, qid=qid)
    with pytest.warns(ConvergenceWarning) if make in MARGIN else nullcontext():
        make().fit(X * 1e130, y, qid=qid)
    assert np.isfinite(make(normalize="rank").fit(huge, y, qid=qid).coef_).all()
