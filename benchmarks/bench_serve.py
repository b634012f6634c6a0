"""The service: milliseconds of an answer beside LightGBM, sixteen clients at once, and the time until it is up.

    [RULERANK_DATA=FOLDER] [RULERANK_TEXTS=FOLDER] python benchmarks/bench_serve.py [--seconds 60] [--workers 2]

1. In one process, in turns: all that the service does for 100 documents with ready features, from the bytes of the
   request to the bytes of the answer, and LightGBM's predict of the same rows (one thread, 100 trees).
2. The same for texts: the best 100 of the index by BM25, their features and the ranking.
3. A closed loop: 16 clients in a process of their own, `rulerank serve` in others. No error may come.
4. kill -9, and how long until the next one answers.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

import rulerank as rr
from rulerank.serve.web.app import Limits, endpoints
from rulerank.serve.web.ranking import Service

N_CLIENTS = 16
N_DOCS = 100


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--seconds", type=float, default=60)
    given.add_argument("--workers", type=int, default=2)
    given.add_argument("--clients", help=argparse.SUPPRESS)  # the address that this process asks, as 16 clients
    options = given.parse_args()
    if options.clients:
        clients(options.clients, options.seconds)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        of_features(folder)
        if os.environ.get("RULERANK_TEXTS"):
            of_texts(folder, Path(os.environ["RULERANK_TEXTS"], "movies"))
        else:
            print("RULERANK_TEXTS is not set: no texts")
        loop(folder, options.workers, options.seconds)


def data() -> rr.Dataset:
    if os.environ.get("RULERANK_DATA"):
        return rr.read_letor(Path(os.environ["RULERANK_DATA"], "letor4-mq2008", "Fold1", "train.txt"))
    print("RULERANK_DATA is not set: a synthetic search instead of MQ2008")
    return rr.datasets.make_ranking(n_queries=200, docs_per_query=30, n_features=46, seed=0)


def ready_rows(train: rr.Dataset) -> tuple[np.ndarray, list[dict]]:
    X = train.X[:N_DOCS]
    values = [[None if value != value else value for value in row] for row in X.tolist()]
    rows = [
        {"id": f"d{place}", "features": dict(zip(train.feature_names, row, strict=True))}
        for place, row in enumerate(values)
    ]
    return X, rows


def of_features(folder: Path) -> None:
    import lightgbm

    train = data()
    ranker = rr.FittedRules().fit(train)
    ranker.save(folder / "model.rulerank")
    sizes = np.unique(train.qid, return_counts=True)
    order = np.argsort(train.qid, kind="stable")
    booster = lightgbm.LGBMRanker(n_estimators=100, n_jobs=1, verbose=-1)
    booster.fit(train.X[order], train.y[order], group=sizes[1])
    X, rows = ready_rows(train)
    bodies = {"scores": {"documents": rows}, "scores and reasons": {"documents": rows, "reasons": True}}
    (folder / "body.json").write_text(json.dumps(bodies["scores"] | {"top": N_DOCS}))
    work = worker(rr.Reranker(ranker), "/rank")
    print(f"{N_DOCS} documents with {X.shape[1]} ready features, FittedRules, the best ten answered{load()}")
    for kind, body in bodies.items():
        whole = json.loads(work({}, json.dumps(body | {"top": N_DOCS}).encode()))
        scores = {one["id"]: one["score"] for one in whole["results"]}
        assert [scores[f"d{place}"] for place in range(N_DOCS)] == ranker.predict(X, qid=np.zeros(N_DOCS)).tolist()
        sent = json.dumps(body).encode()
        (wall, cpu), (their_wall, their_cpu) = in_turns(
            lambda sent=sent: work({}, sent), lambda: booster.predict(X, num_threads=1)
        )
        print(
            f"  {kind} ({len(sent):,} bytes): median {wall:.2f} ms, computing {cpu:.2f} ms (goal 2); LightGBM predict "
            f"alone {their_wall:.2f} ms, computing {their_cpu:.2f} ms; ratio {cpu / their_cpu:.2f}"
        )


def of_texts(folder: Path, movies: Path) -> None:
    start = time.perf_counter()
    features = rr.TextFeatures().fit(rr.read_documents(movies / "corpus.jsonl.gz"))
    made = time.perf_counter() - start
    queries, qrels = (read(movies / "judgments.tsv.gz") for read in (rr.read_queries, rr.io.read_judgements))
    judged = features.dataset(queries, qrels, top=0)
    some = np.isin(judged.qid, queries.ids[:300])
    ranker = rr.FittedRules(max_pairs=10).fit(judged[some])
    rr.Reranker(ranker, features).save(folder / "movies.rulerank")
    work = worker(rr.Reranker(ranker, features).warm(), "/search")
    words = queries.texts[300:500]
    times = [timed(lambda query=query: work({"q": query, "top": 10, "reasons": None}, None)) for query in words]
    wall, cpu = (statistics.median(one) * 1e3 for one in zip(*times, strict=True))
    print(
        f"movies, {features.ids_.size:,} documents (index made in {made:.1f} s), {len(words)} queries, 100 candidates "
        f"each: median {wall:.1f} ms, of this process {cpu:.1f} ms (goal 20)"
    )
    print(f"movies, killed and started again: {restarted(folder / 'movies.rulerank', [])}")


def worker(reranker: rr.Reranker, path: str) -> Callable[..., bytes]:
    """Return what the service does in its thread for a request."""
    table = endpoints(Service(reranker), dict, Limits())
    return next(endpoint for endpoint in table if endpoint.path == path).answer_bytes


def timed(task: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.thread_time()
    task()
    return time.perf_counter() - wall, time.thread_time() - cpu


def in_turns(one: Callable[[], object], other: Callable[[], object], rounds: int = 500) -> list[tuple[float, float]]:
    """Return the median milliseconds, by the clock and computing, of two tasks that were done in turns."""
    times = [(timed(one), timed(other)) for _ in range(rounds)][10:]
    medians = [[statistics.median(t) * 1e3 for t in zip(*column, strict=True)] for column in zip(*times, strict=True)]
    return [(wall, cpu) for wall, cpu in medians]


def start(model: Path, options: list[str]) -> tuple[subprocess.Popen, str]:
    command = [sys.executable, "-m", "rulerank", "serve", str(model), "--json", *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    url = json.loads("".join(iter(server.stdout.readline, "}\n")) + "}")["url"]
    while True:
        try:
            ask(http.client.HTTPConnection(urlsplit(url).netloc, timeout=60), "GET", "/healthz")
            return server, url
        except ConnectionError:
            time.sleep(0.01)


def restarted(model: Path, options: list[str]) -> str:
    """Return how long a service takes to answer after its predecessor was killed."""
    server, url = start(model, [*options, "--port", "0"])
    port = str(urlsplit(url).port)
    times = []
    for _ in range(3):
        server.send_signal(signal.SIGKILL)
        server.wait()
        server.stdout.close()
        begun = time.perf_counter()
        server, _ = start(model, [*options, "--port", port])
        times.append(time.perf_counter() - begun)
    spent = sum(map(float, Path(f"/proc/{server.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13])) / 100
    server.terminate()
    server.wait()
    server.stdout.close()
    return f"up after {', '.join(f'{one:.2f}' for one in times)} s (goal 3), {spent:.2f} s of them computing{load()}"


def loop(folder: Path, workers: int, seconds: float) -> None:
    options = ["--features-only", "--workers", str(workers)]
    print(f"features only, killed and started again: {restarted(folder / 'model.rulerank', options)}")
    server, url = start(folder / "model.rulerank", [*options, "--port", "0"])
    try:
        call = [sys.executable, __file__, "--clients", f"{url} {folder / 'body.json'}", "--seconds", str(seconds)]
        subprocess.run(call, check=True)
    finally:
        server.terminate()
        print(f"  stopped with exit code {server.wait()}{load()}")
        server.stdout.close()


def clients(where: str, seconds: float) -> None:
    """Ask as fast as answers come, as 16 clients, each with one connection."""
    url, path = where.split(" ", 1)
    body = Path(path).read_bytes()
    times: list[float] = []
    wrong: list[object] = []
    end = time.perf_counter() + seconds

    def ask_on() -> None:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
        while time.perf_counter() < end:
            begun = time.perf_counter()
            try:
                status, answer = ask(connection, "POST", "/rank", body)
            except (OSError, http.client.HTTPException) as error:
                wrong.append(error)
                return
            times.append(time.perf_counter() - begun)
            if status != 200 or answer.count(b'"score"') != N_DOCS:
                wrong.append((status, answer[:200]))

    threads = [threading.Thread(target=ask_on) for _ in range(N_CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    low, high = np.quantile(times, [0.5, 0.99]) * 1e3
    print(
        f"{N_CLIENTS} clients, {seconds:g} s, {N_DOCS} documents each time: {len(times):,} answers, "
        f"{len(times) / seconds:.0f} a second, {len(wrong)} errors; p50 {low:.1f} ms, p99 {high:.1f} ms",
        flush=True,
    )
    if wrong:
        sys.exit(f"wrong: {wrong[:3]}")


def ask(connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
    headers = {} if body is None else {"Content-Type": "application/json"}
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    return response.status, response.read()


def load() -> str:
    return f"; load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


if __name__ == "__main__":
    main()
