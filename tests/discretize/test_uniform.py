"""Equal width and equal frequency."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulerank.discretize import EqualFrequency, EqualWidth

pytestmark = pytest.mark.kernels

columns = st.lists(
    st.one_of(st.integers(0, 6).map(float), st.floats(-9, 9, allow_subnormal=False), st.just(math.nan)),
    min_size=1,
    max_size=40,
)


def equal_frequency_plainly(values, n_bins):
    """Each wished place moves to the nearest place between two different values, the lower when two are as near."""
    values = sorted(v for v in values if not math.isnan(v))
    n = len(values)
    allowed = [0, *(p for p in range(1, n) if values[p - 1] != values[p]), n]
    wished = [math.floor(n * i / n_bins + 0.5) for i in range(1, n_bins)]
    places = {min(allowed, key=lambda place: (abs(place - wish), place)) for wish in wished} - {0, n}
    return [(values[p - 1] + values[p]) / 2 for p in sorted(places)]


@given(columns, st.integers(2, 12))
def test_equal_frequency_cuts_at_the_nearest_change_of_value(values, n_bins):
    cuts = EqualFrequency(n_bins).fit(np.array(values)[:, None]).cuts_[0]
    np.testing.assert_allclose(cuts, equal_frequency_plainly(values, n_bins), rtol=1e-12)


@given(columns, st.integers(2, 12))
def test_equal_width_gives_equal_steps_from_least_to_greatest(values, n_bins):
    present = [v for v in values if not math.isnan(v)]
    cuts = EqualWidth(n_bins).fit(np.array(values)[:, None]).cuts_[0]
    if len(set(present)) < 2:
        assert cuts.size == 0
    elif max(present) - min(present) > 1e-6:
        np.testing.assert_allclose(cuts, np.linspace(min(present), max(present), n_bins + 1)[1:-1], atol=1e-12)


@pytest.mark.parametrize("make", [EqualWidth, EqualFrequency])
@pytest.mark.parametrize("column", [[math.nan] * 3, [4.0] * 3, [4.0, math.nan, 4.0]])
def test_a_feature_with_one_value_or_none_gets_no_cut(make, column):
    assert make().fit(np.array(column)[:, None]).cuts_[0].size == 0


def test_equal_width_spans_the_whole_range_of_floats():
    top = np.finfo(np.float64).max
    assert EqualWidth(2).fit([[-top], [top]]).cuts_[0].tolist() == [0.0]


def test_equal_width_of_neighbouring_floats_keeps_the_one_cut_there_is():
    low, high = 1.0, np.nextafter(1.0, 2.0)
    assert EqualWidth(10).fit([[low], [high]]).cuts_[0].tolist() == [high]
