"""Which columns of a table are features, texts, categories or ids."""

import io
import warnings

import numpy as np
import polars as pl
import pytest

from rulerank.dataset import Dataset
from rulerank.errors import DataError
from rulerank.io.tables import from_frame, read_table, to_frame, write_table


def csv(text, **options):
    file = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    file.name = "t.csv"
    return read_table(file, **options)


@pytest.mark.parametrize("text", ["qid,x\na,true\nb,false\n", "qid,x\na,True\nb,False\n"])
def test_booleans_are_features(text):
    assert csv(text).X.tolist() == [[1], [0]]


def test_booleans_with_gaps_are_nan_there():
    assert np.isnan(csv("qid,x\na,true\nb,\n").X[1, 0])


def test_text_columns_are_left_out_and_named():
    with pytest.warns(UserWarning, match=r"'film' \(String\); to read one as a category, .*film:category") as caught:
        data = csv("qid,film,x\na,Dr No,1\na,Live,2\na,1984,3\n")
    assert data.feature_names == ("x",)
    assert caught[0].filename == __file__


def test_columns_of_texts_that_people_read_are_kept_beside_the_features():
    data = csv("qid,title,query_text,x\na,Dr No,bond,1\na,,bond,2\n")
    assert data.feature_names == ("x",)
    assert {name: texts.tolist() for name, texts in data.texts.items()} == {
        "title": ["Dr No", None],
        "query_text": ["bond", "bond"],
    }


TEXTS_AND_CATEGORIES = Dataset(
    [[0.5, 1.0, 0.0], [0.1, np.nan, 2.0]],
    y=[1, -1],
    qid=["q", "q"],
    docid=["1", "2"],
    feature_names=("bm25(title)", "brand", "shelf"),
    texts={"query_text": np.array(["milk", "milk"], dtype=object), "title": np.array(["1984", None], dtype=object)},
    categories={"brand": ("a|b", "c, 100%", "never seen"), "shelf": ("1", "2", "3")},
)


@pytest.mark.parametrize("format", ["csv", "tsv", "parquet"])
def test_texts_and_categories_read_back_as_they_were_written(format):
    out = io.BytesIO()
    write_table(TEXTS_AND_CATEGORIES, out, format=format)
    again = read_table(io.BytesIO(out.getvalue()), format=format)
    assert again.feature_names == TEXTS_AND_CATEGORIES.feature_names
    assert again.categories == TEXTS_AND_CATEGORIES.categories
    assert np.array_equal(again.X, TEXTS_AND_CATEGORIES.X, equal_nan=True)
    assert {n: t.tolist() for n, t in again.texts.items()} == {"query_text": ["milk", "milk"], "title": ["1984", None]}


def test_categories_of_a_frame_become_features():
    frame = pl.DataFrame({"qid": ["a", "a"], "brand": pl.Series(["sony", None], dtype=pl.Categorical)})
    data = from_frame(frame)
    assert data.categories == {"brand": ("sony",)}
    pandas = pytest.importorskip("pandas")
    column = pandas.Categorical(["lg", None], categories=["sony", "lg"])
    data = from_frame(pandas.DataFrame({"qid": ["a", "a"], "brand": column}))
    assert data.categories == {"brand": ("sony", "lg")}
    assert data.X[0, 0] == 1
    assert np.isnan(data.X[1, 0])


def test_a_csv_may_mark_a_column_as_a_category():
    data = csv("qid,brand:category\na,sony\na,\na,lg\n")
    assert (data.feature_names, data.categories) == (("brand",), {"brand": ("lg", "sony")})
    assert np.array_equal(data.X[:, 0], [1, np.nan, 0], equal_nan=True)


def test_a_marked_column_must_not_repeat_another():
    with pytest.raises(DataError, match="column names must differ: 'a' is there twice, once with a mark"):
        csv("qid,a,a:text\nq,1,2\n")


def test_a_text_of_any_name_is_marked_and_reads_back():
    frame = to_frame(Dataset([[1.0]], [0], ["q"], feature_names=("year",), texts={"year": ["1984"], "grade": ["B"]}))
    assert frame.columns == ["qid", "grade", "year", "year:field", "grade:field"]
    data = from_frame(frame)
    assert {name: texts.tolist() for name, texts in data.texts.items()} == {"year": ["1984"], "grade": ["B"]}
    assert data.feature_names == ("year",)


def test_a_text_cannot_be_named_as_a_feature():
    data = Dataset([[1.0]], [0], ["q"], feature_names=("title",), texts={"title": ["a"]})
    with pytest.raises(DataError, match="a feature or text cannot be named 'title', which a table uses"):
        to_frame(data)


DATES = Dataset(
    [[20775.0, 20775.5], [np.nan, -1.25]], [1, 0], ["a", "a"], feature_names=("day", "time"), dates=("day", "time")
)


@pytest.mark.parametrize("format", ["csv", "tsv", "parquet"])
def test_dates_read_back_as_they_were_written(format):
    out = io.BytesIO()
    write_table(DATES, out, format=format)
    assert b"day:date" in out.getvalue() or format == "parquet"
    again = read_table(io.BytesIO(out.getvalue()), format=format)
    assert (again.feature_names, again.dates) == (("day", "time"), ("day", "time"))
    assert np.array_equal(again.X, DATES.X, equal_nan=True)
    assert Dataset.concat([again, DATES]).dates == again[:1].dates == ("day", "time")


def test_a_csv_column_that_is_marked_as_a_date_must_hold_dates():
    assert np.isnan(csv("qid,day:date,x\na,,1\n").X[0, 0])
    with pytest.raises(DataError, match=r"^column 'day' must hold dates such as 2026-11-18, or nothing where one is"):
        csv("qid,day:date\na,2026-11-18\na,soon\n")


def test_texts_of_a_file_are_categories_where_a_model_wants_them():
    data = csv("qid,brand,x\na,lg,1\na,,2\na,sony,3\n", wanted=("brand", "x"))
    assert data.categories == {"brand": ("lg", "sony")}
    assert np.array_equal(data.X[:, 0], [0, np.nan, 1], equal_nan=True)


def test_naming_the_features_leaves_out_the_others_without_a_word():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert csv("qid,title,x\na,Dr No,1\n", features=["x"]).feature_names == ("x",)


def test_whole_numbers_that_all_differ_in_several_queries_look_like_ids():
    n = 60
    columns = {
        "qid": np.arange(n) // 6,
        "number": np.random.default_rng(0).permutation(n) + 1000,  # one of its own for every row
        "as_float": np.arange(n) * 10.0,
        "price": np.arange(n) % 59,  # two rows have the same
        "bm25": np.linspace(0, 1, n),  # all different too, but no whole numbers
    }
    with pytest.warns(UserWarning, match=r"because they look like ids: 'number', 'as_float'; to keep one, name all"):
        assert from_frame(pl.DataFrame(columns)).feature_names == ("price", "bm25")
    assert from_frame(pl.DataFrame(columns), features=["number"]).feature_names == ("number",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few = pl.DataFrame(columns)[:49]  # so few may differ by chance
        assert from_frame(few).feature_names == ("number", "as_float", "price", "bm25")
        one_query = pl.DataFrame(columns | {"qid": np.zeros(n, dtype=int)})
        assert "number" in from_frame(one_query).feature_names


@pytest.mark.parametrize("name", ["id", "ID", "product_id", "productId", "Product ID", "item-id", "docid2.id", "sku"])
def test_a_column_named_as_ids_are_is_left_out(name):
    frame = pl.DataFrame({"qid": [1, 1], "bm25": [1, 2], name: [3, 3]})
    with pytest.warns(UserWarning, match="look like ids"):
        assert from_frame(frame).feature_names == ("bm25",)
    fractions = pl.DataFrame({"qid": [1, 1], "bm25": [1, 2], name: [0.5, 3]})
    assert from_frame(fractions).feature_names == ("bm25", name)


@pytest.mark.parametrize("name", ["grid", "bid", "paid", "width", "covid", "idf", "n_ids_seen"])
def test_a_column_that_only_ends_like_an_id_is_a_feature(name):
    assert from_frame(pl.DataFrame({"qid": [1, 1], name: [3, 4]})).feature_names == (name,)
