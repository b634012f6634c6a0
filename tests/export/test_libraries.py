"""Exports are loaded by the real libraries, and score as predict does on the rows where they could go wrong."""

import sqlite3

import numpy as np
import pytest

from export_worlds import LINEAR, RANKERS, fitted, rows_for, world
from rulerank.errors import DataError
from rulerank.export import export_model

data = world()


def close(found, expected, digits):
    """Whether scores are as close as float32 (24 bits) or doubles allow, relative to the largest."""
    assert np.abs(np.asarray(found, dtype=np.float64) - expected).max() <= digits * np.abs(expected).max()


def by_xgboost(ranker, X):
    xgboost = pytest.importorskip("xgboost", reason="needs xgboost")
    booster = xgboost.Booster()
    booster.load_model(bytearray(export_model(ranker, "xgboost").to_bytes()))
    return booster.predict(xgboost.DMatrix(X, feature_names=list(ranker.feature_names_)))


def by_lightgbm(ranker, X):
    lightgbm = pytest.importorskip("lightgbm", reason="needs the extra peers")
    return lightgbm.Booster(model_str=export_model(ranker, "lightgbm").document).predict(X)


def by_onnx(ranker, X):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime")
    session = onnxruntime.InferenceSession(export_model(ranker, "onnx").document)
    return session.run(None, {"X": X.astype(np.float64)})[0]


def by_duckdb(ranker, X):
    duckdb = pytest.importorskip("duckdb", reason="needs duckdb")
    polars = pytest.importorskip("polars")
    con = duckdb.connect()
    con.execute("SET threads = 1")
    names = ranker.feature_names_
    frame = polars.DataFrame({name: X[:, place].astype(np.float64) for place, name in enumerate(names)})
    con.register("rulerank", frame.with_row_index("_row").to_arrow())
    found = con.execute(export_model(ranker, "sql").document).fetchnumpy()
    return found["score"][np.argsort(found["_row"])]


def by_sqlite(ranker, X):
    con = sqlite3.connect(":memory:")
    columns = ", ".join(f'"{name}" REAL' for name in ranker.feature_names_)
    con.execute(f"CREATE TABLE rulerank ({columns})")
    rows = [[None if np.isnan(value) else float(value) for value in row] for row in X]
    con.executemany(f"INSERT INTO rulerank VALUES ({', '.join('?' * X.shape[1])})", rows)
    return [row[-1] for row in con.execute(export_model(ranker, "sql").document)]


def by_python(ranker, X):
    made = {}
    exec(compile(export_model(ranker, "python").document, "exported.py", "exec"), made)
    return [made["score"](dict(zip(ranker.feature_names_, row, strict=True))) for row in X.tolist()]


LIBRARIES = {
    "xgboost": (by_xgboost, 1e-6),
    "lightgbm": (by_lightgbm, 1e-12),
    "onnx": (by_onnx, 1e-12),
    "duckdb": (by_duckdb, 1e-12),
    "sqlite": (by_sqlite, 1e-12),
    "python": (by_python, 1e-12),
}


@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_scores_as_predict_does_on_real_and_edge_rows(library, name):
    score, digits = LIBRARIES[library]
    ranker = fitted(name)
    X = rows_for(name, ranker, data)
    close(score(ranker, X), ranker.predict(X), digits)


@pytest.mark.parametrize("name", ["FittedRules", "FittedRules, no pairs"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_fitted_rules_score_to_the_last_bit_everywhere(library, name):
    ranker = fitted(name)
    X = rows_for(name, ranker, data)
    assert np.array_equal(np.asarray(LIBRARIES[library][0](ranker, X), dtype=np.float64), ranker.predict(X))


@pytest.mark.parametrize("library", ["onnx", "duckdb", "sqlite", "python"])
def test_means_stand_for_missing_values_where_a_target_can_put_them_there(library):
    from rulerank.rankers.linear.query_intercepts import QueryIntercepts

    assert np.isnan(data.X).any()
    ranker = QueryIntercepts(missing="mean", l2=1).fit(data)
    close(LIBRARIES[library][0](ranker, data.X), ranker.predict(data.X), 1e-12)


def test_contributions_of_xgboost_add_up_to_the_score():
    xgboost = pytest.importorskip("xgboost", reason="needs xgboost")
    ranker = fitted("FittedRules")
    booster = xgboost.Booster()
    booster.load_model(bytearray(export_model(ranker, "xgboost").to_bytes()))
    rows = xgboost.DMatrix(data.X, feature_names=list(ranker.feature_names_))
    parts = booster.predict(rows, pred_contribs=True)
    assert np.abs(parts.sum(axis=1) - ranker.predict(data.X)).max() < 1e-5


def test_xgboosts_children_lie_next_to_each_other():
    """Else it scores all wrong, and says nothing."""
    for name in set(RANKERS) - set(LINEAR):
        booster = export_model(fitted(name), "xgboost").document["learner"]["gradient_booster"]
        for tree in booster["model"]["trees"]:
            pairs = zip(tree["left_children"], tree["right_children"], strict=True)
            assert all(right == left + 1 for left, right in pairs if left >= 0)


def test_onnx_without_its_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(ImportError, match=r"this needs onnx, .*pip install 'rulerank\[onnx\]'"):
        export_model(fitted("FittedRules"), "onnx")


def test_elasticsearch_says_what_to_use_for_a_linear_model():
    with pytest.raises(DataError, match=r"knows no linear model, which QueryIntercepts is: export it to elast"):
        export_model(fitted("QueryIntercepts"), "elasticsearch")
