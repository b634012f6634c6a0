"""Raters at once through the judging page's HTTP API: how long each waits, and the first one after a restart.

`rulerank judge` runs as a process of its own; the raters are threads here, each with a connection that stays open. They
ask for the next document and grade it as the page does, and rest some time per document.
At the end the store must hold each acknowledged label once, and no document twice. Then the server is killed and
started again: from the start of the process to the first document, and how much of that is waiting for an answer.

    bench_judging_http.py                                  # 8 raters, 5,000 labels, OHSUMED's fold 1, two speeds
    bench_judging_http.py --documents 100000 --raters 20 --labels 1500 --before 3500 --rest 2

OHSUMED when RULERANK_DATA is set and no number of documents is given, else a synthetic pool. A large one has names, so
that strata of the baseline ranking choose; --ssar lets SSAR choose query by query.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from http.client import HTTPConnection
from pathlib import Path
from time import perf_counter, sleep
from urllib.parse import urlsplit

import numpy as np

import rulerank as rr
from rulerank.baseline import suggest_baseline
from rulerank.judging.pool import read_pool
from rulerank.judging.sample import choose
from rulerank.judging.store import LabelStore

GOAL = 100  # milliseconds, for the median


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--labels", type=int, default=5000)
    parser.add_argument("--before", type=int, default=0, help="labels that are in the store already")
    parser.add_argument("--raters", type=int, default=8)
    parser.add_argument("--documents", type=int, default=0)
    parser.add_argument("--ssar", action="store_true")
    parser.add_argument("--rest", type=float, nargs="*", default=[0.25, 0.0], help="seconds per document")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        pool = make_pool(folder, options.documents, options.ssar)
        for rest in options.rest:
            run(pool, folder / f"labels-{rest}.db", options, rest)


def make_pool(folder: Path, n_documents: int, ssar: bool) -> Path:
    pool = folder / "pool.letor"  # without names: no feature says that it is the baseline ranking
    if n_documents:
        synthetic = rr.datasets.make_ranking(n_queries=n_documents // 100, docs_per_query=100, n_features=45, seed=0)
        if not ssar:
            pool = folder / "pool.parquet"
            rr.io.write_table(synthetic, pool)
            return pool
        rr.io.write_letor(synthetic, pool)
    elif os.environ.get("RULERANK_DATA"):
        parts = Path(os.environ["RULERANK_DATA"], "letor3-ohsumed", "Fold1")
        pool.write_bytes(b"".join((parts / f"{part}.txt").read_bytes() for part in ("train", "vali", "test")))
    else:
        print("RULERANK_DATA is not set: a synthetic pool instead of OHSUMED")
        rr.io.write_letor(
            rr.datasets.make_ranking(n_queries=107, docs_per_query=152, n_features=45, seed=0)[:16140], pool
        )
    return pool


def run(pool: Path, labels: Path, options: argparse.Namespace, rest: float) -> None:
    fill(pool, labels, options.before)
    command = [
        sys.executable,
        "-m",
        "rulerank",
        "judge",
        pool,
        "--labels",
        labels,
        "--port",
        "0",
        "--no-open",
        "--json",
    ]
    server, hello = start(command)
    try:
        judge(hello, labels, options, rest)
    finally:
        server.kill()
        server.wait()
    began = perf_counter()
    server, hello = start(command)
    listening = perf_counter()
    try:
        Rater(hello["url"], "rater-0")("GET", "/api/next")
        waited = perf_counter() - listening
        print(
            f"  restart with {options.before + options.labels:,} labels: the first document {waited:.2f} s after it "
            f"was asked for, {listening - began + waited:.2f} s after the process began"
        )
    finally:
        server.kill()
        server.wait()
        print(f"  load of the machine, our processes among it: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def start(command: list) -> tuple[subprocess.Popen, dict]:
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return server, json.loads("".join(iter(server.stdout.readline, "}\n")) + "}")


def fill(pool: Path, labels: Path, n_labels: int) -> None:
    """Give a store labels of earlier days: what the page would have asked for, in its order."""
    if not n_labels:
        return
    documents = read_pool(pool)
    baseline = suggest_baseline(documents.data.feature_names)
    sampler = rr.SSAR(per_query=True) if baseline is None else rr.StratifiedSampler(baseline=baseline.option)
    chosen = choose(documents, sampler, n_labels, grades=documents.own_grades).rows.tolist()
    others = np.random.default_rng(0).permutation(len(documents)).tolist()  # SSAR may stop before
    rows = [*dict.fromkeys([*chosen, *others])][:n_labels]
    with LabelStore(labels) as store:
        store.add_all([(*documents.pairs[row], documents.own_grades[row], "before") for row in rows])


def judge(hello: dict, labels: Path, options: argparse.Namespace, rest: float) -> None:
    waits: dict[str, list[float]] = {"next": [], "grade": []}
    given: list[tuple[int, str, str, int, str]] = []
    left = iter(range(options.labels))

    def work(number: int) -> None:
        rater = f"rater-{number}"
        ask = Rater(hello["url"], rater)
        sleep(rest * number / options.raters)
        for step in left:
            start = perf_counter()
            task = ask("GET", "/api/next")["task"]
            waits["next"].append(perf_counter() - start)
            if task is None:
                return
            sleep(rest)
            start = perf_counter()
            label = ask("POST", "/api/labels", query=task["query"], doc=task["doc"], grade=step % 3)["label"]
            waits["grade"].append(perf_counter() - start)
            given.append((label["id"], task["query"], task["doc"], step % 3, rater))

    Rater(hello["url"], "rater-0")("GET", "/api/next")  # puts the pool into bins
    threads = [threading.Thread(target=work, args=(number,)) for number in range(options.raters)]
    start = perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = perf_counter() - start
    print(
        f"{hello['documents']:,} documents, {hello['queries']} queries: {len(given):,} labels by {options.raters} "
        f"raters in {seconds:.0f} s, {f'each resting {rest:g} s per document' if rest else 'who never rest'}"
    )
    for name, seconds_waited in waits.items():
        low, high = np.quantile(seconds_waited, [0.5, 0.95]) * 1e3
        print(f"  {name:9}median {low:6.1f} ms, 95 % within {high:6.1f} ms (goal for the median: {GOAL})")
    check(given, labels, options)


class Rater:
    """Someone who asks the page on a connection that stays open."""

    def __init__(self, url: str, name: str) -> None:
        self.connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
        self.options = f"?rater={name}&keep_going=true"

    def __call__(self, method: str, path: str, more: str = "", **values: object) -> dict:
        body = json.dumps(values).encode() if values else None
        headers = {"Content-Type": "application/json"} if values else {}
        self.connection.request(method, path + self.options + more, body, headers)
        response = self.connection.getresponse()
        answer = json.loads(response.read())
        if response.status != 200:
            raise SystemExit(f"{method} {path}: {response.status} {answer}")
        return answer


def check(given: list[tuple[int, str, str, int, str]], labels: Path, options: argparse.Namespace) -> None:
    with LabelStore(labels) as store:
        kept = [(label.id, label.query, label.doc, label.grade, label.rater) for label in store.history()]
    kept = kept[options.before :]
    most = max(Counter((query, doc) for _, query, doc, _, _ in given).values())
    if sorted(given) != kept or len(given) != options.labels or most > 1:
        raise SystemExit(f"wrong: {len(given):,} labels were acknowledged, {len(kept):,} kept, a document {most} times")
    print(f"  all {len(kept):,} labels are in the store as they were acknowledged, each of another document")


if __name__ == "__main__":
    main()
