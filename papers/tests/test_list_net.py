from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize
from sklearn.exceptions import ConvergenceWarning

from papers.baselines.linear_kernels import cross_entropies
from papers.baselines.list_net import ListNet, Lists
from papers.tests.boosting_data import rounded_scores
from papers.tests.plain_boosting import cross_entropy
from rulerank.errors import DataError
from rulerank.rankers.foreign import fresh_for_part


def noisy_synthetic(seed=0, n_features=3, n_queries=6, n_docs=8):
    """Grades that follow the features loosely; query 0 has one grade and says nothing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * n_docs, n_features))
    y = np.digitize(X[:, 0] + 2 * rng.normal(size=len(X)), [-0.5, 1.0])
    y[:n_docs] = 1
    return X, y, np.repeat(np.arange(n_queries), n_docs)


@pytest.mark.kernels
@given(st.data())
def test_the_loop_agrees_with_the_definition(data):
    sizes = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    scores = data.draw(rounded_scores(sum(sizes)))
    weights = np.array(data.draw(st.lists(st.integers(1, 9), min_size=scores.size, max_size=scores.size)), dtype=float)
    chances = weights / np.repeat(np.add.reduceat(weights, bounds[:-1]), sizes)
    excess, losses = np.empty(scores.size), np.empty(len(sizes))
    cross_entropies(scores, chances, bounds, excess, losses)
    for q, own in enumerate(slice(a, b) for a, b in pairwise(bounds)):
        by_scores = np.exp(scores[own]) / np.exp(scores[own]).sum()
        assert losses[q] == pytest.approx(-chances[own] @ np.log(by_scores))
        assert excess[own] == pytest.approx(by_scores - chances[own])


@pytest.mark.kernels
def test_huge_scores_do_not_overflow():
    excess, losses = np.empty(2), np.empty(1)
    cross_entropies(np.array([1e5, -1e5]), np.array([0.25, 0.75]), np.array([0, 2]), excess, losses)
    assert losses.tolist() == [1.5e5]
    assert excess.tolist() == [0.75, -0.75]


@given(st.integers(0, 1000))
def test_the_slope_is_that_of_the_loss(seed):
    X, y, qid = noisy_synthetic(seed)
    lists = Lists(X, y, qid)
    weights = np.random.default_rng(seed).normal(size=3)
    slope = approx_fprime(weights, lambda w: lists.loss_and_slope(w)[0], 1e-7)
    assert lists.loss_and_slope(weights)[1] == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_many_steps_reach_the_minimum_that_scipy_finds(seed):
    X, y, qid = noisy_synthetic(seed)
    ranker = ListNet(learning_rate=1.0, n_epochs=3000).fit(X, y, qid=qid)
    best = minimize(cross_entropy, np.zeros(3), args=(X, y, qid), tol=1e-10)
    assert ranker.losses_[-1] == pytest.approx(best.fun, abs=1e-9)
    assert ranker.coef_ == pytest.approx(best.x, abs=1e-4)


def test_the_losses_are_those_of_the_weights_and_never_rise():
    X, y, qid = noisy_synthetic()
    ranker = ListNet(n_epochs=20).fit(X, y, qid=qid)
    want = [cross_entropy(coef, X, y, qid) for coef in [np.zeros(3), *ranker.coef_path_]]
    assert ranker.losses_ == pytest.approx(want)
    assert (np.diff(ranker.losses_) < 0).all()


def test_the_first_step_by_hand():
    # chances by the grades 1/(1+e) and e/(1+e), by the scores 1/2 each; the feature is 1 deviation to either side
    step = 0.1 * 2 * (np.e / (1 + np.e) - 0.5)
    ranker = ListNet(learning_rate=0.1, n_epochs=1).fit([[1.0], [3.0]], [0, 1], qid=[1, 1])
    assert ranker.coef_ == pytest.approx([step])


@pytest.mark.parametrize("learning_rate", [100.0, 1e9])
def test_steps_that_are_too_long_are_halved(learning_rate):
    X, y, qid = noisy_synthetic()
    ranker = ListNet(learning_rate=learning_rate, n_epochs=50).fit(X, y, qid=qid)
    assert (np.diff(ranker.losses_) <= 0).all()
    assert ranker.losses_[-1] < ranker.losses_[0]


def test_units_do_not_matter():
    X, y, qid = noisy_synthetic()
    units = np.array([1e-3, 1.0, 1e4])
    one, other = (ListNet(n_epochs=30).fit(values, y, qid=qid) for values in (X, X * units))
    assert other.coef_ * units == pytest.approx(one.coef_)


def test_what_all_documents_of_a_query_share_gets_no_weight():
    X, y, qid = noisy_synthetic()
    ranker = ListNet(n_epochs=30).fit(np.column_stack([X, qid, np.ones(len(X))]), y, qid=qid)
    assert ranker.coef_[3:].tolist() == [0.0, 0.0]
    assert ranker.coef_[:3] == pytest.approx(ListNet(n_epochs=30).fit(X, y, qid=qid).coef_)


def test_a_stage_is_what_fewer_steps_would_have_learned():
    X, y, qid = noisy_synthetic()
    ranker = ListNet(n_epochs=9).fit(X, y, qid=qid)
    stages = list(ranker.staged_predict(X))
    assert stages[-1] == pytest.approx(ranker.predict(X))
    assert np.array_equal(ranker.at_stage(4).coef_, ListNet(n_epochs=4).fit(X, y, qid=qid).coef_)
    assert stages[3] == pytest.approx(ranker.at_stage(4).predict(X))
    assert ranker.at_stage(4).n_epochs == 4


def test_without_two_grades_in_a_query_all_scores_are_0_and_that_is_said():
    with pytest.warns(ConvergenceWarning, match="^no query has documents of more than one grade: there is nothing to"):
        ranker = fresh_for_part(ListNet()).fit([[1.0], [2.0], [3.0]], [1, 1, 0], qid=["a", "a", "b"])
    assert ranker.predict([[1.0], [5.0]]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learning_rate": 0}, r"^learning_rate must be the length of a step, a number from 1e-09 to 1e\+09: got '0'"),
        ({"learning_rate": "fast"}, r"^learning_rate must be the length of a step, .*: got 'fast'"),
        ({"n_epochs": 0}, r"^n_epochs must be an integer of at least 1: got 0"),
    ],
)
def test_parameters_are_looked_at(changes, message):
    with pytest.raises(DataError, match=message):
        ListNet(**changes).fit([[1.0], [2.0]], [0, 1], qid=[1, 1])


def test_missing_values_are_refused_unless_told_what_to_do():
    with pytest.raises(DataError, match=r"^1 values are missing \(NaN\), in 1 of 1 features: f1"):
        ListNet().fit([[1.0], [np.nan]], [0, 1], qid=[1, 1])
    assert ListNet(missing="mean").fit([[1.0], [3.0], [np.nan]], [0, 1, 0], qid=[1] * 3).coef_[0] > 0
