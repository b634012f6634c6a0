"""The model as a whole: importances, the strongest rules, curves."""

import json

import numpy as np
import pytest

import rulerank as rr
from rulerank.errors import DataError


@pytest.fixture(scope="module")
def synthetic():
    """The first feature decides, the second copies it, third and fourth matter only together; the last is noise."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (600, 5)).astype(float)
    X[:, 1] = X[:, 0]
    y = (X[:, 0] + (X[:, 2] == X[:, 3])).astype(int)
    names = ("decides", "copies", "one", "other", "noise")
    return rr.Dataset(X, y, np.repeat(np.arange(30), 20), feature_names=names)


@pytest.fixture(scope="module")
def found(synthetic):
    return rr.GlobalRules(discretizer=None, drop_weakest=0).fit(synthetic).overview(synthetic)


def test_features_that_decide_matter_most(synthetic, found):
    assert {one.feature for one in found.features[:2]} == {"decides", "copies"}
    assert sum(one.importance for one in found.features) == pytest.approx(1)
    ranker = rr.GlobalRules(discretizer=None, drop_weakest=0).fit(synthetic)
    expected = dict(zip(synthetic.feature_names, ranker.importances(synthetic), strict=True))
    assert {one.feature: one.importance for one in found.features} == pytest.approx(
        {name: value for name, value in expected.items() if value}
    )
    assert (found.n_docs, found.n_taken_apart) == (600, 600)


def test_the_strongest_rules_are_those_that_add_most_to_most_documents(synthetic, found):
    ranker = rr.GlobalRules(discretizer=None, drop_weakest=0).fit(synthetic)
    parts = ranker.contributions(synthetic)
    strength = np.abs(parts.values).mean(axis=0)
    assert [one.strength for one in found.rules] == pytest.approx(sorted(strength, reverse=True)[: len(found.rules)])
    for one in found.rules:
        items = {item.partition("=")[0]: float(item.partition("=")[2]) for item in one.rule.items}
        columns = [synthetic.feature_names.index(name) for name in items]
        covered = (synthetic.X[:, columns] == list(items.values())).all(axis=1)
        term = parts.features.index(tuple(columns))
        assert one.share == pytest.approx(covered.mean())
        assert one.rule.adds == pytest.approx(parts.values[covered, term].mean())
        assert sum(one.rule.rows_by_grade) == covered.sum()


def test_a_pair_that_matters_only_together_is_among_the_rules_of_fitted_tables(synthetic):
    found = rr.FittedRules().fit(synthetic).overview(synthetic)
    assert any(one.rule.items[0].startswith("one") and "other" in str(one.rule) for one in found.rules)


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
    data = rr.datasets.make_ranking(n_queries=12, docs_per_query=6, n_features=5, seed=0)
    found = make().fit(data).overview(data)
    assert found.features
    payload = json.loads(found.to_json())
    assert payload["kind"] == "overview"
    assert len(payload["features"]) == len(found.features)
    assert "What the model does" in str(found)


def test_data_that_is_no_data_set_is_refused(synthetic):
    ranker = rr.GlobalRules(discretizer=None).fit(synthetic)
    for data in (synthetic.X, synthetic[:0]):
        with pytest.raises(DataError, match="an overview needs a Dataset with at least one document"):
            ranker.overview(data)
