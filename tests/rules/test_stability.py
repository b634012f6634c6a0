"""What queries say of cells: the engine agrees with its plain twin, in tables and in one pass, on any threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plain.stability import score_literally, score_stably
from rule_data import known_bins, learn, synthetic_sets
from rulerank.rules.engine import count
from rulerank.rules.tables import LIFTS, THETA_UNIT, THETAS, UNIT, Rows
from rulerank.rules.votes import AgreementVotes, ConfidenceVotes

pytestmark = pytest.mark.kernels


def literal(phi):
    return ConfidenceVotes(phi, min_queries=1)


supports = st.sampled_from([0.0, 0.1, 0.3, 1.0])
queries_needed = st.integers(1, 4)


@given(synthetic_sets(), st.integers(1, 3), supports, queries_needed)
def test_the_engine_agrees_with_the_plain_way(synthetic, max_size, min_support, min_queries):
    rows, grades, queries, documents = synthetic
    engine = learn(rows, grades, queries, max_size, AgreementVotes(min_queries), min_support)
    options = {"max_size": max_size, "min_support": min_support, "min_queries": min_queries}
    plain = [score_stably(rows, grades, queries, d, **options) for d in documents]
    # the engine keeps means in units of 2**-28
    assert engine.score(known_bins(engine, documents)) == pytest.approx(plain, abs=1e-6)


phis = st.sampled_from(["0", "0.1", "0.2", "0.3", "0.5", "1"])


@given(synthetic_sets(), st.integers(1, 3), phis, supports, queries_needed)
def test_votes_by_confidence_agree_with_exact_fractions(synthetic, max_size, phi, min_support, min_queries):
    rows, grades, queries, documents = synthetic
    engine = learn(rows, grades, queries, max_size, ConfidenceVotes(float(phi), min_queries), min_support)
    options = {"max_size": max_size, "min_support": min_support, "min_queries": min_queries, "phi": phi}
    plain = [score_literally(rows, grades, queries, d, **options) for d in documents]
    assert engine.score(known_bins(engine, documents)) == pytest.approx(plain, abs=1e-9)


@pytest.mark.parametrize(("n", "phi"), [(3, 0.1), (4, 0.3), (5, 0.5)])
def test_a_difference_of_exactly_phi_is_stable(n, phi):
    """Five rows in each of two queries: n / 5 and 1 - n / 5 are relevant, half overall."""
    grades = [1] * n + [0] * (5 - n) + [0] * n + [1] * (5 - n) + [0]
    rows, queries = [(0,)] * 10 + [(1,)], [0] * 5 + [1] * 6
    document = np.zeros(1, dtype=np.uint8)
    for allowed, stable in [(phi, True), (phi - 1e-6, False)]:
        _, votes = learn(rows, grades, queries, 1, literal(allowed)).votes_of(document)
        assert (votes[:, 2:4] == stable).all()


@given(synthetic_sets(), st.integers(1, 3))
def test_shards_that_hold_whole_queries_add_up(synthetic, max_size):
    rows, grades, queries, _ = synthetic
    rows, grades, queries = np.array(rows), np.array(grades), np.array(queries)
    first = queries == queries[0]
    if first.all():
        return
    scheme = literal(0.1)
    whole = learn(rows, grades, queries, max_size, scheme)
    shards = []
    for part in (first, ~first):
        _, numbers = np.unique(queries[part], return_inverse=True)
        own = Rows.of(rows[part].T, grades[part], numbers, whole.training.n_grades).by_query(numbers)
        shards.append(count(own, whole.layout, scheme))
    total, expected = shards[0] + shards[1], whole.whole.counts
    assert np.array_equal(total.grades, expected.grades)
    assert np.array_equal(total.expected, expected.expected)
    assert np.array_equal(total.tallies, expected.tallies)


def test_tallies_are_those_of_each_query():
    rows, grades, queries = [(0,), (0,), (1,), (0,), (1,)], [2, 1, 0, 0, 1], [0, 0, 0, 1, 1]
    counts = learn(rows, grades, queries, 1, literal(0.1)).whole.counts
    assert counts.tallies[:, :LIFTS].tolist() == [[2, 1, 1, 2, 1], [2, 1, 1, 1, 1]]
    assert counts.tallies[:, LIFTS] * UNIT == pytest.approx([0.5 - 0.5, -1 + 0.5])
    assert (counts.tallies[:, THETAS:] * THETA_UNIT).tolist() == [[1, 0.5, 0.5, 1, 1, 1], [1, 1, 0, 1, 1, 1]]
