"""Exports to search engines against twins of their documented arithmetic, and against a real Solr."""

import numpy as np
import pytest

import rulerank as rr
from export_data import LARGEST, LINEAR, RANKERS, fitted, rows_for, synthetic
from plain import engines
from rulerank.export import export_model
from rulerank.export.solr import threshold_for
from solr_engine import solr_classpath, solr_scores

data = synthetic()


def placed(X):
    """Which rows Solr can tell apart: LightGBM cuts at 1e-35, and Solr's slack leaves nothing within 1e-13 of 0."""
    return ((X == 0) | (np.abs(X) > 1e-12)).all(axis=1)


def scored(target, ranker, X):
    document = export_model(ranker, target).document
    rows = [dict(zip(ranker.feature_names_, row, strict=True)) for row in X.tolist()]
    twin = {"opensearch-ltr": engines.ltr_plugin, "elasticsearch-ltr": engines.ltr_plugin, "solr-ltr": engines.solr,
            "elasticsearch": engines.elasticsearch, "vespa": engines.vespa}[target]  # fmt: skip
    return np.array([twin(document, row) for row in rows])


@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.parametrize(
    ("target", "digits"), [("opensearch-ltr", 1e-6), ("solr-ltr", 1e-6), ("elasticsearch", 1e-12), ("vespa", 1e-12)]
)
def test_an_engines_arithmetic_gives_the_scores_of_predict(target, digits, name):
    if name in LINEAR and target in ("elasticsearch", "vespa"):
        pytest.skip("a linear model is no trees there")
    ranker = fitted(name)
    X = rows_for(name, ranker, data)
    if target == "opensearch-ltr":
        X = X[(X != LARGEST).all(axis=1)]  # there it stands for a missing value
    found = scored(target, ranker, X)
    expected = ranker.predict(X)
    assert np.abs(found - expected).max() <= digits * np.abs(expected).max()
    if name.startswith(("FittedRules", "Anchored")):
        assert np.array_equal(found, expected)


def test_a_missing_value_is_taken_for_0_by_the_plugin_of_elasticsearch_and_a_note_says_so():
    ranker = fitted("FittedRules")
    made = export_model(ranker, "elasticsearch-ltr")
    rows = [dict(zip(ranker.feature_names_, row, strict=True)) for row in data.X[:200].tolist()]
    found = [engines.ltr_plugin(made.document, row, missing_as_zero=True) for row in rows]
    assert found == ranker.predict(np.nan_to_num(data.X[:200])).tolist()
    assert any("Elasticsearch LTR puts 0 in the place of a missing value" in note for note in made.notes)


def test_solrs_slack_is_taken_off_exactly_or_told():
    for value in (0.5, 0.1, 3.0, 1e6, -0.25, 1e-3, LARGEST):
        wanted = np.nextafter(np.float32(value), np.float32(-np.inf))
        assert threshold_for(wanted)[1] == wanted
    tiny = np.float32(-1e-45)  # just below a cut at 0: no threshold lands there
    _, compared = threshold_for(tiny)
    assert -2e-13 < compared < 0  # 0 itself is on the right side


def test_a_cut_that_solr_cannot_place_is_told():
    X = np.array([[-1.0], [1.0]] * 10)
    ranker = rr.GlobalRules(discretizer=rr.discretize.EqualWidth(2)).fit(X, [0, 1] * 10, qid=[1, 1, 2, 2] * 5)
    assert ranker.discretizer_.cuts_[0].tolist() == [0.0]
    notes = export_model(ranker, "solr-ltr").notes
    assert any("1 cuts lie so near 0 that Solr, which adds 1e-6 to thresholds" in note for note in notes)
    assert scored("solr-ltr", ranker, np.array([[0.0], [-1e-12]])).tolist() == pytest.approx(
        ranker.predict([[0.0], [-1e-12]]).tolist(), rel=1e-6
    )


def test_a_real_solr_scores_as_predict_does(tmp_path):
    classpath = solr_classpath(tmp_path)
    names = [name for name in RANKERS if name != "GlobalRules of one"]
    models = {
        f"model{place}": export_model(fitted(name), "solr-ltr", model_name=f"model{place}").document
        for place, name in enumerate(names)
    }
    X = np.concatenate([rows_for(name, fitted(name), data)[:400] for name in names])
    X = np.nan_to_num(X)  # Solr's features have a default, 0
    scores = solr_scores(classpath, tmp_path, models, X, fitted("GlobalRules").feature_names_)
    for place, name in enumerate(names):
        rows = (np.abs(X) < 1e30).all(axis=1) if name in LINEAR else placed(X)
        expected = fitted(name).predict(X[rows])
        found = scores[f"model{place}"][rows].astype(np.float64)
        assert np.abs(found - expected).max() <= 1e-6 * np.abs(expected).max(), name
        if name.startswith(("FittedRules", "Anchored")):
            assert np.array_equal(found, expected)
