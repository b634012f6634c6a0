"""Agreement against published examples and slow twins, with honest intervals; and disputes."""

import math
from datetime import UTC, datetime
from itertools import pairwise, permutations
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from rulerank.judging.agreement import (
    LEVEL,
    NO_DIFFERENCE,
    NO_SPREAD,
    TOO_FEW,
    Share,
    agreement_parts,
    disputes,
    krippendorff_alpha,
    rater_agreement,
)
from rulerank.judging.labels import Label

# the four observers and twelve units that Krippendorff works through ("Computing Krippendorff's Alpha-Reliability")
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
UNITS = [[grade for grade in unit if grade is not None] for unit in zip(*OBSERVERS, strict=True)]

GRADES_BY_DOC = st.lists(st.lists(st.integers(0, 4), max_size=4), max_size=12)


def plain_alpha(units):
    """Alpha by looking at every pair of grades, once within documents and once among all."""
    units = [unit for unit in units if len(unit) > 1]
    values = [grade for unit in units for grade in unit]

    def distance(a, b):
        low, high = min(a, b), max(a, b)
        return (sum(low <= grade <= high for grade in values) - (values.count(a) + values.count(b)) / 2) ** 2

    within = sum(distance(a, b) / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2)) / len(values)
    among = sum(distance(a, b) for a, b in permutations(values, 2)) / (len(values) * (len(values) - 1))
    return 1 - within / among if among else math.nan


def test_alpha_of_the_published_example():
    assert round(krippendorff_alpha(UNITS).value, 3) == 0.815
    assert krippendorff_alpha(UNITS).n_docs == 11


@given(GRADES_BY_DOC)
def test_alpha_is_the_plain_one(units):
    ours = krippendorff_alpha(units)
    if not any(len(unit) > 1 for unit in units):
        assert ours.value is None
        assert ours.reason == "no document was graded by two raters"
        return
    expected = plain_alpha(units)
    assert ours.value == (None if math.isnan(expected) else pytest.approx(expected, abs=1e-9))


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=10, max_size=20))
def test_the_interval_of_alpha_is_that_of_leaving_out_one_document_at_a_time(docs):
    units = [grades for grades in docs if len(grades) > 1]
    found = krippendorff_alpha(docs)
    if len(units) < 10 or found.value is None:
        assert found.reason == (NO_SPREAD if found.value is None and units else found.reason)
        assert found.low is None
        return
    alphas = [krippendorff_alpha(units[:n] + units[n + 1 :]).value for n in range(len(units))]
    if None in alphas or max(alphas) - min(alphas) < 1e-12:
        assert (found.low, found.reason) == (None, NO_DIFFERENCE)
        return
    n = len(units)
    error = math.sqrt((n - 1) / n * sum((alpha - fmean(alphas)) ** 2 for alpha in alphas))
    half = t.ppf((1 + LEVEL) / 2, n - 1) * error
    expected = max(-1, found.value - half), min(1, found.value + half)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)


def test_what_is_not_known_says_why():
    assert krippendorff_alpha([[1, 1]] * 20).reason == NO_SPREAD
    assert krippendorff_alpha([[0, 0], [1, 1]] * 10).reason == NO_DIFFERENCE
    assert krippendorff_alpha([[0, 1]] * 5).reason == TOO_FEW


def test_a_judge_is_compared_on_what_people_have_graded_too():
    found = rater_agreement("gpt", {"a": 1, "b": 0, "c": 2, "d": 2}, {"a": 1, "b": 2, "d": 2, "e": 0})
    assert (found.share.value, found.share.n_docs, found.n_labels) == (0.667, 3, 4)
    assert rater_agreement("gpt", {"a": 1}, {}).share.value is None


NOW = datetime(2026, 1, 5, tzinfo=UTC)
GRADES = st.one_of(st.none(), st.integers(0, 3))
DOCS = st.dictionaries(
    st.tuples(st.sampled_from(["q1", "q2"]), st.sampled_from("abcdef")),
    st.dictionaries(st.sampled_from(["ann", "bob", "eve", "kim"]), GRADES),
    max_size=8,
)


def labels_of(docs):
    return [Label(0, *pair, grade, rater, NOW) for pair, by in docs.items() for rater, grade in by.items()]


def plainly(docs, keep):
    """Go over all ordered pairs of raters of each document; keep(rater, grade) names what a pair counts for."""
    found = {}
    for by in docs.values():
        graded = {rater: grade for rater, grade in by.items() if grade is not None}
        here = {}
        for one, other in permutations(graded, 2):
            here.setdefault(keep(one, graded[one]), []).append(float(graded[one] == graded[other]))
        for name, agreed in here.items():
            found.setdefault(str(name), []).append(fmean(agreed))
    return {name: Share.of(shares) for name, shares in found.items()}


@given(DOCS)
def test_parts_are_what_going_over_all_pairs_of_raters_finds(docs):
    raters, grades = agreement_parts(labels_of(docs))
    assert raters == plainly(docs, lambda rater, grade: rater)
    assert grades == plainly(docs, lambda rater, grade: grade)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=30))
def test_an_interval_holds_its_share_and_never_claims_certainty(shares):
    share = Share.of(shares)
    assert 0 <= share.low <= share.value <= share.high <= 1
    assert share.high - share.low > 0
    larger = Share.of(shares * 4)
    assert larger.high - larger.low < share.high - share.low


docs = st.dictionaries(
    st.integers(0, 30), st.dictionaries(st.sampled_from("abcd"), st.one_of(st.none(), st.integers(0, 4))), max_size=12
)


@given(docs)
def test_disputes_are_the_documents_with_different_grades_the_largest_first(docs):
    found = disputes(docs)
    graded = {doc: [grade for grade in by.values() if grade is not None] for doc, by in docs.items()}
    assert {one.doc for one in found} == {doc for doc, grades in graded.items() if len(set(grades)) > 1}
    spreads = [max(graded[one.doc]) - min(graded[one.doc]) for one in found]
    assert spreads == [one.spread for one in found] == sorted(spreads, reverse=True)
    for one in found:
        assert [*one.grades.values()] == graded[one.doc]
    for first, second in pairwise(found):
        assert (first.spread, len(first.grades)) >= (second.spread, len(second.grades))


def test_a_document_that_one_could_not_judge_is_no_dispute():
    assert disputes({"d": {"ann": None, "bob": 3}}) == []
