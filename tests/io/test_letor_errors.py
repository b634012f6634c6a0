import io
import re

import numpy as np
import pytest

from rulerank.dataset import Dataset
from rulerank.errors import DataError, ReadError
from rulerank.io.letor import read_letor, write_letor

GOOD = b"2 qid:1 1:0.5 2:1 # d1\n"
GRADE = "expected a grade, a whole number from 0 to 31, or ? where there is none, got "
QID = "expected 'qid:ID' after the grade, or a file of query sizes beside this one (.query), got "
FEATURE = "expected a feature as 'index:value', with an index from 1 to 100,000, got "
VALUE = "expected a number that fits float32, or NULL, as value of feature 1, got "


def message(content, **options):
    file = io.BytesIO(content)
    file.name = "train.txt"
    with pytest.raises(ReadError) as caught:
        read_letor(file, **options)
    assert str(caught.value).isprintable()
    return str(caught.value)


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1.5 qid:1 1:1", GRADE + "'1.5'"),
        ("-3 qid:1 1:1", GRADE + "'-3'"),
        ("32 qid:1 1:1", GRADE + "'32'"),
        ("1e0 qid:1 1:1", GRADE + "'1e0'"),
        ("99999999999999999999999999 qid:1", GRADE + "'99999999999999999999999999'"),
        ("?? qid:1 1:1", GRADE + "'??'"),
        ("qid:1 1:1", GRADE + "'qid:1'"),
        ("x" * 90 + " qid:1", GRADE + "'" + "x" * 40 + "...'"),
        ("1 1:0.5", QID + "'1:0.5'"),
        ("1 # d1", QID + "''"),
        ("1 qid: 1:0.5", QID + "'qid:'"),
        ("1 qid:1 0:0.5", FEATURE + "'0:0.5'"),
        ("1 qid:1 x:0.5", FEATURE + "'x:0.5'"),
        ("1 qid:1 100001:0.5", FEATURE + "'100001:0.5'"),
        ("1 qid:1 99999999999999999999:0.5", FEATURE + "'99999999999999999999:0.5'"),
        ("1 qid:1 1:1 qid:2", FEATURE + "'qid:2'"),
        ("1 qid:1 1:1 7", FEATURE + "'7'"),
        ("1 qid:1 1:1 2:0 1:0", "expected each feature once, not feature 1 again, got '1:0'"),
        ("1 qid:1 1:1 01:0", "expected each feature once, not feature 1 again, got '01:0'"),
        ("1 qid:1 1:", VALUE + "''"),
        ("1 qid:1 1:1e", VALUE + "'1e'"),
        ("1 qid:1 1:1_000", VALUE + "'1_000'"),
        ("1 qid:1 1:0,5", VALUE + "'0,5'"),
        ("1 qid:1 1:1:2", VALUE + "'1:2'"),
        ("1 qid:1 1:0.5\x1b[31m", VALUE + r"'0.5\x1b[31m'"),
        ("1 qid:1 1:-Infinity", VALUE + "'-Infinity'"),
        ("1 qid:1 1:1e39", VALUE + "'1e39'"),
        ("1 qid:1 2:NULL 1:-1e999", VALUE + "'-1e999'"),
        ("1 qid:1 1:1e39 2:abc", "expected a number that fits float32, or NULL, as value of feature 2, got 'abc'"),
    ],
)
def test_every_mistake_in_a_line_is_named_with_file_and_line(line, expected):
    for before, after, number in ((GOOD, b"", 2), (GOOD + b"\n# note\r\n", b"\r\n" + GOOD, 4)):
        assert message(before + line.encode() + after) == f"train.txt:{number}: {expected}"


def test_more_zeros_than_python_turns_into_a_number_are_no_trouble():
    long = b"0" * 5000 + b"1"
    assert read_letor(io.BytesIO(b"1 qid:1 " + long + b":1e-400")).X.tolist() == [[0]]
    assert message(GOOD + b"1 qid:1 " + long + b":x").endswith("as value of feature 1, got 'x'")


@pytest.mark.kernels
def test_text_that_is_not_utf8_is_an_error_with_its_line():
    assert message(GOOD + b"1 qid:\xe9 1:1\n") == "train.txt:2: expected UTF-8 text, got '0xe9'"
    assert message(GOOD + b"# caf\xe9\n" + GOOD + b"x") == "train.txt:2: expected UTF-8 text, got '0xe9'"
    assert message(GOOD + b"x\n# caf\xe9\n").startswith("train.txt:2: expected a grade")


@pytest.mark.kernels
def test_a_file_without_rows_is_an_error():
    expected = "train.txt: expected lines like 'grade qid:ID 1:0.5 2:3 ...', got "
    assert message(b"") == expected + "an empty file"
    assert message(b"\n# only words\n\r\n") == expected + "only blank lines and comments"


def test_a_matrix_larger_than_memory_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr("rulerank.io.letor._memory", lambda: 10**6)
    content = GOOD + b"1 qid:1 90000:1\n" + GOOD * 8
    assert message(content) == (
        "train.txt:2: 10 rows of 90,000 features make a matrix of 0.0 GB, and this machine has 0.0 GB of memory; "
        "renumber the features so that they have no gaps"
    )


def test_more_features_than_asked_for_is_an_error_with_its_line():
    content = GOOD + b"1 qid:1 3:1\n1 qid:1 3:1\n"
    assert message(content, n_features=2) == "train.txt:2: expected at most 2 features, got feature 3"


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_the_first_of_several_mistakes_is_named_whatever_the_number_of_threads(monkeypatch, n_threads):
    monkeypatch.setattr("rulerank._util.loops.n_threads", lambda n_jobs: n_threads)
    lines = [GOOD] * 6000
    lines[1499], lines[4999], lines[5999] = b"1 qid:1 1:x\n", b"abc\n", b"1 qid:1 1:1e99\n"
    assert message(b"".join(lines)).startswith("train.txt:1500: ")
    lines[1398] = b"1 qid:1 1:1e99\n"
    assert message(b"".join(lines)).startswith("train.txt:1399: expected a number that fits float32")


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"qid": ["a b"]}, "qid 'a b' of row 0 cannot be written as LETOR text: it must have at least one character, "
                           "and no blank, '#' or control character"),
        ({"qid": ["a#b"]}, "qid 'a#b' of row 0 cannot"),
        ({"qid": [""]}, "qid '' of row 0 cannot"),
        ({"qid": ["a\nb"]}, r"qid 'a\nb' of row 0 cannot"),
        ({"qid": ["\ud800"]}, r"qid '\ud800' of row 0 cannot"),
        ({"docid": ["a b"]}, "docid 'a b' of row 0 cannot be written as LETOR text: it must have no blank or control"),
        ({"docid": ["a\n1 qid:1"]}, r"docid 'a\n1 qid:1' of row 0 cannot"),
    ],
)  # fmt: skip
def test_what_letor_text_cannot_hold_is_not_written(tmp_path, columns, expected):
    data = Dataset(**{"X": [[0.5]], "y": [1], "qid": ["1"]} | columns)
    with pytest.raises(DataError, match="^" + re.escape(expected)):
        write_letor(data, tmp_path / "train.txt")
    assert not list(tmp_path.iterdir())


def test_no_rows_are_not_written():
    with pytest.raises(DataError, match="expected at least one row to write as LETOR text: got none"):
        write_letor(Dataset(np.zeros((0, 2)), [], []), io.BytesIO())
