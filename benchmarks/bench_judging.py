"""Eight raters at once through the judging loop, 5,000 labels: how long a rater waits for an answer.

Each rater takes a quarter of a second per document, far less than a person. OHSUMED's fold 1 when RULERANK_DATA is set,
else a synthetic synthetic. No peer chooses what to judge, so the floor is given instead: what one bare SQLite commit
costs with the same settings. Other numbers can be given: bench_judging.py LABELS SECONDS_PER_DOCUMENT.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
import threading
from pathlib import Path
from time import perf_counter, sleep

import numpy as np

import rulerank as rr
from rulerank.judging.loop import Judging
from rulerank.judging.pool import Pool
from rulerank.judging.store import LabelStore
from timing import median_time

N_RATERS = 8


def main() -> None:
    n_labels = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    rest = float(sys.argv[2]) if len(sys.argv) > 2 else 0.25
    if os.environ.get("RULERANK_DATA"):
        folder = f"{os.environ['RULERANK_DATA']}/letor3-ohsumed/Fold1"
        data = rr.Dataset.concat([rr.read_letor(f"{folder}/{part}.txt") for part in ("train", "vali", "test")])
    else:
        print("RULERANK_DATA is not set: a synthetic synthetic instead of OHSUMED")
        data = rr.datasets.make_ranking(n_queries=150, seed=0)
    with tempfile.TemporaryDirectory() as temporary:
        judge(Pool(data), data.y.tolist(), n_labels, rest, Path(temporary))


def judge(pool: Pool, grades: list[int], n_labels: int, rest: float, folder: Path) -> None:
    store = LabelStore(folder / "labels.db")
    judging = Judging(pool, store, max_grade=max(grades), overlap=0.1)
    judging.next("rater-0")  # compiles the loops
    times: dict[str, list[float]] = {"next": [], "grade": []}
    left = iter(range(n_labels))

    def work(rater: str) -> None:
        for _ in left:
            start = perf_counter()
            task = judging.next(rater, keep_going=True)
            if task is None:
                return
            times["next"].append(perf_counter() - start)
            sleep(rest)
            handed = perf_counter()
            judging.grade(rater, task.query, task.doc, grades[pool.row(task.query, task.doc)])
            times["grade"].append(perf_counter() - handed)

    threads = [threading.Thread(target=work, args=(f"rater-{number}",)) for number in range(N_RATERS)]
    start = perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = perf_counter() - start
    print(f"{pool!r}: {len(store.labels()):,} labels by {N_RATERS} raters in {seconds:.0f} s, {rest:g} s each")
    for name, waits in times.items():
        low, high = np.quantile(waits, [0.5, 0.95]) * 1e3
        print(f"{name:16}median {low:6.1f} ms, 95 % within {high:6.1f} ms{' (goal: 50)' if name == 'next' else ''}")
    rater, (query, doc) = "rater-0", pool.pairs[0]
    alone = {
        "next": lambda: judging.next(rater, keep_going=True),
        "grade": lambda: judging.grade(rater, query, doc, 1),
        "progress": lambda: judging.progress(rater),
        "overview": judging.overview,
    }
    print(f"one rater alone, with {len(store.labels()):,} labels:")
    for name, ask in alone.items():
        print(f"  {name:14}median {median_time(ask, 11) * 1e3:6.1f} ms")
    commit = median_time(bare_commit(folder / "bare.db"), 101)
    print(f"  a bare commit of SQLite: {commit * 1e3:.1f} ms")
    store.close()


def bare_commit(path: Path):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE labels (id INTEGER PRIMARY KEY, doc TEXT)")
    return lambda: connection.execute("INSERT INTO labels (doc) VALUES ('d')")


if __name__ == "__main__":
    main()
