"""Counts kept label by label against rules spelt out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plain.sampling import n_rules_plainly, pick_plainly
from rulerank.errors import TooLargeError
from rulerank.sampling.rule_counts import RuleCounts, popcount

pytestmark = pytest.mark.kernels


def agree(bins, labels, max_size, n_jobs=1):
    counts = RuleCounts(bins, max_size, n_jobs)
    pool = bins.T.tolist()
    known = {}
    for row, grade in labels:
        counts.add(row, grade)
        known[row] = grade
        rows = range(len(pool))
        assert counts.n_rules.tolist() == [n_rules_plainly(pool, known, r, max_size) for r in rows]
        assert counts.projection.tolist() == [sum((bins[:, r] == bins[:, d]).sum() for d in known) for r in rows]
        assert counts.pick(np.arange(len(pool))) == pick_plainly(pool, known, rows, max_size)


@st.composite
def pools(draw, max_features=6):
    n_rows, n_features = draw(st.integers(1, 8)), draw(st.integers(1, max_features))
    cells = st.lists(st.integers(0, draw(st.integers(0, 3))), min_size=n_features, max_size=n_features)
    bins = np.array(draw(st.lists(cells, min_size=n_rows, max_size=n_rows)), dtype=np.uint8).T.copy()
    rows = draw(st.lists(st.integers(0, n_rows - 1), unique=True))
    return bins, [(row, draw(st.integers(0, 2))) for row in rows]


@settings(max_examples=60)
@given(pools(), st.integers(1, 5))
def test_counts_and_ties_are_those_of_rules_spelt_out(pool, max_size):
    agree(*pool, max_size)


@pytest.mark.parametrize(("n_features", "max_size"), [(63, 2), (64, 2), (65, 2), (130, 2), (66, 1)])
def test_any_number_of_words_holds_the_items(n_features, max_size):
    rng = np.random.default_rng(n_features)
    bins = rng.integers(0, 3, size=(n_features, 5)).astype(np.uint8)
    bins[:, 3] = bins[:, 1]  # all items shared: the sign bit is set, too
    agree(bins, [(1, 0), (0, 0), (3, 0), (2, 1)], max_size)


def test_rules_of_three_items_cross_the_border_of_a_word():
    bins = np.zeros((67, 4), dtype=np.uint8)
    bins[3:62] = np.arange(4)  # only 8 features can agree: on both sides of the border
    bins[0, 1] = bins[65, 2] = 1
    agree(bins, [(0, 0), (1, 0), (2, 1), (3, 0)], 3)


def test_rows_that_share_the_same_items_are_counted_alike_however_many_they_are():
    rng = np.random.default_rng(0)
    few = rng.integers(0, 2, size=(9, 6)).astype(np.uint8)
    kinds = rng.integers(0, 6, size=5000)
    counts, sample = RuleCounts(few[:, kinds], 3, n_jobs=2), RuleCounts(few, 3)
    for row, grade in [(0, 0), (17, 1), (99, 0)]:
        counts.add(row, grade)
        sample.add(kinds[row], grade)
        assert counts.n_rules.tolist() == sample.n_rules[kinds].tolist()


def test_tables_that_would_not_fit_are_refused_with_what_to_lower():
    with pytest.raises(
        TooLargeError, match=r"^rules of up to 4 items out of 700 features need tables of 57,167,251 se"
    ):
        RuleCounts(np.zeros((700, 2), dtype=np.uint8), 4)


@given(st.integers(0, 2**64 - 1))
def test_bits_are_counted_in_every_place(number):
    assert popcount(np.uint64(number)) == number.bit_count()
