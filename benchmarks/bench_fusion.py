"""Fusions beside ranx on the same runs, and all seven metrics at once beside one.

Runs: synthetic, 10 runs of 1,000 documents each, without ties. Metrics: OHSUMED's fold 1 when RULERANK_DATA is set,
else a synthetic synthetic.
"""

from __future__ import annotations

import os

import numpy as np

import rulerank as rr
from rulerank.rules.engine import Engine
from rulerank.rules.layout import Layout
from rulerank.rules.metrics import METRICS
from rulerank.rules.tables import BinCounts, Rows, hide_unseen
from rulerank.rules.votes import MeanVotes
from timing import median_time

N_RUNS, N_DOCS = 10, 1000
THEIRS = {"comb_sum": "sum", "comb_mnz": "mnz", "borda": "bordafuse", "rrf": "rrf", "condorcet": "condorcet"}


def main() -> None:
    fusions()
    metrics()


def fusions() -> None:
    try:
        import ranx
    except ImportError:
        print("ranx is not installed: our times alone")
        ranx = None
    rng = np.random.default_rng(0)
    for method, theirs in THEIRS.items():
        n_queries = 1 if method == "condorcet" else 20
        scores = rng.permuted(np.tile(np.arange(n_queries * N_DOCS, dtype=np.float64), (N_RUNS, 1)), axis=1)
        qid = np.repeat([f"q{q}" for q in range(n_queries)], N_DOCS)
        ours = median_time(lambda scores=scores, qid=qid, method=method: rr.fuse(scores, qid, method))
        line = f"{method:10} {N_RUNS} runs, {n_queries:2} x {N_DOCS:,} documents: {ours * 1e3:8.2f} ms"
        if ranx is not None:
            docs = np.tile([str(d) for d in range(N_DOCS)], n_queries)
            runs = [
                ranx.Run(
                    {
                        q: dict(zip(docs[qid == q].tolist(), one[qid == q].tolist(), strict=True))
                        for q in dict.fromkeys(qid.tolist())
                    }
                )
                for one in scores
            ]
            norm = "min-max" if method.startswith("comb") else None
            peer = median_time(lambda runs=runs, norm=norm, theirs=theirs: ranx.fuse(runs, norm=norm, method=theirs), 3)
            line += f", ranx {peer * 1e3:8.2f} ms, {peer / ours:6.1f} times as long"
        print(line, flush=True)


def metrics() -> None:
    if os.environ.get("RULERANK_DATA"):
        fold = f"{os.environ['RULERANK_DATA']}/letor3-ohsumed/Fold1"
        train, test = rr.read_letor(f"{fold}/train.txt"), rr.read_letor(f"{fold}/test.txt")
    else:
        print("RULERANK_DATA is not set: a synthetic synthetic instead of OHSUMED")
        train, test = rr.datasets.make_ranking(n_queries=100, seed=0), rr.datasets.make_ranking(n_queries=30, seed=1)
    mdlp = rr.discretize.MDLP().fit(train.X, train.y)
    rows = Rows.of(mdlp.transform(train.X).T, train.y, np.unique(train.qid, return_inverse=True)[1])
    counts = BinCounts.of(rows)
    documents = hide_unseen(mdlp.transform(test.X).T, counts.n_bins)

    def score(names: tuple[str, ...]) -> None:
        layout = Layout.over(counts.n_bins, max_size=2)
        engine = Engine.learn(rows, layout, MeanVotes(names), counts.training(1))
        engine.scheme.scores_by_metric(engine.sums(documents), engine.training)

    one, seven = (median_time(lambda names=names: score(names), 11) for names in (("confidence",), METRICS))
    print(
        f"count, vote and score {len(train):,} + {len(test):,} documents, bins given: one metric {one * 1e3:.1f} ms, "
        f"seven {seven * 1e3:.1f} ms, {seven / one:.2f} times as long (goal: 3)"
    )


if __name__ == "__main__":
    main()
