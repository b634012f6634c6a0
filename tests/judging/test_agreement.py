"""Coefficients of agreement against published examples, scikit-learn and slow twins."""

import math
from datetime import UTC, datetime
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from rulerank.errors import DataError
from rulerank.judging.agreement import agreement, cohen_kappa, krippendorff_alpha
from rulerank.judging.labels import Label

# the four observers and twelve units that Krippendorff works through ("Computing Krippendorff's Alpha-Reliability")
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
UNITS = [[grade for grade in unit if grade is not None] for unit in zip(*OBSERVERS, strict=True)]

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30)
GRADES_BY_DOC = st.lists(st.lists(st.integers(0, 4), max_size=4), max_size=12)


def plain_alpha(units, level):
    """Alpha by looking at every pair of grades, once within documents and once among all."""
    units = [unit for unit in units if len(unit) > 1]
    values = [grade for unit in units for grade in unit]

    def distance(a, b):
        if level == "nominal":
            return float(a != b)
        low, high = min(a, b), max(a, b)
        return (sum(low <= grade <= high for grade in values) - (values.count(a) + values.count(b)) / 2) ** 2

    within = sum(distance(a, b) / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2)) / len(values)
    among = sum(distance(a, b) for a, b in permutations(values, 2)) / (len(values) * (len(values) - 1))
    return 1 - within / among if among else math.nan


def plain_kappa(pairs, distance):
    observed = sum(distance(a, b) for a, b in pairs) / len(pairs)
    expected = sum(distance(a, b) for a, _ in pairs for _, b in pairs) / len(pairs) ** 2
    return 1 - observed / expected if expected else math.nan


def test_alpha_of_the_published_example():
    assert round(krippendorff_alpha(UNITS).value, 3) == 0.743
    assert round(krippendorff_alpha(UNITS, "ordinal").value, 3) == 0.815
    assert krippendorff_alpha(UNITS).n_docs == 11


def test_kappa_of_a_worked_example():
    """50 proposals, two readers: yes-yes 20, yes-no 5, no-yes 10, no-no 15."""
    first = [1] * 25 + [0] * 25
    second = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohen_kappa(first, second).value == pytest.approx(0.4)


@given(PAIRS, st.sampled_from([None, "quadratic"]))
def test_kappa_is_scikit_learns_and_the_plain_one(pairs, weights):
    first, second = map(list, zip(*pairs, strict=True))
    ours = cohen_kappa(first, second, weights)
    plain = plain_kappa(pairs, (lambda a, b: (a - b) ** 2) if weights else (lambda a, b: a != b))
    assert ours.n_docs == len(pairs)
    if ours.value is None:
        assert math.isnan(plain)
        assert "all grades are the same" in ours.reason
        return
    theirs = cohen_kappa_score(first, second, weights=weights, labels=[0, 1, 2, 3, 4])
    assert ours.value == pytest.approx(theirs, abs=1e-12)
    assert ours.value == pytest.approx(plain, abs=1e-12)


@given(GRADES_BY_DOC, st.sampled_from(["nominal", "ordinal"]))
def test_alpha_is_the_plain_one(units, level):
    ours = krippendorff_alpha(units, level)
    if not any(len(unit) > 1 for unit in units):
        assert ours.value is None
        assert ours.reason == "no document was graded by two raters"
        return
    expected = plain_alpha(units, level)
    assert ours.value == (None if math.isnan(expected) else pytest.approx(expected, abs=1e-9))


@given(PAIRS)
def test_whoever_agrees_with_themselves_agrees_perfectly(pairs):
    grades = [grade for grade, _ in pairs]
    expected = 1.0 if len(set(grades)) > 1 else None
    for value in (
        cohen_kappa(grades, grades).value,
        cohen_kappa(grades, grades, "quadratic").value,
        krippendorff_alpha([[grade, grade] for grade in grades]).value,
        krippendorff_alpha([[grade, grade] for grade in grades], "ordinal").value,
    ):
        assert value == expected


@given(PAIRS)
def test_it_does_not_matter_who_is_named_first(pairs):
    first, second = map(list, zip(*pairs, strict=True))
    for weights in (None, "quadratic"):
        one, other = cohen_kappa(first, second, weights), cohen_kappa(second, first, weights)
        assert one.value == pytest.approx(other.value)


def labelled(*facts):
    return [
        Label(number, "q", doc, grade, rater, datetime(2026, 1, 5, tzinfo=UTC))
        for number, (doc, grade, rater) in enumerate(facts, 1)
    ]


def test_labels_are_compared_where_two_raters_graded_the_same_document():
    found = agreement(
        labelled(
            ("a", 0, "bob"),
            ("a", 0, "ann"),
            ("b", 2, "ann"),
            ("b", 2, "bob"),
            ("b", 1, "eve"),
            ("c", 1, "ann"),
            ("c", None, "bob"),
            ("d", 3, "eve"),
        )
    )
    assert found.n_docs == 2
    assert [pair.raters for pair in found.pairs] == [("ann", "bob"), ("ann", "eve"), ("bob", "eve")]
    assert found.pairs[0].kappa.value == 1
    assert found.pairs[0].kappa.n_docs == 2
    assert found.nominal.value == pytest.approx(plain_alpha([[0, 0], [2, 2, 1]], "nominal"))
    assert found.ordinal.value == pytest.approx(plain_alpha([[0, 0], [2, 2, 1]], "ordinal"))


def test_one_disagreement_on_one_document_is_chance():
    pair = agreement(labelled(("a", 0, "ann"), ("a", 1, "bob"))).pairs[0]
    assert pair.kappa.value == 0
    assert pair.weighted.value == 0


def test_what_is_not_defined_is_null_in_json_and_says_why():
    plain = agreement(labelled(("a", 1, "ann"), ("a", 1, "bob"))).to_dict()
    reason = "all grades are the same, so agreement by chance cannot be told from real agreement"
    assert plain["nominal"] == {"value": None, "n_docs": 1, "reason": reason}
    assert plain["pairs"][0] == {
        "raters": ("ann", "bob"),
        "kappa": {"value": None, "n_docs": 1, "reason": reason},
        "weighted": {"value": None, "n_docs": 1, "reason": reason},
    }
    assert agreement([]).to_dict()["ordinal"]["reason"] == "no document was graded by two raters"


def test_wrong_arguments_are_named():
    with pytest.raises(DataError, match="two raters' grades must be of the same documents: got 2 and 1"):
        cohen_kappa([1, 2], [1])
    with pytest.raises(DataError, match="unknown weights 'linear'; choose from None, 'quadratic'"):
        cohen_kappa([1], [1], "linear")
    for units in ([], [[1, 2]]):
        with pytest.raises(DataError, match="unknown level 'interval'; choose from 'nominal', 'ordinal'"):
            krippendorff_alpha(units, "interval")
