"""The engine agrees with its plain twin, with itself in one pass, and with any number of threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plain.engine import score_plainly
from rule_data import check_one_pass, known_bins, learn, synthetic_sets
from rulerank.errors import DataError, TooLargeError
from rulerank.rules.layout import Layout, check_size, size_of_work
from rulerank.rules.tables import UNIT, BinCounts, Counter, Counts, Rows
from rulerank.rules.votes import VOTES, AgreementVotes, ConfidenceVotes, votes_named

pytestmark = pytest.mark.kernels
SCHEMES = VOTES | {"agreement": AgreementVotes(2), "literal": ConfidenceVotes(0.1, 1)}


@given(synthetic_sets(), st.integers(1, 4), st.sampled_from(sorted(VOTES)), st.sampled_from([0.0, 0.1, 0.3, 1.0]))
def test_engine_agrees_with_the_plain_way(synthetic, max_size, votes, min_support):
    rows, grades, queries, documents = synthetic
    engine = learn(rows, grades, queries, max_size, VOTES[votes], min_support)
    plain = [
        score_plainly(rows, grades, queries, d, max_size=max_size, min_support=min_support, votes=votes)
        for d in documents
    ]
    # the engine keeps expected grades in units of 2**-28
    assert engine.score(known_bins(engine, documents)) == pytest.approx(plain, abs=1e-6)


@given(synthetic_sets(), st.integers(1, 4), st.sampled_from(sorted(SCHEMES)))
def test_tables_and_one_pass_give_the_same_bits(synthetic, max_size, votes):
    rows, grades, queries, documents = synthetic
    check_one_pass(rows, grades, queries, documents, max_size, SCHEMES[votes])


def test_all_cells_are_not_there_in_one_pass():
    engine = learn([(0, 0), (1, 1)], [0, 1], [0, 0], 2, VOTES["mean"], memory_budget=0)
    with pytest.raises(
        TooLargeError, match=r"the tables of all 3 feature sets take 0 MiB.* with a larger memory_budget"
    ):
        _ = engine.whole


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_threads_and_parts_do_not_change_a_bit(scheme, monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 4, (700, 6))
    grades, queries = rng.integers(0, 3, 700), np.sort(rng.integers(0, 90, 700))
    documents = rng.integers(0, 5, (1100, 6))
    one = learn(rows, grades, queries, 3, scheme, n_jobs=1)
    bins = known_bins(one, documents)
    expected = one.score(bins)
    assert np.array_equal(expected, learn(rows, grades, queries, 3, scheme, n_jobs=2).score(bins))
    assert np.array_equal(expected, [one.score(bins[:, i : i + 1])[0] for i in range(bins.shape[1])])
    monkeypatch.setattr("rulerank.rules.engine.PASS_BYTES", 3000)
    monkeypatch.setattr("rulerank.rules.engine.EACH_BYTES", 30_000)
    one_pass = learn(rows, grades, queries, 3, scheme, n_jobs=2, memory_budget=0)
    assert np.array_equal(expected, one_pass.score(bins))
    few = bins[:, :60]
    assert all(map(np.array_equal, one.votes_of_each(few), one_pass.votes_of_each(few)))


@given(synthetic_sets(), st.integers(1, 3))
def test_counts_of_shards_add_up(synthetic, max_size):
    rows, grades, queries, _ = synthetic
    bins, grade, query = np.array(rows).T, np.array(grades), np.array(queries)
    n_grades = int(grade.max()) + 1
    whole = Rows.of(bins, grade, query)
    layout = Layout.over(BinCounts.of(whole).n_bins, max_size)
    total = Counter(whole).over(layout)
    own = query == query[0]
    if own.all():
        return
    part = Counter(Rows.of(bins[:, own], grade[own], np.zeros(own.sum(), int), n_grades)).over(layout)
    _, others = np.unique(query[~own], return_inverse=True)
    rest = Counter(Rows.of(bins[:, ~own], grade[~own], others, n_grades)).over(layout)
    assert same_counts(part + rest, total)


def same_counts(one: Counts, other: Counts) -> bool:
    return np.array_equal(one.grades, other.grades) and np.array_equal(one.expected, other.expected)


def test_a_document_that_no_rule_covers_gets_the_mean_grade():
    engine = learn([(0, 0), (1, 1)], [0, 3], [0, 0], 2, VOTES["mean"])
    assert engine.score(np.array([[255], [255]], dtype=np.uint8)).tolist() == [1.5]


@pytest.mark.parametrize(
    ("bins", "grades", "queries", "message"),
    [
        ([0, 1], [0, 1], [0, 0], "bins must have two dimensions, features and rows: got 1"),
        (np.zeros((1, 0), int), [], [], "expected at least one training row: got none"),
        ([[0, 1]], [0], [0, 0], "grades and queries must have one entry per row: expected 2, got 1 and 2"),
        ([[0, 255]], [0, 1], [0, 0], "bins must be between 0 and 254: got 0 to 255"),
        ([[0, -1]], [0, 1], [0, 0], "bins must be between 0 and 254: got -1 to 0"),
        ([[0.5, 1]], [0, 1], [0, 0], "bins must be whole numbers: got float64"),
        ([[0, 1]], [0, 40], [0, 0], "grades must be between 0 and 31: got 0 to 40"),
        ([[0, 1]], [0, 1], [0, 7], "queries must be between 0 and 1: got 0 to 7"),
    ],
)
def test_the_boundary_looks_before_it_casts(bins, grades, queries, message):
    with pytest.raises(DataError, match=message):
        Rows.of(bins, grades, queries)


def test_many_grades_and_many_bins_do_not_overflow_their_codes():
    rng = np.random.default_rng(1)
    bins, grades = rng.integers(0, 255, (2, 4000)), rng.integers(0, 32, 4000)
    rows = Rows.of(bins, grades, np.zeros(4000, int))
    counts = Counter(rows).over(Layout.over([255, 255], 2)).grades
    expected = np.zeros((255, 255, 32), dtype=int)
    np.add.at(expected, (bins[0], bins[1], grades), 1)
    assert np.array_equal(counts[510:].reshape(expected.shape), expected)


def test_what_is_expected_of_a_cell_comes_from_its_rows_queries():
    rows = Rows.of([[0, 0, 1]], [0, 2, 1], [0, 0, 1])
    counts = Counter(rows).over(Layout.over([2], 1))
    assert (counts.expected * UNIT).tolist() == [2.0, 1.0]


@given(st.lists(st.integers(2, 5), min_size=1, max_size=7), st.integers(1, 4))
def test_the_size_of_the_work_is_that_of_the_layout(n_bins, max_size):
    layout = Layout.over(n_bins, max_size)
    assert size_of_work(np.array(n_bins), max_size) == (layout.n_sets, layout.n_cells)


@pytest.mark.parametrize(("n_bins", "max_size"), [(np.full(1000, 2), 4), (np.full(9, 255), 4)])
def test_feature_sets_that_do_not_fit_in_memory_are_refused(n_bins, max_size):
    with pytest.raises(TooLargeError, match=r"features in sets of up to 4 are [\d,]+ feature sets, .*lower max_size"):
        check_size(n_bins, max_size)


def test_unknown_votes_list_the_choices():
    with pytest.raises(DataError, match="unknown votes 'loud'; choose from mean, evidence"):
        votes_named("loud")
