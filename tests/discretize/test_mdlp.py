"""MDLP against Fayyad and Irani's definition, written out with exact fractions and 60-digit logarithms."""

import math
from collections import Counter
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulerank.discretize import MDLP
from rulerank.discretize.base import between
from rulerank.discretize.mdlp import find_cuts, n_log_n, pack, sort_features, unpack
from rulerank.errors import DataError

pytestmark = pytest.mark.kernels


def log2(number):
    return Decimal(number).ln() / Decimal(2).ln()


def power_of_entropy(grades):
    """2 ** (rows x entropy), as an exact fraction (numerator, denominator)."""
    n = len(grades)
    return n**n, math.prod(c**c for c in Counter(grades).values())


def less(a, b):
    return a[0] * b[1] < b[0] * a[1]


def mdlp_plainly(values, grades):
    """All cuts of one feature by the definition: try every boundary point, compare exactly, ask the criterion."""
    rows = sorted((v, g) for v, g in zip(values, grades, strict=True) if not math.isnan(v))
    best, best_power = None, None
    for place in range(1, len(rows)):
        low, high = rows[place - 1][0], rows[place][0]
        if low == high or len({g for v, g in rows if v in (low, high)}) == 1:
            continue  # not a boundary point
        (a, b), (c, d) = (power_of_entropy([g for _, g in side]) for side in (rows[:place], rows[place:]))
        if best is None or less((a * c, b * d), best_power):
            best, best_power = place, (a * c, b * d)
    if best is None or not accepted(*([g for _, g in side] for side in (rows, rows[:best], rows[best:]))):
        return []
    left, right = rows[:best], rows[best:]
    cut = between(np.float64(left[-1][0]), np.float64(right[0][0]))
    return [*mdlp_plainly(*zip(*left, strict=True)), float(cut), *mdlp_plainly(*zip(*right, strict=True))]


def accepted(whole, left, right):
    with localcontext() as context:
        context.prec = 60

        def entropy(grades):
            numerator, denominator = power_of_entropy(grades)
            return (log2(numerator) - log2(denominator)) / len(grades)

        n, k = len(whole), len(set(whole))
        gain = entropy(whole) - (len(left) * entropy(left) + len(right) * entropy(right)) / n
        delta = log2(3**k - 2) - (
            k * entropy(whole) - len(set(left)) * entropy(left) - len(set(right)) * entropy(right)
        )
        return gain - (log2(n - 1) + delta) / n > Decimal("1e-40")


@st.composite
def features(draw, max_rows=40, max_grade=31):
    """Values with ties, gaps and a few awkward floats, and grades that follow them more or less."""
    n_rows = draw(st.integers(1, max_rows))
    top = draw(st.integers(1, max_grade))
    awkward = [0.0, -0.0, math.nan, 1e-45, -1e-45, 3e38, -3e38, 1.0, float(np.nextafter(np.float32(1), np.float32(2)))]
    value = st.one_of(st.integers(-3, 3).map(float), st.integers(0, 40).map(float), st.sampled_from(awkward))
    values = draw(st.lists(value, min_size=n_rows, max_size=n_rows))
    if draw(st.booleans()):
        step = draw(st.integers(1, 20))
        grades = [min(top, 0 if math.isnan(v) else int(min(abs(v), 1e3)) // step) for v in values]
    else:
        grades = draw(st.lists(st.integers(0, top), min_size=n_rows, max_size=n_rows))
    return values, grades


@given(features(), st.sampled_from([np.float32, np.float64]))
def test_cuts_are_those_of_the_definition(feature, dtype):
    values, grades = feature
    X = np.array(values, dtype=dtype)[:, None]
    assert MDLP().fit(X, grades).cuts_[0].tolist() == mdlp_plainly(X[:, 0].astype(float).tolist(), grades)


@settings(max_examples=25)
@given(st.lists(features(max_rows=12, max_grade=3), min_size=2, max_size=5), st.sampled_from([1, 2, 3]))
def test_each_feature_is_cut_on_its_own_whatever_the_number_of_threads(columns, n_jobs):
    n_rows = min(len(values) for values, _ in columns)
    X = np.array([values[:n_rows] for values, _ in columns], dtype=np.float32).T
    grades = columns[0][1][:n_rows]
    found = MDLP(n_jobs=n_jobs).fit(X, grades).cuts_
    assert [c.tolist() for c in found] == [mdlp_plainly(column.astype(float).tolist(), grades) for column in X.T]


def strongest_places(values, grades, max_cuts):
    X = np.asarray(values, dtype=np.float32)[:, None]
    packed, n_present, _ = sort_features(X, np.asarray(grades, dtype=np.uint8), range(1))
    places, n_cuts = np.empty((1, max_cuts), dtype=np.int64), np.empty(1, dtype=np.int64)
    find_cuts(packed, n_present, *n_log_n(len(X)), max(grades) + 1, places, n_cuts)
    return sorted(places[0, : n_cuts[0]].tolist())


def test_a_full_feature_keeps_the_strongest_cuts():
    grades = [0] * 30 + [1] * 30 + [2] * 10
    assert strongest_places(range(70), grades, max_cuts=5) == [30, 60]
    assert strongest_places(range(70), grades, max_cuts=1) == [30]
    assert strongest_places(range(120), [0] * 40 + [1] * 40 + [0] * 40, max_cuts=1) == [40]  # of equals the lowest


@given(st.lists(st.floats(width=32, allow_infinity=False), min_size=1, max_size=20))
def test_packed_values_sort_as_floats_do_and_come_back(values):
    X = np.array(values, dtype=np.float32)[:, None]
    packed, n_present = np.empty((1, len(values)), dtype=np.uint64), np.empty(1, dtype=np.int64)
    pack(X.view(np.uint32), np.full(len(values), 31, dtype=np.uint8), 0, packed, n_present)
    packed.sort()
    assert (packed & 255 == 31).all()
    assert n_present[0] == np.isfinite(X).sum()
    assert unpack(packed[0, : n_present[0]]).tolist() == np.sort(X[np.isfinite(X)]).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_cut_parts_even_neighbouring_floats(dtype):
    low = dtype(0.1)
    high = np.nextafter(low, dtype(1))
    X = np.array([low, high] * 10, dtype=dtype)[:, None]
    mdlp = MDLP().fit(X, [0, 1] * 10)
    assert low < mdlp.cuts_[0][0] <= high
    assert mdlp.transform(X).ravel().tolist() == [0, 1] * 10


def test_without_grades_the_error_says_what_to_do():
    message = r"^MDLP requires y to be passed, .* give the grades, fit\(X, y\), or use EqualFrequency"
    with pytest.raises(DataError, match=message):
        MDLP().fit([[1.0], [2.0]])


def test_rows_that_are_not_labelled_are_refused_with_advice():
    with pytest.raises(DataError, match=r"^1 of \d+ rows are not labelled \(grade -1\); leave them out"):
        MDLP().fit([[1.0], [2.0]], [0, -1])
