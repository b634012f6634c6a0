"""Agreement by rater, query and grade, with intervals that are honest when there is little to go by."""

import math
from datetime import UTC, datetime
from itertools import permutations
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from rulerank.judging.agreement import (
    LEVEL,
    NO_DIFFERENCE,
    TOO_FEW,
    Share,
    agreement_parts,
    alpha_interval,
    judge_agreement,
    krippendorff_alpha,
)
from rulerank.judging.labels import Label

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
    """Go over all ordered pairs of raters of each document; keep(query, rater, grade) names what a pair counts for."""
    found = {}
    for (query, _), by in docs.items():
        graded = {rater: grade for rater, grade in by.items() if grade is not None}
        here = {}
        for one, other in permutations(graded, 2):
            here.setdefault(keep(query, one, graded[one]), []).append(float(graded[one] == graded[other]))
        for name, agreed in here.items():
            found.setdefault(str(name), []).append(fmean(agreed))
    return {name: Share.of(shares) for name, shares in found.items()}


@given(DOCS)
def test_parts_are_what_going_over_all_pairs_of_raters_finds(docs):
    found = agreement_parts(labels_of(docs))
    for parts, keep in (
        (found.raters, lambda query, rater, grade: rater),
        (found.queries, lambda query, rater, grade: query),
        (found.grades, lambda query, rater, grade: grade),
    ):
        assert {part.name: part.share for part in parts} == plainly(docs, keep)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=30))
def test_an_interval_holds_its_share_and_never_claims_certainty(shares):
    share = Share.of(shares)
    assert 0 <= share.low <= share.value <= share.high <= 1
    assert share.high - share.low > 0
    larger = Share.of(shares * 4)
    assert larger.high - larger.low < share.high - share.low


@pytest.mark.parametrize("truth", [0.5, 0.8, 0.95])
def test_an_interval_covers_what_is_true_about_as_often_as_it_says(truth):
    rng = np.random.default_rng(0)
    shares = [Share.of((rng.random(30) < truth).astype(float).tolist()) for _ in range(1000)]
    covered = np.mean([share.low <= truth <= share.high for share in shares])
    assert covered == pytest.approx(LEVEL, abs=0.06)


def test_without_a_document_there_is_no_share():
    assert Share.of([]).to_dict() == {"value": None, "low": None, "high": None, "n_docs": 0}


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=10, max_size=20),
    st.sampled_from(["nominal", "ordinal"]),
)
def test_the_interval_of_alpha_is_that_of_leaving_out_one_document_at_a_time(docs, level):
    units = [grades for grades in docs if len(grades) > 1]
    found = alpha_interval(docs, level)
    if len(units) < 10:
        assert found == TOO_FEW
        return
    alphas = [krippendorff_alpha(units[:n] + units[n + 1 :], level).value for n in range(len(units))]
    if None in alphas or max(alphas) - min(alphas) < 1e-12:
        assert found == NO_DIFFERENCE
        return
    n = len(units)
    error = math.sqrt((n - 1) / n * sum((alpha - fmean(alphas)) ** 2 for alpha in alphas))
    value, half = krippendorff_alpha(units, level).value, t.ppf((1 + LEVEL) / 2, n - 1) * error
    assert found == pytest.approx((max(-1, value - half), min(1, value + half)), abs=1e-9)


def test_an_interval_of_alpha_covers_what_many_documents_give():
    rng = np.random.default_rng(1)

    def rated(n_docs):
        truth = rng.integers(0, 3, n_docs)
        return [[int(g if rng.random() < 0.7 else rng.integers(0, 3)) for _ in range(3)] for g in truth]

    true = krippendorff_alpha(rated(20_000), "ordinal").value
    found = [alpha_interval(rated(40)) for _ in range(200)]
    assert np.mean([low <= true <= high for low, high in found]) == pytest.approx(LEVEL, abs=0.07)


def test_raters_who_never_differ_get_no_interval():
    assert alpha_interval([[1, 1]] * 20) == NO_DIFFERENCE
    assert alpha_interval([[0, 0], [1, 1]] * 10) == NO_DIFFERENCE


def test_a_judge_is_compared_on_what_people_have_graded_too():
    found = judge_agreement("gpt", {"a": 1, "b": 0, "c": 2, "d": 2}, {"a": 1, "b": 2, "d": 2, "e": 0})
    assert (found.share.value, found.share.n_docs, found.n_labels) == (0.667, 3, 4)
    assert found.weighted.n_docs == 3
    nothing = judge_agreement("gpt", {"a": 1}, {})
    assert nothing.share.value is None
    assert nothing.to_dict()["weighted"]["reason"] == "no document was graded by two raters"
