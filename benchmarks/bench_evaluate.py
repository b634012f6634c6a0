"""Time evaluate against pytrec_eval and ranx: MAP and NDCG@10 of 1,000 queries x 1,000 documents, one in ten relevant.

    python benchmarks/bench_evaluate.py

Each side is warm (compiled, its own input structures built) and timed in turn; the median counts.
- rulerank starts from arrays, checks and groups them: everything a call costs.
- pytrec_eval starts from a RelevanceEvaluator and a dict of dicts built before: building them is not counted.
- ranx starts from Qrels and Run built before: building and sorting them is not counted, though we sort each time.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from rulerank.evaluation import evaluate

N_QUERIES, N_DOCS, N_REPEATS = 1_000, 1_000, 7


def main() -> None:
    try:
        import pytrec_eval
        import ranx
    except ImportError as error:
        print(f"skipped: {error}; install the competing libraries with: pip install 'rulerank[bench]'")
        return
    rng = np.random.default_rng(0)
    n_rows = N_QUERIES * N_DOCS
    y = np.where(rng.random(n_rows) < 0.1, rng.integers(1, 4, n_rows), 0)
    scores = (rng.random(n_rows) + 0.3 * y).astype(np.float32)  # float32: pytrec_eval rounds to it
    qid = np.repeat(np.arange(N_QUERIES), N_DOCS)

    names = [f"d{number:04}" for number in range(N_DOCS)]
    by_query = range(0, n_rows, N_DOCS)
    judged = {f"q{i}": dict(zip(names, y[s : s + N_DOCS].tolist(), strict=True)) for i, s in enumerate(by_query)}
    ranked = {f"q{i}": dict(zip(names, scores[s : s + N_DOCS].tolist(), strict=True)) for i, s in enumerate(by_query)}
    trec = pytrec_eval.RelevanceEvaluator(judged, {"map", "ndcg_cut_10"})
    relevant = {query: {doc: grade for doc, grade in docs.items() if grade} for query, docs in judged.items()}
    qrels, run = ranx.Qrels(relevant), ranx.Run(ranked)

    def by_pytrec_eval() -> tuple[float, float]:
        found = trec.evaluate(ranked).values()
        return tuple(statistics.fmean(one[name] for one in found) for name in ("map", "ndcg_cut_10"))

    def by_ranx() -> tuple[float, float]:
        found = ranx.evaluate(qrels, run, ["map", "ndcg@10"])
        return found["map"], found["ndcg@10"]

    def ours(ties: str, ids: np.ndarray = qid, n_jobs: int | None = None) -> Callable[[], tuple[float, float]]:
        def call() -> tuple[float, float]:
            means = evaluate(y, scores, ids, ["MAP", "NDCG@10"], ties=ties, n_jobs=n_jobs).means
            return means["MAP"], means["NDCG@10"]

        return call

    text_ids = np.array([f"q{number}" for number in qid], dtype=object)
    sides = {
        "rulerank": ours("expected"),
        "rulerank, one thread": ours("expected", n_jobs=1),
        "rulerank, ties by file": ours("file"),
        "rulerank, query ids as text": ours("expected", text_ids),
        "pytrec_eval": by_pytrec_eval,
        "ranx": by_ranx,
    }
    found = {name: side() for name, side in sides.items()}  # warm
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(N_REPEATS):
        for name, side in sides.items():
            start = time.perf_counter()
            side()
            times[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(values) for name, values in times.items()}
    print(f"{N_QUERIES:,} queries x {N_DOCS:,} documents, median of {N_REPEATS}")
    for name, median in medians.items():
        shown = "  ".join(f"{label} {value:.4f}" for label, value in zip(("MAP", "NDCG@10"), found[name], strict=True))
        ratio = median / medians["rulerank"]
        print(f"{name:28} {median * 1000:8.1f} ms  {ratio:6.2f} x rulerank  {shown}")

    small = slice(0, 100_000, 10)  # 100 queries x 100 documents
    repeats = []
    for _ in range(200):
        start = time.perf_counter()
        evaluate(y[small], scores[small], qid[small], ["MAP", "NDCG@10"])
        repeats.append(time.perf_counter() - start)
    print(f"one call on 100 queries x 100 documents: {statistics.median(repeats) * 1e6:.0f} microseconds")


if __name__ == "__main__":
    main()
