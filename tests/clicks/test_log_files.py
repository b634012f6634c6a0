"""Files of click logs: every format gives the counts of the same rows in a frame, and a damaged line is named."""

import gzip
import json
import sys
import warnings

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rulerank as rr
from click_logs import NAMES, ROWS, ROWS_AS_TEXT, SUMS, frame
from rulerank.errors import DataError, MissingExtraError, ReadError
from rulerank.io.files import write_bytes

cells = st.sampled_from(["q", "", "a, b", 'say "x"', "two\nlines", "'=1", "ä", "5"])
numbers = st.sampled_from(["1", "2", " 3", "4.0", "0", "x", ""])


def outcome(read):
    """What reading gives: rows and warnings, or the error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            rows = read().table.rows()
        except (DataError, ReadError) as error:
            return str(error)
    return rows, [str(one.message) for one in caught]


def as_csv(rows, end="\n"):
    quoted = [['"' + cell.replace('"', '""') + '"' if cell else "" for cell in row] for row in rows]
    lines = [",".join(row) if any(row) else "" for row in quoted]  # a line may be blank
    return end.join(["query,doc,position,clicked", *lines, ""])


def as_jsonl(rows):
    return "".join(json.dumps(dict(zip(NAMES, row, strict=True))) + "\n" for row in rows)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(
    st.lists(st.tuples(cells, cells, numbers, st.sampled_from(["0", "1", "true", "2", ""])), min_size=1, max_size=12),
    st.booleans(),
    st.sampled_from([",csv", ",csv.gz", ",jsonl", ",jsonl.gz", "\r\n,csv", ",parquet"]),
)
def test_every_file_gives_the_counts_and_the_errors_of_a_frame(tmp_path, rows, skip_bad, kind):
    end, _, suffix = kind.rpartition(",")
    path = tmp_path / f"log.{suffix}"
    if suffix == "parquet":
        frame(rows).write_parquet(path)
    else:
        write_bytes(path, (as_jsonl(rows) if "jsonl" in suffix else as_csv(rows, end or "\n")).encode())
    if "csv" in suffix:
        rows = [row for row in rows if any(row)]  # a blank line is not a row
        rows = [tuple(cell.removeprefix("'") for cell in row) for row in rows]  # the guard against spreadsheets
    found = outcome(lambda: rr.clicks.read_clicks(path, skip_bad=skip_bad))
    plain = outcome(lambda: rr.clicks.read_clicks(frame(rows), skip_bad=skip_bad))
    if isinstance(found, str):
        assert found == plain.replace("a data frame", str(path))
    else:
        assert found == (plain[0], [one.replace("a data frame", str(path)) for one in plain[1]])


DAMAGED = {
    "csv": [
        ("q,a,1,1\nq,b,1,1,5\n", "4: cannot be read as csv: Expected Number of Columns: 4 Found: 5"),
        ("q,a,1,1\nq,b,1,\xff\n", "4: cannot be read as csv: Invalid unicode (byte sequence mismatch) detected."),
        ('q,a,1,1\nq,"open,1,1\nq,a,1,1\n', "4: cannot be read as csv: Value with unterminated quote found."),
        ('q,a,1,1\nq,"' + "open " * 40_000, "4: cannot be read as csv: Value with unterminated quote found."),
    ],
    "jsonl": [
        ('{"query": "q"}\n{"query": \n', "5: expected one JSON object per line: Expecting value"),
        ('{"query": "q"}\n[1]\n', "5: expected one JSON object per line, got '[1]'"),
    ],
}


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "jsonl", "jsonl.gz"])
def test_a_damaged_line_is_named(tmp_path, suffix):
    kind = suffix.removesuffix(".gz")
    start = as_csv(ROWS_AS_TEXT[:1]) if kind == "csv" else as_jsonl(ROWS_AS_TEXT[:3])
    for text, message in DAMAGED[kind]:
        path = tmp_path / f"log.{suffix}"
        write_bytes(path, (start + text).encode("latin-1"))
        with pytest.raises(ReadError) as caught:
            rr.clicks.read_clicks(path)
        assert f"{path}:{message}" in str(caught.value)


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz", "log"])
def test_blank_lines_before_the_names_do_not_count(tmp_path, name):
    write_bytes(tmp_path / name, ("\n" * 9 + as_csv(ROWS_AS_TEXT)).encode())
    assert rr.clicks.read_clicks(tmp_path / name).table.rows() == SUMS


def test_a_damaged_packed_log_is_named(tmp_path):
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress(as_csv(ROWS_AS_TEXT).encode())[:-6])
    with pytest.raises(ReadError, match="the gzip data is cut off before its end; copy the file again"):
        rr.clicks.read_clicks(path)
    path.write_bytes(gzip.compress(b"\n \n"))
    with pytest.raises(ReadError, match="the file is empty"):
        rr.clicks.read_clicks(path)


@pytest.mark.parametrize("name", ["log.tsv", "log.tsv.gz"])
def test_a_quote_in_a_tsv_log_is_a_character_like_any_other(tmp_path, name):
    rows = ['5" nail\ta\t1\t1', '"nail\tb\t2\t0', '"nail"\tb\t1\t1']
    text = "\n".join(["query\tdoc\tposition\tclicked", *rows, ""]).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert sorted(rr.clicks.read_clicks(path).table["query"]) == ['"nail', '"nail"', '5" nail']
    path.write_bytes(gzip.compress(text + b"q\ta\t1\t1\t1\n") if name.endswith(".gz") else text + b"q\ta\t1\t1\t1\n")
    with pytest.raises(ReadError, match=rf"{name}:5: cannot be read as tsv: Expected Number of Columns: 4 Found: 5$"):
        rr.clicks.read_clicks(path)


def test_a_name_with_the_signs_of_a_pattern_is_one_file(tmp_path):
    write_bytes(tmp_path / "log[1].csv", as_csv(ROWS_AS_TEXT).encode())
    write_bytes(tmp_path / "log1.csv", b"not a log")
    assert rr.clicks.read_clicks(tmp_path / "log[1].csv").table.rows() == SUMS


def test_duckdb_is_asked_for_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtraError, match=r"this needs duckdb.*pip install 'rulerank\[clicks\]'"):
        rr.clicks.read_clicks(frame(ROWS))


def test_frames_and_headers_that_cannot_be_read_are_refused_in_a_line(tmp_path):
    pd = pytest.importorskip("pandas", reason="pandas frames need the extra pandas")
    mixed = pd.DataFrame({"query": ["q", "q"], "doc": ["x", 1], "position": [1, 2], "clicked": [0, 1]})
    with pytest.raises(DataError, match="doc"):
        rr.clicks.read_clicks(mixed)
    objects = pl.DataFrame({"query": ["q"], "doc": pl.Series([object()], dtype=pl.Object), "position": 1, "clicked": 0})
    with pytest.raises(DataError, match="a column of the data frame cannot be read"):
        rr.clicks.read_clicks(objects)
    for header, message in (
        ('query,"doc,position,clicked\n', r"log.csv:1: a quote .* is opened and not closed"),
        ("Query,query,doc,position,clicked\n", "column names must differ: 'Query' appears twice"),
    ):
        (tmp_path / "log.csv").write_text(header)
        with pytest.raises(ReadError, match=message):
            rr.clicks.read_clicks(tmp_path / "log.csv")
