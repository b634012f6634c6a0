"""A small click log, and its sums, for tests."""

import polars as pl

ROWS = [("q1", "a", 1, 1), ("q1", "b", 2, 0), ("q1", "a", 1, 0), ("green tent", "b", 1, 1), ("007", "a", 3, 0)]
SUMS = [("007", "a", 3, 1, 0), ("green tent", "b", 1, 1, 1), ("q1", "a", 1, 2, 1), ("q1", "b", 2, 1, 0)]
NAMES = ("query", "doc", "position", "clicked")
ROWS_AS_TEXT = [tuple(map(str, row)) for row in ROWS]


def frame(rows=ROWS, names=NAMES):
    return pl.DataFrame(rows, schema=list(names), orient="row")
