import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from rulerank.errors import DataError
from rulerank.normalize import NORMALIZATIONS, normalize_by_query

pytestmark = pytest.mark.kernels
VALUES = st.one_of(st.just(float("nan")), st.integers(-3, 3).map(float))


def plainly(column, how):
    known = column[~np.isnan(column)]
    if known.size == 0 or known.min() == known.max():
        return np.where(np.isnan(column), np.nan, 0.0)
    if how == "minmax":
        return (column - known.min()) / (known.max() - known.min())
    if how == "zscore":
        return (column - known.mean()) / known.std()
    out = np.full(column.shape, np.nan)
    out[~np.isnan(column)] = (rankdata(known) - 1) / (known.size - 1)
    return out


@given(st.lists(st.tuples(st.integers(0, 2), VALUES, VALUES), min_size=1, max_size=15), st.sampled_from(NORMALIZATIONS))
def test_each_query_is_put_on_one_scale_as_the_plain_way_does(rows, how):
    queries = np.unique([row[0] for row in rows], return_inverse=True)[1]
    X = np.array([row[1:] for row in rows])
    out = normalize_by_query(X, queries, how)
    for q in np.unique(queries):
        for f in range(2):
            assert out[queries == q, f] == pytest.approx(plainly(X[queries == q, f], how), nan_ok=True)


def test_a_constant_that_floats_round_is_still_constant():
    X = np.full((7, 1), 0.1)
    assert normalize_by_query(X, np.zeros(7, int), "zscore").ravel().tolist() == [0.0] * 7


def test_unknown_names_list_the_choices():
    with pytest.raises(DataError, match="unknown normalize 'max'; choose from None, minmax, rank, zscore"):
        normalize_by_query(np.zeros((1, 1)), np.zeros(1, int), "max")


@pytest.mark.parametrize("how", NORMALIZATIONS)
@pytest.mark.parametrize("scale", [1e-300, 1e-13, 1e200, 1.7e308])
def test_the_scale_of_a_feature_does_not_matter(how, scale):
    column = np.array([[-1.0], [0.0], [0.5], [1.0]])
    expected = normalize_by_query(column, np.zeros(4, int), how)
    assert normalize_by_query(column * scale, np.zeros(4, int), how) == pytest.approx(expected, abs=1e-9)
