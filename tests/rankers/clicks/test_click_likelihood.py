"""Clicks of impressions: the fast likelihood is the plain one, counts are what expanded rows are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from rulerank.rankers.clicks.click_rows import ClickRows, check_clicks
from rulerank.rankers.clicks.likelihood import ClickLikelihood
from rulerank.rankers.clicks.positions import joined_positions
from tests.plain.click_likelihood import click_loss, fit_clicks_plainly, joined_plainly


def shown_rows(seed, n_queries=4, n_docs=5, n_positions=3, most=6):
    """Documents of queries, each at every position, shown and clicked at random."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * n_docs, 2))
    rows = np.repeat(np.arange(len(X)), n_positions)
    positions = np.tile(np.arange(1, n_positions + 1), len(X))
    shown = rng.integers(1, most, rows.size)
    clicks = rng.binomial(shown, 1 / (1 + np.exp(0.5 + 0.4 * positions - X[rows, 0])))
    return X[rows], rows // n_docs, positions, shown, clicks


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_gradient_and_loss_are_those_of_the_plain_likelihood(seed):
    X, queries, positions, shown, clicks = shown_rows(seed)
    rows = check_clicks(clicks, positions, shown, len(X))
    rng = np.random.default_rng(seed)
    numbers, effects = rng.normal(size=3), np.cumsum(rng.uniform(0, 0.7, 3))
    likelihood = ClickLikelihood(X, rows, queries, effects, 2.0)
    here = likelihood(numbers)

    def plainly(at, intercepts):
        coef = at[:2] * likelihood.factors
        value = click_loss(coef, intercepts, effects, X, clicks, shown, queries, rows.places)
        own = intercepts + at[2] - likelihood.centre @ coef
        return value + at[:2] @ at[:2] + own @ own / 18

    intercepts = likelihood.query_intercepts(numbers)
    assert here.value == pytest.approx(plainly(numbers, intercepts), rel=1e-9)
    for query in range(intercepts.size):  # they are at their best
        for away in (-1e-3, 1e-3):
            moved = intercepts.copy()
            moved[query] += away
            assert plainly(numbers, moved) >= plainly(numbers, intercepts) - 1e-12
    for place in range(numbers.size):
        change = np.zeros(numbers.size)
        change[place] = 1e-5
        slope = (likelihood(numbers + change).value - likelihood(numbers - change).value) / 2e-5
        assert here.gradient[place] == pytest.approx(slope, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("known", [None, {1: 1.0, 2: 0.5, 3: 0.3}])
def test_the_fit_is_the_plain_minimum(known):
    X, queries, positions, shown, clicks = shown_rows(3, most=40)
    ranker = rr.QueryIntercepts(l2=1.0, document_spread=0).fit(
        X, clicks, queries, position=positions, impressions=shown, propensities=known
    )
    effects = ranker.position_effects_.effects
    coef, intercepts, value = fit_clicks_plainly(  # effects come from documents that moved
        X, clicks, shown, queries, positions - 1, 1.0, ranker.scale_, effects
    )
    np.testing.assert_allclose(ranker.coef_, coef, atol=2e-4)
    np.testing.assert_allclose(ranker.intercepts_[:, 0], intercepts, atol=1e-3)
    size = ranker.coef_ * ranker.scale_
    assert ranker.loss_ + 0.5 * size @ size == pytest.approx(value, rel=1e-7)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_counts_are_what_expanded_rows_are(seed):
    X, queries, positions, shown, clicks = shown_rows(seed)
    counted = rr.QueryIntercepts(l2=0.5).fit(X, clicks, queries, position=positions, impressions=shown)
    each = np.repeat(np.arange(len(X)), shown)
    first = np.concatenate([np.arange(n) for n in shown])
    order = np.random.default_rng(seed).permutation(each.size)
    each, clicked = each[order], (first < clicks[each])[order]
    expanded = rr.QueryIntercepts(l2=0.5).fit(X[each], clicked, queries[each], position=positions[each])
    np.testing.assert_allclose(expanded.coef_, counted.coef_, atol=2e-6)
    np.testing.assert_allclose(expanded.position_effects_.effects, counted.position_effects_.effects, atol=2e-6)
    assert expanded.loss_ == pytest.approx(counted.loss_, rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=12))
def test_positions_are_joined_by_documents_that_moved(seen):
    places, documents = np.array(seen).T
    present, places = np.unique(places, return_inverse=True)
    rows = ClickRows(places, np.ones(len(seen)), np.zeros(len(seen)), present + 1)
    groups = joined_positions(rows, documents)
    found = {frozenset(np.flatnonzero(groups == group).tolist()) for group in set(groups.tolist())}
    assert found == joined_plainly(places.tolist(), documents.tolist())
