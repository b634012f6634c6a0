"""Query-level rules agree with their plain twin, with any number of threads and with any cut into blocks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plain.by_query import (
    deltas_plainly,
    labels_plainly,
    lift_of_query,
    mean_confidences,
    sets_of,
    share_of_right_pairs_plainly,
)
from rule_data import counted, known_bins, synthetic_sets
from rulerank.rules import by_query as module
from rulerank.rules.by_query import SHARE, ByQuery, Labels, TrustedVotes, most_competent, share_of_right_pairs
from rulerank.rules.engine import Engine
from rulerank.rules.layout import Layout

pytestmark = pytest.mark.kernels
SUPPORTS = st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0])


def learn(rows, grades, queries, max_size, min_support=0.0, n_jobs=None):
    checked, counts, training = counted(rows, grades, queries, min_support)
    return ByQuery(checked, np.array(queries), Layout.over(counts.n_bins, max_size), n_jobs), training


def same(found, expected):
    return np.allclose(found, expected, rtol=0, atol=1e-6, equal_nan=True)


def literal_deltas(by_query, min_support, leave_one_out):
    """Deltas one query at a time, so that blocks are tested too: (n_queries, n_rows sorted by query)."""
    for q in range(by_query.n_queries):
        ranks = by_query.literal_ranks(by_query.bins, q, q + 1, min_support=min_support, without_own=leave_one_out)
        yield q, np.abs(ranks - by_query.grades)


@given(synthetic_sets(), st.integers(1, 2), SUPPORTS, st.booleans(), st.sampled_from(["first", "share", "other"]))
def test_the_most_competent_queries_and_their_rules_agree_with_the_plain_way(
    synthetic, max_size, min_support, leave_one_out, ties
):
    rows, grades, queries, documents = synthetic
    by_query, _ = learn(rows, grades, queries, max_size)
    deltas = literal_deltas(by_query, min_support, leave_one_out)
    found = most_competent(deltas, len(rows), ties, own=by_query.queries)
    labels = Labels.of(by_query.order[found.rows], found.queries)
    options = {"min_support": min_support, "leave_one_out": leave_one_out}
    numbers = [sorted(set(queries)).index(q) for q in queries]
    plain = labels_plainly(deltas_plainly(rows, grades, queries, max_size=max_size, **options), ties, numbers)
    shares = {(i, q): float(share) for i, label in enumerate(plain) for q, share in label.items()}
    entries = zip(labels.rows.tolist(), labels.queries.tolist(), strict=True)
    assert dict(zip(entries, labels.shares / SHARE, strict=True)) == pytest.approx(shares)

    kept = [i for i, label in enumerate(plain) if label]
    parts = [rows[i] for i in kept], [plain[i] for i in kept]
    strengths = [mean_confidences(sets_of(rows, max_size), *parts, d, min_support) for d in documents]
    bins, n_queries = known_bins(by_query, documents), by_query.n_queries
    expected = [[s.get(q, 0.0) for s in strengths] for q in range(n_queries)]
    assert same(by_query.label_strengths(bins, labels, 0, n_queries, min_support=min_support), expected)


@given(synthetic_sets(), st.integers(1, 2), SUPPORTS, st.sampled_from([0.5, 20.0]))
def test_shrunken_lifts_agree_with_the_plain_way(synthetic, max_size, min_support, shrink):
    rows, grades, queries, documents = synthetic
    by_query, training = learn(rows, grades, queries, max_size, min_support)
    options = {"max_size": max_size, "strength": training.strength, "shrink": shrink, "min_support": min_support}

    n_queries = by_query.n_queries
    found = by_query.shrunken_lifts(known_bins(by_query, documents), 0, n_queries, training, shrink)
    plain = [[lift_of_query(rows, grades, queries, q, d, **options) for d in documents] for q in range(n_queries)]
    assert same(found, plain)

    lifts = np.nan_to_num(by_query.shrunken_lifts(by_query.bins, 0, n_queries, training, shrink))
    in_order = np.empty_like(lifts)
    in_order[:, by_query.order] = lifts
    expected = share_of_right_pairs_plainly(in_order.tolist(), grades, queries)
    assert share_of_right_pairs(by_query, training, shrink) == pytest.approx(expected)


@given(synthetic_sets(), st.integers(1, 2), SUPPORTS, st.data())
def test_trusted_votes_are_the_mean_of_the_trusted_queries(synthetic, max_size, min_support, data):
    rows, grades, queries, documents = synthetic
    by_query, training = learn(rows, grades, queries, max_size, min_support)
    numbers = st.integers(0, by_query.n_queries - 1)
    trusted = np.array(sorted(data.draw(st.sets(numbers, min_size=1))))
    votes = TrustedVotes(by_query, trusted, 20.0)
    engine = Engine.learn(by_query.rows, by_query.layout, votes, training)
    bins = known_bins(by_query, documents)
    lifts = by_query.shrunken_lifts(bins, 0, by_query.n_queries, training, 20.0)[trusted].mean(axis=0)
    assert same(engine.score(bins), training.mean_grade + np.nan_to_num(lifts))


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_threads_blocks_and_parts_do_not_change_a_bit(seed):
    rng = np.random.default_rng(seed)
    rows, grades = rng.integers(0, 4, (160, 4)), rng.integers(0, 3, 160)
    queries = np.unique(rng.integers(0, 9, 160), return_inverse=True)[1]
    documents = rng.integers(0, 5, (90, 4))

    def everything(n_jobs, step):
        by_query, training = learn(rows, grades, queries, 2, n_jobs=n_jobs)
        bins, n_queries = known_bins(by_query, documents), by_query.n_queries
        blocks = [(first, min(first + step, n_queries)) for first in range(0, n_queries, step)]
        labels = Labels.of(np.arange(160), np.arange(160) % n_queries)
        parts = [
            [by_query.literal_ranks(bins, *block) for block in blocks],
            [by_query.literal_ranks(by_query.bins, *block, without_own=True) for block in blocks],
            [by_query.label_strengths(bins, labels, *block) for block in blocks],
            [by_query.shrunken_lifts(bins, *block, training, 20.0) for block in blocks],
            [share_of_right_pairs(by_query, training, 20.0)],
        ]
        return [np.concatenate(part) for part in parts]

    whole = everything(1, 100)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "TABLE_BYTES", 2000)
        patch.setattr(module, "MAX_QUERIES", 2)
        cut = everything(2, 3)
    assert all(np.array_equal(one, other, equal_nan=True) for one, other in zip(whole, cut, strict=True))


def test_shares_of_thirds_add_up_to_a_whole_row():
    by_query, _ = learn([(0,), (0,), (0,), (1,)], [0, 0, 0, 1], [0, 1, 2, 2], 1)
    labels = Labels.of(np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3))  # of three rows, a third each
    document = known_bins(by_query, [(0,)])
    assert by_query.label_strengths(document, labels, 0, 3, min_support=1 / 3)[:, 0] == pytest.approx([1 / 3] * 3)
    assert by_query.label_strengths(document, labels, 0, 3, min_support=0.5)[:, 0].tolist() == [0, 0, 0]
