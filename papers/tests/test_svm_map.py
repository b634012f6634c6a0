import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from papers.baselines.linear_kernels import map_hinges
from papers.baselines.svm_map import SVMMAP
from papers.tests.plain_margins import average_precision, map_hinge
from rulerank.evaluation import evaluate


def hinge(scores, grades):
    """Return the loss of one query and the rows' weights."""
    weights, losses = np.full(len(scores), np.nan), np.full(1, np.nan)
    map_hinges(np.asarray(scores, dtype=float), np.asarray(grades, dtype=np.int16), np.array([0, len(scores)]), 0, 1,
               weights, losses)  # fmt: skip
    return losses[0], weights


queries = st.lists(st.tuples(st.integers(-6, 6), st.integers(0, 2)), min_size=1, max_size=5)


@pytest.mark.kernels
@settings(max_examples=60)
@given(queries, st.sampled_from([0.05, 0.5, 1.0]))
def test_the_most_violated_ranking_is_the_worst_of_all_rankings(docs, unit):
    scores, grades = np.array([score for score, _ in docs]) * unit, [grade for _, grade in docs]
    assert hinge(scores, grades)[0] == pytest.approx(map_hinge(scores, grades), abs=1e-12)


@settings(max_examples=100)
@given(queries, st.integers(0, 10_000))
def test_the_weights_are_a_subgradient(docs, seed):
    scores, grades = np.array([score for score, _ in docs]) / 4, [grade for _, grade in docs]
    loss, weights = hinge(scores, grades)
    other = scores + np.random.default_rng(seed).normal(size=scores.size)
    assert hinge(other, grades)[0] >= loss - weights @ (other - scores) - 1e-12


@settings(max_examples=100)
@given(st.integers(0, 10_000))
def test_the_loss_is_never_below_that_of_average_precision(seed):
    rng = np.random.default_rng(seed)
    scores, grades = rng.normal(size=12), rng.integers(0, 2, size=12)
    if 0 < grades.sum() < 12:
        rounding = 1e-12
        assert hinge(scores, grades)[0] >= 1 - average_precision(grades[np.argsort(-scores)] > 0) - rounding


@pytest.mark.parametrize(("C", "weight"), [(0.05, 0.1), (0.1, 0.2), (0.125, 0.25), (100.0, 0.25)])
def test_two_documents_are_kept_apart_when_that_is_worth_it(C, weight):
    """In the wrong order the average precision is 1/2: |w|^2 / 2 + C max(0, 1/2 - 2 w) is least at 2 C, or at 1/4."""
    ranker = SVMMAP(C=C, eps=1e-8).fit([[1.0, 7.0], [2.0, 7.0]], [0, 2], qid=["a", "a"])
    assert ranker.coef_ == pytest.approx([weight, 0.0], abs=1e-6)


def test_the_weights_behind_the_grades_are_found():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(40), 25)
    X = rng.normal(size=(qid.size, 4))
    truth = np.array([2.0, -1.0, 0.5, 0.0])
    y = (X @ truth > 2).astype(int)
    ranker = SVMMAP(C=100.0).fit(X, y, qid=qid)
    assert ranker.coef_ / np.linalg.norm(ranker.coef_) == pytest.approx(truth / np.linalg.norm(truth), abs=0.05)
    assert evaluate(y, ranker.predict(X), qid, "MAP").means["MAP"] > 0.99


def test_grades_above_one_are_relevant_like_one():
    X, y, qid = np.random.default_rng(0).normal(size=(60, 3)), np.tile([0, 1, 2, 0, 0], 12), np.repeat(range(6), 10)
    assert SVMMAP().fit(X, y, qid=qid).coef_ == pytest.approx(SVMMAP().fit(X, y > 0, qid=qid).coef_, abs=1e-9)
