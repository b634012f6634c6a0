"""Categories in exports: names are mapped, or the codes are told; scores are those of predict in the real libraries."""

import json
import sqlite3
from functools import cache

import numpy as np
import polars as pl
import pytest

import rulerank as rr
from plain import engines
from rulerank.errors import DataError
from rulerank.export import check_answers, export_model

BRANDS = ["lg", "o'neill", 'say "hi"', "tcl", "größe"]
NEW = {"brand": ["lg", "tcl", "o'neill", "say \"hi\"", "größe", "never seen", "Lg", "", None],
       "price": [0.1, 0.9, 0.5, None, 0.7, 0.3, 0.2, 0.8, 0.6]}  # fmt: skip
RANKERS = {
    "FittedRules": rr.FittedRules(max_pairs=3),
    "GlobalRules": rr.GlobalRules(),
}
TABLES = list(RANKERS)
warned = pytest.mark.filterwarnings("ignore:QueryIntercepts reads the categories")


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
def fitted(name):
    return RANKERS[name].fit(training())


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


def by_duckdb(ranker, column_type="VARCHAR"):
    duckdb = pytest.importorskip("duckdb", reason="needs duckdb")
    con = duckdb.connect()
    con.register("given", asked()[0].with_row_index("_row").to_arrow())
    con.execute("CREATE TYPE brands AS ENUM ('" + "', '".join(name.replace("'", "''") for name in
                                                              [*BRANDS, "never seen", "Lg", ""]) + "')")  # fmt: skip
    con.execute(f"CREATE TABLE rulerank AS SELECT _row, price, brand::{column_type} AS brand FROM given")
    found = con.execute(export_model(ranker, "sql").document).fetchnumpy()
    return found["score"][np.argsort(found["_row"])]


def by_sqlite(ranker):
    con = sqlite3.connect(":memory:")
    con.execute("CREATE TABLE rulerank (brand TEXT, price REAL)")
    con.executemany("INSERT INTO rulerank VALUES (?, ?)", asked()[0].rows())
    return [row[-1] for row in con.execute(export_model(ranker, "sql").document)]


def by_python(ranker):
    made = {}
    exec(compile(export_model(ranker, "python").document, "exported.py", "exec"), made)
    return [made["score"](row) for row in asked()[0].to_dicts()]


def by_xgboost(ranker):
    xgboost = pytest.importorskip("xgboost", reason="needs xgboost")
    booster = xgboost.Booster()
    booster.load_model(bytearray(export_model(ranker, "xgboost").to_bytes()))
    assert json.loads(booster.attr("categories")) == export_model(ranker, "xgboost").categories
    return booster.predict(xgboost.DMatrix(coded(ranker), feature_names=list(ranker.feature_names_)))


def by_lightgbm(ranker):
    lightgbm = pytest.importorskip("lightgbm", reason="needs the extra peers")
    return lightgbm.Booster(model_str=export_model(ranker, "lightgbm").document).predict(coded(ranker))


def by_onnx(ranker):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime")
    session = onnxruntime.InferenceSession(export_model(ranker, "onnx").document)
    codes = json.loads(session.get_modelmeta().custom_metadata_map["categories"])
    assert codes == export_model(ranker, "onnx").categories
    return session.run(None, {"X": coded(ranker).astype(np.float64)})[0]


LIBRARIES = {"duckdb": by_duckdb, "sqlite": by_sqlite, "python": by_python, "xgboost": by_xgboost,
             "lightgbm": by_lightgbm, "onnx": by_onnx}  # fmt: skip


@warned
@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_names_new_names_and_missing_ones_score_as_in_predict(library, name):
    ranker = fitted(name)
    expected = ranker.predict(asked()[1])
    assert len({*expected.tolist()}) > 4
    found = np.asarray(LIBRARIES[library](ranker), dtype=np.float64)
    assert np.abs(found - expected).max() <= 1e-6 * np.abs(expected).max()


@pytest.mark.parametrize("target", ["opensearch-ltr", "elasticsearch-ltr", "solr-ltr", "elasticsearch", "vespa"])
@pytest.mark.parametrize("name", TABLES)
@warned
def test_engines_score_codes_as_predict_scores_names_and_a_missing_one_needs_no_nan(target, name):
    ranker = fitted(name)
    expected = ranker.predict(asked()[1])
    twin = {"solr-ltr": engines.solr, "elasticsearch": engines.elasticsearch, "vespa": engines.vespa}
    document = export_model(ranker, target).document
    rows = [dict(zip(ranker.feature_names_, row, strict=True)) for row in coded(ranker).tolist()]
    assert not any(np.isnan(row["brand"]) for row in rows)
    found = [twin.get(target, engines.ltr_plugin)(document, row) for row in rows]
    assert np.abs(np.array(found) - expected).max() <= 1e-6 * np.abs(expected).max()


def test_an_enum_of_duckdb_is_a_column_of_names_too():
    ranker = fitted("FittedRules")
    assert np.array_equal(by_duckdb(ranker, "brands"), ranker.predict(asked()[1]))


def test_lightgbm_maps_a_pandas_category_by_name():
    lightgbm = pytest.importorskip("lightgbm", reason="needs the extra peers")
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    ranker, made = fitted("FittedRules"), export_model(fitted("FittedRules"), "lightgbm")
    names = ["tcl", "lg", None]
    frame = pandas.DataFrame({"price": [0.5] * 3, "brand": pandas.Categorical(names, categories=["tcl", "lg"])})
    found = lightgbm.Booster(model_str=made.document).predict(frame[list(ranker.feature_names_)])
    own = pl.DataFrame({"qid": [1] * 3, "price": [0.5] * 3, "brand": pl.Series(names, dtype=pl.Categorical)})
    assert np.array_equal(found, ranker.predict(rr.from_frame(own)))
    assert any("takes a name that the model does not know for a missing value" in note for note in made.notes)


@warned
def test_linear_models_map_names_to_the_codes_they_read():
    ranker = rr.QueryIntercepts(missing="mean", l2=1).fit(training())
    expected = ranker.predict(asked()[1])
    for library in (by_duckdb, by_sqlite, by_python, by_onnx):
        assert np.allclose(np.asarray(library(ranker), dtype=np.float64), expected, rtol=0, atol=1e-6)


@warned
def test_notes_tell_the_codes_of_names_other_names_and_missing_values():
    said = (
        "'brand' is a category: give its code: 'größe' is 0, 'lg' is 1, \"o'neill\" is 2, 'say \"hi\"' is 3, 'tcl' is 4"
    )
    for target in ("xgboost", "lightgbm", "onnx", "opensearch-ltr", "elasticsearch", "solr-ltr", "vespa"):
        made = export_model(fitted("FittedRules"), target)
        assert made.notes[-1] == f"{said}; any other name is 5, a missing value 6"
        assert made.categories == {"brand": {"names": sorted(BRANDS), "other": 5, "missing": 6}}
    sql = export_model(fitted("FittedRules"), "sql")
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


def test_drafts_of_feature_sets_compute_the_codes_and_are_marked():
    ranker = fitted("FittedRules")
    plugin = export_model(ranker, "opensearch-ltr").features["featureset"]["features"]
    (brand,) = [one for one in plugin if one["name"] == "brand"]
    asked = brand["template"]["bool"]
    assert asked["_name"].startswith("CHECK: a category: the model reads the code that this gives for its name")
    script = asked["must"][0]["script_score"]["script"]
    assert script["params"]["codes"] == {name: code for code, name in enumerate([*sorted(BRANDS)])} | {"": 6}
    assert (script["params"]["other"], script["params"]["missing"]) == (5, 6)
    made = export_model(ranker, "elasticsearch")
    assert made.document["metadata"]["categories"] == made.categories
    assert asked in [one["query_extractor"]["query"].get("bool") for one in made.features]
    (solr,) = [one for one in export_model(ranker, "solr-ltr").features if one["name"] == "brand"]
    assert solr["params"]["q"].startswith("{!func}if(termfreq(brand,'größe'),0,if(termfreq(brand,'lg'),1,")
    assert "termfreq(brand,'o\\'neill'),2" in solr["params"]["q"]
    assert solr["params"]["q"].endswith("if(exists(brand),5,6))))))")
    profile = export_model(ranker, "vespa").features
    assert "# brand: CHECK: a category" in profile
    assert 'if (attribute(brand) == "say \\"hi\\"", 3, ' in profile
    assert 'if (attribute(brand) == "", 6, 5)' in profile


def test_the_python_file_refuses_a_number_for_a_category():
    made = {}
    exec(export_model(fitted("FittedRules"), "python").document, made)
    with pytest.raises(TypeError, match=r"'brand' is a category, not a number: give its name, got 2"):
        made["score"]({"brand": 2, "price": 1.0})


def test_members_that_read_codes_as_numbers_are_refused():
    from rulerank.export.parts import export_parts

    with pytest.warns(UserWarning, match="reads the categories of brand as numbers"):
        ranker = rr.Competence({"a": rr.GlobalRules(), "b": rr.FittedRules(max_pairs=0)}).fit(training())
    with pytest.raises(DataError, match=r"this Competence read the codes of brand as numbers.*without these features"):
        export_parts(ranker, "sql")


@pytest.mark.parametrize("given", ["names", "codes"])
def test_answers_are_checked_by_name_and_by_code(given):
    ranker = fitted("FittedRules")
    scores = ranker.predict(asked()[1]).tolist()
    rows = asked()[0].to_dicts()
    if given == "codes":
        rows = [dict(zip(ranker.feature_names_, row, strict=True)) for row in coded(ranker).astype(float).tolist()]
        rows = [{name: None if value != value else value for name, value in row.items()} for row in rows]
    answers = [{"features": row, "score": score} for row, score in zip(rows, scores, strict=True)]
    assert check_answers(ranker, answers).same
    answers[5]["score"] = scores[-1] + 1
    assert not check_answers(ranker, answers).same


def test_a_new_name_that_was_taken_for_missing_is_the_reason():
    ranker = fitted("FittedRules")
    missing = rr.from_frame(pl.DataFrame({"qid": [1], "price": [0.3], "brand": pl.Series([None], dtype=pl.Enum([]))}))
    answer = {"features": {"brand": "never seen", "price": 0.3}, "score": float(ranker.predict(missing)[0])}
    (one,) = check_answers(ranker, [answer]).answers
    assert one.why == "a name that the model does not know was taken for a missing value"


def test_a_number_that_is_no_code_is_refused_in_answers():
    with pytest.raises(DataError, match=r"brand must be the name of a category, or its code from 0 to 6: got 7"):
        check_answers(fitted("FittedRules"), [{"features": {"brand": 7}, "score": 0}])
