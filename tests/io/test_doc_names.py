"""One name for a document everywhere: its id, or a row for people and a key for labels."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rulerank.dataset import Dataset, doc_name
from rulerank.io.columns import doc_keys, named_row

values = st.lists(
    st.lists(st.sampled_from([0.0, -0.0, 1.5, float("nan")]), min_size=2, max_size=2), min_size=1, max_size=8
)


def nameless(X):
    return Dataset(np.array(X, dtype=np.float32), y=[-1] * len(X), qid=["q"] * len(X))


@given(values, st.randoms())
def test_a_key_is_found_again_wherever_its_row_moves(X, random):
    order = list(range(len(X)))
    random.shuffle(order)
    before, after = nameless(X), nameless([X[row] for row in order])
    keys, moved = doc_keys(before).tolist(), doc_keys(after).tolist()
    assert sorted(keys) == sorted(moved)
    assert len(set(keys)) == len(keys)
    for row, key in enumerate(keys):
        assert np.array_equal(before.X[row], after.X[moved.index(key)], equal_nan=True)


def test_people_count_rows_from_one_and_can_name_them_back():
    data = nameless([[0.5, 1.0]] * 12)
    names = [doc_name(data, row) for row in range(12)]
    assert (names[0], names[-1]) == ("row 1", "row 12")
    assert [named_row(name) for name in names] == list(range(12))
    assert [named_row(name) for name in ("row 0", "row", "row x", "rows 1", "d7", "row 1 ", f"row {'9' * 40}")] == [
        None
    ] * 7


def test_keys_of_many_rows_are_those_of_each(monkeypatch):
    data = nameless(np.random.default_rng(0).integers(0, 3, (50, 2)))
    whole = doc_keys(data).tolist()
    monkeypatch.setattr("rulerank.io.columns.STEP", 7)
    assert doc_keys(data).tolist() == whole
