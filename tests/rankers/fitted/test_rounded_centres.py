"""A feature that varies by rounding alone says nothing, whatever the fold."""

import numpy as np

from rulerank.rankers.fitted.fitted_rules import FittedRules
from rulerank.rankers.fitted.linear_start import bin_centres


def test_a_centre_that_is_zero_but_for_rounding_is_zero():
    values = np.array([[-0.70710678118654757]] * 16 + [[1.4142135623730949]] * 8 + [[0.0]] * 1827)
    bins = np.array([[0] * 16 + [2] * 8 + [1] * 1827], dtype=np.uint8)
    assert abs(values.mean()) > 0
    [centres] = bin_centres(values, bins, [4])
    assert centres[1] == 0
    assert abs(centres[0]) > 1


def test_votes_stay_small_where_a_fold_sees_one_value_and_missing_ones():
    rng = np.random.default_rng(0)
    n_queries, n_docs = 60, 20
    X = rng.normal(size=(n_queries * n_docs, 2))
    y = (X[:, 0] + rng.normal(size=len(X)) > 1).astype(int)
    X[:, 1] = 0.0
    X[::97, 1] = np.nan
    X[[0, 1, 2], 1] = [0.1, 0.1, 0.7]  # the one query where it differs
    ranker = FittedRules(normalize="zscore").fit(X, y, qid=np.repeat(np.arange(n_queries), n_docs))
    assert max(np.abs(table.votes).max() for table in ranker.tables_.tables) < 20
