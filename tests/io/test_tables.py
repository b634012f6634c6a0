"""Csv, tsv, parquet and data frames: what is read, what is written, and every message."""

import io

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulerank.dataset import Dataset
from rulerank.errors import DataError
from rulerank.io.tables import from_frame, read_table, to_frame, write_table

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
values = st.floats(width=32, allow_infinity=False) | st.just(np.float32(np.nan))


@st.composite
def data_sets(draw):
    n_rows, n_features = draw(st.integers(0, 6)), draw(st.integers(0, 3))

    def column(of, unique=False):
        cells = draw(st.lists(of, min_size=n_rows, max_size=n_rows, unique=unique))
        return np.array([*cells, None], dtype=object)[:-1]

    reserved = ["qid", "docid", "grade", "comment"]
    names = st.lists(
        texts.filter(lambda name: name not in reserved), min_size=n_features, max_size=n_features, unique=True
    )
    return Dataset(
        np.array([column(values) for _ in range(n_features)], dtype=np.float32).reshape(n_features, n_rows).T,
        y=column(st.integers(-1, 31)).astype(np.int16),
        qid=column(texts),
        docid=column(texts, unique=True) if n_rows and draw(st.booleans()) else None,
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
    cells = [*data.qid, *data.feature_names, *([] if data.docid is None else data.docid)]
    cells += [] if data.comment is None else [*data.comment]
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


def test_blank_lines_byte_order_mark_and_crlf_are_passed_over():
    data = csv(b"\xef\xbb\xbf\r\nqid,x\r\n\r\na,1\r\n\r\nb,2\r\n\r\n")
    assert (data.qid.tolist(), data.X.tolist()) == (["a", "b"], [[1], [2]])


def test_an_empty_docid_column_is_no_docid_column():
    assert csv("qid,docid\na,\nb,\n").docid is None


def test_a_comment_column_can_be_asked_for_as_a_feature():
    assert csv("qid,comment\na,3\n").comment.tolist() == ["3"]
    assert csv("qid,comment\na,3\n", features=["comment"]).X.tolist() == [[3]]
