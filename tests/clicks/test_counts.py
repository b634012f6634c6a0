"""Click counts: added up exactly, checked, and joined to a pool."""

import io
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import rulerank as rr
from rulerank.dataset import Impressions
from rulerank.errors import DataError

POOL = rr.Dataset(
    [[0.5], [0.1], [0.9]],
    [2, -1, 0],
    ["q1", "q1", "q2"],
    docid=["a", "b", "a"],
    feature_names=["bm25"],
    texts={"query_text": np.array(["Green tent", "Green tent", "lamp"], dtype=object)},
)


LOG = "qid,f,position:log,impressions:log,clicks:log\n"


def counts(rows):
    return rr.clicks.read_clicks(
        pl.DataFrame(rows, ["query", "doc", "position", "impressions", "clicks"], orient="row")
    )


@pytest.mark.parametrize(
    ("shown", "message"),
    [
        (([0], [1], [0]), "position must be a whole number from 1, the top of the list: got 0 at row 0"),
        (([1.5], [1], [0]), "position must be a whole number from 1, the top of the list: got 1.5 at row 0"),
        ((["top"], [1], [0]), r"position must be a whole number from 1, the top of the list: got \['top'\]"),
        (([1], [0], [0]), "impressions must be a whole number from 1: got 0 at row 0"),
        (([1], [1], [-1]), "clicks must be a whole number from 0: got -1 at row 0"),
        (([1], [1], [float("nan")]), "clicks must be a whole number from 0: got nan at row 0"),
        (([1, 1], [5, 2], [1, 3]), "clicks must not be above impressions: got 3 clicks of 2 impressions at row 1"),
        (([2**31], [5], [1]), "position must be at most 2147483647: got 2147483648"),
        (([1, 2], [5, 5], [1]), "clicks must have one entry per row: expected 2, got 1"),
    ],
)
def test_impressions_that_cannot_be_are_refused(shown, message):
    with pytest.raises(DataError, match=f"^{message}"):
        Impressions(*shown)


def test_a_join_has_one_row_per_position_with_the_pools_features():
    joined = counts(
        [("q2", "a", 1, 7, 2), ("q1", "b", 2, 9, 1), ("q1", "a", 3, 4, 0), ("q1", "a", 1, 5, 3), ("q1", "z", 2, 1, 0)]
    ).join(POOL)
    rows = zip(joined.qid, joined.docid, joined.X[:, 0].tolist(), joined.y, joined.impressions.position, strict=True)
    assert [*rows] == [
        ("q1", "a", 0.5, 2, 1),
        ("q1", "a", 0.5, 2, 3),
        ("q1", "b", np.float32(0.1), -1, 2),
        ("q2", "a", np.float32(0.9), 0, 1),
    ]
    assert joined.impressions.count.tolist() == [5, 4, 9, 7]
    assert joined.impressions.clicks.tolist() == [3, 0, 1, 2]


def test_queries_are_found_by_their_text_where_that_finds_more():
    log = counts([("green tent", "a", 1, 5, 1), ("Green  Tent", "a", 1, 2, 2), ("lamp", "a", 2, 3, 0)])
    joined = log.join(POOL)
    assert joined.impressions.count.tolist() == [7, 3]
    assert joined.impressions.clicks.tolist() == [3, 0]
    with pytest.raises(DataError, match=r"^none of the log's queries are in the pool: the log has query 'Green  Tent'"):
        log.join(replace(POOL, texts={}))


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        (rr.Dataset([[0.5]], [0], ["q1"]), "the pool has no document ids, which are needed to join the log"),
        (POOL[[0, 0]], "the pool holds document 'a' of query 'q1' more than once: join a log to a pool with"),
        (
            rr.Dataset(
                [[1.0]] * 2, [0, 0], ["1", "2"], ["a", "a"], texts={"query": np.array(["Lamp", "lamp"], object)}
            ),
            "two queries of the pool, '1' and '2', have the text 'lamp': remove one of the two",
        ),
    ],
)
def test_a_pool_that_cannot_be_joined_is_refused(pool, message):
    with pytest.raises(DataError, match=f"^{message}"):
        counts([("q1", "a", 1, 5, 1)]).join(pool)


@pytest.mark.parametrize("format", ["csv", "tsv", "parquet"])
def test_tables_carry_what_was_shown_whole(format):
    joined = counts([("q1", "a", 3, 2**39 + 1, 2**39)]).join(POOL)
    file = io.BytesIO()
    rr.io.write_table(joined, file, format=format)
    read = rr.read_table(io.BytesIO(file.getvalue()), format=format)
    assert read.feature_names == ("bm25",)
    assert repr(read) == repr(joined)
    assert read.impressions.columns()[1:3] == ([2**39 + 1], [2**39])


def test_features_named_as_in_a_log_stay_features():
    read = rr.read_table(io.BytesIO(b"qid,position,impressions,clicks\nq,1,10,3\n"), format="csv")
    assert read.impressions is None
    assert read.feature_names == ("position", "impressions", "clicks")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("qid,f,position:log\nq,1,1\n", "impressions:log, clicks:log go together: there is only position:log"),
        (f"{LOG}q,1,1,5,many\n", ":2: expected a whole number in column 'clicks:log', got 'many'"),
        (f"{LOG}q,1,0,5,1\n", "position must be a whole number from 1"),
    ],
)
def test_a_table_with_half_a_log_is_refused(content, message):
    with pytest.raises(rr.errors.ReadError, match=message):
        rr.read_table(io.StringIO(content), format="csv")


def test_rows_and_data_sets_keep_what_was_shown():
    joined = counts([("q1", "a", 1, 5, 1), ("q1", "b", 2, 5, 0)]).join(POOL)
    assert joined[joined.impressions.position == 2].impressions.count.tolist() == [5]
    assert rr.Dataset.concat([joined, joined]).impressions.clicks.tolist() == [1, 0, 1, 0]
    with pytest.raises(DataError, match="data sets differ: some have impressions and clicks, others have none"):
        rr.Dataset.concat([joined, POOL])
