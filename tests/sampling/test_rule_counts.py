"""Counts kept label by label against rules spelt out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plain.sampling import n_rules_plainly, pick_plainly
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


@pytest.mark.parametrize(("n_features", "max_size"), [(63, 2), (64, 2), (65, 2), (130, 2), (66, 1)])
def test_any_number_of_words_holds_the_items(n_features, max_size):
    rng = np.random.default_rng(n_features)
    bins = rng.integers(0, 3, size=(n_features, 5)).astype(np.uint8)
    bins[:, 3] = bins[:, 1]  # all items shared: the sign bit is set, too
    agree(bins, [(1, 0), (0, 0), (3, 0), (2, 1)], max_size)


@given(st.integers(0, 2**64 - 1))
def test_bits_are_counted_in_every_place(number):
    assert popcount(np.uint64(number)) == number.bit_count()
