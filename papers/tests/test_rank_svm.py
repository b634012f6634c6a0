from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

from papers.baselines.linear_kernels import pair_hinges
from papers.baselines.rank_svm import RankSVM
from papers.tests.plain_margins import pair_differences, pair_hinge


def noisy_synthetic(seed, n_features=3, sizes=(1, 4, 7, 10), n_grades=3):
    """A few queries whose grades follow the features loosely."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(qid.size, n_features))
    return X, np.digitize(X[:, 0] + rng.normal(size=qid.size), np.linspace(-0.5, 1, n_grades - 1)), qid


@pytest.mark.kernels
@settings(max_examples=100)
@given(st.data())
def test_counting_in_windows_is_the_same_as_looking_at_every_pair(data):
    sizes = data.draw(st.lists(st.integers(1, 8), min_size=1, max_size=3))
    n = sum(sizes)
    # halves: many scores are equal, and many lie exactly 1 apart
    scores = np.array(data.draw(st.lists(st.integers(-4, 4), min_size=n, max_size=n))) / 2
    grades = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=np.int16)
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    weights, losses = np.full(n, np.nan), np.full(len(sizes), np.nan)
    pair_hinges(scores, grades, bounds, 0, len(sizes), weights, losses)
    for q, (start, stop) in enumerate(pairwise(bounds)):
        loss, own = pair_hinge(scores[start:stop], grades[start:stop])
        assert losses[q] == loss
        assert weights[start:stop].tolist() == own.tolist()


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 4), st.sampled_from([0.01, 1.0, 100.0]))
def test_the_optimum_is_that_of_a_support_vector_machine_on_all_pairs(seed, n_features, C):
    X, y, qid = noisy_synthetic(seed, n_features)
    pairs = pair_differences(X, y, qid)
    n_queries = sum(np.unique(y[qid == q]).size > 1 for q in range(4))
    ranker = RankSVM(C=C, eps=1e-8).fit(X, y, qid=qid)
    assert ranker.n_informative_ == n_queries

    def objective(w):
        return 0.5 * w @ w + C / n_queries * np.maximum(0, 1 - pairs @ w).sum()

    assert ranker.objective_ == pytest.approx(objective(ranker.coef_), rel=1e-9)
    signs = np.where(np.arange(len(pairs)) % 2, 1.0, -1.0)  # the peer wants two classes
    peer = LinearSVC(C=C / n_queries, loss="hinge", fit_intercept=False, tol=1e-6, max_iter=100_000, random_state=0)
    w = peer.fit(pairs * signs[:, None], signs).coef_[0]
    assert ranker.objective_ <= objective(w) * (1 + 1e-7)
    if C <= 1:  # with a large C the peer stops up to half a percent early
        assert ranker.objective_ >= objective(w) * (1 - 1e-4)
        assert ranker.coef_ == pytest.approx(w, abs=0.02)
    steps = np.random.default_rng(seed).normal(0, 0.01, (50, n_features))  # convex: what no step lowers is the optimum
    assert min(objective(ranker.coef_ + step) for step in steps) >= ranker.objective_ * (1 - 1e-6)


@pytest.mark.parametrize(("C", "weight"), [(0.1, 0.2), (0.2, 0.4), (0.25, 0.5), (100.0, 0.5)])
def test_two_documents_are_kept_one_apart_when_that_is_worth_it(C, weight):
    """The better one has 2 more: |w|^2 / 2 + C max(0, 1 - 2 w) is least at 2 C, or where the margin is 1."""
    ranker = RankSVM(C=C, eps=1e-8).fit([[1.0, 7.0], [3.0, 7.0]], [0, 1], qid=["a", "a"])
    assert ranker.coef_ == pytest.approx([weight, 0.0], abs=1e-6)


def test_the_weights_behind_the_grades_are_found():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(40), 25)
    X = rng.normal(size=(qid.size, 4)) + rng.normal(size=(40, 4))[qid]  # queries differ in what is usual
    truth = np.array([2.0, -1.0, 0.5, 0.0])
    within = X - np.array([X[qid == q].mean(axis=0) for q in range(40)])[qid]
    y = np.digitize(within @ truth, [0.5, 2.0])
    coef = RankSVM(C=100.0).fit(X, y, qid=qid).coef_
    assert coef / np.linalg.norm(coef) == pytest.approx(truth / np.linalg.norm(truth), abs=0.02)


def test_more_of_the_same_queries_change_nothing():
    X, y, qid = noisy_synthetic(0)
    once = RankSVM(eps=1e-8).fit(X, y, qid=qid)
    thrice = RankSVM(eps=1e-8).fit(np.tile(X, (3, 1)), np.tile(y, 3), qid=np.concatenate([qid, qid + 10, qid + 20]))
    assert thrice.objective_ == pytest.approx(once.objective_, rel=1e-7)
    assert thrice.coef_ == pytest.approx(once.coef_, abs=1e-3)
