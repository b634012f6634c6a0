"""Read a LETOR file: ours, doc ids kept, against scikit-learn's load_svmlight_file, in the same run.

With RULERANK_DATA, on MQ2008's first training file; without, on a synthetic file of the same shape.
"""

from __future__ import annotations

import io
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from rulerank.dataset import Dataset
from rulerank.io.letor import read_letor, write_letor

N_RUNS = 9


def synthetic_file(path: Path, n_rows: int = 9630, n_features: int = 46) -> Path:
    """Write random values of six digits, 20 documents a query, with doc ids and comments."""
    rng = np.random.default_rng(0)
    doc_ids = [f"GX{row % 273:03}-{row % 97:02}-{row:07}" for row in range(n_rows)]
    data = Dataset(
        rng.random((n_rows, n_features)).round(6),
        rng.integers(0, 3, n_rows),
        [str(row // 20) for row in range(n_rows)],
        doc_ids,
    )
    write_letor(data, path)
    return path


def median_seconds(*works: Callable[[], object]) -> list[float]:
    """Return the median time of each work, run in turn so that all meet the same noise."""
    times: list[list[float]] = [[] for _ in works]
    for run in range(N_RUNS + 1):
        for work, seconds in zip(works, times, strict=True):
            start = time.perf_counter()
            work()
            if run:  # the first run warms up
                seconds.append(time.perf_counter() - start)
    return [statistics.median(seconds) for seconds in times]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        if os.environ.get("RULERANK_DATA"):
            path = Path(os.environ["RULERANK_DATA"], "letor4-mq2008", "Fold1", "train.txt")
            what = "MQ2008 Fold1/train.txt"
        else:
            path = synthetic_file(Path(folder, "train.txt"))
            what = "a synthetic file (RULERANK_DATA is not set)"
        data = read_letor(path)
        ours, theirs, writing = median_seconds(
            lambda: read_letor(path),
            lambda: load_svmlight_file(str(path), query_id=True),
            lambda: write_letor(data, io.BytesIO()),
        )
    size = f"{len(data):,} x {data.X.shape[1]}"
    print(f"{what}, {size}, median of {N_RUNS} runs")
    print(f"  rulerank read_letor          {ours * 1000:7.1f} ms")
    print(f"  sklearn load_svmlight_file   {theirs * 1000:7.1f} ms   {theirs / ours:.1f} times ours")
    print(f"  rulerank write_letor         {writing * 1000:7.1f} ms")


if __name__ == "__main__":
    main()
