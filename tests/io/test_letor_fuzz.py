"""Damaged files end in the same data as a plain reading of the format, or in a ReadError on the same line."""

import io
import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rulerank.errors import ReadError
from rulerank.io.files import GZIP
from rulerank.io.letor import read_letor

TEXT = (
    b"2 qid:10 1:0.007477 2:1.000000 3:NULL #docid = GX008-86-4444840 inc = 1 prob = 0.086622\n"
    b"0 qid:10 1:0 2:-3.87098e-05 5:1e-40 # GX037 star wars\r\n"
    b"\n"
    b"? qid:b:7 4:16777217.0 2:nan\n"
    b"# made by hand\n"
    b"1.0 qid:10 3:123456789012345678901234567890 #\n"
    b"1\tqid:\xc3\xa9 1:.5\t12:+7e22 # d4"
)
PIECES = [
    *(bytes([char]) for char in b" \t\n\r#:=?eE.+-019\0\x1b\xff\xc3"),
    *(b"qid:", b"docid =", b"#docid = ", b"NULL", b"nan", b"inf", b"99999", b"1e39", b"1e-400", b"1:1", b"3:2"),
    *(b"100000:1", b"100001:1", b"2 qid:1 1:1\n", b"\xef\xbb\xbf", b"340282356779733661637539395458142568448"),
]

NUMBER = re.compile(rb"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|NULL|[+-]?NAN", re.IGNORECASE)


def read_plainly(content):
    """Return X, y, qid, docid, or the number of the first line that is wrong (None: there is no row)."""
    lines = [line.removesuffix(b"\r") for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    if not any(line.partition(b"#")[0].strip(b" \t") for line in lines):
        return None
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            line.decode()
            body, _, comment = line.partition(b"#")
            if body.strip(b" \t"):
                rows.append(read_row(re.split(rb"[ \t]+", body.strip(b" \t")), comment.strip(b" \t")))
        except (ValueError, IndexError):
            return number
    X = np.zeros((len(rows), max(index for row in rows for index in [0, *row[2]])), dtype=np.float32)
    for x, (_, _, values, _) in zip(X, rows, strict=True):
        for index, value in values.items():
            x[index - 1] = value
    grades, qids, docids = ([row[place] for row in rows] for place in (0, 1, 3))
    return [bits(X), grades, qids, docids if any(docids) else None]


def read_row(fields, comment):
    grade, qid, features = fields[0], fields[1], fields[2:]
    insist(re.fullmatch(rb"\?|\+?[0-9]+(\.0*)?", grade))
    grade = -1 if grade == b"?" else int(float(grade))
    insist(grade <= 31 and qid.startswith(b"qid:") and len(qid) > 4)
    values = {}
    for feature in features:
        index, colon, text = feature.partition(b":")
        insist(colon and re.fullmatch(rb"[0-9]+", index) and 1 <= int(index) <= 100_000 and int(index) not in values)
        insist(NUMBER.fullmatch(text))
        with np.errstate(over="ignore"):
            values[int(index)] = np.float32(np.nan if text.lower() == b"null" else float(text))
        insist(not np.isinf(values[int(index)]))
    named = re.match(rb"docid[ \t]*=[ \t]*", comment)
    about = re.split(rb"[ \t]+", comment[named.end() :] if named else comment, maxsplit=1)
    return grade, qid[4:].decode(), values, about[0].decode()


def bits(X):
    return np.where(np.isnan(X), np.float32(np.nan), X).view(np.int32).tolist()  # one NaN is as good as another


def insist(condition):
    if not condition:
        raise ValueError


def read_fast(content):
    try:
        data = read_letor(io.BytesIO(content))
    except ReadError as error:
        return error.line
    return [bits(data.X), data.y.tolist(), data.qid.tolist(), None if data.docid is None else data.docid.tolist()]


def mutate(content, rng):
    """Put in, take out, change, double and move a few pieces."""
    damaged = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(damaged) + 1))
        stop = at + int(rng.integers(1, 12))
        piece = PIECES[rng.integers(len(PIECES))]
        change = rng.integers(6)
        if change == 0:
            damaged[at:at] = piece
        elif change == 1:
            del damaged[at:stop]
        elif change == 2:
            damaged[at : at + 1] = bytes([rng.integers(256)])
        elif change == 3:
            damaged[at:at] = damaged[at:stop]
        elif change == 4:
            damaged[at : at + len(piece)] = piece
        else:
            del damaged[at:]
    return bytes(damaged)


def check_mutations(content, n_cases, seed):
    rng = np.random.default_rng(seed)
    n_read = 0
    for _ in range(n_cases):
        damaged = mutate(content, rng)
        found = read_fast(damaged)
        assert found == read_plainly(damaged), damaged
        n_read += isinstance(found, list)
    assert 0 < n_read < n_cases


def test_the_undamaged_text_is_read_as_plainly():
    assert isinstance(read_fast(TEXT), list)
    assert read_fast(TEXT) == read_plainly(TEXT)


def test_thousands_of_mutations_end_in_a_plain_read_or_a_read_error():
    check_mutations(TEXT, n_cases=5000, seed=1)


@pytest.mark.kernels
def test_mutations_of_one_line_end_the_same_with_the_jit_off():
    check_mutations(TEXT.splitlines()[0], n_cases=200, seed=2)


@pytest.mark.parametrize("name", ["letor2-ohsumed", "letor3-ohsumed-null", "letor4-mq2008"])
def test_mutations_of_real_files_end_in_a_plain_read_or_a_read_error(letor, name):
    with (letor / name / "Fold1" / "train.txt").open("rb") as file:
        head = b"".join(file.readline() for _ in range(4))
    check_mutations(head, n_cases=500, seed=3)


@settings(max_examples=500)
@given(st.lists(st.sampled_from([*PIECES, *TEXT.split()]) | st.binary(max_size=3), max_size=12).map(b"".join))
def test_random_pieces_end_in_a_plain_read_or_a_read_error(content):
    assume(not content.startswith(GZIP))  # read_bytes unpacks that first
    assert read_fast(content) == read_plainly(content)
