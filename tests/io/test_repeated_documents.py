"""A document that appears twice in one query is an error that names both places, in every format."""

import io

import pandas as pd
import polars as pl
import pytest

from rulerank.errors import DataError, ReadError
from rulerank.io.formats import read_any
from rulerank.io.letor import read_letor
from rulerank.io.tables import from_frame, read_table

LETOR = b"2 qid:1 1:0.5 #docid = a\n# a comment\n0 qid:1 1:0.1 #docid = b\n1 qid:2 1:3 # a\n0 qid:1 1:9 # a again\n"
ROWS = {"qid": ["1", "1", "2", "1"], "docid": ["a", "b", "a", "a"], "grade": [2, 0, 1, 0], "f": [0.5, 0.1, 3.0, 9.0]}
TWICE = "document 'a' of query '1' appears twice, first in {}: keep one of them, or give them different ids"


def test_letor_names_both_lines():
    with pytest.raises(ReadError) as caught:
        read_letor(io.BytesIO(LETOR))
    assert str(caught.value) == f"<stream>:5: {TWICE.format('line 1')}"
    assert read_letor(io.BytesIO(LETOR), repeats=True).docid.tolist() == ["a", "b", "a", "a"]


def test_csv_names_both_lines():
    csv = b"qid,docid,grade,f\n1,a,2,0.5\n\n1,b,0,0.1\n2,a,1,3\n1,a,0,9\n"
    with pytest.raises(ReadError) as caught:
        read_any(io.BytesIO(csv))
    assert str(caught.value) == f"<stream>:6: {TWICE.format('line 2')}"
    assert len(read_table(io.BytesIO(csv), repeats=True)) == 4


def test_parquet_and_frames_name_both_rows():
    file = io.BytesIO()
    pl.DataFrame(ROWS).write_parquet(file)
    with pytest.raises(ReadError) as caught:
        read_table(io.BytesIO(file.getvalue()))
    assert str(caught.value) == f"<stream>: row 3: {TWICE.format('row 0')}"
    for frame in (pl.DataFrame(ROWS), pd.DataFrame(ROWS)):
        with pytest.raises(DataError) as caught:
            from_frame(frame)
        assert str(caught.value) == f"row 3: {TWICE.format('row 0')}"


def test_documents_without_ids_are_different_ones():
    assert len(read_letor(io.BytesIO(b"1 qid:1 1:2\n1 qid:1 1:2\n0 qid:1 1:3 # a\n"))) == 3
    assert len(from_frame(pl.DataFrame(ROWS | {"docid": ["", None, "", ""]}))) == 4
    assert len(from_frame(pl.DataFrame(ROWS).drop("docid"))) == 4


def test_two_judges_may_grade_a_document_and_one_only_once():
    frame = pl.DataFrame(ROWS | {"who": ["ann", "ann", "ann", "bob"]})
    assert read_table(frame, rater="who").texts["who"].tolist() == ["ann", "ann", "ann", "bob"]
    with pytest.raises(DataError, match="row 3: document 'a' of query '1' appears twice, first in row 0"):
        read_table(frame.with_columns(who=pl.lit("ann")), rater="who")


def test_a_document_that_was_shown_at_two_positions_is_there_twice_and_right():
    shown = {"position:log": [1, 2, 1, 3], "impressions:log": [4, 4, 4, 4], "clicks:log": [1, 0, 1, 2]}
    assert len(from_frame(pl.DataFrame(ROWS | shown))) == 4
