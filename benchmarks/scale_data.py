"""Data of any size for benchmarks: rows of queries with 46 features, written as a folder of Parquet files."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import polars as pl

N_FEATURES = 46
ROWS_PER_PART = 500_000
ROWS_PER_QUERY = 40


def part(number: int, n_rows: int) -> pl.DataFrame:
    """Return the rows of one part: counts, zero-inflated scores and shares, whose sum, by query, makes the grade."""
    rng = np.random.default_rng([7, number])
    weights = np.random.default_rng(7).normal(size=N_FEATURES) * (np.arange(N_FEATURES) % 3 == 0)
    queries = np.arange(n_rows) // ROWS_PER_QUERY
    X = rng.random((n_rows, N_FEATURES), dtype=np.float32)
    X[:, ::4] = np.maximum(0, X[:, ::4] - 0.6) * 20  # a score that most documents do not have
    X[:, 1::4] = np.floor(X[:, 1::4] ** 3 * 50)  # a count
    level = rng.normal(size=int(queries[-1]) + 1)[queries]
    signal = (X / (X.std(axis=0) + 1e-6)) @ weights.astype(np.float32) + level + rng.normal(scale=2, size=n_rows)
    grades = np.searchsorted([1.5, 3.5, 5.5, 7.5], signal - np.median(signal)).astype(np.int8)
    columns = {"qid": number * 10_000_000 + queries, "grade": grades}
    return pl.DataFrame(columns | {f"f{i + 1}": X[:, i] for i in range(N_FEATURES)})


def write_parts(folder: Path, n_rows: int, rows_per_part: int = ROWS_PER_PART) -> list[Path]:
    """Write so many rows, and return the files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    files = []
    for number, first in enumerate(range(0, n_rows, rows_per_part)):
        files.append(folder / f"part-{number:05}.parquet")
        part(number, min(rows_per_part, n_rows - first)).write_parquet(
            files[-1], compression="zstd", compression_level=1
        )
    return files
