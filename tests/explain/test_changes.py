"""What would change it: an exact search, against predicting every change."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from papers.baselines import RankBoost
from rulerank.discretize import EqualWidth
from rulerank.errors import DataError

RANKERS = {
    "global": rr.GlobalRules,
    "stable": rr.StableRules,
    "query": rr.QueryRules,
    "literal": lambda **options: rr.QueryRules(literal=True, **options),
}


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from(sorted(RANKERS)))
def test_the_smallest_change_of_each_feature_is_found(seed, name):
    rng = np.random.default_rng(seed)
    train, grades, queries = rng.integers(0, 4, (20, 3)), rng.integers(0, 3, 20), np.repeat([0, 1], 10)
    ranker = RANKERS[name](discretizer=None, drop_weakest=0.0).fit(train, grades, qid=queries)
    document, above = rng.integers(0, 5, 3), float(rng.random() * 1.5)
    best = {}
    for f in range(3):
        for bin in np.unique(train[:, f]):
            changed = document.copy()
            changed[f] = bin
            if bin != document[f] and ranker.predict([changed])[0] > above:
                best[f"f{f + 1}"] = min(best.get(f"f{f + 1}", 99), abs(int(bin) - int(document[f])))
    if ranker.predict([document])[0] > above:
        best = {}
    found = ranker.what_if(document, above=above)
    assert {change.feature: abs(change.move) for change in found} == best
    for change in found:
        changed = document.copy()
        changed[int(change.feature[1:]) - 1] += int(change.move)
        assert ranker.predict([changed])[0] == pytest.approx(change.score, abs=1e-12)
        assert change.score > above


def fitted():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.linspace(0, 1, 60), rng.random(60)])
    data = rr.Dataset(X, np.digitize(X[:, 0], [0.5, 0.75]), ["q"] * 60, feature_names=("bm25", "noise"))
    return rr.GlobalRules(discretizer=EqualWidth(4), drop_weakest=0).fit(data)


def test_moves_are_told_in_the_features_own_units():
    ranker = fitted()
    found = ranker.what_if([0.6, 0.5], above=ranker.predict([[0.6, 0.5]])[0])
    change = next(change for change in found if change.feature == "bm25")
    assert (change.now, change.then, change.move) == ("0.6", "0.75 or more", pytest.approx(0.15))
    assert str(change).startswith("bm25 0.75 or more instead of 0.6 (+0.15): new score ")
    assert ranker.predict([[0.6 + change.move + 1e-6, 0.5]])[0] == pytest.approx(change.score)
    assert ranker.what_if([0.9, 0.5], above=0.0001) == ()  # it scores higher already


def test_a_move_down_ends_below_the_upper_cut():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.linspace(0, 1, 60), rng.random(60)])
    ranker = rr.GlobalRules(discretizer=EqualWidth(2), drop_weakest=0).fit(X, (X[:, 0] < 0.5).astype(int), qid=[1] * 60)
    (change, *_) = ranker.what_if([0.9, 0.5], above=0.5)
    assert (change.then, change.move) == ("less than 0.5", pytest.approx(-0.4))


def test_a_missing_value_may_become_any_but_none_is_asked_to_go_missing():
    rng = np.random.default_rng(0)
    X = rng.random((80, 2))
    X[:20, 0] = np.nan
    grades = np.where(np.isnan(X[:, 0]), 2, (X[:, 0] > 0.5).astype(int))
    ranker = rr.GlobalRules(discretizer=EqualWidth(2), drop_weakest=0).fit(X, grades, qid=[1] * 80)
    assert all("missing" not in change.then for change in ranker.what_if([0.2, 0.5], above=0.1))
    lifted = rr.GlobalRules(discretizer=EqualWidth(2), drop_weakest=0).fit(X, 2 - grades, qid=[1] * 80)
    (change, *_) = lifted.what_if([np.nan, 0.5], above=lifted.predict([[np.nan, 0.5]])[0])
    assert change.now == "missing"
    assert math.isnan(change.move)
    assert "a move" not in str(change)


def test_a_linear_ranker_is_solved_for_the_value():
    data = rr.datasets.make_ranking(n_queries=20, n_features=3, seed=0)
    ranker = rr.QueryIntercepts(l2=1.0).fit(data)
    score = ranker.predict(data.X[:1])[0]
    found = ranker.what_if(data.X[0], above=score + 0.5)
    assert {change.feature for change in found} == set(data.feature_names)
    for change in found:
        changed = data.X[0].astype(float)
        changed[data.feature_names.index(change.feature)] += change.move
        assert score + 0.5 < ranker.predict([changed])[0] < score + 0.50001
    assert ranker.what_if(data.X[0], above=score - 0.5) == ()


def test_what_cannot_be_beaten_or_changed_gives_no_change():
    ranker = fitted()
    assert ranker.what_if([0.6, 0.5], above=99) == ()
    constant = rr.GlobalRules().fit([[1.0], [1.0]], [0, 1], qid=["a", "a"])
    assert constant.what_if([1.0], above=0.9) == ()


def test_a_score_that_is_no_number_is_refused():
    with pytest.raises(DataError, match="above must be a number, the score to beat: got nan"):
        fitted().what_if([0.6, 0.5], above=math.nan)
    with pytest.raises(DataError, match="above must be a number, the score to beat: got 'high'"):
        fitted().what_if([0.6, 0.5], above="high")


def test_a_mixture_that_takes_one_metric_for_each_document_is_moved_in_bins():
    data = rr.datasets.make_ranking(n_queries=12, docs_per_query=8, n_features=3, seed=0)
    ranker = rr.Competence(["confidence", "yule_q"], literal=True, discretizer="equal_width").fit(data)
    scores = ranker.predict(data.X)
    worst, goal = int(np.argmin(scores)), float(np.median(scores))
    found = ranker.what_if(data.X[worst], above=goal)
    assert found
    assert all(change.score > goal for change in found)
    x = data.X[worst].copy()
    x[data.feature_names.index(found[0].feature)] += 1.001 * found[0].move  # into the bin
    assert ranker.predict(x[None])[0] == found[0].score


def test_where_no_edges_are_known_the_values_of_other_documents_are_tried():
    data = rr.datasets.make_ranking(n_queries=12, docs_per_query=8, n_features=3, seed=0)
    clean = rr.Dataset(np.nan_to_num(data.X), data.y, data.qid, feature_names=data.feature_names)
    ranker = RankBoost(n_rounds=3).fit(clean)
    scores = ranker.predict(clean.X[:8])
    assert ranker.what_if(clean.X[:8], int(scores.argmin()), above=float(scores.min()))
    with pytest.raises(DataError, match="has no bins whose edges are known: give all documents"):
        ranker.what_if(clean.X[0], above=99.0)


def test_rows_that_were_added_are_bins_to_go_to():
    ranker = rr.GlobalRules(discretizer=None, drop_weakest=0)
    ranker.partial_fit([[0], [1], [1], [0]], [0, 1, 1, 0], qid=[1, 1, 2, 2])
    assert [change.then for change in ranker.what_if([0], above=float(ranker.predict([[0]])[0]))] == ["1"]
    ranker.partial_fit([[2], [1], [2], [0]], [2, 0, 2, 0], qid=[3, 3, 4, 4])
    (change,) = ranker.what_if([0], above=float(ranker.predict([[1]])[0]))
    assert change.then == "2"
