"""Parts add up to the score, and a score without a feature is what the definitions give without it."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

import rulerank as rr
from plain.removal import global_score, literal_query_score, stable_score, trusted_query_score
from rulerank.explain import explain_score
from rulerank.rules.metrics import METRICS
from rulerank.rules.votes import VOTES

OPEN = {"discretizer": None, "drop_weakest": 0.0}


@st.composite
def worlds(draw):
    """Bins, grades and queries of training rows, and two documents with bins that training may not know."""
    m, n = draw(st.integers(1, 4)), draw(st.integers(3, 14))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    train, grades = rng.integers(0, 3, (n, m)), rng.integers(0, draw(st.integers(2, 3)), n)
    queries = np.unique(np.sort(rng.integers(0, 4, n)), return_inverse=True)[1]
    assume(any(np.unique(grades[queries == query]).size > 1 for query in set(queries.tolist())))  # else fit refuses
    documents = rng.integers(0, 4, (2, m))
    return train.tolist(), grades.tolist(), queries.tolist(), documents.tolist()


def check_adds_up(explanation, score):
    assert explanation.score == pytest.approx(score, abs=1e-9)
    assert explanation.base + sum(group.adds for group in explanation.groups) == pytest.approx(score, abs=1e-9)
    assert explanation.base + sum(share.adds for share in explanation.features) == pytest.approx(score, abs=1e-9)
    assert sum(group.n_rules for group in explanation.groups) == explanation.n_rules


def check_effects(explanation, names, plain, abs=1e-6):
    """Compare each feature's effect with the score that plain(removed) gives."""
    effects = {share.feature: share.effect for share in explanation.features}
    for f, name in enumerate(names):
        assert effects.get(name, 0.0) == pytest.approx(plain(()) - plain((f,)), abs=abs)


@settings(max_examples=60)
@given(worlds(), st.sampled_from(sorted(VOTES)), st.sampled_from(METRICS), st.integers(1, 3), st.sampled_from([0, 0.2]))
def test_global_rules_are_taken_apart_by_every_vote_and_metric(world, votes, metric, max_size, min_support):
    train, grades, queries, documents = world
    metric = metric if votes == "mean" else "confidence"
    options = {"max_size": max_size, "min_support": min_support, "votes": votes, "metric": metric}
    ranker = rr.GlobalRules(**options, **OPEN).fit(train, grades, qid=queries)
    for document in documents:
        found = ranker.explain(document)
        check_adds_up(found, ranker.predict([document])[0])
        check_effects(
            found,
            ranker.feature_names_,
            lambda gone, d=document: global_score(train, grades, queries, d, gone, **options),
        )


@settings(max_examples=60)
@given(worlds(), st.sampled_from(["agreement", "mean", "literal"]), st.integers(1, 3), st.integers(1, 2))
def test_stable_rules_are_taken_apart_in_every_form(world, form, max_size, min_queries):
    train, grades, queries, documents = world
    literal = form in ("literal", "mean")
    options = {"max_size": max_size, "min_queries": min_queries}
    given = {"literal": True} if form == "literal" else {"stability": form}
    given |= {"phi": 0.3} if literal else {}
    ranker = rr.StableRules(**options, **given, **OPEN).fit(train, grades, qid=queries)
    plainly = {"literal": False, "stability": form}
    if literal:
        plainly = {"literal": True, "phi": "0.3", "in_the_mean": form == "mean"}
    for document in documents:
        found = ranker.explain(document)
        check_adds_up(found, ranker.predict([document])[0])

        def plain(gone, d=document):
            return stable_score(train, grades, queries, d, gone, **options, **plainly)

        effects = {share.feature: share.effect for share in found.features}
        for f, name in enumerate(ranker.feature_names_):
            exact, fast = plain(()) - plain((f,)), effects.get(name, 0.0)
            # "agreement" weighs by signs of sums that may be zero but for rounding
            assert fast == pytest.approx(exact, abs=1e-6) or abs(plain(()) - found.score) > 1e-6


@settings(max_examples=40)
@given(worlds(), st.integers(1, 2), st.sampled_from([0.0, 0.3]))
def test_literal_query_rules_are_taken_apart(world, max_size, min_support):
    train, grades, queries, documents = world
    options = {"max_size": max_size, "min_support": min_support}
    first = {"leave_one_out": True, "ties": "first"}  # as the plain way has it
    ranker = rr.QueryRules(literal=True, **first, **options, **OPEN).fit(train, grades, qid=queries)
    for document in documents:
        found, score = ranker.explain(document), ranker.predict([document])[0]
        check_adds_up(found, score)
        if found.queries:
            assert sum(vote.weight for vote in found.queries) == pytest.approx(1)
            assert sum(vote.weight * vote.rank for vote in found.queries) == pytest.approx(score, abs=1e-9)
            ranks = dict(zip(ranker.queries_, ranker.rank_by_query([document])[0], strict=True))
            assert [vote.rank for vote in found.queries] == pytest.approx([ranks[v.query] for v in found.queries])
        check_effects(
            found,
            ranker.feature_names_,
            lambda gone, d=document: literal_query_score(train, grades, queries, d, gone, **options),
        )


@settings(max_examples=40)
@given(worlds(), st.integers(1, 3), st.integers(1, 3), st.sampled_from([0.0, 0.3]))
def test_the_trusted_queries_of_query_rules_are_taken_apart(world, max_size, n_trusted, min_support):
    train, grades, queries, documents = world
    options = {"max_size": max_size, "shrink": 5.0, "min_support": min_support}
    ranker = rr.QueryRules(n_trusted=n_trusted, **options, **OPEN).fit(train, grades, qid=queries)
    trusted = ranker._trusted().tolist()
    for document in documents:
        found, score = ranker.explain(document), ranker.predict([document])[0]
        check_adds_up(found, score)
        if found.queries:
            assert sorted(vote.query for vote in found.queries) == trusted
            assert sum(vote.weight * vote.rank for vote in found.queries) == pytest.approx(score, abs=1e-9)
        check_effects(
            found,
            ranker.feature_names_,
            lambda gone, d=document: trusted_query_score(train, grades, queries, d, gone, trusted=trusted, **options),
        )


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.booleans())
def test_a_linear_score_is_taken_apart_into_coefficient_times_value(seed, normalised):
    rng = np.random.default_rng(seed)
    X, grades, queries = rng.random((20, 3)), rng.integers(0, 2, 20), np.repeat([0, 1], 10)
    X[3, 1] = np.nan
    ranker = rr.QueryIntercepts(l2=1.0, missing="mean", normalize="zscore" if normalised else None)
    ranker.fit(X, grades, qid=queries)
    found = ranker.explain(X[:10], row=3)
    check_adds_up(found, ranker.predict(X[:10], qid=queries[:10])[3])
    products = ranker.contributions(X[:10], qid=queries[:10]).values[3]
    for share in found.features:
        product = products[ranker.feature_names_.index(share.feature)]
        assert share.adds == pytest.approx(product) == pytest.approx(share.effect)


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
    for row in range(3):
        found = ranker.explain(own, row)
        check_adds_up(found, scores[row])
        assert sum(member.adds for member in found.members) == pytest.approx(scores[row], abs=1e-9)
        assert sum(member.weight for member in found.members) == pytest.approx(1)
        assert {m.name: m.score for m in found.members} == pytest.approx(
            dict(zip(ranker.names_, ranker.member_scores(own, qid=np.zeros(8))[row], strict=True))
        )
        if form:
            assert [member.weight for member in found.members][:2] == [1.0, 0.0]
            assert found.members[0].name == ranker.chosen(own, qid=np.zeros(8))[row]


def test_without_a_feature_a_mixture_has_members_without_it_and_keeps_their_weights():
    rng = np.random.default_rng(1)
    X, queries = rng.random((120, 3)), np.repeat(np.arange(15), 8)
    grades = np.digitize(X[:, 0] + 0.3 * rng.random(120), [0.6, 0.9])
    members = {"rules": MEMBERS["rules"], "linear": MEMBERS["linear"]}
    ranker = rr.Competence(members, n_splits=2).fit(X, grades, qid=queries)
    found = ranker.explain(X[:8], 2)
    slopes = ranker._scale.slopes(ranker.member_scores(X[:8], qid=np.zeros(8)))
    parts = {name: member.explain(X[2]) for name, member in zip(ranker.names_, ranker.members_, strict=True)}
    weights = {member.name: member.weight for member in found.members}
    for share in found.features:
        effects = {
            name: slope * next((own.effect for own in part.features if own.feature == share.feature), 0.0)
            for (name, part), slope in zip(parts.items(), slopes, strict=True)
        }
        assert share.effect == pytest.approx(sum(weights[name] * effects[name] for name in parts))


def test_a_loaded_model_explains_the_same(tmp_path):
    data = rr.make_ranking(n_queries=12, docs_per_query=10, n_features=5, seed=3)
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
    data = rr.make_ranking(n_queries=12, docs_per_query=10, n_features=5, seed=3)
    ranker = rr.GlobalRules().fit(data)
    found = explain_score(ranker, data.X[0], None, None)
    rules = [rule for group in found.groups for rule in group.rules]
    assert len(rules) == found.n_rules
    assert found.base + sum(rule.adds for rule in rules) == pytest.approx(found.score, abs=1e-9)
    assert sum(rule.weight for rule in rules) == pytest.approx(1)
    covered = {(rule.items, rule.covered) for rule in ranker.rules_for(data.X[0])}
    assert {(rule.items, rule.covered) for rule in rules} == covered
