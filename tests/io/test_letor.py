import io
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulerank.dataset import Dataset
from rulerank.errors import DataError
from rulerank.io.letor import read_letor, write_letor


def read(text):
    return read_letor(io.BytesIO(text if isinstance(text, bytes) else text.encode()))


def same(one, other):
    """Whether two data sets are equal to the bit."""
    assert one.X.shape == other.X.shape
    np.testing.assert_array_equal(np.isnan(one.X), np.isnan(other.X))
    numbers = ~np.isnan(one.X)
    assert one.X[numbers].tobytes() == other.X[numbers].tobytes()
    for name in ("y", "qid", "docid"):
        mine, theirs = getattr(one, name), getattr(other, name)
        assert (None if mine is None else mine.tolist()) == (None if theirs is None else theirs.tolist()), name
    return True


@pytest.mark.kernels
def test_queries_are_any_strings_in_any_order_and_equal_ones_are_one_object():
    data = read("1 qid:b:7 1:1\n0 qid:é 1:1\n0 qid:b:7 1:1\n0 qid:qid: 1:1\n0 qid:007 1:1\n")
    assert data.qid.tolist() == ["b:7", "é", "b:7", "qid:", "007"]
    assert data.qid[0] is data.qid[2]


@pytest.mark.kernels
def test_a_caller_may_ask_for_more_features():
    data = read_letor(io.BytesIO(b"1 qid:1 2:1"), n_features=4)
    assert data.X.tolist() == [[0, 1, 0, 0]]
    with pytest.raises(DataError, match="n_features must not be negative: got -1"):
        read_letor(io.BytesIO(b"1 qid:1 2:1"), n_features=-1)


NUMBERS = st.one_of(
    st.floats(allow_nan=False, width=64).filter(np.isfinite).map(repr),
    st.floats(allow_nan=False, width=32).filter(np.isfinite).map(lambda value: f"{value:.30g}"),
    # the middle between two float32 neighbours and texts a hair beside it, where rounding is decided by the last digit
    st.tuples(st.integers(1, 0x7F7FFFFE), st.integers(-2, 2)).map(lambda pair: beside_the_middle(*pair)),
    st.from_regex(r"[+-]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.from_regex(r"[1-9][0-9]{15,18}e-?[0-9]{1,2}", fullmatch=True),
    st.sampled_from(["1e-400", "1e-45", "7e-46", "-0", "-0.0", "0e999999999999", "0." + "0" * 400 + "1", "16777217",
                     "9007199254740993", "1" + "0" * 30, "3.4028235e38", "0." + "3" * 400, "000001.50"]),
)  # fmt: skip


def beside_the_middle(bits, offset):
    low, high = (struct.unpack("f", struct.pack("I", b))[0] for b in (bits, bits + 1))
    middle = (low + high) / 2
    return f"{middle:.17g}" if not offset else repr(float(np.nextafter(middle, np.inf * offset)))


@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_values_are_what_python_and_numpy_make_of_the_text(texts):
    with np.errstate(over="ignore"):
        expected = np.float32([float(text) for text in texts])
    texts = [text for text, value in zip(texts, expected, strict=True) if np.isfinite(value)]
    expected = expected[np.isfinite(expected)]
    data = read("1 qid:1 " + " ".join(f"{i + 1}:{text}" for i, text in enumerate(texts)))
    assert data.X[0].tobytes() == expected.tobytes(), texts


QIDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=[*map(chr, range(33)), "#"]), min_size=1)
DOCIDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=[*map(chr, range(33))]))
FLOATS = st.floats(width=32, allow_infinity=False)


@st.composite
def datasets(draw):
    n_rows, n_features = draw(st.integers(1, 6)), draw(st.integers(0, 5))
    qids = draw(st.lists(QIDS, min_size=1, max_size=3))

    def column(values):
        return draw(st.lists(values, min_size=n_rows, max_size=n_rows))

    docid = draw(st.none() | st.just(column(DOCIDS)))
    return Dataset(
        np.array(column(st.lists(FLOATS, min_size=n_features, max_size=n_features)), dtype=np.float32).reshape(
            n_rows, n_features
        ),
        column(st.integers(-1, 31)),
        column(st.sampled_from(qids)),
        docid if docid and any(docid) else None,
    )


@given(datasets())
def test_what_is_written_reads_back_the_same(data):
    out = io.BytesIO()
    write_letor(data, out)
    assert same(read_letor(io.BytesIO(out.getvalue()), repeats=True), data)


@pytest.mark.kernels
def test_written_numbers_are_short_and_a_last_column_of_zeros_survives():
    out = io.StringIO()
    write_letor(Dataset(np.float32([[0.1, 3, -0.0, 1e-10, np.nan, 0]]).T.reshape(1, 6), [1], [7], [None]), out)
    assert out.getvalue() == "1 qid:7 1:0.1 2:3 3:-0 4:1e-10 5:NULL 6:0\n"


def test_the_same_comes_out_whatever_the_number_of_threads(monkeypatch):
    text = "".join(f"{i % 3} qid:{i // 7} {1 + i % 5}:{i / 3} 9:0.5 # d{i} x\n\n" for i in range(4000))
    read_alone, threads = read(text), []
    monkeypatch.setattr("rulerank._util.loops.n_threads", lambda n_jobs: threads.append(4) or 4)
    assert same(read(text), read_alone)
    assert threads
