import json

import pytest
from sklearn.base import BaseEstimator

from rulerank.datasets.ranking import make_ranking
from rulerank.errors import DataError
from rulerank.export import TARGETS, export_model
from rulerank.rankers.fitted.fitted_rules import FittedRules
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.linear.query_intercepts import QueryIntercepts
from rulerank.rankers.query_rules import QueryRules
from rulerank.rankers.stable_rules import StableRules

synthetic = make_ranking(n_queries=20, n_features=3, seed=0)


@pytest.fixture(scope="module")
def ranker():
    return QueryIntercepts().fit(synthetic)


def test_vespa_takes_a_linear_model_as_an_expression(ranker):
    made = export_model(ranker, "vespa", model_name="linear")
    assert made.request == "save as linear.expression; in the rank profile, expression: file:linear.expression"
    values = dict(zip(synthetic.feature_names, synthetic.X[0].tolist(), strict=True))
    assert eval(made.document, values) == pytest.approx(ranker.predict(synthetic)[0], rel=1e-12)


def test_names_go_where_each_engine_looks_for_them(ranker):
    made = export_model(ranker, "opensearch-ltr", model_name="linear", feature_set="my films")
    assert made.request == "POST /_ltr/_featureset/my%20films/_createmodel"
    assert made.document["model"]["name"] == "linear"
    other = export_model(ranker, "elasticsearch-ltr", model_name="linear", feature_set="my films")
    assert (other.request, other.document) == (made.request, made.document)
    made = export_model(ranker, "solr-ltr", model_name="linear", feature_set="my films")
    assert made.request == "PUT /solr/COLLECTION/schema/model-store"
    assert (made.document["name"], made.document["store"]) == ("linear", "my films")
    rules = FittedRules().fit(synthetic)
    assert export_model(rules, "elasticsearch", model_name="my model").request == "PUT /_ml/trained_models/my%20model"
    assert 'xgboost("mine.json")' in export_model(rules, "vespa", model_name="mine").request


class Opaque(BaseEstimator):
    def fit(self, data):
        self.fitted_ = True
        return self


REFUSED = [
    (GlobalRules(votes="mean"), r"GlobalRules\(votes='mean'\) is not additive: it divides .* that cover a document"),
    (StableRules(), "StableRules is not additive: which rules vote, and what their weights add up to, depends on .*"),
    (QueryRules(), "QueryRules is not additive: the queries of training that vote, and how many, depend on .*"),
    (
        QueryIntercepts(normalize="zscore", missing="mean"),
        r"it normalises features by query \(normalize='zscore'\), .*",
    ),
    (FittedRules(normalize="rank"), r"it normalises features by query \(normalize='rank'\), .*"),
    (GlobalRules(max_size=4, drop_weakest=0), "rules of up to 4 features cannot be exported or drawn"),
    (QueryIntercepts(missing="mean"), "it replaces missing values by means, but a search engine reads them as 0"),
    (Opaque(), "it is not a ranker of this library"),
]


@pytest.mark.parametrize(("ranker", "why"), REFUSED)
def test_what_cannot_be_exported_is_refused_with_the_reason_and_the_option_that_avoids_it(ranker, why):
    option = r"`rulerank train --exportable` \(in Python select\(..., exportable=True\)\) trains a model that can be"
    with pytest.raises(DataError, match=f"^this {type(ranker).__name__} cannot be exported: {why}; {option}$"):
        export_model(ranker.fit(make_ranking(n_queries=20, n_features=6, seed=0)), "solr-ltr")


def test_names_are_checked(ranker):
    with pytest.raises(DataError, match="unknown target 'vesper'; choose from xgboost, lightgbm, onnx, opensearch"):
        export_model(ranker, "vesper")
    with pytest.raises(DataError, match="model_name must not be empty"):
        export_model(ranker, "solr-ltr", model_name=" ")
    with pytest.raises(DataError, match="feature_set must not be empty"):
        export_model(ranker, "solr-ltr", feature_set="")


@pytest.mark.parametrize("target", TARGETS)
def test_the_features_that_a_model_needs_are_listed(target):
    assert export_model(FittedRules().fit(synthetic), target).features == synthetic.feature_names


def test_documents_become_files():
    rules = FittedRules().fit(synthetic)
    assert json.loads(export_model(rules, "xgboost").to_bytes())["version"] == [1, 7, 6]
    assert export_model(rules, "lightgbm").to_bytes().startswith(b"tree\nversion=v4\n")
    with pytest.raises(DataError, match="this document is not a JSON object"):
        export_model(rules, "lightgbm").to_json()
