"""RE-SR against RE-GR on one OHSUMED fold: MDLP + fit + predict at size 2, warm, in the same run; and its memory.

Needs the real data: RULERANK_DATA must name a folder that holds letor3-ohsumed (else a synthetic synthetic is used).
"""

from __future__ import annotations

import os
import tracemalloc

from rulerank.dataset import Dataset, make_folds
from rulerank.datasets.ranking import make_ranking
from rulerank.io.formats import read_folds
from rulerank.rankers.base import Ranker
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.stable_rules import StableRules
from timing import median_time

RANKERS: dict[str, Ranker] = {
    "RE-GR": GlobalRules(),
    "RE-GR (literal)": GlobalRules(votes="mean"),
    "RE-SR": StableRules(),
    "RE-SR (literal)": StableRules(literal=True, min_queries=1),
}


def main() -> None:
    if os.environ.get("RULERANK_DATA"):
        fold = read_folds(f"{os.environ['RULERANK_DATA']}/letor3-ohsumed")[0]
        print("LETOR 3.0 OHSUMED, fold 1")
    else:
        print("RULERANK_DATA is not set: a synthetic synthetic of 100 queries instead of OHSUMED")
        fold = make_folds(make_ranking(n_queries=100, seed=0))[0]
    seconds = {name: time_of(ranker, fold.train, fold.test) for name, ranker in RANKERS.items()}
    for name, taken in seconds.items():
        print(f"{name:16} {taken * 1e3:8.1f} ms")
    for kind in ("", " (literal)"):
        print(f"RE-SR{kind} takes {seconds[f'RE-SR{kind}'] / seconds[f'RE-GR{kind}']:.1f} times RE-GR{kind} (goal: 3)")
    for n_queries in (100, 10_000):
        data = make_ranking(n_queries=n_queries, docs_per_query=20, n_features=45, seed=0)
        print(
            f"{n_queries:6,} queries, {len(data):,} rows: {peak(StableRules(), data):5.0f} MiB of arrays at most in fit"
        )


def time_of(ranker: Ranker, train: Dataset, test: Dataset) -> float:
    return median_time(lambda: ranker.fit(train).predict(test), rounds=9)


def peak(ranker: Ranker, data: Dataset) -> float:
    """Return the most memory that `fit` holds at once, in MiB."""
    tracemalloc.start()
    ranker.fit(data)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / 2**20


if __name__ == "__main__":
    main()
