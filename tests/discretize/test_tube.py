"""TUBE against a twin that tries every cut and adds up the likelihood of the whole histogram each time."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulerank.discretize import TUBE

pytestmark = pytest.mark.kernels

TIE = 1e-9
columns = st.lists(
    st.one_of(st.integers(0, 9).map(float), st.integers(-40, 40).map(lambda i: i / 8), st.floats(-9, 9)),
    min_size=1,
    max_size=25,
)


def cells_plainly(values):
    """The ends of each value's cell, and the narrowest width of an interval, as exact fractions."""
    distinct = sorted({Fraction(v) for v in values})
    step = max(min(b - a for a, b in pairwise(distinct)), (distinct[-1] - distinct[0]) / 10**6)
    ends = []
    for i, value in enumerate(distinct):
        left, right = value - step / 2, value + step / 2
        if i > 0:
            left = max(left, (distinct[i - 1] + value) / 2)
        if i + 1 < len(distinct):
            right = min(right, (value + distinct[i + 1]) / 2)
        ends += [left, right]
    return ends, step / 2 * (1 - Fraction(TIE))


def histogram(values, bounds):
    return [(sum(low <= v < high for v in values), high - low) for low, high in pairwise(bounds)]


def likelihood(values, bounds):
    parts = histogram(values, bounds)
    return sum(n * (math.log(n / len(values)) - math.log(width)) for n, width in parts if n)


def cuts_in_order(values, ends, narrowest, n_bins):
    """Make the best cut again and again; the lowest of equals."""
    bounds, made = [ends[0], ends[-1]], []
    while len(made) < n_bins - 1:
        best, gain = None, 0.0
        for cut in sorted(set(ends)):
            tried = sorted({*bounds, cut})
            if len(tried) == len(bounds) or min(b - a for a, b in pairwise(tried)) < narrowest:
                continue
            gained = likelihood(values, tried) - likelihood(values, bounds)
            if gained > gain + TIE * len(values):
                best, gain = cut, gained
        if best is None:
            break
        made.append(best)
        bounds = sorted([*bounds, best])
    return made


def tube_plainly(values, n_bins):
    present = [Fraction(v) for v in values if not math.isnan(v)]
    return sorted(cuts_in_order(present, *cells_plainly(present), n_bins)) if len({*present}) > 1 else []


def tube(values, n_bins):
    return TUBE(n_bins).fit(np.array(values, dtype=np.float64)[:, None]).cuts_[0]


@given(columns, st.integers(2, 6))
def test_the_cuts_are_those_of_trying_everything(values, n_bins):
    np.testing.assert_allclose(tube(values, n_bins), np.array(tube_plainly(values, n_bins), dtype=float), atol=1e-12)


def test_whole_numbers_can_all_be_told_apart():
    values = [0] * 9 + [1] * 5 + [2] * 30 + [3] * 2
    assert tube(values, 10).tolist() == [0.5, 1.5, 2.5]


@pytest.mark.parametrize("column", [[math.nan] * 3, [4.0] * 3, [4.0, math.nan, 4.0], [0.0, -0.0]])
def test_a_feature_with_one_value_or_none_gets_no_cut_from_tube(column):
    assert tube(column, 10).size == 0


def test_the_whole_range_of_floats_can_be_cut():
    top = np.finfo(np.float64).max
    assert tube([-top, top, top], 2).tolist() == [0.0]
    tiny = np.nextafter(0.0, 1.0)
    assert tube([0.0, tiny, tiny], 2).tolist() == [tiny]
    assert tube([1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 2.0)], 2).tolist() == [np.nextafter(1.0, 2.0)]


def test_the_number_of_threads_does_not_change_a_cut():
    X = np.random.default_rng(0).lognormal(size=(300, 7))
    one, two = TUBE(n_jobs=1).fit(X), TUBE(n_jobs=2).fit(X)
    assert np.concatenate(one.cuts_).tobytes() == np.concatenate(two.cuts_).tobytes()
