"""RE-GR of many rows on Dask: one worker, two workers, streaming in this process, and all of it in memory.

    python benchmarks/bench_dask.py FOLDER        # of Parquet files, such as bench_scale.py makes

Each is run twice, and the faster counts; reading the files is part of all.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
from distributed import Client, LocalCluster

import rulerank as rr


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("folder", type=Path)
    folder = given.parse_args().folder
    files = sorted(map(str, folder.glob("*.parquet")))

    def in_memory() -> object:
        return rr.GlobalRules().fit(rr.read_table(pl.concat([pl.read_parquet(file) for file in files])))

    alone = best_of_two(in_memory)
    print(f"in memory {alone:.1f} s")
    print(f"streamed {best_of_two(lambda: rr.scale.fit_partitions(rr.GlobalRules(), files)) / alone:.2f} times that")
    seconds = {}
    for n_workers in (1, 2):
        with (
            LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            seconds[n_workers] = best_of_two(
                lambda client=client: rr.scale.fit_partitions(rr.GlobalRules(), files, client=client)
            )
        print(f"Dask, {n_workers} worker{'s' * (n_workers > 1)}: {seconds[n_workers] / alone:.2f} times that")
    print(f"two workers are {seconds[1] / seconds[2]:.2f} times as fast as one")


def best_of_two(task: Callable[[], object]) -> float:
    found = []
    for _ in range(2):
        start = time.perf_counter()
        task()
        found.append(time.perf_counter() - start)
    return min(found)


if __name__ == "__main__":
    main()
