"""What makes one document stand above another adds up, and what is said to swap them does."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rulerank as rr
from plain.removal import global_score
from rulerank.errors import DataError
from rulerank.explain.ballot import Ballot, sum_ballot
from rulerank.explain.cases import case_of
from rulerank.explain.versus import SURE, features_that_swap, rules_that_swap
from rulerank.rules.metrics import METRICS
from rulerank.rules.votes import VOTES

OPEN = {"discretizer": None, "drop_weakest": 0.0}


def some_world(seed, m=4, n=12):
    rng = np.random.default_rng(seed)
    train, grades = rng.integers(0, 3, (n, m)), rng.integers(0, 3, n)
    queries = np.unique(np.sort(rng.integers(0, 3, n)), return_inverse=True)[1]
    return train.tolist(), grades.tolist(), queries.tolist(), rng.integers(0, 4, (2, m)).tolist()


RANKERS = {
    **{f"votes={votes}": (lambda votes=votes: rr.GlobalRules(votes=votes, **OPEN)) for votes in VOTES},
    **{metric: (lambda metric=metric: rr.GlobalRules(votes="mean", metric=metric, **OPEN)) for metric in METRICS},
    "stable": lambda: rr.StableRules(**OPEN),
    "stable, literal": lambda: rr.StableRules(literal=True, min_queries=1, **OPEN),
    "query": lambda: rr.QueryRules(**OPEN),
    "query, literal": lambda: rr.QueryRules(literal=True, **OPEN),
    "linear": lambda: rr.QueryIntercepts(l2=1.0),
}


def cases(ranker, documents):
    """Return the ballots of two documents, the higher one first, obviously."""
    ballots = [case_of(ranker, np.array([document], dtype=float), 0).ballot for document in documents]
    return sorted(ballots, key=lambda ballot: -ballot.score)


def score_plainly_without(ballot: Ballot, gone_features=(), gone_cells=()):
    """Add up the votes of the cells that are left, one by one."""
    total = np.zeros(ballot.votes.shape[1])
    for cell in range(len(ballot.adds)):
        if not set(ballot.features_of(cell)) & set(gone_features) and cell not in gone_cells:
            total += ballot.votes[cell]
    return float(ballot.tally(total[None])[0])


@settings(max_examples=80)
@given(st.integers(0, 10**6), st.sampled_from(sorted(RANKERS)))
def test_differences_add_up_exactly(seed, name):
    train, grades, queries, documents = some_world(seed)
    ranker = RANKERS[name]().fit(train, grades, qid=queries)
    found = ranker.explain(documents[0], versus=documents[1])
    scores = sorted(ranker.predict(documents), reverse=True)
    assert [found.high.score, found.low.score] == pytest.approx(scores, abs=1e-9)
    assert found.difference == pytest.approx(scores[0] - scores[1], abs=1e-9)
    for parts in (found.features, found.groups):
        assert found.base_difference + sum(part.adds for part in parts) == pytest.approx(found.difference, abs=1e-9)
    assert found.n_same + found.n_only_high >= found.high.n_rules
    assert found.tied == (found.difference == 0)


@settings(max_examples=80)
@given(st.integers(0, 10**6), st.sampled_from(sorted(RANKERS)))
def test_removing_what_is_said_to_swap_them_swaps_them_and_no_smaller_set_does(seed, name):
    train, grades, queries, documents = some_world(seed)
    ranker = RANKERS[name]().fit(train, grades, qid=queries)
    high, low = cases(ranker, documents)
    assume(high.score > low.score)

    def gap(gone):
        return score_plainly_without(high, gone) - score_plainly_without(low, gone)

    swap = features_that_swap(high, low)
    assert swap.proven  # four features: all sets are tried
    if swap.features:
        assert gap(swap.features) < -SURE
    sizes = range(1, len(swap.features) if swap.features else 5)
    assert all(gap(gone) >= -SURE for size in sizes for gone in combinations(range(4), size))


@settings(max_examples=80)
@given(st.integers(0, 10**6), st.sampled_from(sorted(RANKERS)))
def test_removing_the_rules_that_are_said_to_swap_them_swaps_them(seed, name):
    train, grades, queries, documents = some_world(seed)
    ranker = RANKERS[name]().fit(train, grades, qid=queries)
    high, low = cases(ranker, documents)
    assume(high.score > low.score)
    swap = rules_that_swap(high, low)
    if swap is not None:
        gone_high, gone_low = {*swap.both, *swap.only_high}, {*swap.both, *swap.only_low}
        gap = score_plainly_without(high, (), gone_high) - score_plainly_without(low, (), gone_low)
        assert gap < -SURE
        assert swap.proven == (len(swap.both) + len(swap.only_high) + len(swap.only_low) == 1)
        for cell in swap.both:
            assert high.features_of(cell) == low.features_of(cell)
            assert np.array_equal(high.bins[cell], low.bins[cell])


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from(sorted(VOTES)))
def test_a_model_that_never_had_the_features_ranks_them_the_other_way_round(seed, votes):
    train, grades, queries, documents = some_world(seed)
    ranker = rr.GlobalRules(votes=votes, **OPEN).fit(train, grades, qid=queries)
    found = ranker.explain(documents[0], versus=documents[1])
    assume(not found.tied and found.swap_features.features)
    gone = [ranker.feature_names_.index(name) for name in found.swap_features.features]
    high, low = documents if ranker.predict(documents)[0] == found.high.score else documents[::-1]
    one, other = (global_score(train, grades, queries, d, gone, max_size=2, votes=votes) for d in (high, low))
    assert one < other + 1e-6


def ballot_of(parts):
    """A ballot of single features whose parts are added up."""
    features = np.arange(len(parts), dtype=np.int32)[:, None]
    return sum_ballot(features, np.zeros(features.shape), np.array(parts, dtype=float), 0.0, len(parts))


def test_a_set_that_only_greed_has_found_is_said_to_be_unproven():
    high, low = ballot_of([3, 3, 3, 3, 0.5]), ballot_of([0, 0, 0, 0, 1.0])
    assert features_that_swap(high, low).features == (0, 1, 2, 3)
    assert features_that_swap(high, low).proven
    assert features_that_swap(high, low, steps=10) == ((0, 1, 2, 3), False)
    nothing = features_that_swap(ballot_of([1, 2]), ballot_of([0, 0]))
    assert nothing == ((), True)
    assert features_that_swap(ballot_of([1, 2]), ballot_of([0, 0]), steps=0) == ((), False)
    assert rules_that_swap(ballot_of([1, 2]), ballot_of([0, 0])) is None


def test_a_smaller_set_than_greed_finds_is_found():
    # greed takes feature 0, which helps most alone, and needs two more; 1 and 2 together are enough
    def tally(sums):
        return np.where(sums[:, 1] < 2, sums[:, 0] - 10, sums[:, 0])

    def make(votes):
        votes = np.array(votes, dtype=float)
        return Ballot(
            sets=np.arange(3, dtype=np.int32)[:, None],
            bins=np.zeros((3, 1)),
            votes=votes,
            tally=tally,
            adds=votes[:, 0],
            weights=votes[:, 0],
            voted=np.ones(3, dtype=bool),
            base=0.0,
            n_features=3,
            by_grade=np.zeros((3, 0), dtype=int),
        )

    high, low = make([[3, 0], [1, 1], [1, 2]]), make([[0, 2], [0, 2], [0, 2]])
    assert features_that_swap(high, low) == ((2,), True)


def test_tied_documents_have_nothing_to_swap():
    ranker = rr.GlobalRules(**OPEN).fit([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 1, 0, 1], qid=[0, 0, 1, 1])
    found = ranker.explain([0, 1], versus=[0, 1])
    assert (found.tied, found.swap_features, found.swap_rules) == (True, None, None)
    assert found.lines()[0] == "a and b both score 0.429: they are tied."
    assert found.page().title == "Why a and b are tied"


def test_rows_of_a_data_set_are_called_by_their_ids_and_of_an_array_by_their_numbers():
    data = rr.make_ranking(n_queries=12, docs_per_query=10, n_features=5, seed=3)
    ranker = rr.GlobalRules().fit(data)
    found = ranker.explain(data, 3, versus=5)
    assert {found.high.document, found.low.document} == {"q1-d4", "q1-d6"}
    found = ranker.explain(data.X, 3, versus=5)
    assert {found.high.document, found.low.document} == {"row 4", "row 6"}
    with pytest.raises(DataError, match="row 4 cannot be compared with itself: row and versus must be two documents"):
        ranker.explain(data.X, 3, versus=3)
    found = ranker.explain(data.X[3], versus=data.X[5])
    assert {found.high.document, found.low.document} == {"a", "b"}
