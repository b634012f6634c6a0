"""RE-QR against RE-GR on one OHSUMED fold at size 2: MDLP + fit + predict, warm, in the same run; and many queries.

Needs the real data: RULERANK_DATA must name a folder that holds letor3-ohsumed (else a synthetic world is used).
"""

from __future__ import annotations

import os
import resource
import time

import numpy as np

import rulerank as rr
from rulerank.evaluation import evaluate
from rulerank.io.folds import read_folds
from rulerank.rankers.query_rules import QueryRules
from rulerank.worlds import make_world
from timing import median_time

GOAL = 15
N_QUERIES, N_DOCS, N_FEATURES = 10_000, 5, 20


def main() -> None:
    if os.environ.get("RULERANK_DATA"):
        fold = read_folds(f"{os.environ['RULERANK_DATA']}/letor3-ohsumed")[0]
        train, test = fold.train, fold.test
        print("LETOR 3.0 OHSUMED, fold 1")
    else:
        print("RULERANK_DATA is not set: a synthetic world of 100 queries instead of OHSUMED")
        train, test = make_world(n_queries=100, seed=0), make_world(n_queries=30, seed=1)
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


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
