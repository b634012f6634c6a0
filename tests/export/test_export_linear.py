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

world = make_ranking(n_queries=20, n_features=3, seed=0)
LINEAR = ("opensearch-ltr", "elasticsearch-ltr", "solr-ltr")


@pytest.fixture(scope="module")
def ranker():
    return QueryIntercepts().fit(world)


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


@pytest.mark.parametrize("engine", LINEAR)
def test_the_exported_document_scores_as_the_ranker_does(ranker, engine):
    text = export_model(ranker, engine).to_json()
    rows = [dict(zip(world.feature_names, row.tolist(), strict=True)) for row in world.X]
    assert [score(text, row) for row in rows] == pytest.approx(ranker.predict(world), rel=1e-12)


@pytest.mark.parametrize("engine", LINEAR)
def test_weights_survive_the_engines_single_precision(ranker, engine):
    text = export_model(ranker, engine).to_json()
    rows = [dict(zip(world.feature_names, row, strict=True)) for row in world.X]  # float32
    assert [score(text, row) for row in rows] == pytest.approx(ranker.predict(world), rel=1e-5)


def test_vespa_takes_a_linear_model_as_an_expression(ranker):
    made = export_model(ranker, "vespa", model_name="linear")
    assert made.request == "save as linear.expression, and say expression: file:linear.expression"
    values = dict(zip(world.feature_names, world.X[0].tolist(), strict=True))
    assert eval(made.document, values) == pytest.approx(ranker.predict(world)[0], rel=1e-12)


def test_names_go_where_each_engine_looks_for_them(ranker):
    made = export_model(ranker, "opensearch-ltr", model_name="linear", feature_set="my films")
    assert made.request == "POST /_ltr/_featureset/my%20films/_createmodel"
    assert made.document["model"]["name"] == "linear"
    other = export_model(ranker, "elasticsearch-ltr", model_name="linear", feature_set="my films")
    assert (other.request, other.document) == (made.request, made.document)
    made = export_model(ranker, "solr-ltr", model_name="linear", feature_set="my films")
    assert made.request == "PUT /solr/COLLECTION/schema/model-store"
    assert (made.document["name"], made.document["store"]) == ("linear", "my films")
    rules = FittedRules().fit(world)
    assert export_model(rules, "elasticsearch", model_name="my model").request == "PUT /_ml/trained_models/my%20model"
    assert 'xgboost("mine.json")' in export_model(rules, "vespa", model_name="mine").request


class Opaque(BaseEstimator):
    def fit(self):
        self.fitted_ = True
        return self


def test_what_cannot_be_exported_exactly_is_refused_with_the_reason():
    mean = GlobalRules(votes="mean").fit(world)
    with pytest.raises(DataError, match=r"GlobalRules cannot be exported exactly: GlobalRules\(votes='mean'\) is not"):
        export_model(mean, "solr-ltr")
    with pytest.raises(DataError, match=r"StableRules cannot be exported exactly: .* additive: which rules vote, and"):
        export_model(StableRules().fit(world), "xgboost")
    with pytest.raises(DataError, match=r"is not additive: the queries of training that vote, and how many, depend"):
        export_model(QueryRules().fit(world), "sql")
    by_query = QueryIntercepts(normalize="zscore").fit(world)
    with pytest.raises(DataError, match=r"normalises features by query \(normalize='zscore'\).*normalize=None"):
        export_model(by_query, "solr-ltr")
    with pytest.raises(DataError, match=r"this FittedRules normalises features by .*fit it again with normalize=None"):
        export_model(FittedRules(normalize="rank").fit(world), "python")
    filled = QueryIntercepts(missing="mean").fit(make_ranking(n_queries=20, n_features=6, seed=0))
    with pytest.raises(DataError, match="puts means in the place of missing values, and a search engine puts 0; train"):
        export_model(filled, "solr-ltr")
    with pytest.raises(DataError, match="Opaque cannot be exported exactly: it is no ranker of this library; export"):
        export_model(Opaque().fit(), "solr-ltr")
    deep = GlobalRules(max_size=4, drop_weakest=0).fit(make_ranking(n_queries=20, n_features=4, seed=0))
    with pytest.raises(DataError, match=r"rules of up to 4 features make tables .*; fit with max_size=3"):
        export_model(deep, "solr-ltr")


def test_names_are_checked(ranker):
    with pytest.raises(DataError, match="unknown target 'vesper'; choose from xgboost, lightgbm, onnx, opensearch"):
        export_model(ranker, "vesper")
    with pytest.raises(DataError, match="model_name must not be empty"):
        export_model(ranker, "solr-ltr", model_name=" ")
    with pytest.raises(DataError, match="feature_set must not be empty"):
        export_model(ranker, "solr-ltr", feature_set="")


@pytest.mark.parametrize("target", TARGETS)
def test_engines_come_with_a_draft_of_their_features_and_others_without(target):
    rules = FittedRules().fit(world)
    made = export_model(rules, target, feature_set="films")
    if target in ("xgboost", "lightgbm", "onnx", "sql", "python"):
        with pytest.raises(DataError, match="this target needs no set of features: it takes rows of numbers"):
            made.features_text()
        return
    text = made.features_text()
    assert all(name in text for name in world.feature_names)
    if target != "elasticsearch":
        assert "films" in text


def test_a_draft_marks_what_an_engine_has_no_equal_for():
    from rulerank.export.feature_sets import feature_set_for

    names = ("bm25(title)", "covered(best)", "log(votes)", "year")
    plugin = json.dumps(feature_set_for("opensearch-ltr", names, "films", {}))
    assert plugin.count("CHECK: ") == 2
    assert '"match": {"title": {"query": "{{query}}"}}' in plugin
    assert '"modifier": "ln1p"' in plugin
    profile = feature_set_for("vespa", names, "films", {})
    assert profile.startswith("rank-profile films {\n    # bm25(title): CHECK: its BM25 counts")
    assert "log(1 + attribute(votes))" in profile
    solr = feature_set_for("solr-ltr", names, "films", {})
    assert solr[3] == {"store": "films", "name": "year", "class": "org.apache.solr.ltr.feature.FieldValueFeature",
                       "params": {"field": "year"}}  # fmt: skip


def test_documents_become_files():
    rules = FittedRules().fit(world)
    assert json.loads(export_model(rules, "xgboost").to_bytes())["version"] == [1, 7, 6]
    assert export_model(rules, "lightgbm").to_bytes().startswith(b"tree\nversion=v4\n")
    with pytest.raises(DataError, match="this document is no JSON object"):
        export_model(rules, "lightgbm").to_json()
