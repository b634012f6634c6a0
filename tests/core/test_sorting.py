import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulerank.core.sorting import sort_places

pytestmark = pytest.mark.kernels


@given(st.lists(st.integers(-5, 5).map(float), max_size=60))
def test_places_are_those_of_rising_values_each_once(numbers):
    values = np.array(numbers)
    places = np.empty(values.size, dtype=np.int64)
    sort_places(values, places)
    assert sorted(places) == list(range(values.size))
    assert values[places].tolist() == sorted(numbers)
