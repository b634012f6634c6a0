"""The rows that queries are judged by: bounded, spread over queries, and chosen by nothing but their content."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rulerank as rr
from plain.by_query import share_of_right_pairs_plainly
from rulerank.rules import by_query as module
from rulerank.rules.by_query import PER_QUERY, ByQuery, judged_rows, row_hashes, share_of_right_pairs
from rulerank.rules.layout import Layout
from rulerank.rules.tables import BinCounts, Rows


def by_query_of(sizes, seed, order=None):
    """Return rows of queries 0, 1, ... of these sizes, in their order or another, with all that trust needs."""
    rng = np.random.default_rng(seed)
    queries = np.repeat(np.arange(len(sizes)), sizes)
    bins, grades = rng.integers(0, 4, size=(3, queries.size)), rng.integers(0, 3, size=queries.size)
    if order is not None:
        bins, grades, queries = bins[:, order], grades[order], queries[order]
    rows = Rows.of(bins, grades, queries, 3)
    counts = BinCounts.of(rows)
    return ByQuery(rows, queries, Layout.over(counts.n_bins, 2)), counts.training(1)


SIZES = st.lists(st.integers(1, 60), min_size=1, max_size=12)


@given(SIZES, st.integers(1, 200), st.integers(0, 99))
def test_a_sample_is_bounded_and_takes_many_rows_of_each_query(sizes, most, seed):
    by_query, _ = by_query_of(sizes, seed)
    found = judged_rows(by_query, np.arange(len(sizes)), most)
    if sum(sizes) <= most:
        assert found is None
        return
    assert 0 < found.size <= most
    assert (np.diff(found) > 0).all()
    taken = np.bincount(by_query.queries[found], minlength=len(sizes))
    for size, own in zip(sizes, taken.tolist(), strict=True):
        assert own == 0 or own >= min(size, PER_QUERY, most)


@given(SIZES, st.integers(1, 200), st.integers(0, 99))
def test_a_sample_does_not_depend_on_the_order_of_the_rows(sizes, most, seed):
    order = np.random.default_rng(seed + 1).permutation(sum(sizes))
    order = order[np.argsort(np.repeat(np.arange(len(sizes)), sizes)[order], kind="stable")]  # within their queries
    samples = []
    for way in (None, order):
        by_query, _ = by_query_of(sizes, seed, way)
        found = judged_rows(by_query, np.arange(len(sizes)), most)
        found = np.arange(sum(sizes)) if found is None else found
        content = np.vstack([by_query.bins, by_query.grades, by_query.queries])[:, found]
        samples.append(sorted(map(tuple, content.T.tolist())))
    assert samples[0] == samples[1]


@given(SIZES, st.integers(2, 60), st.integers(0, 99))
def test_trust_by_a_sample_is_the_share_of_right_pairs_in_it(sizes, most, seed):
    by_query, training = by_query_of(sizes, seed)
    found = judged_rows(by_query, np.arange(len(sizes)), most)
    judged = np.arange(sum(sizes)) if found is None else found
    lifts = np.nan_to_num(by_query.shrunken_lifts(by_query.bins, 0, len(sizes), training, 20.0))[:, judged]
    expected = share_of_right_pairs_plainly(
        lifts.tolist(), by_query.grades[judged].tolist(), by_query.queries[judged].tolist()
    )
    assert share_of_right_pairs(by_query, training, 20.0, found) == pytest.approx(expected)


def test_tables_of_all_rows_that_do_not_fit_are_counted_anew_to_the_same_bits(monkeypatch):
    by_query, training = by_query_of([9] * 7, 0)
    kept = share_of_right_pairs(by_query, training, 20.0)
    monkeypatch.setattr(module, "BASE_BYTES", 0)
    monkeypatch.setattr(module, "MAX_QUERIES", 2)
    assert np.array_equal(share_of_right_pairs(by_query, training, 20.0), kept)


def test_rows_that_differ_have_other_hashes():
    cells = np.array(np.meshgrid(np.arange(20), np.arange(20), np.arange(3))).reshape(3, -1)
    assert np.unique(row_hashes([*cells])).size == cells.shape[1]


def test_rows_that_are_alike_are_drawn_one_by_one():
    """Half of each query's rows are one kind of row: about half of its sample is, in every query."""
    bins = np.tile([0] * 50 + [*range(50)], 20)
    queries = np.repeat(np.arange(20), 100)
    rows = Rows.of(bins[None], bins % 2, queries)
    by_query = ByQuery(rows, queries, Layout.over([50], 1))
    found = judged_rows(by_query, np.arange(20), 1000)
    shares = [np.mean(by_query.bins[0, found[by_query.queries[found] == q]] == 0) for q in range(20)]
    assert found.size == 1000
    assert 0.3 < min(shares) < max(shares) < 0.7
    assert len(set(shares)) > 3


def test_rows_up_to_the_bound_are_judged_as_without_one():
    world = rr.make_ranking(n_queries=12, docs_per_query=10, seed=0)
    everything, bounded, fewer = (rr.QueryRules(judged_rows=n).fit(world) for n in (10**9, len(world), 60))
    assert np.array_equal(everything.trust_, bounded.trust_)
    assert not np.array_equal(everything.trust_, fewer.trust_)
    shuffled = world[np.random.default_rng(0).permutation(len(world))]
    again = rr.QueryRules(judged_rows=60).fit(shuffled)
    trust = dict(zip(again.queries_.tolist(), again.trust_.tolist(), strict=True))
    assert [trust[query] for query in fewer.queries_.tolist()] == fewer.trust_.tolist()
