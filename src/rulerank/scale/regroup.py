"""Bring the rows of each query together that lie in several parts: an external sort by query, into a folder.

Queries keep the order in which they first appear, and rows theirs within a query, so that what is learned from the new
parts is what would be learned in memory. What is held at once is a part, and one number for each query.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from rulerank.core.progress import progress
from rulerank.dataset import Array
from rulerank.scale.part import Columns, Part, Shape, TablePart

OWN = Columns(qid="rulerank qid", grade="rulerank grade")  # names that no feature has
NUMBER = "rulerank number"


def regroup(parts: Sequence[Part], shape: Shape, folder: str, max_values: int) -> list[TablePart]:
    """Return parts of whole queries, in Parquet files of a folder, of about max_values numbers each."""
    number: dict[str, int] = {}
    sizes: list[Array] = []
    with progress(2 * len(parts), "bringing queries together") as bar:
        for part in parts:
            keys = part.keys()
            own = [number.setdefault(str(one), len(number)) for one in keys.query_ids]
            sizes.append(_counted(own, np.bincount(keys.queries, minlength=len(own)), len(number)))
            bar.advance()
        n_rows = np.zeros(len(number), dtype=np.int64)
        for counts in sizes:
            n_rows[: counts.size] += counts
        most = max(1, max_values // (len(shape.feature_names) + 3))
        bucket_of = (np.cumsum(n_rows) - n_rows) // most
        for place, part in enumerate(parts):
            keys = part.keys()
            numbers = np.array([number[str(one)] for one in keys.query_ids], dtype=np.int64)[keys.queries]
            _spread(part, shape, numbers, bucket_of[numbers], Path(folder), place)
            bar.advance()
    return [_collected(path, first) for first, path in enumerate(sorted(Path(folder).glob("bucket-*")))]


def _counted(numbers: Sequence[int], counts: Array, n_queries: int) -> Array:
    out = np.zeros(n_queries, dtype=np.int64)
    np.add.at(out, numbers, counts)
    return out


def _spread(part: Part, shape: Shape, numbers: Array, buckets: Array, folder: Path, place: int) -> None:
    """Write each row of a part to the bucket of its query."""
    keys = part.keys()
    X = part.values(shape, shape.feature_names)
    columns = [
        pl.Series(OWN.qid, [str(one) for one in keys.query_ids], dtype=pl.String)[keys.queries],
        pl.Series(OWN.grade, keys.grades),
        pl.Series(NUMBER, numbers),
    ]
    for i, name in enumerate(shape.feature_names):
        values = pl.Series(name, X[:, i])
        if name in shape.categories:
            values = values.fill_nan(None).cast(pl.UInt32).cast(pl.Enum(shape.categories[name]))
        columns.append(values)
    frame = pl.DataFrame(columns)
    for bucket in np.unique(buckets).tolist():
        own = folder / f"bucket-{bucket:08}"
        own.mkdir(exist_ok=True)
        frame.filter(pl.Series(buckets == bucket)).write_parquet(own / f"{place:08}.parquet")


def _collected(bucket: Path, place: int) -> TablePart:
    """Put what lies in a bucket together, query by query."""
    pieces = sorted(bucket.glob("*.parquet"))
    frame = pl.concat([pl.read_parquet(piece) for piece in pieces]).sort(NUMBER, maintain_order=True).drop(NUMBER)
    for piece in pieces:
        piece.unlink()
    path = bucket / "all.parquet"
    frame.write_parquet(path)
    return TablePart(f"regrouped part {place + 1}", os.fspath(path), OWN)
