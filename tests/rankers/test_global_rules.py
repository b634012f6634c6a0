import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rulerank as rr
from plain.engine import score_plainly, strength_plainly
from rulerank.discretize import EqualFrequency, EqualWidth
from rulerank.errors import DataError, TooLargeError
from rulerank.normalize import normalize_by_query
from rulerank.rules.votes import VOTES
from worked_example import X, d10, d11, d12, qid, y


def literal(**options):
    return rr.GlobalRules(**{"max_size": 3, "votes": "mean", "discretizer": None} | options).fit(X, y, qid=qid)


def test_the_worked_example_of_the_paper():
    assert literal().predict([d10, d11, d12]) == pytest.approx([0.3750, 0.5000, 0.2397], abs=5e-5)


def test_without_a_limit_rules_have_as_many_items_as_there_are_features():
    assert np.array_equal(literal(max_size=None).predict([d10, d11, d12]), literal().predict([d10, d11, d12]))
    with pytest.raises(TooLargeError, match="60 features in sets of up to 60 are"):
        rr.GlobalRules(max_size=None, discretizer=None, votes="mean").fit(np.eye(60), np.arange(60) % 2)


def test_rules_for_one_document_of_the_worked_example():
    rules = literal().rules_for(d10)
    assert [str(rule) for rule in rules] == [
        "f2=2 -> 0 (2 of 4)",
        "f2=2 -> 1 (2 of 4)",
        "f3=2 -> 0 (1 of 1)",
        "f2=2 & f3=2 -> 0 (1 of 1)",
    ]


def test_the_rule_book_holds_every_rule_of_every_training_row():
    ranker = literal()
    book = ranker.rules_
    assert set(book) == {rule for row in X for rule in ranker.rules_for(row)}
    assert book[-1] == list(book)[-1]
    assert book[:2] == list(book)[:2]
    assert repr(book) == f"RuleBook({len(book)} rules)"
    with pytest.raises(IndexError):
        book[len(book)]


@st.composite
def raw_synthetic_sets(draw):
    """Raw features with missing values, grades, queries, and documents some of whose values lie outside."""
    n_rows, n_features = draw(st.integers(2, 14)), draw(st.integers(1, 4))
    value = st.one_of(st.just(float("nan")), st.integers(0, 3).map(float))
    outside = st.one_of(st.just(float("nan")), st.integers(-2, 6).map(float))
    rows = draw(st.lists(st.tuples(*[value] * n_features), min_size=n_rows, max_size=n_rows))
    grades = draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))
    queries = draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows))
    return rows, grades, queries, draw(st.lists(st.tuples(*[outside] * n_features), min_size=1, max_size=4))


@given(
    raw_synthetic_sets(),
    st.integers(1, 4),
    st.sampled_from(sorted(VOTES)),
    st.sampled_from([0.0, 0.1, 0.3]),
    st.sampled_from([None, 0.0, 0.5]),
)
def test_any_fitted_ranker_agrees_with_the_plain_way(synthetic, max_size, votes, min_support, drop_weakest):
    rows, grades, queries, documents = synthetic
    ranker = rr.GlobalRules(max_size, min_support, votes=votes, drop_weakest=drop_weakest, discretizer=EqualWidth(3))
    ranker.fit(rows, grades, qid=queries)
    bins, document_bins = (ranker.discretizer_.transform(part).tolist() for part in (rows, documents))
    share = drop_weakest if drop_weakest is not None else (0.0 if votes == "mean" else 0.25)
    strengths = [strength_plainly(bins, grades, queries, f) for f in range(len(rows[0]))]
    near = [abs(a - b) < 1e-6 * max(a, b, 1) for a, b in itertools.combinations(strengths, 2)]
    assume(share == 0 or not any(near))  # which of two equal features is dropped is for rounding to say
    plain = [
        score_plainly(
            bins, grades, queries, document, max_size=max_size, min_support=min_support, votes=votes, drop_weakest=share
        )
        for document in document_bins
    ]
    assert ranker.predict(documents) == pytest.approx(plain, abs=1e-6)


def test_the_weakest_features_are_dropped_and_the_literal_votes_keep_all():
    rng = np.random.default_rng(0)
    X = rng.random((400, 4))
    y = (X[:, 1] + X[:, 3] > 1.2).astype(int)
    bins = {"discretizer": EqualFrequency(4)}

    def used(ranker):
        return ranker.fit(X, y).engine_.layout.sets[0].features[:, 0].tolist()

    assert used(rr.GlobalRules(**bins, drop_weakest=0.5)) == [1, 3]
    assert len(used(rr.GlobalRules(**bins, votes="mean"))) == 4
    assert len(used(rr.GlobalRules(**bins))) == 3


def test_a_long_wrong_value_is_cut_off():
    with pytest.raises(DataError, match=r"memory_budget must be MiB for .*, a number from 0 to inf: got 'x{40}'"):
        literal(memory_budget="x" * 99)


def test_the_discretiser_sees_training_rows_only():
    train, test = np.random.default_rng(0).random((2, 30, 2))
    ranker = rr.GlobalRules(discretizer=EqualFrequency(4)).fit(train, (train[:, 0] > 0.5).astype(int))
    ranker.predict(test)
    cuts = zip(ranker.discretizer_.cuts_, EqualFrequency(4).fit(train).cuts_, strict=True)
    assert all(np.array_equal(*own) for own in cuts)


def test_values_where_bin_numbers_are_expected_are_named():
    with pytest.raises(DataError, match=r"row 0, column 1 is 0.5; name a discretizer such as 'mdlp'"):
        rr.GlobalRules(discretizer=None).fit([[1, 0.5]], [1])


def test_rules_of_a_ranker_that_normalises_need_the_whole_query():
    rng = np.random.default_rng(0)
    train, grades, queries = rng.random((60, 2)), rng.integers(0, 2, 60), np.repeat(np.arange(6), 10)
    ranker = rr.GlobalRules(normalize="rank", discretizer=EqualWidth(3), votes="mean", max_size=1)
    ranker.fit(train, grades, qid=queries)
    with pytest.raises(DataError, match=r"normalises features by query: give all documents of the query .* row=3\)"):
        ranker.rules_for(train[0])
    bins = ranker.discretizer_.transform(normalize_by_query(train[:10], np.zeros(10, int), "rank"))
    items = {(item.feature, item.bin) for rule in ranker.rules_for(train[:10], row=4) for item in rule.items}
    assert items == set(enumerate(bins[4]))


def test_the_document_meant_must_be_named():
    with pytest.raises(DataError, match=r"expected one document: got 9; give its row, rules_for\(X, row=3\)"):
        literal().rules_for(X)
    with pytest.raises(DataError, match="row must be an integer from 0 to 8: got 9"):
        literal().rules_for(X, row=9)
    assert literal().rules_for(X, row=2) == literal().rules_for(X[2])
