"""Eight raters at once through the judging page's HTTP API, 5,000 labels: how long a rater waits for an answer.

`rulerank judge` runs as a process of its own; the raters are threads here, each with a connection that stays open. They
ask for the next document and grade it, once resting a quarter of a second per document, far less than a person, and
once never resting. At the end the store must hold each acknowledged label once, and no document twice.

OHSUMED's fold 1 when RULERANK_DATA is set, else a synthetic pool of the same size. Other numbers can be given:
bench_judging_http.py LABELS [SECONDS_PER_DOCUMENT ...].
"""

from __future__ import annotations

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
from rulerank.judging.store import LabelStore

N_RATERS = 8


def main() -> None:
    n_labels = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        pool = folder / "pool.letor"
        if os.environ.get("RULERANK_DATA"):
            parts = Path(os.environ["RULERANK_DATA"], "letor3-ohsumed", "Fold1")
            pool.write_bytes(b"".join((parts / f"{part}.txt").read_bytes() for part in ("train", "vali", "test")))
        else:
            print("RULERANK_DATA is not set: a synthetic pool instead of OHSUMED")
            rr.write_letor(rr.make_world(n_queries=107, docs_per_query=152, n_features=45, seed=0)[:16140], pool)
        for rest in [float(given) for given in sys.argv[2:]] or [0.25, 0.0]:
            run(pool, folder / f"labels-{rest}.db", n_labels, rest)


def run(pool: Path, labels: Path, n_labels: int, rest: float) -> None:
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
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        hello = json.loads("".join(iter(server.stdout.readline, "}\n")) + "}")
        judge(hello, labels, n_labels, rest)
    finally:
        server.kill()
        server.wait()
        print(f"  load of the machine, our processes among it: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def judge(hello: dict, labels: Path, n_labels: int, rest: float) -> None:
    waits: dict[str, list[float]] = {"next": [], "grade": []}
    given: list[tuple[int, str, str, int, str]] = []
    left = iter(range(n_labels))

    def work(number: int) -> None:
        rater = f"rater-{number}"
        ask = Rater(hello["url"], rater)
        sleep(rest * number / N_RATERS)
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
    threads = [threading.Thread(target=work, args=(number,)) for number in range(N_RATERS)]
    start = perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = perf_counter() - start
    print(
        f"{hello['documents']:,} documents, {hello['queries']} queries: {len(given):,} labels by {N_RATERS} raters "
        f"in {seconds:.0f} s, {f'each resting {rest:g} s per document' if rest else 'who never rest'}"
    )
    for name, seconds_waited in waits.items():
        low, high = np.quantile(seconds_waited, [0.5, 0.95]) * 1e3
        print(f"  {name:8}median {low:6.1f} ms, 95 % within {high:6.1f} ms (goal for the median: 50)")
    check(given, labels, n_labels)


class Rater:
    """Someone who asks the page on a connection that stays open."""

    def __init__(self, url: str, name: str) -> None:
        self.connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
        self.options = f"?rater={name}&keep_going=true"

    def __call__(self, method: str, path: str, **values: object) -> dict:
        body = json.dumps(values).encode() if values else None
        headers = {"Content-Type": "application/json"} if values else {}
        self.connection.request(method, path + self.options, body, headers)
        response = self.connection.getresponse()
        answer = json.loads(response.read())
        if response.status != 200:
            raise SystemExit(f"{method} {path}: {response.status} {answer}")
        return answer


def check(given: list[tuple[int, str, str, int, str]], labels: Path, n_labels: int) -> None:
    with LabelStore(labels) as store:
        kept = [(label.id, label.query, label.doc, label.grade, label.rater) for label in store.history()]
    most = max(Counter((query, doc) for _, query, doc, _, _ in given).values())
    if sorted(given) != kept or len(given) != n_labels or most > 1:
        raise SystemExit(f"wrong: {len(given):,} labels were acknowledged, {len(kept):,} kept, a document {most} times")
    print(f"  all {len(kept):,} labels are in the store as they were acknowledged, each of another document")


if __name__ == "__main__":
    main()
