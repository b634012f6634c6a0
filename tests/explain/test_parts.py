"""Parts add up to the score, whatever votes."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

import rulerank as rr
from rulerank.errors import TooLargeError
from rulerank.rules.metrics import METRICS
from rulerank.rules.votes import VOTES

OPEN = {"discretizer": None, "drop_weakest": 0.0}


@st.composite
def synthetic_sets(draw):
    """Bins, grades and queries of training rows, and two documents with bins that training may not know."""
    m, n = draw(st.integers(1, 4)), draw(st.integers(3, 14))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    train, grades = rng.integers(0, 3, (n, m)), rng.integers(0, draw(st.integers(2, 3)), n)
    queries = np.unique(np.sort(rng.integers(0, 4, n)), return_inverse=True)[1]
    assume(any(np.unique(grades[queries == query]).size > 1 for query in set(queries.tolist())))  # else fit refuses
    documents = rng.integers(0, 4, (2, m))
    return train.tolist(), grades.tolist(), queries.tolist(), documents.tolist()


def literal_adds_plainly(train, grades, queries, document, weights, sets, min_support):
    """What each set of items adds: its strength among the rules of a query for a grade, their shares, the weights."""
    mean_grade, n_grades = np.mean(grades), max(grades) + 1
    adds = np.zeros(len(sets))
    for query, weight in enumerate(weights):
        own = [row for row, q in enumerate(queries) if q == query]
        least = max(1, -(-Fraction(str(min_support)) * len(own) // 1))
        strength = np.zeros((len(sets), n_grades))
        exists = np.zeros((len(sets), n_grades))
        for place, members in enumerate(sets):
            like = [row for row in own if all(train[row][f] == document[f] for f in members)]
            for grade in range(n_grades):
                hits = sum(grades[row] == grade for row in like)
                if hits >= least:
                    strength[place, grade], exists[place, grade] = hits / len(like), 1
        means = strength.sum(axis=0) / np.maximum(exists.sum(axis=0), 1)
        if weight and means.sum():
            shares = strength / np.maximum(exists.sum(axis=0), 1) / means.sum()
            adds += weight * shares @ (np.arange(n_grades) - mean_grade)
    return adds


def check_adds_up(explanation, score):
    assert explanation.score == pytest.approx(score, abs=1e-12)
    assert explanation.base + sum(share.adds for share in explanation.features) == pytest.approx(score, abs=1e-9)
    assert len(explanation.rules) == explanation.n_rules
    assert explanation.base + sum(rule.adds for rule in explanation.rules) == pytest.approx(score, abs=1e-9)


def makers():
    """Every way in which rules vote, by name."""
    for votes in VOTES:
        for metric in METRICS if votes == "mean" else ("confidence",):
            yield f"{votes} {metric}", partial(rr.GlobalRules, votes=votes, metric=metric)
    yield "agreement", rr.StableRules
    yield "literal stable", partial(rr.StableRules, literal=True, phi=0.3)
    yield "trusted queries", partial(rr.QueryRules, n_trusted=2, shrink=5.0)
    yield "literal queries", partial(rr.QueryRules, literal=True)


MAKERS = dict(makers())


@settings(max_examples=150)
@given(synthetic_sets(), st.sampled_from(sorted(MAKERS)), st.integers(1, 3), st.sampled_from([0, 0.2]))
def test_rules_are_taken_apart_in_every_form(synthetic, name, max_size, min_support):
    train, grades, queries, documents = synthetic
    ranker = MAKERS[name](max_size=max_size, min_support=min_support, **OPEN).fit(train, grades, qid=queries)
    for document in documents:
        found = ranker.explain(document, n_rules=None)
        check_adds_up(found, ranker.predict([document])[0])
        shares = ranker.contributions([document]).by_feature(len(document))[0]
        assert {s.feature: s.adds for s in found.features} == pytest.approx(
            {name: adds for name, adds in zip(ranker.feature_names_, shares, strict=True)
             if name in {s.feature for s in found.features}}
        )  # fmt: skip


@settings(max_examples=80)
@given(synthetic_sets(), st.sampled_from(sorted(MAKERS)))
def test_differences_add_up_exactly(synthetic, name):
    train, grades, queries, documents = synthetic
    ranker = MAKERS[name](**OPEN).fit(train, grades, qid=queries)
    found = ranker.explain(documents[0], versus=documents[1])
    scores = sorted(ranker.predict(documents), reverse=True)
    assert [found.high.score, found.low.score] == pytest.approx(scores, abs=1e-12)
    assert found.difference == pytest.approx(scores[0] - scores[1], abs=1e-9)
    assert found.base_difference + sum(gap.adds for gap in found.features) == pytest.approx(found.difference, abs=1e-9)
    assert found.tied == (found.difference == 0)


@settings(max_examples=40)
@given(synthetic_sets(), st.integers(1, 2), st.sampled_from([0.0, 0.3]))
def test_the_cells_of_literal_query_rules_add_what_the_plain_way_gives(synthetic, max_size, min_support):
    train, grades, queries, documents = synthetic
    ranker = rr.QueryRules(literal=True, max_size=max_size, min_support=min_support, **OPEN)
    ranker.fit(train, grades, qid=queries)
    for document in documents:
        weights, found = ranker.weights([document])[0], ranker.contributions([document])
        ranks = ranker.rank_by_query([document])[0]
        weights = np.where(np.isnan(ranks), 0.0, weights)
        if not weights.any():
            continue
        weights /= weights.sum()
        expected = literal_adds_plainly(train, grades, queries, document, weights, found.features, min_support)
        assert found.values[0] == pytest.approx(expected, abs=1e-6)


MEMBERS = {
    "rules": rr.GlobalRules(discretizer="equal_width"),
    "literal": rr.QueryRules(discretizer="equal_width", literal=True),
    "ranked": rr.GlobalRules(discretizer="equal_width", votes="mean", normalize="rank"),
    "linear": rr.QueryIntercepts(l2=1.0),
}


@pytest.mark.parametrize("members", [METRICS, MEMBERS, MEMBERS | {"ridge": Ridge()}], ids=["metrics", "ours", "any"])
@pytest.mark.parametrize("form", [{}, {"literal": True}], ids=str)
def test_a_mixture_is_taken_apart_into_members_and_their_rules(members, form):
    rng = np.random.default_rng(0)
    X, queries = rng.random((120, 4)), np.repeat(np.arange(15), 8)
    grades = np.digitize(X[:, 0] + 0.3 * rng.random(120), [0.6, 0.9])
    ranker = rr.Competence(members, discretizer="equal_width", n_splits=2, **form).fit(X, grades, qid=queries)
    own = X[:8]
    scores = ranker.predict(own, qid=np.zeros(8))
    found = ranker.contributions(own, qid=np.zeros(8))
    assert found.scores == pytest.approx(scores, abs=1e-9)
    for row in range(3):
        why = ranker.explain(own, row)
        assert why.score == pytest.approx(scores[row], abs=1e-12)
        assert why.base + sum(share.adds for share in why.features) == pytest.approx(scores[row], abs=1e-9)
        alone = f"The score is that of {ranker.chosen(own, qid=np.zeros(8))[row]}: it alone counts"
        assert why.notes[0].startswith(alone if form else (alone, "Weights times members' estimates: "))


@settings(max_examples=100)
@given(synthetic_sets(), st.sampled_from(sorted({*MAKERS} - {"literal queries"})), st.integers(1, 3))
def test_tables_that_are_not_kept_give_the_same_to_the_last_bit(synthetic, name, max_size):
    train, grades, queries, documents = synthetic
    kept, lean = (
        MAKERS[name](max_size=max_size, memory_budget=budget, **OPEN).fit(train, grades, qid=queries)
        for budget in (1024, 0)
    )
    assume(lean.engine_.layout.n_sets)
    with pytest.raises(TooLargeError, match="so they are not kept"):
        _ = lean.engine_.whole
    assert lean.predict(documents).tolist() == kept.predict(documents).tolist()
    one, other = lean.contributions(documents), kept.contributions(documents)
    assert (one.terms, one.base.tolist(), one.values.tolist()) == (
        other.terms,
        other.base.tolist(),
        other.values.tolist(),
    )
    for document in documents:
        assert lean.explain(document) == kept.explain(document)
        assert lean.what_if(document, above=0.5) == kept.what_if(document, above=0.5)


def test_a_loaded_model_explains_the_same(tmp_path):
    data = rr.datasets.make_ranking(n_queries=12, docs_per_query=10, n_features=5, seed=3)
    path = tmp_path / "model.rulerank"
    for ranker in (
        rr.GlobalRules(),
        rr.GlobalRules(votes="mean", metric="yule_q", normalize="rank"),
        rr.StableRules(),
        rr.QueryRules(),
        rr.QueryRules(literal=True),
        rr.QueryIntercepts(l2=1.0, missing="mean"),
    ):
        ranker.fit(data).save(path)
        own = data[data.qid == "q1"]
        assert rr.load(path).explain(own, 2, versus=4) == ranker.explain(own, 2, versus=4)


def test_all_rules_can_be_kept():
    data = rr.datasets.make_ranking(n_queries=12, docs_per_query=10, n_features=5, seed=3)
    ranker = rr.GlobalRules().fit(data)
    found = ranker.explain(data.X[0], n_rules=None)
    assert found.base + sum(rule.adds for rule in found.rules) == pytest.approx(found.score, abs=1e-9)
    covered = {(tuple(map(str, rule.items)), rule.covered) for rule in ranker.rules_for(data.X[0])}
    assert {(rule.items, sum(rule.rows_by_grade)) for rule in found.rules} == covered
    assert found.rules[:3] == ranker.explain(data.X[0], n_rules=3).rules
