"""One more label: learned on, beside fitting again with the same bins, which gives the same model.

OHSUMED's fold 1 when RULERANK_DATA is set, else a synthetic world; then 100,000 rows of 46 features; then the model
that the judging page shows. Processor time of all threads, as it does not depend on what else the machine does.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from copy import copy
from functools import partial

import numpy as np
from sklearn.base import clone

import rulerank as rr
from rulerank.dataset import Dataset
from rulerank.judging.pool import Pool
from rulerank.judging.train import PoolModel, TimedRanker

N_TIMES = 15


def median_time(work: Callable[[], object], n_times: int) -> float:
    times = []
    for _ in range(n_times):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return float(np.median(times))


def one_more(name: str, ranker: rr.GlobalRules | rr.StableRules, data: Dataset) -> None:
    first, last = data[:-1], data[-1:]
    ranker = clone(ranker).fit(first)
    ranker.add(last).remove(last)  # counts what is counted once, and compiles
    bins = {"feature_names": data.feature_names, "discretizer": ranker.discretizer_}
    again = median_time(lambda: clone(ranker).fit_prepared(data.X, data.y, data.qid, **bins), 5)
    added = median_time(lambda: copy(ranker).add(last), N_TIMES)
    with_label = copy(ranker).add(last)
    removed = median_time(lambda: copy(with_label).remove(last), N_TIMES)
    print(
        f"{name}, {type(ranker).__name__}, {len(data):,} x {data.X.shape[1]}: fit again {again * 1e3:,.1f} ms, "
        f"add {added * 1e3:.1f} ms ({again / added:.0f} times as fast), remove {removed * 1e3:.1f} ms"
    )


def page(data: Dataset) -> None:
    model = PoolModel(Pool(data), int(data.y.max()))
    order = np.random.default_rng(0).permutation(len(data))
    for n_labels in (100, 1000, 5000):
        grades = {int(row): int(data.y[row]) for row in order[:n_labels]}
        ranker = model.train(grades)
        row = int(order[n_labels])
        now = grades | {row: int(data.y[row])}
        last = TimedRanker(ranker, grades, 0.0)
        for labels in (now, grades):  # the rows of the first fit are put in order once
            last = TimedRanker(model.train(labels, last), labels, 0.0)
        anew = median_time(partial(model.train, now), N_TIMES)
        on = median_time(partial(model.train, now, last), N_TIMES)
        print(
            f"the page's model after label {n_labels + 1:,}: fit again {anew * 1e3:.1f} ms, "
            f"learned on {on * 1e3:.1f} ms ({anew / on:.1f} times as fast)"
        )


def main() -> None:
    if os.environ.get("RULERANK_DATA"):
        name, data = "OHSUMED", rr.read_letor(f"{os.environ['RULERANK_DATA']}/letor3-ohsumed/Fold1/train.txt")
    else:
        print("RULERANK_DATA is not set: a synthetic world instead of OHSUMED")
        name, data = "a world", rr.make_world(n_queries=150, docs_per_query=60, seed=0)
    rng = np.random.default_rng(0)
    X = rng.random((100_000, 46), dtype=np.float32)
    large = Dataset(X, np.digitize(X[:, :5].mean(axis=1), [0.55, 0.65]), np.arange(len(X)) // 40)
    for ranker in (rr.GlobalRules(), rr.StableRules()):
        one_more(name, ranker, data)
        one_more("made up", ranker.set_params(discretizer=rr.EqualFrequency(n_bins=5)), large)
    page(data)


if __name__ == "__main__":
    main()
