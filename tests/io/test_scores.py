import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulerank.errors import ReadError
from rulerank.io.scores import read_scores


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_every_score_comes_back_to_the_last_bit(scores):
    assert read_scores(io.StringIO("".join(f"{score!r}\n" for score in scores))).tolist() == scores


def test_windows_line_ends_blanks_and_gzip_are_read(tmp_path):
    path = tmp_path / "scores.gz"
    path.write_bytes(gzip.compress(b" 1.5\r\n-2e3 \r\n0\r\n\r\n"))
    assert read_scores(path).tolist() == [1.5, -2000.0, 0.0]


@pytest.mark.parametrize("line", ["", "two", "1 2", "1,5", "1_000", "nan", "inf", "-Infinity", "1e999", "\xff", "0x10"])
def test_a_line_that_is_no_score_is_named(line):
    with pytest.raises(ReadError, match=r"^<stream>:2: expected one finite number, the score of a document: got '"):
        read_scores(io.StringIO(f"1\n{line}\n3\n"))


def test_a_trec_run_is_told_from_scores():
    with pytest.raises(
        ReadError, match=r"^<stream>: this looks like a TREC run, not a score file; .*--qrels QRELS RUN"
    ):
        read_scores(io.BytesIO(b"q1 Q0 d1 1 0.5 me\n"))


@pytest.mark.parametrize("content", [b"", b"\n\n", b"  \r\n"])
def test_an_empty_file_is_named(content):
    with pytest.raises(ReadError, match=r"^<stream>: the file is empty: expected one score per line"):
        read_scores(io.BytesIO(content))


def test_a_file_of_junk_ends_in_a_read_error():
    with pytest.raises(ReadError, match=r"^<stream>:1: expected one finite number"):
        read_scores(io.BytesIO(bytes(range(128, 256))))
