"""Click logs: every format gives the same counts, and what cannot be right is named and counted."""

import io
import json
import warnings

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from click_logs import NAMES, SUMS, frame
from plain.clicks import added_up
from rulerank.errors import DataError, ReadError


def csv(text, **options):
    return rr.clicks.read_clicks(io.StringIO(text), **options)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["q", "a, b", 'say "x"', "ä"]), st.sampled_from("abc"), st.integers(1, 4), st.integers(0, 1)
        ),
        min_size=1,
        max_size=30,
    )
)
def test_a_log_adds_up_to_what_counting_by_hand_gives(rows):
    assert rr.clicks.read_clicks(frame(rows)).table.rows() == added_up(rows)
    lines = "\n".join(json.dumps(dict(zip(NAMES, row, strict=True))) for row in rows)
    assert rr.clicks.read_clicks(io.StringIO(lines), format="jsonl").table.rows() == added_up(rows)
    content = frame(rows).write_csv()
    assert csv(content).table.rows() == added_up(rows)


def test_a_folder_a_pattern_and_a_list_are_one_log(tmp_path):
    frame().write_csv(tmp_path / "log.csv")
    frame().write_parquet(tmp_path / "log.parquet")
    (tmp_path / "README.md").write_text("beside the log")
    twice = [(*key, 2 * n, 2 * k) for *key, n, k in SUMS]
    assert rr.clicks.read_clicks(tmp_path).table.rows() == twice
    assert rr.clicks.read_clicks(str(tmp_path / "log.*")).table.rows() == twice
    assert rr.clicks.read_clicks([tmp_path / "log.csv", tmp_path / "log.parquet"]).table.rows() == twice


def test_a_position_that_counts_from_0_is_moved_to_1():
    assert csv("query,doc,position,clicked\nq,a,0,1\n", first_position=0).table.rows() == [("q", "a", 1, 1, 1)]


def test_sums_are_added_up_and_rows_without_impressions_count_for_nothing():
    text = "qid,docid,rank,impressions,clicks\nq,a,1,10,3\nq,a,1,5.0,1\nq,b,2,0,0\n"
    assert csv(text).table.rows() == [("q", "a", 1, 15, 4)]


def test_columns_are_named_where_their_names_do_not_tell():
    named = {"query": "asked", "doc": "shown", "position": "place", "clicked": "hit"}
    found = csv("asked,shown,place,hit\nq,a,1,true\n", columns=named)
    assert found.table.rows() == [("q", "a", 1, 1, 1)]


def test_whole_numbers_of_every_type_are_ids_positions_and_clicks():
    table = pl.DataFrame({"qid": [7.0, 7.0], "docid": [1, 2], "rank": pl.Series([1, 2], dtype=pl.UInt8)})
    table = table.with_columns(clicked=pl.Series([True, False]))
    assert rr.clicks.read_clicks(table).table.rows() == [("7", "1", 1, 1, 1), ("7", "2", 2, 1, 0)]
    assert rr.clicks.read_clicks(table.to_pandas()).table.rows() == [("7", "1", 1, 1, 1), ("7", "2", 2, 1, 0)]


ROWS = "query,doc,position,clicked\n"
ADDED = "query,doc,position,impressions,clicks\n"
NO_COUNT = (
    "where clicked is neither 0 nor 1, or impressions or clicks are not whole numbers from 0 to 1,000,000,000,000"
)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (ROWS + "q,a,0,1\nq,b,1,0\n", {}, "1 of 2 rows cannot be right: 1 whose position is above the top; the first"),
        (ROWS + "q,a,0,1\n", {}, "if the log counts positions from 0, set first_position=0 (--first-position 0)"),
        (ADDED + "q,a,1,5,3\nq,b,1,2,3\n", {}, "1 with more clicks than impressions; the first is row 2; skip_bad="),
        (ADDED + "q,a,1,-5,3\n", {}, f"1 of 1 row cannot be right: 1 {NO_COUNT}"),
        (ADDED + "q,a,1,9223372036854775807,4\n" * 2, {}, f"2 of 2 rows cannot be right: 2 {NO_COUNT}"),
        (ROWS + "q,a,1,2\n", {}, f"1 of 1 row cannot be right: 1 {NO_COUNT}"),
        (ROWS + "q,a,1\n", {}, "2: cannot be read as csv: Expected Number of Columns: 4 Found: 3"),
        (ROWS + "q,a,1.5,1\nq,,1,1\n,a,1,1\n", {}, "1 without a query, 1 without a document, 1 whose position is no"),
        (ROWS + "q,a,3000000000,1\n", {}, "1 whose position is larger than 2,147,483,647; the"),
        (ROWS, {}, "the log has no impressions"),
        (ROWS + "q,a,1,1\n", {"columns": {"doc": "sku"}}, "there is no column 'sku'; the columns are query, doc"),
        (ROWS + "q,a,1,1\n", {"columns": {"item": "doc"}}, "columns names columns of query, doc, position, clicked"),
        (ADDED + "q,a,1,1000000000000,4\n" * 9_100, {}, "expected at most 9,007,199,254,740,992 impressions, got 9"),
        ("query,doc,clicked\nq,a,1\n", {}, "no column is recognised as the position: the columns are query, doc"),
        ("query,doc,position,clicks\nq,a,1,1\n", {}, "expected a column with clicks (0 or 1), or"),
        ("clicked," + ADDED + "1,q,a,1,1,1\n", {}, "is each row one impression ('clicked') or a sum ('impressions')?"),
        ("qid," + ROWS + "q,q,a,1,1\n", {}, "name the one that is, columns={'query': ...} (--columns query=...)"),
        ("position," + ROWS + "1,q,a,1,2,0\n", {}, "column names must differ: 'position' appears twice"),
        ("", {}, "the file is empty"),
        ('{"query": 1}\n{"query":\n', {}, "2: expected one JSON object per line: Expecting value"),
        ('{"query": 1}\n[1]\n', {}, "2: expected one JSON object per line, got '[1]'"),
        ('\ufeff{"query": 1}\n', {}, "1: expected one JSON object per line: Unexpected UTF-8 BOM"),
        ('[{"query": "q"}]', {}, "1: expected one JSON object per line, got '[{"),
        ("x", {"first_position": 2}, "first_position must be 1, or 0 if the log counts from 0: got 2"),
        ("x", {"format": "xml"}, "expected csv, tsv, jsonl or parquet as the format of a log, got 'xml'"),
    ],
)
def test_a_log_that_cannot_be_right_is_refused(text, options, message):
    with pytest.raises((DataError, ReadError)) as caught:
        csv(text, **options)
    assert message in str(caught.value)


def test_a_damaged_parquet_file_is_named(tmp_path):
    frame().write_parquet(tmp_path / "log.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(ReadError, match=r"broken.parquet: expected parquet, got something else or a damaged file"):
        rr.clicks.read_clicks(tmp_path)


@pytest.mark.parametrize(
    ("name", "message"),
    [("none.csv", "there is no such file"), ("*.nothing", "no file matches this name"), ("", "the folder has no log")],
)
def test_a_log_that_is_not_there_is_an_error(name, message, tmp_path):
    with pytest.raises(ReadError, match=message):
        rr.clicks.read_clicks(f"{tmp_path}/{name}")


@pytest.mark.parametrize("sources", [None, 5, []])
def test_something_else_than_a_log_is_an_error(sources):
    with pytest.raises(DataError, match=r"expected a log: a file, .*: got (None|5|\[\])$"):
        rr.clicks.read_clicks(sources)


def test_rows_that_cannot_be_right_are_left_out_when_asked_and_counted():
    text = "query,doc,position,clicked\nq,a,0,1\nq,a,1,1\nq,a,1,7\n,a,1,1\n"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert csv(text, skip_bad=True).table.rows() == [("q", "a", 1, 1, 1)]
    assert str(caught[0].message) == (
        "<stream>: 3 of 4 rows cannot be right: 1 without a query, 1 whose position is above the top, 1 where clicked "
        "is neither 0 nor 1, or impressions or clicks are not whole numbers from 0 to 1,000,000,000,000; left out"
    )
