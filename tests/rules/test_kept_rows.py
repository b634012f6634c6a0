"""Rows that are kept for learning on: any way to the same rows leads to the same bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulerank.errors import DataError
from rulerank.rules.kept_rows import KeptRows

Row = tuple[str, tuple[int, int], int]  # query, bins of two features, grade
BINS = st.tuples(st.integers(0, 2), st.integers(0, 254))
ROWS = st.lists(st.tuples(st.sampled_from("abcde"), BINS, st.integers(0, 2)), min_size=1)


def kept(rows: list[Row]) -> KeptRows:
    ids = sorted({query for query, _, _ in rows}, key=lambda query: query[::-1])
    bins = np.array([bins for _, bins, _ in rows]).reshape(-1, 2).T
    numbers = np.array([ids.index(query) for query, _, _ in rows])
    found = KeptRows.of(bins, np.array([grade for *_, grade in rows]), numbers, np.array(ids))
    assert found is not None
    return found


def content(rows: KeptRows) -> list[tuple[bytes, str, tuple[int, ...]]]:
    return [(array.tobytes(), array.dtype.str, array.shape) for array in rows.to_state().values()]


@given(ROWS, ROWS, st.randoms())
def test_rows_added_were_there_from_the_start_and_rows_removed_never(first: list[Row], more: list[Row], random) -> None:
    together = [*first, *more]
    random.shuffle(together)
    assert content(kept(first) + kept(more)) == content(kept(together))
    assert content(kept(together).without(kept(more))) == content(kept(first))
    again = KeptRows.from_state(kept(together).to_state(), np.array([3, 255]))
    assert content(again) == content(kept(together))


def test_rows_that_were_never_added_cannot_be_removed() -> None:
    rows = kept([("a", (0, 1), 1), ("a", (0, 1), 1), ("b", (0, 1), 0)])
    with pytest.raises(DataError, match=r"^1 of the 3 rows to remove are not among the rows of their queries"):
        rows.without(kept([("a", (0, 1), 1)] * 3))
    with pytest.raises(DataError, match=r"^2 of the 3 rows to remove belong to queries that the ranker has no rows of"):
        rows.without(kept([("a", (0, 1), 1), ("c", (0, 1), 1), ("d", (0, 1), 1)]))


def test_one_row_must_stay() -> None:
    rows = kept([("a", (0, 1), 1), ("b", (0, 1), 0)])
    with pytest.raises(DataError, match=r"^these are all the rows that the ranker has learned from"):
        rows.without(rows)


def test_queries_whose_names_read_the_same_are_not_told_apart_so_nothing_is_kept() -> None:
    ids = np.array([1, "1"], dtype=object)
    assert KeptRows.of(np.zeros((1, 2), dtype=np.uint8), np.zeros(2), np.array([0, 1]), ids) is None
