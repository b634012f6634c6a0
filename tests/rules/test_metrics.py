"""The seven metrics equal values worked out by hand, their plain twin, and themselves when all vote at once."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rulerank as rr
from plain.engine import score_plainly, theta_plainly
from rule_data import known_bins, learn, synthetic_sets
from rulerank.errors import DataError
from rulerank.rules.metrics import METRICS, check_metric, mapped_theta, theta
from rulerank.rules.votes import MeanVotes, votes_named

pytestmark = pytest.mark.kernels

# n(X, r), n(X), n(r), N; then the seven votes
BY_HAND = {
    "an ordinary rule": (
        (3, 4, 5, 10),
        (0.625, 0.75, 0.75, (3 / 5) * (3 / 4) / (2 / 6), 6 / 7, math.sqrt(12) / (math.sqrt(12) + math.sqrt(2)), 0.7),
    ),
    "against a common grade": (  # certainty is -2, and could be -3
        (1, 4, 15, 20),
        (0.25, 1 / 6, 0.25, 0.025, 1 / 22, math.sqrt(2) / (math.sqrt(2) + math.sqrt(42)), 0.3),
    ),
    "never against the grade": (
        (2, 2, 3, 9),
        (5 / 6, 1.0, 1.0, (2 / 3) / (1 / 7), 1.0, 1.0, 0.5 + 2 * (2 / 3) * (2 / 9)),
    ),
    "all rows of the grade and more": ((2, 3, 2, 4), (7 / 12, 2 / 3, 2 / 3, (2 / 3) / (2 / 3), 1.0, 1.0, 0.75)),
    "every row has the grade": ((2, 2, 5, 5), (0.5, 0.5, 1.0, (2 / 5) / 1, 0.5, 0.5, 0.5)),
    "every row has the items": ((2, 5, 2, 5), (0.5, 0.5, 0.4, 0.4 / (4 / 4), 0.5, 0.5, 0.5)),
    "one row": ((1, 1, 1, 1), (0.5, 0.5, 1.0, 1.0, 0.5, 0.5, 0.5)),
    "as if by chance": ((2, 4, 5, 10), (0.5, 0.5, 0.5, (2 / 5) * 0.5 / (3 / 6), 0.5, 0.5, 0.5)),
}


@pytest.mark.parametrize("case", BY_HAND)
def test_metrics_vote_as_worked_out_by_hand(case):
    (hits, covered, of_grade, n_rows), expected = BY_HAND[case]
    votes = [mapped_theta(m, float(hits), float(covered), float(of_grade), float(n_rows)) for m in range(7)]
    assert votes == pytest.approx(expected, abs=1e-12)


@given(synthetic_sets(), st.integers(1, 3))
def test_all_metrics_at_once_agree_with_the_plain_way(synthetic, max_size):
    rows, grades, _, documents = synthetic
    queries = [0] * len(rows)
    engine = learn(rows, grades, queries, max_size, MeanVotes(METRICS))
    found = engine.scheme.scores_by_metric(engine.sums(known_bins(engine, documents)), engine.training)
    for metric, scores in zip(METRICS, found.T, strict=True):
        plain = [score_plainly(rows, grades, queries, d, metric=metric, max_size=max_size) for d in documents]
        assert scores == pytest.approx(plain, rel=1e-9, abs=1e-9)


@given(st.data())
def test_theta_is_the_papers_signed_value(data):
    hits = data.draw(st.integers(1, 50))
    others, elsewhere, rest = (data.draw(st.integers(0, 50)) for _ in range(3))
    counts = hits, hits + others, hits + elsewhere, hits + others + elsewhere + rest
    for metric in METRICS:
        assert theta(metric, *counts) == pytest.approx(float(theta_plainly(metric, *counts, plus_one=False)), rel=1e-9)


def test_strength_has_its_ones_only_when_it_is_mapped_and_stays_finite_without():
    counts = 2, 2, 3, 9  # never against the grade
    assert theta("strength", *counts, mapped=True) == pytest.approx((2 / 3) / (1 / 7))
    assert theta("strength", *counts) == pytest.approx((2 / 3) / 1e-6)
    assert theta("strength", 8, 8, 9, 20) == pytest.approx(888_888.9, abs=0.1)  # the paper's 888,888


@given(synthetic_sets(), st.permutations(METRICS))
def test_a_metric_scores_the_same_bits_alone_and_among_others(synthetic, metrics):
    rows, grades, _, documents = synthetic
    queries = [0] * len(rows)
    together = learn(rows, grades, queries, 2, MeanVotes(tuple(metrics)))
    bins = known_bins(together, documents)
    found = together.scheme.scores_by_metric(together.sums(bins), together.training)
    for metric, scores in zip(metrics, found.T, strict=True):
        assert np.array_equal(scores, learn(rows, grades, queries, 2, votes_named("mean", metric)).score(bins))


@pytest.mark.parametrize("metric", METRICS)
def test_a_ranker_with_a_metric_ranks_by_it_and_comes_back_from_its_file(metric, tmp_path):
    data = rr.datasets.make_ranking(n_queries=3, docs_per_query=8, seed=3)
    options = {"votes": "mean", "max_size": 1, "discretizer": rr.discretize.EqualFrequency(n_bins=3)}
    ranker = rr.GlobalRules(metric=metric, **options).fit(data)
    confidence = rr.GlobalRules(**options).fit(data)
    assert np.array_equal(ranker.predict(data), confidence.predict(data)) == (metric == "confidence")
    ranker.save(tmp_path / "model.rulerank")
    assert np.array_equal(rr.load(tmp_path / "model.rulerank").predict(data), ranker.predict(data))


def test_unknown_metrics_and_votes_without_one_are_named():
    with pytest.raises(DataError, match="unknown metric 'lift'; choose from added_value, certainty, confidence, str"):
        check_metric("lift")
    with pytest.raises(DataError, match=r"votes='evidence' does not use a metric: leave out metric='yule_y', or "):
        votes_named("evidence", "yule_y")
