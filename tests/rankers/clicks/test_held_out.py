"""Rankings compared by the clicks of queries that they were not learned from."""

import numpy as np
import pytest

import rulerank as rr
from rulerank.rankers.clicks.click_rows import check_clicks
from rulerank.rankers.clicks.likelihood import click_losses, ranking_losses

SYNTHETIC = rr.datasets.make_ranking(n_queries=30, n_features=3, seed=4)
SEEN = rr.clicks.simulate_clicks(SYNTHETIC, SYNTHETIC.X[:, 0], n_impressions=3000, seed=4)
ROWS = check_clicks(SEEN.impressions.clicks, SEEN.impressions.position, SEEN.impressions.count, len(SEEN))
QUERIES = np.unique(SEEN.qid, return_inverse=True)[1].reshape(-1)
EFFECTS = np.log(np.arange(1.0, 11.0))


def losses(*rankings):
    return ranking_losses(np.stack(rankings, axis=1), ROWS, QUERIES, EFFECTS)[1]


def test_the_weight_of_a_ranking_is_the_best_of_many():
    scores = SEEN.X[:, 1] / SEEN.X[:, 1].std()
    _, found = ranking_losses(scores[:, None], ROWS, QUERIES, EFFECTS)
    tried = [click_losses(weight * scores, ROWS, QUERIES, EFFECTS)[1].sum() for weight in np.linspace(0, 3, 61)]
    assert found.sum() <= min(tried) + 0.02


def test_the_scale_of_scores_does_not_count():
    scores = SEEN.X[:, 1]
    assert losses(1000 * scores) == pytest.approx(losses(scores), abs=1e-6)


def test_a_ranking_the_wrong_way_round_says_nothing_and_not_its_opposite():
    nothing = losses(np.zeros(len(SEEN)))
    assert losses(SEEN.X[:, 1]).sum() < nothing.sum() - 1
    assert losses(-SEEN.X[:, 1]) == pytest.approx(nothing)
    assert losses(SEEN.X[:, 1], -SEEN.X[:, 1]) == pytest.approx(losses(SEEN.X[:, 1]), abs=0.01)
