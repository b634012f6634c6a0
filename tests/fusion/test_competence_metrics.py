"""DC3A and QC3A against the definitions, written down once more without any thought of speed."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from rulerank.rankers.foreign import fresh_for_part
from rulerank.rules.metrics import METRICS, mapped_theta

pytestmark = pytest.mark.kernels
SOME = ("confidence", "yule_q", "relative_confidence")


def cells(train, document, max_size):
    """Yield, for each set of features, the numbers of the training rows that agree with a document."""
    for size in range(1, max_size + 1):
        for members in combinations(range(len(document)), size):
            yield [i for i, row in enumerate(train) if all(row[f] == document[f] for f in members)]


def strengths_plainly(train, labels, document, max_size, theta):
    """Return the mean of theta(hits, covered, label) over the rules that predict each label."""
    votes = {}
    for cell in cells(train, document, max_size):
        for label, hits in Counter(labels[i] for i in cell).items():
            votes.setdefault(label, []).append(theta(hits, len(cell), label))
    return {label: sum(thetas) / len(thetas) for label, thetas in votes.items()}


def rank_plainly(train, grades, document, max_size, metric):
    n_by_grade = Counter(grades)

    def theta(hits, covered, grade):
        return mapped_theta(METRICS.index(metric), float(hits), float(covered), float(n_by_grade[grade]), len(grades))

    means = strengths_plainly(train, grades, document, max_size, theta)
    total = sum(means.values())
    if total == 0:
        return sum(grades) / len(grades) if grades else 0.0
    return sum(grade * mean for grade, mean in means.items()) / total


def chosen_plainly(train, labels, document, max_size, n_members):
    confidence = strengths_plainly(train, labels, document, max_size, lambda hits, covered, _: hits / covered)
    return [confidence.get(member, 0.0) for member in range(n_members)]


@st.composite
def synthetic_sets(draw):
    n_rows = draw(st.integers(4, 14))
    bins = draw(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=n_rows, max_size=n_rows))
    grades = draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows))
    queries = draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))
    for feature in range(3):  # a feature with one bin gives no items: here all have two
        bins[0] = (*bins[0][:feature], 0, *bins[0][feature + 1 :])
        bins[1] = (*bins[1][:feature], 1, *bins[1][feature + 1 :])
    return np.array(bins), np.array(grades), np.array(queries)


@settings(max_examples=30)
@given(synthetic_sets(), st.integers(1, 2), st.sampled_from(["document", "query"]))
def test_the_literal_form_is_the_paper_s_algorithm(synthetic, max_size, centric):
    bins, grades, queries = synthetic
    ranker = rr.Competence(SOME, centric=centric, literal=True, max_size=max_size, discretizer=None)
    ranker = fresh_for_part(ranker).fit(bins, grades, qid=queries)
    distance = np.empty((len(bins), len(SOME)))
    for row, document in enumerate(bins.tolist()):
        others = np.flatnonzero(queries != queries[row])
        train, known = bins[others].tolist(), grades[others].tolist()
        for place, metric in enumerate(SOME):
            distance[row, place] = abs(rank_plainly(train, known, document, max_size, metric) - grades[row])
    assert ranker.competence_ == pytest.approx(distance, abs=1e-9)

    steps = np.rint(distance * 2**20)  # closer than this is a tie, and the first wins
    labels = np.argmin(steps, axis=1)
    if centric == "query":
        labels = np.array([np.argmax(np.bincount(labels[queries == q], minlength=len(SOME))) for q in queries])
    weights = ranker.weights(bins)
    scores = ranker.predict(bins)
    for row, document in enumerate(bins.tolist()):
        strengths = np.array(chosen_plainly(bins.tolist(), labels.tolist(), document, max_size, len(SOME)))
        assert weights[row] == pytest.approx(strengths / strengths.sum(), abs=1e-6)
        metric = SOME[int(np.argmax(weights[row]))]
        plain = rank_plainly(bins.tolist(), grades.tolist(), document, max_size, metric)
        assert scores[row] == pytest.approx(plain, abs=1e-9)


def test_shared_labels_count_for_each_of_the_tied_members():
    X = [[0], [1], [0], [1]]
    ranker = rr.Competence(["confidence", "added_value"], literal=True, ties="share", discretizer=None)
    weights = ranker.fit(X, [0, 1, 0, 1], qid=[0, 0, 1, 1]).weights(X)
    first = rr.Competence(["confidence", "added_value"], literal=True, discretizer=None)
    assert weights == pytest.approx(np.full((4, 2), 0.5))
    assert first.fit(X, [0, 1, 0, 1], qid=[0, 0, 1, 1]).chosen(X).tolist() == ["confidence"] * 4


def test_a_document_that_no_rule_knows_goes_to_the_most_competent_of_all():
    X, y, qid = [[0], [1], [0], [1]], [0, 1, 1, 1], [0, 0, 1, 1]
    ranker = rr.Competence(["confidence", "strength"], literal=True, discretizer=None).fit(X, y, qid=qid)
    share = np.bincount(np.argmin(ranker.competence_, axis=1), minlength=2) / 4
    assert ranker.weights([[7]])[0] == pytest.approx(share)
    assert ranker.predict([[7]]) == pytest.approx([0.75])


def test_min_support_asks_for_rows_among_the_other_queries():
    X, y, qid = np.array([[0], [0], [1], [1], [0], [1]]), [0, 0, 1, 1, 1, 0], [0, 0, 1, 1, 2, 2]
    ranker = rr.Competence(["confidence", "yule_q"], literal=True, min_support=0.5, discretizer=None)
    ranker.fit(X, y, qid=qid)
    # of four other rows two must agree: only query 0 has two zeros in bin 0, and query 1 two ones in bin 1
    assert ranker.competence_[4].tolist() == [1.0, 1.0]
    assert ranker.competence_[0] == pytest.approx([0.75, 0.75])  # no rule is left: the mean grade of the others
