"""Time FittedRules: a fit over rows beside LightGBM with 500 trees of 15 leaves, and 100 documents beside GlobalRules.

    python benchmarks/bench_fitted_rules.py [--rows 1000,10000,100000,1000000] [--rounds 3] [--plot growth.svg]

Synthetic sets with 46 features and 40 documents a query; both sides have one thread and run in turn in the same
process, so
that the ratio holds on a busy machine too. LightGBM learns LambdaRank, all 500 trees, without early stopping.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

import rulerank as rr
from rulerank.dataset import query_index

DOCS = 40
N_FEATURES = 46


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="1000,3000,10000,30000,100000,1000000")
    parser.add_argument("--rounds", type=int, default=3, help="of each side, in turn; one above 200,000 rows")
    parser.add_argument("--plot", help="an SVG of both sides' growth")
    given = parser.parse_args()
    rr.FittedRules(n_jobs=1).fit(synthetic(2_000))  # loads the compiled loops
    print(f"{'rows':>10}{'FittedRules':>14}{'LightGBM':>12}{'ratio':>9}   seconds of one core")
    found = []
    for n_rows in map(int, given.rows.split(",")):
        data = synthetic(n_rows)
        rounds = 1 if n_rows > 200_000 else given.rounds
        ours, theirs = in_turn(lambda d=data: rr.FittedRules(n_jobs=1).fit(d), lambda d=data: lightgbm(d), rounds)
        found.append((n_rows, ours, theirs))
        print(f"{n_rows:>10,}{ours:>14.2f}{theirs:>12.2f}{ours / theirs:>9.2f}", flush=True)
    predict()
    if given.plot:
        plot(found, given.plot)


def synthetic(n_rows: int) -> rr.Dataset:
    return rr.datasets.make_ranking(n_queries=n_rows // DOCS, docs_per_query=DOCS, n_features=N_FEATURES, seed=0)


def in_turn(one: Callable[[], object], other: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Return the medians of the processor's seconds of two things that run one after the other, several times."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for run, kept in zip((one, other), times, strict=True):
            start = time.process_time()
            run()
            kept.append(time.process_time() - start)
    return statistics.median(times[0]), statistics.median(times[1])


def lightgbm(data: rr.Dataset) -> None:
    from lightgbm import LGBMRanker

    model = LGBMRanker(n_estimators=500, num_leaves=15, n_jobs=1, verbose=-1)
    model.fit(data.X, data.y, group=np.bincount(query_index(data.qid)[0]))


def predict() -> None:
    """Score the 100 documents of a query many times with both."""
    data, query = synthetic(20_000), rr.datasets.make_ranking(1, 100, N_FEATURES, seed=1).X
    fitted, voting = (ranker.fit(data) for ranker in (rr.FittedRules(n_jobs=1), rr.GlobalRules(n_jobs=1)))

    def often(ranker: rr.FittedRules | rr.GlobalRules) -> Callable[[], object]:
        return lambda: [ranker.predict(query) for _ in range(300)]

    often(fitted)(), often(voting)()
    ours, theirs = (seconds / 300 * 1e6 for seconds in in_turn(often(fitted), often(voting), 7))
    print(f"100 documents: FittedRules {ours:.0f} us, GlobalRules {theirs:.0f} us, ratio {ours / theirs:.2f}")


def plot(found: list[tuple[int, float, float]], path: str) -> None:
    from matplotlib import pyplot

    rows, ours, theirs = zip(*found, strict=True)
    figure, axes = pyplot.subplots(figsize=(5, 3.4), layout="constrained")
    axes.loglog(rows, ours, "o-", label="FittedRules")
    axes.loglog(rows, theirs, "s--", label="LightGBM, 500 trees of 15 leaves")
    axes.set(xlabel=f"rows (of {N_FEATURES} features)", ylabel="seconds of one core")
    axes.legend(frameon=False)
    figure.savefig(path)


if __name__ == "__main__":
    main()
