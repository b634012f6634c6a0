"""Csv, tsv, parquet and data frames: what is read and written; which columns are features, texts, categories, ids."""

import io
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulerank.dataset import Dataset
from rulerank.errors import DataError
from rulerank.io.columns import ID_NAME
from rulerank.io.tables import from_frame, read_table, to_frame, write_table

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)
values = st.floats(width=32, allow_infinity=False) | st.just(np.float32(np.nan))


@st.composite
def data_sets(draw):
    n_rows, n_features = draw(st.integers(0, 6)), draw(st.integers(0, 3))

    def column(of, unique=False):
        cells = draw(st.lists(of, min_size=n_rows, max_size=n_rows, unique=unique))
        return np.array([*cells, None], dtype=object)[:-1]

    reserved = ["qid", "docid", "grade", "comment"]
    free = texts.filter(lambda name: name not in reserved and not ID_NAME.search(name))
    names = st.lists(free, min_size=n_features, max_size=n_features, unique=True)
    return Dataset(
        np.array([column(values) for _ in range(n_features)], dtype=np.float32).reshape(n_features, n_rows).T,
        y=column(st.integers(-1, 31)).astype(np.int16),
        qid=column(texts),
        docid=column(texts, unique=True) if n_rows and draw(st.booleans()) else None,
        feature_names=tuple(draw(names)),
        texts={"comment": column(texts)} if draw(st.booleans()) else {},
    )


def assert_same(one, other):
    assert other.X.shape == one.X.shape
    assert other.X.tobytes() == np.where(np.isnan(one.X), np.float32(np.nan), one.X).tobytes()  # -0.0 stays -0.0
    assert other.feature_names == one.feature_names
    assert {name: own.tolist() for name, own in one.texts.items()} == {
        n: own.tolist() for n, own in other.texts.items()
    }
    for name in ("y", "qid", "docid"):
        ours, theirs = getattr(one, name), getattr(other, name)
        assert (ours is None) == (theirs is None), name
        assert ours is None or ours.tolist() == theirs.tolist(), name


def csv(text, **options):
    file = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    file.name = "t.csv"
    return read_table(file, **options)


@pytest.mark.parametrize("format", ["csv", "tsv", "parquet"])
@given(data=data_sets())
def test_writing_and_reading_a_table_is_the_identity(format, data):
    file = io.BytesIO()
    cells = [*data.qid, *data.feature_names, *([] if data.docid is None else data.docid)]
    cells += [cell for own in data.texts.values() for cell in own]
    if format == "tsv" and any(set(cell) & set("\t\n\r") for cell in cells):
        with pytest.raises(DataError, match="a tsv cannot hold a tab or a line end in a cell"):
            write_table(data, file, format=format)
        return
    write_table(data, file, format=format)
    assert_same(data, read_table(io.BytesIO(file.getvalue()), format=format))


@given(data=data_sets())
def test_frames_hold_the_same_as_the_data_set(data):
    frame = to_frame(data)
    assert_same(data, from_frame(frame))
    assert_same(data, read_table(frame.lazy()))


def test_a_pandas_frame_reads_as_the_polars_one():
    frame = pl.DataFrame(
        {
            "qid": [7, 7, 8],
            "docid": ["a", "b", None],
            "grade": [1, None, 0],
            "x": [0.5, None, 2],
            "new": [True, False, True],
        }
    )
    data = read_table(frame.to_pandas())
    assert_same(from_frame(frame), data)
    assert data.qid.tolist() == ["7", "7", "8"]
    assert data.docid.tolist() == ["a", "b", ""]
    assert data.y.tolist() == [1, -1, 0]
    assert data.X.tolist()[0] == [0.5, 1.0]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet", "t.csv.gz", "T.PARQUET"])
def test_the_name_says_the_format(tmp_path, name):
    data = Dataset([[0.5, np.nan]], y=[3], qid=["007"], docid=['a"b,c'])
    write_table(data, tmp_path / name)
    assert_same(data, read_table(tmp_path / name))


def test_ids_in_a_csv_stay_as_they_are_written():
    data = csv("qid,docid,x\n007,1e5,1\n007, 3,2\n")
    assert data.qid.tolist() == ["007", "007"]
    assert data.qid[0] is data.qid[1]
    assert data.docid.tolist() == ["1e5", " 3"]


def test_columns_are_named_by_options():
    data = csv("query,url,stars,bm25,price\nq,u,2,0.5,9\n", qid="query", docid="url", grade="stars", features=["price"])
    assert (data.qid[0], data.docid[0], data.y[0], data.feature_names) == ("q", "u", 2, ("price",))


def test_empty_and_question_mark_grades_are_not_labelled():
    assert csv("qid,grade\na,\nb,?\nc,2\nd,2.0\ne,-1\nf, NULL\n").y.tolist() == [-1, -1, 2, 2, -1, -1]
    assert csv("qid,x\na,1\n").y.tolist() == [-1]


def test_missing_values_are_nan_however_they_are_written():
    assert np.isnan(csv("qid,x\na,\na,NaN\na,NULL\na,NA\na, nan\n").X).all()


def test_blank_lines_byte_order_mark_and_crlf_are_passed_over():
    data = csv(b"\xef\xbb\xbf\r\nqid,x\r\n\r\na,1\r\n\r\nb,2\r\n\r\n")
    assert (data.qid.tolist(), data.X.tolist()) == (["a", "b"], [[1], [2]])


def test_an_empty_docid_column_is_no_docid_column():
    assert csv("qid,docid\na,\nb,\n").docid is None


def test_a_comment_column_can_be_asked_for_as_a_feature():
    assert csv("qid,comment\na,3\n").texts["comment"].tolist() == ["3"]
    assert csv("qid,comment\na,3\n", features=["comment"]).X.tolist() == [[3]]


@pytest.mark.parametrize("text", ["qid,x\na,true\nb,false\n", "qid,x\na,True\nb,False\n"])
def test_booleans_are_features(text):
    assert csv(text).X.tolist() == [[1], [0]]


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


def test_a_text_of_any_name_is_marked_and_reads_back():
    frame = to_frame(Dataset([[1.0]], [0], ["q"], feature_names=("year",), texts={"year": ["1984"], "grade": ["B"]}))
    assert frame.columns == ["qid", "grade", "year", "year:field", "grade:field"]
    data = from_frame(frame)
    assert {name: texts.tolist() for name, texts in data.texts.items()} == {"year": ["1984"], "grade": ["B"]}
    assert data.feature_names == ("year",)


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


def test_texts_of_a_file_are_categories_where_a_model_wants_them():
    data = csv("qid,brand,x\na,lg,1\na,,2\na,sony,3\n", wanted=("brand", "x"))
    assert data.categories == {"brand": ("lg", "sony")}
    assert np.array_equal(data.X[:, 0], [0, np.nan, 1], equal_nan=True)


def test_naming_the_features_leaves_out_the_others_without_a_word():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert csv("qid,title,x\na,Dr No,1\n", features=["x"]).feature_names == ("x",)


@pytest.mark.parametrize("name", ["id", "ID", "product_id", "productId", "Product ID", "item-id", "docid2.id", "sku"])
def test_a_column_named_as_ids_are_is_left_out(name):
    frame = pl.DataFrame({"qid": [1, 1], "bm25": [1, 2], name: [3, 3]})
    with pytest.warns(UserWarning, match=f"because they look like ids: {name!r}; to keep one, name all features"):
        assert from_frame(frame).feature_names == ("bm25",)
    assert from_frame(frame, features=[name]).feature_names == (name,)
    fractions = pl.DataFrame({"qid": [1, 1], "bm25": [1, 2], name: [0.5, 3]})
    assert from_frame(fractions).feature_names == ("bm25", name)


@pytest.mark.parametrize("name", ["grid", "bid", "paid", "width", "covid", "idf", "n_ids_seen"])
def test_a_column_that_only_ends_like_an_id_is_a_feature(name):
    assert from_frame(pl.DataFrame({"qid": [1, 1], name: [3, 4]})).feature_names == (name,)
