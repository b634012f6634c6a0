"""Tables that hold mistakes: every message names the file, the line or the row, and what to do."""

import io
import sys
import warnings

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulerank.dataset import Dataset
from rulerank.errors import DataError, MissingExtraError, ReadError
from rulerank.io.tables import from_frame, read_table, to_frame, write_table


def csv(text, **options):
    file = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    file.name = "t.csv"
    return read_table(file, **options)


MISTAKES = {
    "": "t.csv: the file is empty",
    "\n \n": "t.csv: the file is empty: expected a line of column names",
    "query,x\na,1\n": "t.csv: there is no column 'qid'; the columns are query, x; "
    "name the column of the query id (qid=..., on the command line --qid ...)",
    "qid,x,x\na,1,2\n": "t.csv: column names must differ: 'x' appears twice",
    "qid,x,x:text\na,1,2\n": "t.csv: column names must differ: 'x' appears twice",
    "qid,day:date\na,monday\n": "t.csv: column 'day' must hold dates such as 2026-11-18, or nothing where one is "
    "missing",
    ",qid,x\n0,a,1\n": "t.csv: a column has no name; "
    "name it, remove it, or choose columns (features=..., on the command line --features ...)",
    "qid,x\na,1\nb,1,2\n": "t.csv:3: expected 2 columns as in the first line, got 3",
    'qid,x,y\n"a\nb",1,2\n\nb,1\n': "t.csv:5: expected 3 columns as in the first line, got 2",
    "qid,x\na,1\n\nb,abc\n": "t.csv:4: expected a number in column 'x', got 'abc'; "
    "if the column is not a feature, name those that are (features=..., on the command line --features ...)",
    "qid,x\na,1\nb,1e300\n": "t.csv:3: expected finite numbers that fit in 32 bits in column 'x', got inf",
    "qid,x\na,-inf\n": "t.csv:2: expected finite numbers that fit in 32 bits in column 'x', got -inf",
    "qid,docid\na,b\na,b\0c\n": r"t.csv:3: an id must not hold the character NUL: got 'b\x00c' in column 'docid'",
    "qid,x\na,1\n,2\n": "t.csv:3: expected a query id in column 'qid', got nothing",
    **{
        f"qid,x\na,1\n{row}\n": 't.csv:3: a quote (") is opened and not closed, or inside a field: write it twice, and '
        "one more around the field"
        for row in ('"b,2', '"b"c"d",2', '"b" ,2', '""b"",2')
    },
    "qid,x\ra,1\r": "t.csv:1: a carriage return is inside a line; end lines with \\n",
    b"qid,x\na,1\n\xff,2\n": "t.csv:3: expected UTF-8 text, got the byte 0xff",
} | {
    f"qid,grade\na,1\nb,{grade}\n": "t.csv:3: expected a whole number from 0 to 31 as the grade, "
    f"or nothing or ? for not labelled, got '{grade}' in column 'grade'"
    for grade in ("1.5", "-3", "abc", "32", "inf")
}


def test_documents_in_json_are_told_from_a_table_whatever_their_name():
    with pytest.raises(ReadError, match=r"^<stream>: this is JSON, as files of documents are, .* `rulerank features`"):
        read_table(io.BytesIO(b'{"id": "d1", "title": "a \\"quoted\\" word, and more"}\n'))


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_in_a_csv_is_named_by_file_and_line(text):
    with pytest.raises(ReadError) as caught:
        csv(text)
    assert str(caught.value) == MISTAKES[text]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"docid": "url"}, "there is no column 'url'; the columns are qid, title; name the column of the document id"),
        ({"grade": "g"}, "there is no column 'g'; the columns are qid, title; name the column of the grade (grade=..."),
        ({"features": ["x"]}, "there is no column 'x'; the columns are qid, title; name the columns of the features"),
        ({"features": ["qid"]}, "column 'qid' cannot be a feature: it is an id, the grade, or of a click log or of"),
        ({"features": ["title"]}, "expected a number in column 'title', got 'Live'"),
        ({"graded": True}, "there is no column 'grade'; the columns are qid, title; name the column of"),
    ],
)
def test_a_column_that_was_named_must_be_there(options, message):
    with pytest.raises(ReadError) as caught:
        csv("qid,title\na,Live\n", **options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"x": [1]},
            "there is no column 'qid'; the columns are x; name the column of the query id (qid=..., on the command "
            "line --qid ...)",
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


def test_a_feature_that_was_named_must_hold_numbers_names_or_dates():
    with pytest.raises(
        DataError, match=r"^column 'tags' holds List\(String\), which cannot be a feature: leave it out"
    ):
        from_frame(pl.DataFrame({"qid": ["a"], "tags": [["Live"]]}), features=["tags"])


def test_what_is_not_a_parquet_file_is_said():
    with pytest.raises(ReadError, match=r"^<stream>: expected a parquet file, got something else or a damaged one: "):
        read_table(io.BytesIO(b"qid,x\na,1\n"), format="parquet")


@given(st.data())
def test_a_damaged_file_is_read_or_refused_with_a_read_error(data):
    format = data.draw(st.sampled_from(["csv", "tsv", "parquet"]))
    file = io.BytesIO()
    write_table(Dataset([[0.5, 1e-7], [2, 3]], y=[1, -1], qid=['a"b', "c;d"], docid=["é", ""]), file, format=format)
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
    with pytest.raises(DataError, match=r"^column names must differ: 'x' appears twice$"):
        read_table(frame)


def test_a_pandas_column_of_mixed_types_is_refused():
    with pytest.raises(DataError, match=r"^column 'qid' of the pandas frame has no type that can be read"):
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
