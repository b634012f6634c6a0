"""How the grades of several raters become one."""

import statistics
from collections import Counter
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plain.raters import raters_plainly
from rulerank.errors import DataError
from rulerank.judging import combine as module
from rulerank.judging.combine import COMBINATIONS, PRIOR_RIGHT, PRIOR_WRONG, RaterModel, combine

grades = st.integers(0, 4)
judged = st.dictionaries(st.sampled_from(["ann", "bob", "eve", "kim"]), grades, min_size=1)
docs = st.dictionaries(st.integers(0, 20), judged, max_size=8)


@given(docs)
def test_median_mean_and_majority_are_what_they_say(docs):
    for doc, by_rater in docs.items():
        given_grades = [*by_rater.values()]
        one = {doc: by_rater}
        assert combine(one)[doc] == int(statistics.median(given_grades))
        mean = combine(one, "mean")[doc]
        assert -0.5 <= statistics.fmean(given_grades) - mean <= 0.5
        counts = Counter(given_grades)
        assert counts[combine(one, "majority")[doc]] == max(counts.values())
    for how in COMBINATIONS:
        assert combine(docs, how).keys() == docs.keys()


def test_a_half_goes_down_and_equally_frequent_grades_go_to_the_median():
    assert combine({"d": {"a": 1, "b": 2}}, "mean") == {"d": 1}
    assert combine({"d": {"a": 0, "b": 2, "c": 3}}, "majority") == {"d": 2}
    assert combine({"d": {"a": 0, "b": 3}}, "majority") == {"d": 0}


@pytest.mark.parametrize("how", COMBINATIONS)
def test_who_cannot_judge_says_nothing(how):
    assert combine({"d": {"a": None, "b": 3}, "e": {"a": None}}, how) == {"d": 3}
    assert combine({}, how) == {}


def test_an_unknown_way_is_refused():
    with pytest.raises(DataError, match="labels are combined by median, mean, majority, reliability: got 'best'"):
        combine({}, "best")


@given(docs.filter(lambda docs: len({g for by in docs.values() for g in by.values()}) > 1), st.integers(0, 5))
def test_the_model_of_raters_is_the_plain_one(docs, steps):
    with mock.patch.object(module, "STEPS", steps), mock.patch.object(module, "CLOSE", -1.0):
        model = RaterModel.fit(docs)
    expected = raters_plainly(docs, steps + 1, PRIOR_RIGHT, PRIOR_WRONG)
    found = model.probabilities(docs)
    for row, doc in zip(found, docs, strict=True):
        assert row == pytest.approx([expected[doc][level] for level in model.levels], abs=1e-12)


@given(docs, st.randoms(use_true_random=False))
def test_the_order_of_documents_and_raters_does_not_matter(docs, random):
    shuffled = [*docs.items()]
    random.shuffle(shuffled)
    for how in ("median", "mean", "majority"):
        assert combine(dict(shuffled), how) == combine(docs, how)
    if docs:
        model, other = RaterModel.fit(docs), RaterModel.fit(dict(shuffled))
        assert model.right == pytest.approx(other.right, abs=1e-9)


def test_raters_who_often_guess_are_overruled_by_one_who_knows():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 400).tolist()

    def rated(grade, knows):
        return grade if rng.random() < knows else int(rng.integers(0, 3))

    knows = {"ann": 0.95, "bob": 0.5, "eve": 0.5, "kim": 0.1}
    docs = {doc: {rater: rated(grade, p) for rater, p in knows.items()} for doc, grade in enumerate(truth)}
    found = {how: combine(docs, how) for how in COMBINATIONS}
    right = {how: sum(found[how][doc] == grade for doc, grade in enumerate(truth)) for how in COMBINATIONS}
    assert right["reliability"] > 0.93 * len(truth) > 0.9 * len(truth) > right["majority"]
    model = RaterModel.fit(docs)
    ann, bob, _, kim = model.right
    assert kim < 0.55 < bob < 0.8 < ann


def test_without_labels_there_is_no_model_of_raters():
    with pytest.raises(DataError, match="no labels to learn from"):
        RaterModel.fit({})
