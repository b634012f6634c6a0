"""Click logs in portions: of any size they give the same counts, and a damaged line is named wherever it is cut."""

import gzip
import json
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rulerank as rr
from click_logs import NAMES, ROWS_AS_TEXT, SUMS, frame
from rulerank.errors import DataError, ReadError
from rulerank.io.outputs import write_bytes

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


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(cells, cells, numbers, st.sampled_from(["0", "1", "true", "2", ""])), min_size=1, max_size=12),
    st.sampled_from([1, 2, 5]),
    st.booleans(),
    st.sampled_from([",csv", ",csv.gz", ",jsonl", ",jsonl.zst", "\r\n,csv", ",parquet"]),
)
def test_portions_of_any_size_give_the_same_counts_and_the_same_errors(tmp_path, rows, portion, skip_bad, kind):
    end, _, suffix = kind.rpartition(",")
    path = tmp_path / f"log.{suffix}"
    if suffix == "parquet":
        frame(rows).write_parquet(path)
    else:
        write_bytes(path, (as_jsonl(rows) if "jsonl" in suffix else as_csv(rows, end or "\n")).encode())
    whole = outcome(lambda: rr.read_clicks(path, skip_bad=skip_bad))
    plain = outcome(lambda: rr.read_clicks(frame(rows), skip_bad=skip_bad))
    with pytest.MonkeyPatch.context() as small:
        small.setattr("rulerank.clicks.log_files.PORTION", portion)
        small.setattr("rulerank.clicks.log_files.LINE", 1)
        small.setattr("rulerank.clicks.log_files.PART", 3)
        small.setattr("rulerank.io.streams.PART", 3)
        assert outcome(lambda: rr.read_clicks(path, skip_bad=skip_bad)) == whole
    if "'=1" not in {cell for row in rows for cell in row} and not isinstance(whole, str):
        assert whole[0] == plain[0]  # no more and no less than what a data frame of the same rows gives


DAMAGED = {
    "csv": [
        ("q,a,1,1\nq,b,1,1,5\n", "4: expected 4 columns as in the first line, got 5"),
        ("q,a,1,1\nq,b,1,\xff\n", "4: expected UTF-8 text, got the byte 0xff"),
        ('q,a,1,1\n5" nail,b,1,1\nq,a,1,1\n', '4: a quote (") stands alone: write the cell in quotes and each quote'),
        ('q,a,1,1\n5" nail,b,1,1\n6" nail,a,1,1\n', '4: a quote (") stands alone: write the cell in quotes and each'),
        ('q,a,1,1\nq,"open,1,1\nq,a,1,1\n', '4: a quote (") stands alone: write the cell in quotes and each quote'),
        ('q,a,1,1\nq,"' + "open " * 40_000, '4: a quote (") stands alone: write the cell in quotes and each quote'),
    ],
    "jsonl": [
        ('{"query": "q"}\n{"query": \n', "5: expected a JSON object a line: Expecting value"),
        ('{"query": "q"}\n[1]\n', "5: expected a JSON object a line, got [1]"),
    ],
}


@pytest.mark.parametrize("portion", [1, 30, 1 << 20])
@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "jsonl", "jsonl.gz"])
def test_a_damaged_line_is_named_whatever_the_portion(tmp_path, monkeypatch, portion, suffix):
    kind = suffix.removesuffix(".gz")
    start = as_csv(ROWS_AS_TEXT[:1]) if kind == "csv" else as_jsonl(ROWS_AS_TEXT[:3])
    monkeypatch.setattr("rulerank.clicks.log_files.PORTION", portion)
    monkeypatch.setattr("rulerank.clicks.log_files.LINE", 1)
    monkeypatch.setattr("rulerank.io.streams.PART", 16)
    for text, message in DAMAGED[kind]:
        path = tmp_path / f"log.{suffix}"
        write_bytes(path, (start + text).encode("latin-1"))
        with pytest.raises(ReadError) as caught:
            rr.read_clicks(path)
        assert f"{path}:{message}" in str(caught.value)


def test_a_row_without_an_end_is_not_held_whatever_its_length(tmp_path, monkeypatch):
    monkeypatch.setattr("rulerank.clicks.log_files.PORTION", 1)
    monkeypatch.setattr("rulerank.clicks.log_files.LINE", 1)
    monkeypatch.setattr("rulerank.clicks.log_text.LONGEST", 1000)
    monkeypatch.setattr("rulerank.io.streams.PART", 100)
    path = tmp_path / "log.jsonl.gz"
    write_bytes(path, (as_jsonl(ROWS_AS_TEXT) + json.dumps({"query": "q" * 5000})).encode())
    with pytest.raises(ReadError, match="expected rows of at most 134,217,728 bytes, got a longer one"):
        rr.read_clicks(path)
    path = tmp_path / "log.csv.gz"
    write_bytes(path, (as_csv(ROWS_AS_TEXT) + 'q,"a,1,1\n' + "q,a,1,1\n" * 300).encode())
    with pytest.raises(ReadError, match=r'log.csv.gz:7: a quote \("\) stands alone'):
        rr.read_clicks(path)


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz", "log"])
def test_blank_lines_before_the_names_do_not_count(tmp_path, name):
    write_bytes(tmp_path / name, ("\n" * 9 + as_csv(ROWS_AS_TEXT)).encode())
    assert rr.read_clicks(tmp_path / name).table.rows() == SUMS


def test_a_damaged_packed_log_is_named(tmp_path):
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress(as_csv(ROWS_AS_TEXT).encode())[:-6])
    with pytest.raises(ReadError, match="the gzip data is cut off before its end; copy the file again"):
        rr.read_clicks(path)
    path.write_bytes(gzip.compress(b"\n \n"))
    with pytest.raises(ReadError, match="the file is empty"):
        rr.read_clicks(path)


@pytest.mark.parametrize("name", ["log.tsv", "log.tsv.gz"])
@pytest.mark.parametrize("portion", [1, 1 << 20])
def test_a_quote_in_a_tsv_log_is_a_character_like_any_other(tmp_path, monkeypatch, name, portion):
    monkeypatch.setattr("rulerank.clicks.log_files.PORTION", portion)
    rows = ['5" nail\ta\t1\t1', '"nail\tb\t2\t0', '"nail"\tb\t1\t1']
    text = "\n".join(["query\tdoc\tposition\tclicked", *rows, ""]).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert sorted(rr.read_clicks(path).table["query"]) == ['"nail', '"nail"', '5" nail']
    path.write_bytes(gzip.compress(text + b"q\ta\t1\t1\t1\n") if name.endswith(".gz") else text + b"q\ta\t1\t1\t1\n")
    with pytest.raises(ReadError, match=rf"{name}:5: expected 4 columns as in the first line, got 5$"):
        rr.read_clicks(path)
