"""Sums by key: what counting by hand gives, however rows come in portions and often the table grows."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plain.clicks import added_up
from rulerank.clicks.adding import Sums

pytestmark = [
    pytest.mark.kernels,
    pytest.mark.filterwarnings("ignore:overflow"),
]  # hashes wrap; without JIT with a word
NAMES = ["query", "doc", "device", "position", "clicks"]
rows = st.lists(
    st.tuples(
        st.sampled_from("pqr"),
        st.sampled_from("abcdefgh"),
        st.sampled_from(["", "phone"]),
        st.sampled_from([1, 2, 3, 2**31 - 1]),
        st.integers(0, 1),
    ),
    max_size=40,
)


@given(st.lists(rows, max_size=4), st.booleans())
def test_sums_are_those_of_counting_by_hand(portions, with_device):
    texts = ["query", "doc", "device"] if with_device else ["query", "doc"]
    with pytest.MonkeyPatch.context() as small:
        small.setattr("rulerank.clicks.adding.ROOM", 1)
        sums = Sums(texts)
    for portion in portions:
        frame = pl.DataFrame(
            portion, schema=dict.fromkeys(NAMES[:3], pl.String) | dict.fromkeys(NAMES[3:], pl.Int64), orient="row"
        )
        sums.add(frame.with_columns(impressions=pl.lit(1)).select(sums.cells()))
    found = sums.frame()
    assert found.columns == [*texts, "position", "impressions", "clicks"]
    every = [
        (query, (doc, device) if with_device else (doc,), position, clicked)
        for portion in portions
        for query, doc, device, position, clicked in portion
    ]
    wanted = [(query, *docs, position, n, clicks) for query, docs, position, n, clicks in added_up(every)]
    assert sorted(found.rows()) == wanted


def test_sums_are_exact_where_they_are_large():
    sums = Sums(["query", "doc"])
    rows = pl.DataFrame({"query": ["q"] * 9000, "doc": "a", "position": 1, "impressions": 10**12, "clicks": 10**12 - 1})
    sums.add(rows.select(sums.cells()))
    assert sums.frame().rows() == [("q", "a", 1, 9000 * 10**12, 9000 * (10**12 - 1))]
