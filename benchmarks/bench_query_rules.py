"""RE-QR against RE-GR on one OHSUMED fold at size 2: MDLP + fit + predict, warm, in the same run; and many queries.

    python benchmarks/bench_query_rules.py             # a minute
    python benchmarks/bench_query_rules.py growth      # 50,000 to 1,000,000 rows with 40 documents a query: minutes
    python benchmarks/bench_query_rules.py sample      # what judging by a sample of the rows does to trust and quality

Needs the real data: RULERANK_DATA must name a folder that holds letor3-ohsumed (else a synthetic synthetic is used).
"""

from __future__ import annotations

import os
import resource
import sys
import time

import numpy as np
from scipy.stats import spearmanr

import rulerank as rr
from rulerank.datasets.ranking import make_ranking
from rulerank.evaluation import evaluate
from rulerank.io.formats import read_folds
from rulerank.rankers.query_rules import QueryRules
from timing import median_time

GOAL = 15
N_QUERIES, N_DOCS, N_FEATURES = 10_000, 5, 20


GROWTH = 1_250, 2_500, 5_000, 25_000  # queries of 40 documents
SAMPLES = 0.5, 0.25, 0.1  # shares of the training rows


def main() -> None:
    if sys.argv[1:] == ["growth"]:
        growth()
        return
    if sys.argv[1:] == ["sample"]:
        samples()
        return
    if os.environ.get("RULERANK_DATA"):
        fold = read_folds(f"{os.environ['RULERANK_DATA']}/letor3-ohsumed")[0]
        train, test = fold.train, fold.test
        print("LETOR 3.0 OHSUMED, fold 1")
    else:
        print("RULERANK_DATA is not set: a synthetic synthetic of 100 queries instead of OHSUMED")
        train, test = make_ranking(n_queries=100, seed=0), make_ranking(n_queries=30, seed=1)
    peer = 0.0
    for name, ranker in {
        "RE-GR": rr.GlobalRules(),
        "RE-QR": QueryRules(),
        "RE-QR, literal": QueryRules(literal=True),
        "RE-QR, literal, shared ties": QueryRules(literal=True, ties="share"),
    }.items():
        seconds = median_time(lambda ranker=ranker: ranker.fit(train).predict(test))
        peer = peer or seconds
        quality = evaluate(test.y, ranker.predict(test), test.qid, ["MAP"]).means["MAP"]
        print(
            f"{name:28} {seconds * 1e3:8.1f} ms   MAP {quality:.4f}   {seconds / peer:5.1f} times RE-GR (goal: {GOAL})"
        )
    many_queries()


def many_queries() -> None:
    """Show that memory does not grow with the number of queries times that of cells."""
    rng = np.random.default_rng(0)
    X = rng.random((N_QUERIES * N_DOCS, N_FEATURES))
    y = np.digitize(X[:, :3].mean(axis=1), [0.55, 0.65])
    qid = np.repeat(np.arange(N_QUERIES), N_DOCS)
    for name, ranker in {
        "RE-QR": QueryRules(max_size=1),
        "RE-QR, literal": QueryRules(max_size=1, literal=True),
    }.items():
        before = peak()
        start = time.perf_counter()
        ranker.fit(X, y, qid=qid).predict(X[:1000])
        print(
            f"{name}, size 1, {N_QUERIES:,} queries of {N_DOCS} documents, {N_FEATURES} features: "
            f"{time.perf_counter() - start:.1f} s, peak memory {before:,.0f} -> {peak():,.0f} MiB"
        )


def growth() -> None:
    """Time fits of 46 features that all say something, in bins of equal frequency; beyond the bound rows are free."""
    for n_queries in GROWTH:
        rng = np.random.default_rng(0)
        relevance = rng.random((n_queries * 40, 1), dtype=np.float32)
        X = np.linspace(0.2, 1, 46, dtype=np.float32) * relevance + rng.random((n_queries * 40, 46), dtype=np.float32)
        y = np.digitize(relevance.ravel() + 0.3 * rng.random(len(X), dtype=np.float32), [0.8, 1.05])
        start = time.perf_counter(), time.process_time()
        QueryRules(discretizer=rr.discretize.EqualFrequency(n_bins=5)).fit(
            X, y, qid=np.repeat(np.arange(n_queries), 40)
        )
        clock, cores = time.perf_counter() - start[0], time.process_time() - start[1]
        print(
            f"{len(X):,} rows, {n_queries:,} queries: {clock:.0f} s, {cores:.0f} s of processor time, "
            f"{1e3 * cores / n_queries:.1f} ms a query, peak {peak():,.0f} MiB",
            flush=True,
        )


def samples() -> None:
    """Compare trust (rank correlation) and quality with those of all rows; means over folds."""
    synthetic = make_ranking(n_queries=600, docs_per_query=40, n_features=12, seed=0)
    sets = {"a synthetic set": [(synthetic[:20_000], synthetic[20_000:])]}
    if os.environ.get("RULERANK_DATA"):
        for name in ("letor3-ohsumed", "letor4-mq2008"):
            folds = read_folds(f"{os.environ['RULERANK_DATA']}/{name}")
            sets[name] = [(fold.train, fold.test) for fold in folds]
    for name, folds in sets.items():
        found: dict[float, list[list[float]]] = {}
        for train, test in folds:
            trust = QueryRules().fit(train).trust_
            for share in (1.0, *SAMPLES):
                ranker = QueryRules(judged_rows=int(share * len(train))).fit(train)
                means = evaluate(test.y, ranker.predict(test), test.qid, ["MAP", "NDCG@10"]).means
                same = float(spearmanr(trust, ranker.trust_).statistic)
                found.setdefault(share, []).append([same, means["MAP"], means["NDCG@10"]])
        for share, rows in found.items():
            same, average_precision, ndcg = np.mean(rows, axis=0)
            print(
                f"{name}, judged by {share:.0%} of the rows: rank correlation of trust {same:.3f}, "
                f"MAP {average_precision:.4f}, NDCG@10 {ndcg:.4f}"
            )


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
