import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from rulerank.errors import DataError
from rulerank.export import TARGETS, export_model
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.linear.query_intercepts import QueryIntercepts
from rulerank.worlds import make_world

world = make_world(n_queries=20, n_features=3, seed=0)
ranker = QueryIntercepts().fit(world)


def score(text, values):
    """Score a document as the plugins do: look up the weight of each feature, multiply, add."""
    document = json.loads(text)
    if "class" in document:
        assert document["class"] == "org.apache.solr.ltr.model.LinearModel"
        weights = document["params"]["weights"]
        return sum(weights[feature["name"]] * values[feature["name"]] for feature in document["features"])
    model = document["model"]["model"]
    assert model["type"] == "model/linear"
    return sum(weight * values[name] for name, weight in json.loads(model["definition"]).items())


@pytest.mark.parametrize("engine", TARGETS)
def test_the_exported_document_scores_as_the_ranker_does(engine):
    text = export_model(ranker, engine).to_json()
    rows = [dict(zip(world.feature_names, row.tolist(), strict=True)) for row in world.X]
    assert [score(text, row) for row in rows] == pytest.approx(ranker.predict(world), rel=1e-12)


@pytest.mark.parametrize("engine", TARGETS)
def test_weights_survive_the_engines_single_precision(engine):
    text = export_model(ranker, engine).to_json()
    rows = [dict(zip(world.feature_names, row, strict=True)) for row in world.X]  # float32
    assert [score(text, row) for row in rows] == pytest.approx(ranker.predict(world), rel=1e-5)


def test_names_go_where_each_engine_looks_for_them():
    made = export_model(ranker, "opensearch-ltr", model_name="linear", feature_set="my films")
    assert made.request == "POST /_ltr/_featureset/my%20films/_createmodel"
    assert made.document["model"]["name"] == "linear"
    assert export_model(ranker, "elasticsearch-ltr", model_name="linear", feature_set="my films") == made
    made = export_model(ranker, "solr-ltr", model_name="linear", feature_set="my films")
    assert made.request == "PUT /solr/COLLECTION/schema/model-store"
    assert (made.document["name"], made.document["store"]) == ("linear", "my films")


class Fake(BaseEstimator):
    """Has coefficients, and scores by something else."""

    feature_names_ = ("a", "b")

    def fit(self):
        self.coef_ = np.ones(2)
        return self

    def predict(self, X):
        return X[:, 0] ** 2


def test_what_cannot_be_exported_exactly_is_refused_with_the_reason():
    rules = GlobalRules().fit(world)
    with pytest.raises(DataError, match=r"GlobalRules cannot be exported exactly: its score is not a weighted sum"):
        export_model(rules, "solr-ltr")
    by_query = QueryIntercepts(normalize="zscore").fit(world)
    with pytest.raises(DataError, match=r"normalises features by query \(normalize='zscore'\).*normalize=None"):
        export_model(by_query, "solr-ltr")
    filled = QueryIntercepts(missing="mean").fit(make_world(n_queries=20, n_features=6, seed=0))
    with pytest.raises(DataError, match="puts means in the place of missing values, and a search engine puts 0; train"):
        export_model(filled, "solr-ltr")
    with pytest.raises(DataError, match="Fake cannot be exported exactly: its scores are not what its coefficients"):
        export_model(Fake().fit(), "solr-ltr")


def test_names_are_checked():
    with pytest.raises(DataError, match="unknown search engine 'vespa'; choose from opensearch-ltr, elasticsearch-ltr"):
        export_model(ranker, "vespa")
    with pytest.raises(DataError, match="model_name must not be empty"):
        export_model(ranker, "solr-ltr", model_name=" ")
    with pytest.raises(DataError, match="feature_set must not be empty"):
        export_model(ranker, "solr-ltr", feature_set="")
