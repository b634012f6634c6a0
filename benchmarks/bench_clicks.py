"""Time and memory of adding up a click log in Parquet: ours, and a plain GROUP BY of DuckDB, on the same files.

    python benchmarks/bench_clicks.py
    python benchmarks/bench_clicks.py --impressions 1000000 10000000 100000000 --out clicks.json

The log is made chunk by chunk in a temporary folder, which is cleared in the end: lists of 10 for queries of which a
few are asked often, clicks by a position-based model. Every cell is a process of its own, whose peak memory the system
tells. Ours also looks at every value; DuckDB's sums, in the same order, are the check of ours.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

CHUNK = 1_000_000  # impressions in a file
SHOWN, DOCS = 10, 20  # of a query: places in a list, and documents that may stand there
SYSTEMS = ("rulerank", "duckdb")


def write_log(folder: Path, n_impressions: int, n_queries: int) -> None:
    """Write a log of whole lists, one file a chunk."""
    rng = np.random.default_rng(0)
    often = 1 / np.arange(1, n_queries + 1)
    often /= often.sum()
    attractive = rng.beta(1, 4, size=(n_queries, DOCS))
    for number, start in enumerate(range(0, n_impressions, CHUNK)):
        n_lists = min(CHUNK, n_impressions - start) // SHOWN
        queries = rng.choice(n_queries, size=n_lists, p=often)
        order = np.argsort(np.arange(DOCS) + rng.gumbel(scale=2, size=(n_lists, DOCS)), axis=1)[:, :SHOWN]
        seen = 1 / np.arange(1, SHOWN + 1)
        clicked = rng.random(order.shape) < seen * attractive[queries[:, None], order]
        asked = np.repeat(queries, SHOWN)
        frame = pl.DataFrame(
            {
                "time": 1_700_000_000 + start + np.arange(asked.size),
                "query": "query " + pl.Series(asked).cast(pl.String),
                "doc": "sku-" + pl.Series(asked * DOCS + order.ravel()).cast(pl.String),
                "position": np.tile(np.arange(1, SHOWN + 1), n_lists).astype(np.int32),
                "clicked": clicked.ravel(),
            }
        )
        frame.write_parquet(folder / f"{number:04}.parquet")


def add_up(system: str, folder: Path) -> pl.DataFrame:
    """Add the log up in this process."""
    if system == "rulerank":
        import rulerank as rr

        return rr.clicks.read_clicks(folder).table
    import duckdb

    return duckdb.sql(
        f"SELECT query, doc, position, count(*) AS impressions, count(*) FILTER (clicked) AS clicks "
        f"FROM '{folder}/*.parquet' GROUP BY ALL ORDER BY ALL"
    ).pl()


def measured(system: str, folder: Path) -> dict[str, object]:
    """Return the time and the peak memory, and a digest of what came out."""
    start = time.perf_counter()
    found = add_up(system, folder)
    seconds = time.perf_counter() - start
    cpu = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    plain = found.with_columns(pl.col("position", "impressions", "clicks").cast(pl.Int64))
    digest = hashlib.sha256("".join(f"{one}" for one in plain.hash_rows(seed=1).to_list()).encode()).hexdigest()
    return {"system": system, "seconds": seconds, "cpu": cpu, "GiB": peak, "rows": len(found), "digest": digest[:16]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--impressions", type=int, nargs="*", default=[1_000_000, 5_000_000])
    parser.add_argument("--queries", type=int, default=20_000)
    parser.add_argument("--out", type=Path, help="A JSON file that results are added to.")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measured(given.measure[0], Path(given.measure[1]))))
        return
    results = json.loads(given.out.read_text()) if given.out and given.out.exists() else []
    for n_impressions in given.impressions:
        with tempfile.TemporaryDirectory(prefix="rulerank-clicks-") as folder:
            write_log(Path(folder), n_impressions, given.queries)
            digests = set()
            for system in SYSTEMS:
                code = [sys.executable, __file__, "--measure", system, folder]
                found = json.loads(subprocess.run(code, check=True, capture_output=True, text=True).stdout)
                digests.add(found["digest"])
                results.append(found | {"impressions": n_impressions})
                print(
                    f"{system:10} {n_impressions:>12,} impressions to {found['rows']:>10,} rows "
                    f"{found['seconds']:8.1f} s ({found['cpu']:.1f} s of all cores) {found['GiB']:6.2f} GiB",
                    flush=True,
                )
                if given.out:
                    given.out.write_text(json.dumps(results, indent=1))
            if len(digests) > 1:
                raise SystemExit("the two disagree")


if __name__ == "__main__":
    main()
