"""Removals, cell by cell, against the obvious way."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulerank.explain.ballot import Ballot, mixed, sum_ballot
from rulerank.explain.kernels import count_codes_like
from rulerank.rules.additive import padded

pytestmark = pytest.mark.kernels


def some_ballot(seed, m=4):
    rng = np.random.default_rng(seed)
    sets = padded([*((i,) for i in range(m)), *((i, j) for i in range(m) for j in range(i))])
    votes = rng.random((len(sets), 2)) * (rng.random((len(sets), 1)) < 0.7)

    def tally(sums):
        return np.divide(sums[:, 0], sums[:, 1], out=np.zeros(len(sums)), where=sums[:, 1] > 0)

    return Ballot(
        sets=sets,
        bins=np.zeros_like(sets),
        votes=votes,
        tally=tally,
        adds=votes[:, 0] / (votes[:, 1].sum() or 1.0),
        weights=votes[:, 1] / (votes[:, 1].sum() or 1.0),
        voted=votes[:, 1] > 0,
        base=0.0,
        n_features=m,
        by_grade=np.zeros((len(votes), 0), dtype=int),
    )


def sum_of(parts):
    sets = padded([(f,) for f in range(len(parts))])
    return sum_ballot(sets, np.zeros(sets.shape), np.array(parts), 0.0, len(parts))


def left_over(ballot, gone):
    return [c for c in range(len(ballot.adds)) if not set(ballot.features_of(c)) & set(gone)]


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_scores_without_features_are_those_of_the_cells_that_are_left(seed):
    ballot = some_ballot(seed)
    assert ballot.score == pytest.approx(ballot.base + ballot.adds.sum())
    for f in range(4):
        kept = ballot.votes[left_over(ballot, [f])].sum(axis=0, keepdims=True)
        assert ballot.scores_without[f] == pytest.approx(ballot.tally(kept)[0])
    removed = np.random.default_rng(seed).random((5, 4)) < 0.5
    for row, score in zip(removed, ballot.scores_without_sets(removed), strict=True):
        kept = left_over(ballot, np.flatnonzero(row).tolist())
        assert score == pytest.approx(ballot.tally(ballot.votes[kept].sum(axis=0, keepdims=True))[0])
        mask = np.isin(np.arange(len(ballot.adds)), kept)
        assert score == pytest.approx(ballot.score_of(mask))


def test_what_is_left_of_huge_votes_is_exact():
    ballot = sum_of([1e17, 1.0, 1e-9])
    assert ballot.scores_without.tolist() == [1.0 + 1e-9, 1e17, 1e17]


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_a_mixture_scores_as_its_members_do_together(seed):
    one, two = some_ballot(seed), sum_of([0.0, -2.0, 0.0, 1.5])
    both = mixed([one, two], [2.0, -0.5], 3.0)
    assert both.score == pytest.approx(3 + 2 * one.score - 0.5 * two.score)
    assert both.base + both.adds.sum() == pytest.approx(both.score)
    assert both.scores_without == pytest.approx(3 + 2 * one.scores_without - 0.5 * two.scores_without)
    assert both.features_of(len(one.adds)) == [0]
    with pytest.raises(IndexError):
        both.features_of(len(both.adds))


def test_rows_like_a_document_are_counted_by_code():
    bins = np.array([[0, 0, 1], [1, 2, 1]], dtype=np.uint8)
    counts = np.zeros((3, 2), dtype=np.int64)
    sets = np.array([[0], [1]], dtype=np.int32)
    codes, shares, document = np.array([0, 1, 1]), np.array([1, 5, 7]), np.array([0, 1], dtype=np.uint8)
    count_codes_like(bins, codes, shares, sets, document, counts)
    count_codes_like(bins, codes, shares, np.array([[0, 1]], dtype=np.int32), document, counts[2:])
    assert counts.tolist() == [[1, 5], [1, 7], [1, 0]]
