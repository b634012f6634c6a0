"""Files of other tools: LightGBM's sizes of queries, Quepid's csv."""

import io

import pytest

import rulerank as rr
from rulerank.errors import ReadError
from rulerank.io.formats import read_any

SVMLIGHT = "2 1:0.5 3:1\n# note\n0 2:0.25\n\n1\n"


@pytest.mark.parametrize("ending", [".query", ".group"])
@pytest.mark.parametrize("name", ["rank.train", "train.txt"])
def test_queries_beside_svmlight_text_are_read(tmp_path, ending, name):
    path = tmp_path / name
    path.write_text(SVMLIGHT)
    (tmp_path / f"{name}{ending}").write_text("1\n2\n")
    data = read_any(path)
    assert (data.qid.tolist(), data.y.tolist()) == (["1", "2", "2"], [2, 0, 1])
    assert data.X.tolist() == [[0.5, 0, 1], [0, 0.25, 0], [0, 0, 0]]


def test_query_ids_of_the_data_come_first(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("2 qid:7 1:0.5\n")
    (tmp_path / "train.txt.query").write_text("1\n")
    assert rr.read_letor(path).qid.tolist() == ["7"]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("1\n1\n", r"train.txt.query: the sizes of its queries add up to 2 rows, but .*train.txt has 3$"),
        ("1\nx\n", r"train.txt.query:2: expected the number of rows of a query, got 'x'$"),
    ],
)
def test_sizes_that_do_not_fit_are_named(tmp_path, sizes, message):
    (tmp_path / "train.txt").write_text(SVMLIGHT)
    (tmp_path / "train.txt.query").write_text(sizes)
    with pytest.raises(ReadError, match=message):
        rr.read_letor(tmp_path / "train.txt")


def test_a_csv_of_quepid_is_read_as_spreadsheets_leave_it():
    data = read_any(io.BytesIO(b'\xef\xbb\xbfQuery,DocID,Rating\r\n"milk, fresh",007,3.0\r\n\r\nmilk,d2, \r\n'))
    assert (data.qid.tolist(), data.docid.tolist()) == (["milk, fresh", "milk"], ["007", "d2"])
    assert (data.y.tolist(), data.X.shape) == ([3, -1], (2, 0))
    with pytest.raises(ReadError, match=r"<stream>:2: expected an integer from 0 to 31 as the grade.*'rating'"):
        read_any(io.BytesIO(b"query,docid,rating\na,d,32\n"))
