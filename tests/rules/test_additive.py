"""Additive tables: the loop agrees with the plain sum, in any order and to the last bit."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plain.fitted import additive_scores_plainly
from rulerank.errors import DataError, ModelFileError
from rulerank.rules.additive import DOUBLE_BITS, AdditiveTables, Table

pytestmark = pytest.mark.kernels

VALUES = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 1e30, math.nan])
VOTES = st.floats(-1e3, 1e3, allow_nan=False)


@st.composite
def models(draw):
    n_features = draw(st.integers(1, 4))
    tables = []
    for _ in range(draw(st.integers(0, 5))):
        size = draw(st.integers(1, min(3, n_features)))
        features = tuple(draw(st.permutations(range(n_features)))[:size])
        cuts = tuple(
            np.array(sorted(draw(st.sets(st.sampled_from([-1.0, -0.25, 0.0, 0.5, 1.0]), max_size=3)))) for _ in features
        )
        shape = tuple(len(own) + 2 for own in cuts)
        votes = draw(st.lists(VOTES, min_size=math.prod(shape), max_size=math.prod(shape)))
        tables.append(Table(features, cuts, np.array(votes).reshape(shape)))
    names = tuple(f"f{i}" for i in range(n_features))
    return AdditiveTables(draw(VOTES), tuple(tables), names)


@given(models(), st.data())
def test_scores_are_those_of_the_plain_sum_to_the_last_bit(model, data):
    n = len(model.feature_names)
    X = np.array(data.draw(st.lists(st.lists(VALUES, min_size=n, max_size=n), min_size=1, max_size=5)))
    on_grid = model.on_grid()
    assert on_grid.score(X).tolist() == additive_scores_plainly(on_grid, X)
    assert on_grid.score(X, n_jobs=2).tolist() == on_grid.score(X).tolist()
    finer = model.on_grid(bits=DOUBLE_BITS)
    assert model.score(X) == pytest.approx(finer.score(X), rel=1e-12, abs=1e-9)
    largest = abs(model.base) + sum(float(np.abs(table.votes).max()) for table in model.tables)
    assert model.score(X) == pytest.approx(on_grid.score(X), abs=1e-6 * (1 + largest))


@given(models(), st.data())
def test_shares_and_bins_are_the_plain_ones_and_add_up(model, data):
    n = len(model.feature_names)
    X = np.array(data.draw(st.lists(st.lists(VALUES, min_size=n, max_size=n), min_size=1, max_size=5)))
    for x, shares, score in zip(X, model.contributions(X).by_feature(n), model.score(X), strict=True):
        cells = [table.bins([x[f] for f in table.features]) for table in model.tables]
        plain = np.zeros(n)
        for table, cell in zip(model.tables, cells, strict=True):
            for feature in table.features:
                plain[feature] += table.votes[cell] / len(table.features)
        assert shares == pytest.approx(plain, rel=1e-12, abs=1e-12)
        assert model.base + shares.sum() == pytest.approx(score, abs=1e-9)
    finest = {
        f: max((len(cuts), -len(table.features), -t, axis) for t, table in enumerate(model.tables)
               for axis, (own, cuts) in enumerate(zip(table.features, table.cuts, strict=True)) if own == f)
        for f in {f for table in model.tables for f in table.features}
    }  # fmt: skip
    assert model.finest == {f: (-t, axis) for f, (_, _, t, axis) in finest.items()}


@given(models(), st.data())
def test_votes_on_the_grid_add_up_to_the_same_bits_in_any_order(model, data):
    x = data.draw(st.lists(VALUES, min_size=len(model.feature_names), max_size=len(model.feature_names)))
    model = model.on_grid()
    votes = [model.base, *(table.vote([x[f] for f in table.features]) for table in model.tables)]
    sums = {sum(order) for order in itertools.islice(itertools.permutations(votes), 24)}
    assert sums == {math.fsum(votes)}


@given(models())
def test_a_state_gives_the_same_model_back(model):
    again = AdditiveTables.from_state(model.to_state(), model.feature_names)
    X = np.array([[0.3] * len(model.feature_names), [math.nan] * len(model.feature_names)])
    assert again.score(X).tolist() == model.score(X).tolist()


def test_float32_rows_fall_into_the_bins_of_their_values():
    table = Table((0,), (np.array([0.1]),), np.array([0.0, 1.0, 0.0]))
    X = np.array([[0.1]], dtype=np.float32)  # a little more than 0.1
    assert AdditiveTables(0.0, (table,), ("a",)).score(X).tolist() == [1.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Table((0, 0), (np.zeros(0), np.zeros(0)), np.zeros((2, 2))), "1 to 3 different features"),
        (lambda: Table((0,), (np.array([1.0]),), np.zeros(2)), r"cuts of \(3,\) bins need as many votes: got \(2,\)"),
        (lambda: Table((0,), (np.array([1.0]),), np.zeros(3), np.zeros(2)), "need as many spreads"),
        (lambda: Table((0,), (np.array([2.0, 1.0]),), np.zeros(4)), "not finite and ascending"),
        (lambda: AdditiveTables(0.0, (Table((1,), (np.zeros(0),), np.zeros(2)),), ("a",)), "there are 1 features"),
        (
            lambda: AdditiveTables(0.0, (Table((0,), (np.zeros(0),), np.zeros(2)),), ("a",), {"a": ("x",)}),
            "1 categories need as many cuts: got 0",
        ),
        (
            lambda: AdditiveTables(0.0, (), ("a",)).score(np.zeros((1, 2))),
            "X must be float32 or float64 with 1 features",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_a_state_that_is_none_is_refused():
    with pytest.raises(ModelFileError, match="the tables cannot be read"):
        AdditiveTables.from_state({"base": 0.0}, ("a",))
