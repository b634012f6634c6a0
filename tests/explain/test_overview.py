"""The model as a whole: influence, effects, interactions."""

import json

import numpy as np
import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.explain.effects import beyond_sum


@pytest.fixture(scope="module")
def world():
    """The first feature decides, the second copies it, third and fourth matter only together; the last is noise."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (600, 5)).astype(float)
    X[:, 1] = X[:, 0]
    y = (X[:, 0] + (X[:, 2] == X[:, 3])).astype(int)
    names = ("decides", "copies", "one", "other", "noise")
    return rr.Dataset(X, y, np.repeat(np.arange(30), 20), feature_names=names)


@pytest.fixture(scope="module")
def found(world):
    return rr.GlobalRules(discretizer=None, drop_weakest=0).fit(world).overview(world)


def test_features_that_decide_matter_most(found):
    assert {effect.feature for effect in found.features[:2]} == {"decides", "copies"}
    assert found.features[-1].influence < found.features[0].influence / 2
    assert (found.n_docs, found.n_taken_apart) == (600, 400)


def test_a_curve_is_the_mean_score_with_every_document_in_the_bin(world, found):
    ranker = rr.GlobalRules(discretizer=None, drop_weakest=0).fit(world)
    effect = next(effect for effect in found.features if effect.feature == "decides")
    rows = np.linspace(0, 599, 200).astype(int)
    for bin, point in enumerate(effect.curve):
        X = world.X[rows].copy()
        X[:, 0] = bin
        assert point.score == pytest.approx(ranker.predict(X).mean())
        assert point.low <= point.score <= point.high
        assert point.share == pytest.approx((world.X[:, 0] == bin).mean())
    assert effect.swing == pytest.approx(effect.curve[1].score - effect.curve[0].score)


def test_an_interaction_is_found_and_a_copy_is_none(found):
    assert found.interactions[0].features == ("one", "other")
    assert abs(found.interactions[0].excess) == pytest.approx(0.5, abs=0.05)
    assert ("decides", "copies") not in [one.features for one in found.interactions]


def test_rules_that_cover_the_same_documents_are_folded(found):
    leader = found.rules[0]
    assert leader.n_alike >= 1  # decides=1, copies=1, and both
    texts = [str(one.rule) for one in found.rules]
    assert not {"decides=1", "copies=1"} <= set(texts)
    assert leader.influence == max(one.influence for one in found.rules)


def test_stability_counts_queries_of_the_data(world, found):
    one = next(one for one in found.rules if str(one.rule) in ("decides=1", "copies=1"))
    n_queries, better, worse = one.queries
    means = [
        world.y[(world.qid == q) & (world.X[:, 0] == 1)].mean() - world.y[world.qid == q].mean() for q in range(30)
    ]
    assert (n_queries, better, worse) == (30, sum(m > 0 for m in means), sum(m < 0 for m in means))


def test_influence_is_the_mean_of_what_a_rule_adds_without_sign():
    data = rr.make_ranking(n_queries=10, docs_per_query=8, n_features=4, seed=0)
    ranker = rr.GlobalRules().fit(data)
    sums = {}
    for row in range(len(data)):
        for group in ranker.explain(data.X[row], n_rules=None).groups:
            for rule in group.rules:
                sums[rule.items] = sums.get(rule.items, 0.0) + abs(rule.adds) / len(data)
    found = ranker.overview(data)
    assert found.rules
    for one in found.rules:
        assert one.influence == pytest.approx(sums[one.rule.items])
    assert found.rules[0].influence == pytest.approx(max(sums.values()))


def test_documents_without_grades_have_no_stability(world):
    ranker = rr.GlobalRules(discretizer=None).fit(world)
    unlabelled = rr.Dataset(world.X, np.full(600, -1), world.qid, feature_names=world.feature_names)
    assert all(one.queries is None for one in ranker.overview(unlabelled).rules)


@pytest.mark.parametrize(
    "make",
    [
        lambda: rr.StableRules(normalize="rank"),
        lambda: rr.QueryRules(n_trusted=3),
        lambda: rr.GlobalRules(max_size=1),
        lambda: rr.QueryIntercepts(l2=1.0, missing="mean"),
        lambda: rr.Competence(["confidence", "yule_q"]),
    ],
)
def test_every_ranker_has_an_overview(make):
    data = rr.make_ranking(n_queries=12, docs_per_query=6, n_features=5, seed=0)
    found = make().fit(data).overview(data)
    assert found.features
    payload = json.loads(found.to_json())
    assert payload["kind"] == "overview"
    assert len(payload["features"]) == len(found.features)
    assert "What the model does" in str(found)


def test_data_that_is_no_data_set_is_refused(world):
    ranker = rr.GlobalRules(discretizer=None).fit(world)
    for data in (world.X, world[:0]):
        with pytest.raises(DataError, match="an overview needs a Dataset with at least one document"):
            ranker.overview(data)


def test_a_table_that_is_a_sum_leaves_nothing():
    rows = np.array([[3, 0], [2, 5], [1, 1]])
    residual, n_free = beyond_sum(np.add.outer([0.1, 0.2, 0.4], [0.0, 1.0]) * (rows > 0), rows)
    assert np.abs(residual).max() < 1e-12
    assert n_free == 1
