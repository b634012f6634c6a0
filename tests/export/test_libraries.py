"""Exports are loaded by the real libraries, and score as predict does on the rows where they could go wrong."""

import json
import sqlite3
from functools import cache

import numpy as np
import polars as pl
import pytest

import rulerank as rr
from export_data import LINEAR, RANKERS, fitted, rows_for, synthetic
from plain import engines
from rulerank.errors import DataError
from rulerank.export import export_model
from rulerank.export.check import check_answers

data = synthetic()


def close(found, expected, digits):
    """Whether scores are as close as float32 (24 bits) or doubles allow, relative to the largest."""
    assert np.abs(np.asarray(found, dtype=np.float64) - expected).max() <= digits * np.abs(expected).max()


def table_of(ranker, X):
    """The rows as a table has them."""
    return pl.DataFrame({name: X[:, place].astype(np.float64) for place, name in enumerate(ranker.feature_names_)})


def by_xgboost(ranker, X, table=None):
    xgboost = pytest.importorskip("xgboost", reason="needs xgboost")
    booster = xgboost.Booster()
    booster.load_model(bytearray(export_model(ranker, "xgboost").to_bytes()))
    assert json.loads(booster.attr("categories") or "{}") == export_model(ranker, "xgboost").categories
    return booster.predict(xgboost.DMatrix(X, feature_names=list(ranker.feature_names_)))


def by_lightgbm(ranker, X, table=None):
    lightgbm = pytest.importorskip("lightgbm", reason="needs the extra compare")
    return lightgbm.Booster(model_str=export_model(ranker, "lightgbm").document).predict(X)


def by_onnx(ranker, X, table=None):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime")
    session = onnxruntime.InferenceSession(export_model(ranker, "onnx").document)
    codes = json.loads(session.get_modelmeta().custom_metadata_map.get("categories", "{}"))
    assert codes == export_model(ranker, "onnx").categories
    return session.run(None, {"X": X.astype(np.float64)})[0]


def by_duckdb(ranker, X, table=None):
    duckdb = pytest.importorskip("duckdb", reason="needs duckdb")
    con = duckdb.connect()
    con.execute("SET threads = 1")
    con.register("rulerank", (table_of(ranker, X) if table is None else table).with_row_index("_row").to_arrow())
    found = con.execute(export_model(ranker, "sql").document).fetchnumpy()
    return found["score"][np.argsort(found["_row"])]


def by_sqlite(ranker, X, table=None):
    table = table_of(ranker, X).fill_nan(None) if table is None else table
    con = sqlite3.connect(":memory:")
    columns = [f'"{name}" {"TEXT" if kind == pl.String else "REAL"}' for name, kind in table.schema.items()]
    con.execute(f"CREATE TABLE rulerank ({', '.join(columns)})")
    con.executemany(f"INSERT INTO rulerank VALUES ({', '.join('?' * table.width)})", table.rows())
    return [row[-1] for row in con.execute(export_model(ranker, "sql").document)]


def by_python(ranker, X, table=None):
    made = {}
    exec(compile(export_model(ranker, "python").document, "exported.py", "exec"), made)
    return [made["score"](row) for row in (table_of(ranker, X) if table is None else table).to_dicts()]


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
def test_a_library_scores_as_predict_does_on_real_and_edge_rows_and_votes_on_a_grid_to_the_last_bit(library, name):
    score, digits = LIBRARIES[library]
    ranker = fitted(name)
    X = rows_for(name, ranker, data)
    found, expected = np.asarray(score(ranker, X), dtype=np.float64), ranker.predict(X)
    close(found, expected, digits)
    if name.startswith(("FittedRules", "Anchored")):
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("library", ["onnx", "duckdb", "sqlite", "python"])
def test_means_stand_for_missing_values_where_a_target_can_put_them_there(library):
    assert np.isnan(data.X).any()
    ranker = rr.QueryIntercepts(missing="mean", l2=1).fit(data)
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
    with pytest.raises(DataError, match=r"does not support linear models \(QueryIntercepts\): export it to elast"):
        export_model(fitted("QueryIntercepts"), "elasticsearch")


# categories: names are mapped, or the codes are told

BRANDS = ["lg", "o'neill", 'say "hi"', "tcl", "größe"]
NEW = {"brand": ["lg", "tcl", "o'neill", "say \"hi\"", "größe", "never seen", "Lg", "", None],
       "price": [0.1, 0.9, 0.5, None, 0.7, 0.3, 0.2, 0.8, 0.6]}  # fmt: skip
CATEGORY_RANKERS = {"FittedRules": rr.FittedRules(max_pairs=3, n_folds=2), "GlobalRules": rr.GlobalRules()}


def training(brand_missing=0.1):
    rng = np.random.default_rng(0)
    n = 800
    brand = [None if rng.random() < brand_missing else str(rng.choice(BRANDS)) for _ in range(n)]
    price = rng.random(n).astype(np.float32)
    liked = {"tcl": 2, "o'neill": 1, None: 1}
    grade = [min(2, liked.get(one, 0) + (cost < 0.3)) for one, cost in zip(brand, price.tolist(), strict=True)]
    price = np.where(rng.random(n) < 0.1, np.nan, price)
    frame = {"qid": np.repeat(np.arange(n // 10), 10), "grade": grade, "price": price}
    return rr.from_frame(pl.DataFrame({**frame, "brand": pl.Series(brand, dtype=pl.Categorical)}))


@cache
def of_brands(name):
    return CATEGORY_RANKERS[name].fit(training())


def asked():
    """New documents: names as a table has them, and the data set of the same rows."""
    frame = pl.DataFrame(NEW, schema={"brand": pl.String, "price": pl.Float32})
    named = frame.with_columns(pl.col("brand").replace("", None).cast(pl.Categorical), qid=pl.lit(1))
    return frame, rr.from_frame(named)


def coded(ranker):
    """The rows as numbers, by the codes that an export comes with."""
    codes = export_model(ranker, "onnx").categories["brand"]
    known = {name: code for code, name in enumerate(codes["names"])}
    missing = np.nan if codes["missing"] is None else codes["missing"]
    brand = [missing if not name else known.get(name, codes["other"]) for name in NEW["brand"]]
    values = {"brand": brand, "price": [np.nan if price is None else price for price in NEW["price"]]}
    return np.array([values[name] for name in ranker.feature_names_], dtype=np.float32).T


@pytest.mark.parametrize("name", CATEGORY_RANKERS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_names_new_names_and_missing_ones_score_as_in_predict(library, name):
    ranker = of_brands(name)
    table, rows = asked()
    expected = ranker.predict(rows)
    assert len({*expected.tolist()}) > 4
    close(LIBRARIES[library][0](ranker, coded(ranker), table), expected, 1e-6)


@pytest.mark.parametrize("target", ["opensearch-ltr", "elasticsearch-ltr", "solr-ltr", "elasticsearch", "vespa"])
@pytest.mark.parametrize("name", CATEGORY_RANKERS)
def test_engines_score_codes_as_predict_scores_names_and_a_missing_one_needs_no_nan(target, name):
    ranker = of_brands(name)
    expected = ranker.predict(asked()[1])
    twin = {"solr-ltr": engines.solr, "elasticsearch": engines.elasticsearch, "vespa": engines.vespa}
    document = export_model(ranker, target).document
    rows = [dict(zip(ranker.feature_names_, row, strict=True)) for row in coded(ranker).tolist()]
    assert not any(np.isnan(row["brand"]) for row in rows)
    found = [twin.get(target, engines.ltr_plugin)(document, row) for row in rows]
    assert np.abs(np.array(found) - expected).max() <= 1e-6 * np.abs(expected).max()


def test_an_enum_of_duckdb_is_a_column_of_names_too():
    table = asked()[0].with_columns(pl.col("brand").cast(pl.Enum([*BRANDS, "never seen", "Lg", ""])))
    assert np.array_equal(
        by_duckdb(of_brands("FittedRules"), None, table), of_brands("FittedRules").predict(asked()[1])
    )


def test_lightgbm_maps_a_pandas_category_by_name():
    lightgbm = pytest.importorskip("lightgbm", reason="needs the extra compare")
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    ranker, made = of_brands("FittedRules"), export_model(of_brands("FittedRules"), "lightgbm")
    names = ["tcl", "lg", None]
    frame = pandas.DataFrame({"price": [0.5] * 3, "brand": pandas.Categorical(names, categories=["tcl", "lg"])})
    found = lightgbm.Booster(model_str=made.document).predict(frame[list(ranker.feature_names_)])
    own = pl.DataFrame({"qid": [1] * 3, "price": [0.5] * 3, "brand": pl.Series(names, dtype=pl.Categorical)})
    assert np.array_equal(found, ranker.predict(rr.from_frame(own)))
    assert any("takes a name that the model does not know for a missing value" in note for note in made.notes)


@pytest.mark.filterwarnings("ignore:QueryIntercepts reads the categories")
def test_linear_models_map_names_to_the_codes_they_read():
    ranker = rr.QueryIntercepts(missing="mean", l2=1).fit(training())
    table, rows = asked()
    for library in (by_duckdb, by_sqlite, by_python, by_onnx):
        found = np.asarray(library(ranker, coded(ranker), table), dtype=np.float64)
        assert np.allclose(found, ranker.predict(rows), rtol=0, atol=1e-6)


def test_notes_tell_the_codes_of_names_other_names_and_missing_values():
    said = (
        "'brand' is a category: give its code: 'größe' is 0, 'lg' is 1, \"o'neill\" is 2, 'say \"hi\"' is 3, 'tcl' is 4"
    )
    for target in ("xgboost", "lightgbm", "onnx", "opensearch-ltr", "elasticsearch", "solr-ltr", "vespa"):
        made = export_model(of_brands("FittedRules"), target)
        assert made.notes[-1] == f"{said}; any other name is 5, a missing value 6"
        assert made.categories == {"brand": {"names": sorted(BRANDS), "other": 5, "missing": 6}}
    sql = export_model(of_brands("FittedRules"), "sql")
    assert sql.notes == (
        "the column 'brand' must hold the names of categories as text, as the model knows them "
        "('größe', 'lg', \"o'neill\", ...)",
    )
    assert sql.categories == {}


def test_a_note_of_many_names_says_where_all_of_them_are():
    names = [f"n{i:02}" for i in range(30)]
    frame = pl.DataFrame({"qid": [1] * 300, "grade": [0, 1] * 150, "kind": names * 10})
    ranker = rr.GlobalRules().fit(rr.from_frame(frame.with_columns(pl.col("kind").cast(pl.Categorical))))
    (note,) = [one for one in export_model(ranker, "onnx").notes if "is a category" in one]
    assert "'n19' is 19, ... (30 names, all of them in `categories` of the export); any other name is 30" in note


def test_a_category_that_the_model_ignores_is_not_in_the_notes():
    columns = {"qid": [1] * 300, "grade": [0, 1] * 150, "price": [1.0, 2.0] * 150, "kind": ["a"] * 300}
    frame = pl.DataFrame(columns).with_columns(pl.col("kind").cast(pl.Categorical))
    ranker = rr.FittedRules().fit(rr.from_frame(frame))
    for target in ("onnx", "sql"):
        made = export_model(ranker, target)
        assert (made.features, made.categories) == (("price", "kind"), {})
        assert not any("kind" in note for note in made.notes)


def test_the_python_file_refuses_a_number_for_a_category():
    made = {}
    exec(export_model(of_brands("FittedRules"), "python").document, made)
    with pytest.raises(TypeError, match=r"'brand' is a category, not a number: give its name, got 2"):
        made["score"]({"brand": 2, "price": 1.0})


@pytest.mark.parametrize("given", ["names", "codes"])
def test_answers_are_checked_by_name_and_by_code(given):
    ranker = of_brands("FittedRules")
    scores = ranker.predict(asked()[1]).tolist()
    rows = asked()[0].to_dicts()
    if given == "codes":
        rows = [dict(zip(ranker.feature_names_, row, strict=True)) for row in coded(ranker).astype(float).tolist()]
        rows = [{name: None if value != value else value for name, value in row.items()} for row in rows]
    answers = [{"features": row, "score": score} for row, score in zip(rows, scores, strict=True)]
    assert check_answers(ranker, answers).same
    answers[5]["score"] = scores[-1] + 1
    assert not check_answers(ranker, answers).same


def test_a_number_that_is_no_code_is_refused_in_answers():
    with pytest.raises(DataError, match=r"brand must be the name of a category, or its code from 0 to 6: got 7"):
        check_answers(of_brands("FittedRules"), [{"features": {"brand": 7}, "score": 0}])
