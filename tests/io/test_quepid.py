"""Quepid's csv: what is read, what is written, and every message."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulerank.dataset import Dataset
from rulerank.errors import ReadError
from rulerank.io.tables import read_quepid, write_quepid

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


def named(text):
    file = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    file.name = "f.csv"
    return file


@given(st.dictionaries(st.tuples(texts, texts), st.integers(-1, 31), max_size=6))
def test_writing_and_reading_is_the_identity(ratings):
    qid, docid = [q for q, _ in ratings], [d for _, d in ratings]
    out = io.BytesIO()
    write_quepid(Dataset(np.zeros((len(ratings), 2)), list(ratings.values()), qid, docid), out)
    data = read_quepid(io.BytesIO(out.getvalue()))
    assert data.X.shape == (len(ratings), 0)
    docids = [] if data.docid is None else data.docid.tolist()
    assert (data.qid.tolist(), docids, data.y.tolist()) == (qid, docid, list(ratings.values()))
    rows = list(csv.DictReader(io.StringIO(out.getvalue().decode(), newline="")))
    assert [row["rating"] for row in rows] == ["" if grade < 0 else str(grade) for grade in ratings.values()]


def test_an_export_is_read_as_spreadsheets_leave_it():
    data = read_quepid(named(b'\xef\xbb\xbfQuery,DocID,Rating\r\n"milk, fresh",007,3.0\r\n\r\nmilk,d2, \r\n'))
    assert (data.qid.tolist(), data.docid.tolist(), data.y.tolist()) == (
        ["milk, fresh", "milk"],
        ["007", "d2"],
        [3, -1],
    )


MISTAKES = {
    "": "f.csv: the file is empty: expected a line of column names",
    "query,doc,rating\na,b,1\n": "f.csv: expected the header 'query,docid,rating', got 'query,doc,rating'",
    "query,docid,rating\na,b\n": "f.csv:2: expected 3 columns as in the first line, got 2",
    "query,docid,rating\na,,1\n": "f.csv:2: expected a document id in column 'docid', got nothing",
    'query,docid,rating\n"a\nb",d,1\n\n"a\nb",d,1\n': "f.csv:5: document 'd' of query 'a\\nb' is there twice, "
    "first in line 2: keep one of them, or give them different ids",
    "query,docid,rating\na,d,32\n": "f.csv:2: expected a whole number from 0 to 31 as the grade, "
    "or nothing or ? for not labelled, got '32' in column 'rating'",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_is_named_by_file_and_line(text):
    with pytest.raises(ReadError) as caught:
        read_quepid(named(text))
    assert str(caught.value) == MISTAKES[text]
