"""Cells of csv and tsv: quotes, numbers, and what a spreadsheet would run."""

import csv as plain_csv
import io
import re

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rulerank.dataset import Dataset
from rulerank.errors import DataError, ReadError
from rulerank.io.files import NamedBytes
from rulerank.io.formats import read_any, write_any
from rulerank.io.frames import read_frame, write_frame


def read(content, name="t.csv", text=None):
    return read_frame(NamedBytes(content.encode(), name), text=text)


@given(st.lists(st.text('ab",\n\r', max_size=6), min_size=2, max_size=4))
@example(["\r", ","])
def test_quoting_agrees_with_the_csv_module(rows):
    """Whatever is accepted means the same to both; the csv module accepts more."""
    content = "\n".join(["qid,x", *rows]) + "\n"
    try:
        frame, origin = read(content)
    except ReadError:
        return
    cells = [row for row in plain_csv.reader(io.StringIO(content, newline="")) if any(row)][1:]
    assert [[cell or "" for cell in row] for row in frame.rows()] == cells
    assert len(origin.lines()) == len(cells)


def test_a_quote_inside_a_cell_is_a_character():
    frame, _ = read('qid,x\na,5" disk\nb,"a ""good"" one"\n')
    assert frame["x"].to_list() == ['5" disk', 'a "good" one']


numbers = st.one_of(
    st.floats(width=32).map(str),
    st.floats().map(repr),
    st.integers().map(str),
    st.sampled_from(["", "+1", ".5", "5.", "-0"]),
)


@given(st.lists(numbers, min_size=1, max_size=5))
def test_numbers_read_at_once_are_those_read_cell_by_cell(cells):
    text = "".join(f"q,{cell}\n" for cell in cells)
    fast, _ = read(f"qid,x\n{text}", text=["qid"])
    slow, _ = read(f"qid,x\n{text}q,NULL\n", text=["qid"])
    assert fast["x"].fill_nan(None).equals(slow["x"][:-1].fill_nan(None))
    with np.errstate(over="ignore"):
        expected = [None if cell in ("", "nan") else float(np.float32(cell)) for cell in cells]
    assert fast["x"].fill_nan(None).to_list() == expected


FORMULAS = ["=1+1", "+cmd", "-x", "@SUM(A1)", "\tx", "'=1", "''-x", "'x", "-5", "+5.5", '="a",b', '"=1"']


@pytest.mark.parametrize("format", ["csv", "tsv", "parquet", "quepid"])
def test_no_cell_is_run_by_a_spreadsheet_and_each_reads_back(format):
    names = ("=cmd|' /C calc'!A0", "-minus")
    cells = [cell for cell in FORMULAS if format != "tsv" or "\t" not in cell]
    data = Dataset(np.full((len(cells), 2), -1.5), [1] * len(cells), cells, cells[::-1], names)
    out = io.BytesIO()
    write_any(data, out, format)
    again = read_any(io.BytesIO(out.getvalue()), format)
    assert again.qid.tolist() == cells
    assert again.docid.tolist() == cells[::-1]
    if format != "quepid":
        assert again.feature_names == names
        assert (again.X == -1.5).all()
    if format != "parquet":
        separator = "\t" if format == "tsv" else ","  # a spreadsheet takes quotes off in a tsv, too
        for row in plain_csv.reader(io.StringIO(out.getvalue().decode(), newline=""), delimiter=separator):
            for cell in row:
                assert cell in ("-1.5", "-5", "+5.5") or not cell.startswith(("=", "+", "-", "@", "\t"))
        assert format == "quepid" or f"{separator}-1.5{separator}-1.5\n".encode() in out.getvalue()  # still numbers


@given(st.lists(st.text("ab\", '=", max_size=6), min_size=2, max_size=4))
def test_a_tsv_is_read_as_it_is(cells):
    content = "".join(["qid\tx\n", *(f"{row}\t{cell}\n" for row, cell in enumerate(cells))])
    frame, _ = read(content, "t.tsv")
    assert [cell or "" for cell in frame["x"]] == [re.sub("^'(?='*\"*=)", "", cell) for cell in cells]
    out = io.BytesIO()
    write_frame(frame, out, format="tsv")
    again, _ = read_frame(io.BytesIO(out.getvalue()), text=["qid", "x"], format="tsv")
    assert again.rows() == frame.rows()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('qid\tx\n1\t"a\nb"\n', "t.tsv:3: expected 2 columns as in the first line, got 1"),
        ("qid\tx\n1\ta\tb\n", "t.tsv:2: expected 2 columns as in the first line, got 3"),
        ("qid\tx\n1\ta\rb\n", "t.tsv:2: a carriage return is inside a line; end lines with \\n"),
    ],
)
def test_a_mistake_in_a_tsv_is_named(text, message):
    with pytest.raises(ReadError) as caught:
        read(text, "t.tsv")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ({"qid": ["q", "a\tb"]}, r"'qid' has 'a\\tb'"),
        ({"qid": ["q"], "text": ["a\nb"]}, r"'text' has 'a\\nb'"),
        ({"qid": ["q"], "a\rb": [1.5]}, r"'the column names' has 'a\\rb'"),
    ],
)
def test_a_tsv_with_a_tab_or_a_line_end_in_a_cell_is_not_written(columns, what):
    message = rf"^a tsv cannot hold a tab or a line end in a cell: {what}; write csv or Parquet \(.csv, .parquet\)$"
    with pytest.raises(DataError, match=message):
        write_frame(pl.DataFrame(columns), io.BytesIO(), format="tsv")


@given(st.lists(st.text(alphabet="'=+-@\t\r5.,a\" ", min_size=1, max_size=6), min_size=1, max_size=5))
def test_any_text_reads_back_from_a_guarded_csv(texts):
    out = io.BytesIO()
    write_frame(pl.DataFrame({"qid": ["q"] * len(texts), "comment": texts}), out, format="csv")
    frame, _ = read_frame(io.BytesIO(out.getvalue()), text=["qid", "comment"], format="csv")
    assert frame["comment"].to_list() == texts
