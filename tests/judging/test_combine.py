"""How the grades of several raters become one."""

import statistics
from collections import Counter
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plain.raters import raters_plainly, tables_plainly
from rulerank.errors import DataError
from rulerank.judging import grades as module
from rulerank.judging.grades import MODELS, ONE_BY_ONE, PRIOR_RIGHT, PRIOR_TABLE, PRIOR_WRONG, RaterModel, combine
from rulerank.judging.labels import COMBINATIONS

grades = st.integers(0, 4)
judged = st.dictionaries(st.sampled_from(["ann", "bob", "eve", "kim"]), grades, min_size=1)
docs = st.dictionaries(st.integers(0, 20), judged, max_size=8)


@given(docs)
def test_median_mean_and_majority_are_what_they_say(docs):
    for doc, by_rater in docs.items():
        given_grades = [*by_rater.values()]
        one = {doc: by_rater}
        median = statistics.median(given_grades)
        assert combine(one) == ({doc: median} if median == int(median) else {})
        mean = combine(one, "mean")[doc]
        assert -0.5 <= statistics.fmean(given_grades) - mean <= 0.5
        counts = Counter(given_grades)
        assert counts[combine(one, "majority")[doc]] == max(counts.values())
    for how in COMBINATIONS:
        assert how == "median" or combine(docs, how).keys() == docs.keys()


def test_a_half_goes_down_and_equally_frequent_grades_go_to_the_median():
    assert combine({"d": {"a": 1, "b": 2}}, "mean") == {"d": 1}
    assert combine({"d": {"a": 0, "b": 2, "c": 3}}, "majority") == {"d": 2}
    assert combine({"d": {"a": 0, "b": 3}}, "majority") == {"d": 0}


def test_a_median_between_two_grades_is_no_grade_until_it_is_decided():
    docs = {"d": {"a": 0, "b": 1}, "e": {"a": 0, "b": 2}, "f": {"a": 0, "b": 0, "c": 1, "d": 3}}
    assert combine(docs) == {"e": 1}
    assert combine(docs, decided={"d": 1, "f": None}) == {"d": 1, "e": 1}
    assert combine({"d": docs["d"] | {"c": 1}}) == {"d": 1}


def test_an_unknown_way_is_refused():
    known = "median, mean, majority, reliability, dawid-skene"
    with pytest.raises(DataError, match=f"labels can be combined by {known}: got 'best'"):
        combine({}, "best")


several_grades = docs.filter(lambda docs: len({g for by in docs.values() for g in by.values()}) > 1)


def steps_of(steps):
    """Exactly so many steps, instead of until nothing changes."""
    return mock.patch.multiple(module, STEPS=steps, CLOSE=-1.0)


@given(several_grades, st.integers(0, 5), st.data())
def test_the_models_of_raters_are_the_plain_ones(docs, steps, data):
    known = data.draw(st.dictionaries(st.sampled_from([*docs]), grades, max_size=3))
    with steps_of(steps):
        models = [RaterModel.fit(docs, known), RaterModel.fit(docs, known, tables=True)]
    plain = [
        raters_plainly(docs, steps + 1, PRIOR_RIGHT, PRIOR_WRONG, known),
        tables_plainly(docs, steps + 1, PRIOR_RIGHT, PRIOR_WRONG, PRIOR_TABLE, known),
    ]
    for model, (truth, tables) in zip(models, plain, strict=True):
        for table, rater in zip(model.tables, model.raters, strict=True):
            expected = [[tables[rater][true][given] for given in model.levels] for true in model.levels]
            assert table == pytest.approx(np.array(expected), abs=1e-12)
        for row, doc in zip(model.probabilities(docs), docs, strict=True):
            if doc not in known:
                assert row == pytest.approx([truth[doc][level] for level in model.levels], abs=1e-12)


@given(docs, st.data())
def test_what_the_lead_has_decided_counts_first(docs, data):
    decided = data.draw(st.dictionaries(st.integers(0, 25), st.one_of(st.none(), grades), max_size=5))
    for how in COMBINATIONS:
        found = combine(docs, how, decided)
        graded = combine(docs, how).keys() if how in ONE_BY_ONE else docs.keys()
        assert found.keys() == (graded | decided.keys()) - {doc for doc, grade in decided.items() if grade is None}
        assert all(found[doc] == grade for doc, grade in decided.items() if grade is not None)
        if how in ONE_BY_ONE:
            others = {doc: by for doc, by in docs.items() if doc not in decided}
            assert {doc: grade for doc, grade in found.items() if doc in others} == combine(others, how)


def test_a_model_of_raters_learns_from_what_the_lead_has_decided():
    docs = {doc: {"ann": doc % 2, "bob": 1 - doc % 2} for doc in range(40)}
    decided = {doc: 1 - doc % 2 for doc in range(20)}  # bob was right each time
    for how in MODELS:
        found = combine(docs, how, decided)
        assert all(found[doc] == 1 - doc % 2 for doc in range(20, 40))
