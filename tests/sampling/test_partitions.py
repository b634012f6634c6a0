"""The chi-square dealing of features."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from plain.sampling import chi_square, deal_plainly
from rulerank.sampling.partitions import deal_features, dependence

pytestmark = pytest.mark.kernels


@st.composite
def bins(draw):
    n_features, n_rows = draw(st.integers(1, 6)), draw(st.integers(1, 12))
    cells = st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows)
    return np.array(draw(st.lists(cells, min_size=n_features, max_size=n_features)), dtype=np.uint8)


@given(bins(), st.data())
def test_features_are_dealt_as_by_hand(bins, data):
    partitions = data.draw(st.integers(1, len(bins)))
    groups = deal_features(bins, partitions)
    assert [group.tolist() for group in groups] == deal_plainly(bins.T.tolist(), partitions)


@given(bins())
def test_dependence_is_chi_square_per_row(bins):
    pool, n_features = bins.T.tolist(), range(len(bins))
    expected = [[float(chi_square(pool, a, b)) / len(pool) * (a != b) for a in n_features] for b in n_features]
    np.testing.assert_allclose(dependence(bins), expected, atol=1e-12)


def test_dependence_agrees_with_scipy():
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 4, size=500), rng.integers(0, 5, size=500)
    other = np.where(rng.random(500) < 0.3, one, other)
    table = np.zeros((4, 5))
    np.add.at(table, (one, other), 1)
    found = dependence(np.array([one, other], dtype=np.uint8), n_jobs=2)[0, 1]
    assert found * 500 == pytest.approx(chi2_contingency(table, correction=False).statistic)


def test_the_most_telling_features_go_to_different_groups():
    rng = np.random.default_rng(0)
    signal = rng.integers(0, 4, size=4000)
    noise = rng.integers(0, 4, size=(8, 4000))
    noise[:4] = np.where(rng.random((4, 4000)) < 0.8, signal, noise[:4])
    noise[4:] = np.where(rng.random((4, 4000)) < 0.1, signal, noise[4:])
    groups = deal_features(noise.astype(np.uint8), 2)
    assert [sum(group < 4) for group in groups] == [2, 2]
    assert [len(group) for group in groups] == [4, 4]
