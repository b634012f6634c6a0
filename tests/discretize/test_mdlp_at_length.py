"""MDLP on more rows than a run without the JIT can bear."""

import numpy as np
import pytest

from rulerank.discretize import MAX_BINS, MDLP
from rulerank.io.letor import read_letor


def plain_entropy(counts):
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log2(share)).sum())


def mdlp_in_numpy(values, grades, n_grades):
    """One feature's cuts with arrays of cumulative counts: a second, quite different way."""
    distinct, place = np.unique(values, return_inverse=True)
    counts = np.zeros((distinct.size, n_grades))
    np.add.at(counts, (place, grades), 1)
    cuts = []

    def entropies(table):
        n = table.sum(axis=1, keepdims=True)
        share = table / n
        return -(share * np.log2(np.where(share > 0, share, 1))).sum(axis=1)

    def divide(first, last):
        part = counts[first:last]
        whole = part.sum(axis=0)
        n = whole.sum()
        left = part.cumsum(axis=0)[:-1]
        if not len(left):
            return
        right = whole - left
        weighted = (left.sum(axis=1) * entropies(left) + right.sum(axis=1) * entropies(right)) / n
        at = int(np.flatnonzero(weighted <= weighted.min() + 1e-12)[0])
        k, k1, k2 = ((c > 0).sum() for c in (whole, left[at], right[at]))
        e, e1, e2 = (plain_entropy(c) for c in (whole, left[at], right[at]))
        delta = np.log2(3.0**k - 2) - (k * e - k1 * e1 - k2 * e2)
        if e - weighted[at] <= (np.log2(n - 1) + delta) / n:
            return
        cut = first + at
        divide(first, cut + 1)
        cuts.append((float(distinct[cut]) + float(distinct[cut + 1])) / 2)
        divide(cut + 1, last)

    divide(0, distinct.size)
    return cuts


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_grades", [2, 5, 32])
def test_thousands_of_rows_give_the_cuts_of_the_numpy_version(seed, n_grades):
    rng = np.random.default_rng(seed)
    X = rng.gamma(1.0, size=(3000, 4)).astype(np.float32)
    X[:, 1] = X[:, 1].round(1)
    signal = X[:, 0] + X[:, 1] + rng.normal(size=3000)
    grades = np.clip(signal * n_grades / 5, 0, n_grades - 1).astype(int)
    found = MDLP().fit(X, grades).cuts_
    assert [cuts.tolist() for cuts in found] == [mdlp_in_numpy(column, grades, n_grades) for column in X.T]
    assert len(found[0]) > 0


def test_no_feature_gets_more_bins_than_a_byte_holds():
    values = np.repeat(np.arange(300, dtype=np.float32), 200)
    X = values[:, None]
    mdlp = MDLP().fit(X, (values % 2).astype(int))
    assert len(mdlp.cuts_[0]) == MAX_BINS - 1
    assert mdlp.n_bins_[0] == 255
    assert mdlp.transform([[299.0], [np.nan]]).ravel().tolist() == [MAX_BINS - 1, MAX_BINS]


def test_all_threads_and_both_float_types_give_the_same_cuts():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(2000, 37)).astype(np.float32)
    grades = (X[:, ::3].sum(axis=1) > 0).astype(int) + (X[:, 0] > 1)
    one, two, wide = (
        MDLP(n_jobs=n_jobs).fit(data, grades).to_state()["cuts"].tobytes()
        for n_jobs, data in [(1, X), (2, X), (2, X.astype(np.float64))]
    )
    assert one == two == wide


@pytest.mark.parametrize("name", ["letor3-ohsumed", "letor3-ohsumed-null", "letor4-mq2008"])
def test_real_features_give_the_cuts_of_the_numpy_version(letor, name):
    train = read_letor(letor / name / "Fold1" / "train.txt")
    found = MDLP().fit(train.X, train.y).cuts_
    for column, cuts in list(zip(train.X.T, found, strict=True))[::5]:
        present = ~np.isnan(column)
        assert cuts.tolist() == mdlp_in_numpy(column[present], train.y[present], 3)
    assert sum(map(len, found)) > 50
