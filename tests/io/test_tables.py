"""Csv, tsv, parquet and data frames: what is read, what is written, and every message."""

import csv as plain_csv
import io
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulerank.dataset import Dataset
from rulerank.errors import DataError, MissingExtraError, ReadError
from rulerank.io.delimited import read_delimited
from rulerank.io.tables import from_frame, read_table, to_frame, write_table

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
values = st.floats(width=32, allow_infinity=False) | st.just(np.float32(np.nan))


@st.composite
def data_sets(draw):
    n_rows, n_features = draw(st.integers(0, 6)), draw(st.integers(0, 3))

    def column(of):
        return np.array([*draw(st.lists(of, min_size=n_rows, max_size=n_rows)), None], dtype=object)[:-1]

    reserved = ["qid", "docid", "grade", "comment"]
    names = st.lists(
        texts.filter(lambda name: name not in reserved), min_size=n_features, max_size=n_features, unique=True
    )
    return Dataset(
        np.array([column(values) for _ in range(n_features)], dtype=np.float32).reshape(n_features, n_rows).T,
        y=column(st.integers(-1, 31)).astype(np.int16),
        qid=column(texts),
        docid=column(texts) if n_rows and draw(st.booleans()) else None,
        feature_names=tuple(draw(names)),
        comment=column(texts | st.just("")) if draw(st.booleans()) else None,
    )


def assert_same(one, other):
    assert other.X.shape == one.X.shape
    assert other.X.tobytes() == np.where(np.isnan(one.X), np.float32(np.nan), one.X).tobytes()  # -0.0 stays -0.0
    assert other.feature_names == one.feature_names
    for name in ("y", "qid", "docid", "comment"):
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
    data = Dataset([[0.5, np.nan]], y=[3], qid=["007"], docid=["a\tb,c"])
    write_table(data, tmp_path / name)
    assert_same(data, read_table(tmp_path / name))


def test_a_stream_is_known_by_what_it_holds():
    data = Dataset([[0.5]], y=[3], qid=["007"])
    for format in ("csv", "tsv", "parquet"):
        file = io.BytesIO()
        write_table(data, file, format=format)
        assert_same(data, read_table(io.BytesIO(file.getvalue())))


def test_ids_in_a_csv_stay_as_they_are_written():
    data = csv("qid,docid,x\n007,1e5,1\n007, 3,2\n")
    assert data.qid.tolist() == ["007", "007"]
    assert data.qid[0] is data.qid[1]
    assert data.docid.tolist() == ["1e5", " 3"]


def test_whole_floats_are_ids_as_pandas_makes_them():
    assert from_frame(pl.DataFrame({"qid": [7.0], "docid": [1e10]})).docid.tolist() == ["10000000000"]


def test_columns_are_named_by_options():
    data = csv("query,url,stars,bm25,price\nq,u,2,0.5,9\n", qid="query", docid="url", grade="stars", features=["price"])
    assert (data.qid[0], data.docid[0], data.y[0], data.feature_names) == ("q", "u", 2, ("price",))


def test_empty_and_question_mark_grades_are_not_labelled():
    assert csv("qid,grade\na,\nb,?\nc,2\nd,2.0\ne,-1\nf, NULL\n").y.tolist() == [-1, -1, 2, 2, -1, -1]
    assert csv("qid,x\na,1\n").y.tolist() == [-1]


def test_missing_values_are_nan_however_they_are_written():
    assert np.isnan(csv("qid,x\na,\na,NaN\na,NULL\na,NA\na, nan\n").X).all()


def test_spaces_around_numbers_do_not_matter():
    assert csv("qid,x,y\na, 1.5 ,2\nb,2 , 3\n").X.tolist() == [[1.5, 2], [2, 3]]


@pytest.mark.parametrize("text", ["qid,x\na,true\nb,false\n", "qid,x\na,True\nb,False\n"])
def test_booleans_are_features(text):
    assert csv(text).X.tolist() == [[1], [0]]


def test_booleans_with_gaps_are_nan_there():
    assert np.isnan(csv("qid,x\na,true\nb,\n").X[1, 0])


def test_text_columns_are_left_out_and_named():
    with pytest.warns(UserWarning, match=r"left out because they do not hold numbers: 'film' \(String\)") as caught:
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


def test_a_text_cannot_be_named_as_a_feature():
    data = Dataset([[1.0]], [0], ["q"], feature_names=("title",), texts={"title": ["a"]})
    with pytest.raises(DataError, match="a feature or text cannot be named 'title', which a table uses"):
        to_frame(data)


def test_dates_are_left_out_and_named():
    frame = pl.DataFrame({"qid": ["a"], "day": [0], "x": [1]}).with_columns(pl.col("day").cast(pl.Date))
    with pytest.warns(UserWarning, match=r"'day' \(Date\)"):
        assert from_frame(frame).feature_names == ("x",)


def test_naming_the_features_leaves_out_the_others_without_a_word():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert csv("qid,title,x\na,Dr No,1\n", features=["x"]).feature_names == ("x",)


def test_blank_lines_byte_order_mark_and_crlf_are_passed_over():
    data = csv(b"\xef\xbb\xbf\r\nqid,x\r\n\r\na,1\r\n\r\nb,2\r\n\r\n")
    assert (data.qid.tolist(), data.X.tolist()) == (["a", "b"], [[1], [2]])


def test_an_empty_docid_column_is_no_docid_column():
    assert csv("qid,docid\na,\nb,\n").docid is None


def test_a_comment_column_can_be_asked_for_as_a_feature():
    assert csv("qid,comment\na,3\n").comment.tolist() == ["3"]
    assert csv("qid,comment\na,3\n", features=["comment"]).X.tolist() == [[3]]


MISTAKES = {
    "": "t.csv: the file is empty",
    "\n \n": "t.csv: the file is empty: expected a line of column names",
    "query,x\na,1\n": "t.csv: there is no column 'qid'; the columns are query, x; "
    "name the column of the query id (qid=..., on the command line --qid ...)",
    "qid;x\na;1,5\n": "t.csv:1: expected column names with a comma between them, got 'qid;x': "
    "the separator seems to be a semicolon, but csv has commas and tsv has tabs",
    "qid,x,x\na,1,2\n": "t.csv:1: column names must differ: 'x' is there twice",
    ",qid,x\n0,a,1\n": "t.csv: a column has no name; "
    "name it, take it away or choose others (features=..., on the command line --features ...)",
    "qid,x\na,1\nb,1,2\n": "t.csv:3: expected 2 columns as in the first line, got 3",
    'qid,x,y\n"a\nb",1,2\n\nb,1\n': "t.csv:5: expected 3 columns as in the first line, got 2",
    "qid,x\na,1\n\nb,abc\n": "t.csv:4: expected a number in column 'x', got 'abc'; "
    "if the column is not a feature, name those that are (features=..., on the command line --features ...)",
    "qid,x\na,1\nb,1e300\n": "t.csv:3: expected finite numbers that fit in 32 bits in column 'x', got inf",
    "qid,x\na,-inf\n": "t.csv:2: expected finite numbers that fit in 32 bits in column 'x', got -inf",
    "qid,x\na,1\n,2\n": "t.csv:3: expected a query id in column 'qid', got nothing",
    'qid,x\na,1\n"b,2\n': 't.csv:3: a quote (") is opened and never closed; inside a quoted field write it twice',
    **{
        f"qid,x\na,1\n{row}\n": 't.csv:3: a quote (") is inside a field; '
        "write it twice, and one more around the whole field"
        for row in ('5" disk,2\n6" disk,2', 'b"c,2', '"b"c"d",2', ' "b,c",2', '"b" ,2', 'b"",2', '""b"",2')
    },
    "qid,x\ra,1\r": "t.csv:1: a carriage return is inside a line; end lines with \\n, or quote the field",
    f"qid,{'x' * 140_000}\na,1\n": "t.csv:1: expected a line of column names: field larger than field limit (131072)",
    b"qid,x\na,1\n\xff,2\n": "t.csv:3: expected UTF-8 text, got the byte 0xff",
} | {
    f"qid,grade\na,1\nb,{grade}\n": "t.csv:3: expected a whole number from 0 to 31 as the grade, "
    f"or nothing or ? for not labelled, got '{grade}' in column 'grade'"
    for grade in ("1.5", "-3", "abc", "32", "inf")
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_in_a_csv_is_named_by_file_and_line(text):
    with pytest.raises(ReadError) as caught:
        csv(text)
    assert str(caught.value) == MISTAKES[text]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"docid": "url"},
            "there is no column 'url'; the columns are qid, title; "
            "name the column of the document id (docid=..., on the command line --docid ...)",
        ),
        (
            {"grade": "g"},
            "there is no column 'g'; the columns are qid, title; "
            "name the column of the grade (grade=..., on the command line --grade ...)",
        ),
        (
            {"features": ["x"]},
            "there is no column 'x'; the columns are qid, title; "
            "name the columns of the features (features=..., on the command line --features ...)",
        ),
        ({"features": ["qid"]}, "column 'qid' cannot be a feature: it is the qid, docid or grade"),
    ],
)
def test_a_column_that_was_named_must_be_there(options, message):
    with pytest.raises(ReadError) as caught:
        csv("qid,title\na,Live\n", **options)
    assert str(caught.value) == f"t.csv: {message}"


def test_a_table_can_be_asked_for_grades():
    assert csv("qid,g,x\na,1,2\n", grade="g", graded=True).y.tolist() == [1]
    with pytest.raises(
        ReadError, match=r"^t\.csv: there is no column 'grade'; the columns are qid, x; name the column of"
    ):
        csv("qid,x\na,1\n", graded=True)


def test_of_many_columns_only_a_few_are_listed():
    with pytest.raises(ReadError, match=r"the columns are x0, x1, x2, \.\.\. x39; name the column of the query id"):
        csv(",".join(f"x{i}" for i in range(40)) + "\n")


def test_text_in_a_feature_that_was_named_is_a_mistake():
    with pytest.raises(ReadError, match=r"^t.csv:2: expected a number in column 'title', got 'Live'"):
        csv("qid,title\na,Live\nb,Let Die\n", features=["title"])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"x": [1]},
            "there is no column 'qid'; the columns are x; "
            "name the column of the query id (qid=..., on the command line --qid ...)",
        ),
        ({"qid": [1.5]}, "column 'qid' must hold text or whole numbers: it holds Float64"),
        ({"qid": [True]}, "column 'qid' must hold text or whole numbers: it holds Boolean"),
        ({"qid": ["a", None]}, "row 1: expected a query id in column 'qid', got nothing"),
        ({"qid": ["a"], "grade": [[1]]}, "column 'grade' must hold grades: it holds List(Int64)"),
        (
            {"qid": ["a"], "grade": [1.5]},
            "row 0: expected a whole number from 0 to 31 as the grade, or nothing or ? for not labelled, got 1.5 "
            "in column 'grade'",
        ),
        (
            {"qid": ["a", "a"], "x": [0.0, float("inf")]},
            "row 1: expected finite numbers that fit in 32 bits in column 'x', got inf",
        ),
    ],
)
def test_a_mistake_in_a_frame_is_named_by_row(columns, message):
    with pytest.raises(DataError) as caught:
        from_frame(pl.DataFrame(columns))
    assert str(caught.value) == message


def test_a_mistake_in_a_parquet_file_is_named_by_file_and_row(tmp_path):
    pl.DataFrame({"qid": ["a", None]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(ReadError, match=r"t.parquet: row 1: expected a query id in column 'qid', got nothing$"):
        read_table(tmp_path / "t.parquet")
    with pytest.raises(ReadError, match=r"t.parquet: there is no column 'q'; "):
        read_table(tmp_path / "t.parquet", qid="q")


def test_a_feature_that_was_named_must_hold_numbers():
    with pytest.raises(DataError, match=r"^column 'title' must hold numbers: it holds String$"):
        from_frame(pl.DataFrame({"qid": ["a"], "title": ["Live"]}), features=["title"])


def test_what_is_not_a_parquet_file_is_said():
    with pytest.raises(ReadError, match=r"^<stream>: expected a parquet file, got something else or a damaged one: "):
        read_table(io.BytesIO(b"qid,x\na,1\n"), format="parquet")


@given(st.data())
def test_a_damaged_file_is_read_or_refused_with_a_read_error(data):
    format = data.draw(st.sampled_from(["csv", "tsv", "parquet"]))
    file = io.BytesIO()
    write_table(Dataset([[0.5, 1e-7], [2, 3]], y=[1, -1], qid=['a"b', "c\nd"], docid=["é", ""]), file, format=format)
    content = bytearray(file.getvalue())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    del content[data.draw(st.integers(1, len(content))) :]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            read = read_table(io.BytesIO(bytes(content)), format=format)
        except ReadError:
            return
    assert read.X.shape == (len(read.qid), len(read.feature_names))


def test_a_pandas_frame_with_a_column_twice_is_refused():
    frame = pd.DataFrame([["a", 1, 2]], columns=["qid", "x", "x"])
    with pytest.raises(DataError, match=r"^column names must differ: 'x' is there twice$"):
        read_table(frame)


def test_a_pandas_column_of_mixed_types_is_refused():
    with pytest.raises(DataError, match=r"^a column of the pandas frame mixes types: "):
        read_table(pd.DataFrame({"qid": ["a", 1]}, dtype=object))


def test_pandas_columns_may_be_numbered():
    assert read_table(pd.DataFrame({"qid": ["a"], 0: [0.5]})).feature_names == ("0",)


def test_a_pandas_frame_needs_pyarrow(monkeypatch):
    def from_pandas(frame):
        raise ModuleNotFoundError("pyarrow")

    monkeypatch.setattr(pl, "from_pandas", from_pandas)
    with pytest.raises(MissingExtraError, match="this needs pyarrow"):
        read_table(pd.DataFrame({"qid": ["a"]}))


def test_pandas_is_not_imported_to_look_at_a_polars_frame(monkeypatch):
    monkeypatch.delitem(sys.modules, "pandas")
    read_table(pl.DataFrame({"qid": ["a"]}))
    assert "pandas" not in sys.modules


def test_what_is_not_a_frame_is_refused():
    with pytest.raises(DataError, match=r"^expected a Polars or pandas data frame, got dict$"):
        from_frame({"qid": ["a"]})


@pytest.mark.parametrize("target", ["t.xlsx", "-"])
def test_a_name_that_is_no_table_is_refused(target):
    with pytest.raises(
        DataError, match=r"^expected a table's format, csv, tsv, parquet, got .*; name it with format=$"
    ):
        write_table(Dataset([[0.5]], [1], ["a"]), target)
    with pytest.raises(DataError, match=r"^expected a table's format, csv, tsv, parquet, got 'xlsx'"):
        csv("qid\na\n", format="xlsx")


def test_a_feature_cannot_have_the_name_of_another_column():
    with pytest.raises(
        DataError, match=r"^a feature or text cannot be named 'grade', which a table uses for another column"
    ):
        to_frame(Dataset([[0.5]], [1], ["a"], feature_names=("grade",)))


@given(st.lists(st.text('ab",\n\r', max_size=6), min_size=2, max_size=4))
def test_quoting_agrees_with_the_csv_module(rows):
    """Whatever is accepted means the same to both; the csv module accepts more."""
    content = "\n".join(["qid,x", *rows]) + "\n"
    try:
        frame, lines = read_delimited(content.encode(), "t.csv", text=["qid", "x"])
    except ReadError:
        return
    cells = [row for row in plain_csv.reader(io.StringIO(content, newline="")) if row][1:]
    assert [[cell or "" for cell in row] for row in frame.rows()] == cells
    assert len(lines) == len(cells)


numbers = st.one_of(
    st.floats(width=32).map(str),
    st.floats().map(repr),
    st.integers().map(str),
    st.sampled_from(["", "+1", ".5", "5.", "-0"]),
)


@given(st.lists(numbers, min_size=1, max_size=5))
def test_numbers_read_at_once_are_those_read_cell_by_cell(cells):
    text = "".join(f"q,{cell}\n" for cell in cells)
    fast, _ = read_delimited(f"qid,x\n{text}".encode(), "t.csv", text=["qid"])
    slow, _ = read_delimited(f"qid,x\n{text}q,NULL\n".encode(), "t.csv", text=["qid"])
    assert fast["x"].fill_nan(None).equals(slow["x"][:-1].fill_nan(None))
    with np.errstate(over="ignore"):
        expected = [None if cell in ("", "nan") else float(np.float32(cell)) for cell in cells]
    assert fast["x"].fill_nan(None).to_list() == expected
