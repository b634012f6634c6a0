"""Rules of any size are those of the largest size that holds in enough rows, and too many are refused."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rulerank as rr
from plain.engine import score_plainly
from rulerank.errors import TooLargeError
from rulerank.rules.tables import BinCounts, Rows, largest_size
from worked_example import X, d10, d11, d12, qid, y


@st.composite
def worlds(draw):
    n_rows, n_features = draw(st.integers(2, 12)), draw(st.integers(1, 4))
    row = st.tuples(*(st.integers(0, 2) for _ in range(n_features)))
    rows = draw(st.lists(row, min_size=n_rows, max_size=n_rows))
    grades = draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows))
    return rows, grades, draw(st.lists(row, min_size=1, max_size=3))


def largest_plainly(rows, features, min_rows):
    """Return the size of the largest set of features whose bins so many rows share."""
    best = 1
    for size in range(1, len(features) + 1):
        for members in combinations(features, size):
            cells = [tuple(row[f] for f in members) for row in rows]
            if max(map(cells.count, cells)) >= min_rows:
                best = size
    return best


@given(worlds(), st.integers(1, 6))
def test_the_largest_size_is_the_plain_one(world, min_rows):
    rows, grades, _ = world
    checked = Rows.of(np.array(rows).T, np.array(grades), np.zeros(len(rows), int))
    n_bins = BinCounts.of(checked).n_bins
    used = np.flatnonzero(n_bins > 1)
    if used.size:
        found = largest_size(lambda look: look(checked), len(rows), n_bins, used, min_rows, 1e12, None)
        assert found == largest_plainly(rows, used.tolist(), min_rows)


@given(worlds(), st.sampled_from([0.0, 0.2, 0.4]))
def test_rules_of_any_size_vote_as_rules_of_all_sizes_do(world, min_support):
    rows, grades, documents = world
    options = {"votes": "mean", "discretizer": None, "min_support": min_support}
    ranker = rr.GlobalRules(max_size=None, **options).fit(rows, grades, qid=[0] * len(rows))
    plain = [
        score_plainly(rows, grades, [0] * len(rows), d, max_size=len(rows[0]), min_support=min_support)
        for d in documents
    ]
    assert ranker.predict(documents) == pytest.approx(plain, abs=1e-9)


def test_the_worked_example_has_rules_of_three_items_at_most():
    for make in (
        lambda size: rr.GlobalRules(votes="mean", discretizer=None, max_size=size),
        lambda size: rr.StableRules(literal=True, discretizer=None, max_size=size),
        lambda size: rr.QueryRules(literal=True, discretizer=None, max_size=size),
        lambda size: rr.Competence(literal=True, discretizer=None, max_size=size),
    ):
        any_size, three = (make(size).fit(X, y, qid=qid).predict([d10, d11, d12]) for size in (None, 3))
        assert np.array_equal(any_size, three)


def test_a_model_with_rules_of_any_size_comes_back_from_its_file(tmp_path):
    ranker = rr.GlobalRules(max_size=None, min_support=0.2, votes="mean", discretizer=None).fit(X, y, qid=qid)
    ranker.save(tmp_path / "model.rulerank")
    again = rr.load(tmp_path / "model.rulerank")
    assert again.get_params()["max_size"] is None
    assert np.array_equal(again.predict(X), ranker.predict(X))


def test_too_many_rules_are_refused_with_an_estimate():
    data = rr.make_ranking(n_queries=20, docs_per_query=10, n_features=40, seed=0)
    options = {"votes": "mean", "max_size": None, "discretizer": "equal_frequency"}
    with pytest.raises(TooLargeError, match=r"rules of any size \(max_size=None\): sets of up to \d+ .*feature sets"):
        rr.GlobalRules(**options).fit(data)
    with pytest.raises(TooLargeError, match=r"steps, about .* hours .*; or raise min_support"):
        rr.GlobalRules(**options, min_support=0.01, work_limit=1e6).fit(data)
