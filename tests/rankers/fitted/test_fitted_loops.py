"""The loops of fitted rules agree with their plain twins, and the gradient with the likelihood."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plain.fitted import add_cells_plainly, agreement_plainly, profile_loss_plainly, tree_plainly
from rulerank.rankers.fitted.bins import bin_centres, bins_on, cuts_of, find_axes, group_values
from rulerank.rankers.fitted.boosting import TrainingFolds, add_losses, add_pulls, agreement, deal
from rulerank.rankers.fitted.fitted_rules import FittedRules
from rulerank.rankers.fitted.trees import CATEGORIES, FALLING, RISING, Cells, add_cells, grow_tree, smooth

pytestmark = pytest.mark.kernels

SCORES = st.floats(-4, 4, allow_nan=False)


@st.composite
def queries(draw):
    """Scores, grades, weights and where each query begins."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    n = sum(sizes)
    scores = draw(st.lists(SCORES, min_size=n, max_size=n))
    grades = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    weights = draw(st.one_of(st.just([]), st.lists(st.sampled_from([0.5, 1.0, 2.0, 3.0]), min_size=n, max_size=n)))
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    return np.array(scores), np.array(grades, dtype=np.int16), np.array(weights, dtype=np.float64), bounds


def settled(scores, grades, weights, bounds, n_steps=60):
    """The derivatives and losses with every intercept at its best."""
    rows = TrainingFolds(grades, weights, bounds, np.zeros(1)).at(scores)
    pulls, losses = np.zeros((scores.size, 2)), np.zeros(bounds.size - 1)
    for _ in range(n_steps):
        add_pulls(rows, 0, bounds.size - 1, pulls)
    add_losses(rows, 0, bounds.size - 1, losses)
    return pulls, losses


@given(queries())
def test_the_loss_is_the_likelihood_at_the_best_intercepts(case):
    scores, grades, weights, bounds = case
    _, losses = settled(*case)
    w = weights if weights.size else np.ones(grades.size)
    for q, (first, last) in enumerate(pairwise(bounds)):
        own = slice(first, last)
        assert losses[q] == pytest.approx(profile_loss_plainly(scores[own], grades[own], w[own]), rel=1e-6, abs=1e-6)


@given(queries(), st.data())
def test_the_gradient_is_the_slope_of_the_likelihood(case, data):
    scores, grades, weights, bounds = case
    row = data.draw(st.integers(0, scores.size - 1))
    pulls, _ = settled(*case)
    w = weights if weights.size else np.ones(grades.size)
    q = int(np.searchsorted(bounds, row, side="right")) - 1
    own = slice(bounds[q], bounds[q + 1])
    step = np.zeros(scores.size)
    step[row] = 1e-4
    up, down = (profile_loss_plainly((scores + sign * step)[own], grades[own], w[own]) for sign in (1, -1))
    assert pulls[row, 0] == pytest.approx((up - down) / 2e-4, abs=1e-5)


@given(st.lists(st.tuples(st.integers(0, 3), SCORES, st.floats(0, 1)), max_size=30))
def test_sums_by_cell_are_those_of_the_plain_way(rows):
    cells = np.array([cell for cell, _, _ in rows], dtype=np.uint8)
    pulls = np.array([[g, h] for _, g, h in rows]).reshape(-1, 2)
    fast, plain = np.zeros((4, 2)), np.zeros((4, 2))
    add_cells(cells, pulls, 0, len(rows), fast)
    add_cells_plainly(cells, pulls, 0, len(rows), plain)
    assert fast == pytest.approx(plain, abs=1e-12)


@st.composite
def grids(draw, shapes=((5,), (9,), (3, 4), (4, 4))):
    shape = draw(st.sampled_from(shapes))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    counts = rng.integers(0, 6, shape).astype(float)
    sums = np.stack([rng.normal(size=shape) * counts, rng.random(shape) * counts], axis=-1)
    return sums, counts


def grown(sums, counts, kinds, n_leaves=4, l2=1.0, min_rows=2.0):
    shape = counts.shape
    votes = np.zeros(counts.size)
    axes = np.array([*shape, 1][:2]), np.array([*kinds, 0][:2], dtype=np.int8)
    gain = grow_tree(Cells(sums.reshape(-1, 2).copy(), counts.ravel(), *axes), n_leaves, l2, min_rows, votes)
    return votes.reshape(shape), gain


@given(grids(), st.integers(2, 6))
def test_a_tree_is_the_one_that_trying_every_split_finds(grid, n_leaves):
    sums, counts = grid
    votes, gain = grown(sums, counts, [0] * counts.ndim, n_leaves)
    plain_votes, plain_gain = tree_plainly(sums, counts, n_leaves, 1.0, 2.0)
    assert gain == pytest.approx(plain_gain)
    assert votes == pytest.approx(plain_votes)


@given(grids(), st.sampled_from([RISING, FALLING]), st.booleans())
def test_votes_are_monotone_where_they_must_be(grid, kind, both):
    sums, counts = grid
    kinds = [kind] + [kind if both else 0] * (counts.ndim - 1)
    votes, gain = grown(sums, counts, kinds)
    assert gain >= -1e-9
    flat = votes.ravel().copy()
    smooth(flat, np.array([*counts.shape, *[1] * (2 - counts.ndim)]), np.array([*kinds, 0][:2], dtype=np.int8))
    sign = 1 if kind == RISING else -1
    for found in (votes, flat.reshape(votes.shape)):
        for axis in range(counts.ndim if both else 1):
            known = np.delete(found, -1, axis=axis)
            assert (sign * np.diff(known, axis=axis) >= 0).all()
            assert (found.take([-1], axis=axis) <= known.min(axis=axis, keepdims=True)).all()  # missing is the worst


def test_smoothing_mixes_neighbours_and_leaves_missing_values_alone():
    votes = np.array([0.0, 4.0, 0.0, 9.0])
    smooth(votes, np.array([4, 1]), np.zeros(2, dtype=np.int8))
    assert votes.tolist() == [1.0, 2.0, 1.0, 9.0]
    smooth(votes, np.array([4, 1]), np.array([CATEGORIES, 0], dtype=np.int8))
    assert votes.tolist() == [1.0, 2.0, 1.0, 9.0]


@given(st.integers(0, 1000))
def test_agreement_is_that_of_the_plain_way(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    bins = rng.integers(0, 3, (4, n)).astype(np.uint8)
    pulls, odd = rng.normal(size=(n, 2)), rng.integers(0, 2, n).astype(np.uint8)
    pulls[:, 1] = np.abs(pulls[:, 1])
    sets = np.array([[0, 1], [1, 2], [0, 2]])
    found = agreement(bins, np.full(4, 3), sets, pulls, odd, 10.0, 1)
    assert found == pytest.approx(agreement_plainly(bins, sets, pulls, odd, 10.0))


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40), st.integers(2, 12))
def test_values_are_grouped_in_order_and_heavy_ones_stay_alone(counts, k):
    counts = np.array(counts)
    groups = group_values(counts, k)
    assert groups[0] == 0
    assert set(np.diff(groups)) <= {0, 1}
    assert groups[-1] + 1 <= 2 * k + 1
    for value in np.flatnonzero(counts * k >= counts.sum()):
        assert (groups == groups[value]).sum() == 1


def test_a_zero_that_most_rows_have_gets_a_bin_and_the_others_share_the_rest():
    values = np.concatenate([np.zeros(900), np.linspace(1, 2, 100)])
    cuts = cuts_of(values, 16)
    assert cuts[0] == 0.5
    assert 10 <= len(cuts) <= 16
    sizes = np.bincount(np.searchsorted(cuts, values, side="right"))
    assert sizes[0] == 900
    assert sizes[1:].max() <= 10


def test_coarser_bins_are_unions_of_fine_ones():
    X = np.random.default_rng(0).normal(size=(500, 1))
    (axis,) = find_axes(X, 64)
    bins = bins_on(X, [axis])
    coarse, places = axis.coarser(np.bincount(bins[0], minlength=axis.n_bins), 8)
    assert set(coarse.cuts) <= set(axis.cuts)
    assert bins_on(X, [coarse])[0].tolist() == places[bins[0]].tolist()


def test_folds_hold_whole_queries_and_each_is_held_out_once():
    rng = np.random.default_rng(0)
    numbers = np.sort(rng.integers(0, 20, 200))
    numbers = np.unique(numbers, return_inverse=True)[1]
    grades = rng.integers(0, 2, 200).astype(np.int16)
    places, folds = deal(numbers, grades, np.zeros(0), 3, seed=0)
    held = [tuple(folds.held_out(fold)) for fold in range(3)]
    assert held[0][0] == 0
    assert held[-1][1] == folds.n_queries
    assert all(one[1] == two[0] for one, two in pairwise(held))
    assert all(len(set(numbers[places[a:b]])) == 1 for a, b in pairwise(folds.bounds))
    windows = folds.windows(1, 20)
    seen = [q for a, b, c, d in windows for q in [*range(a, b), *range(c, d)]]
    assert sorted(seen) == [q for q in range(folds.n_queries) if not held[1][0] <= q < held[1][1]]


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
