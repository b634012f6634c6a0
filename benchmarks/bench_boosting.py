"""Time the boosted baselines and ListNet: a whole fit, and one round against the same round pair by pair.

    RULERANK_DATA=/path/to/letor python benchmarks/bench_boosting.py

The first training folds of MQ2008 and LETOR 3.0 OHSUMED under RULERANK_DATA, or a synthetic world when it is not set.
The plain round lists all pairs and looks at the thresholds one by one, with NumPy over the pairs; it takes the first
feature only, and its time is multiplied by the number of features. All have one thread: on a busy machine more of
them make the peers many times slower, which would flatter us. LightGBM's LambdaMART, with as many trees as
RankBoost has rounds and two leaves each, is a yardstick for a whole fit: it learns something else.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rulerank.baselines.ada_rank import AdaRank
from rulerank.baselines.boosted import paired_rows
from rulerank.baselines.f_rank import FRank
from rulerank.baselines.list_net import ListNet
from rulerank.baselines.rank_boost import ExponentialPicker, RankBoost
from rulerank.baselines.stumps import cut_columns
from rulerank.dataset import Dataset, query_index
from rulerank.io.letor import read_letor
from rulerank.rankers.base import Labelled
from rulerank.worlds import make_world
from timing import median_time


def main() -> None:
    for name, data in training_data():
        queries, ids = query_index(data.qid)
        labelled = Labelled(data.X, data.y, queries, ids)
        pairs = paired_rows(labelled)
        print(f"{name}: {len(data):,} rows, {data.X.shape[1]} features, {pairs.n_pairs:,} pairs")
        columns = cut_columns(data.X[pairs.rows], 255)
        scores = np.zeros(pairs.rows.size)
        ours = median_time(lambda c=columns, p=pairs, s=scores: ExponentialPicker(p, c, 1).pick(s), rounds=20)
        plain = plain_round(data, queries)
        print(f"{'a RankBoost round':28}{ours * 1000:10.2f} ms")
        print(f"{'the same pair by pair':28}{plain * 1000:10.2f} ms{plain / ours:10.0f} x")
        for label, ranker in {
            "RankBoost, 300 rounds": RankBoost(n_jobs=1),
            "FRank, 100 rounds": FRank(n_jobs=1),
            "AdaRank MAP, 100 rounds": AdaRank(n_jobs=1),
            "AdaRank NDCG@10, 100 rounds": AdaRank("NDCG@10", n_jobs=1),
            "ListNet, 500 epochs": ListNet(n_jobs=1),
        }.items():
            print(f"{label:28}{median_time(lambda r=ranker, d=data: r.fit(d), rounds=3):10.2f} s", flush=True)
        print(f"{'LightGBM, 300 stumps':28}{median_time(lambda d=data, q=queries: lightgbm(d, q), rounds=3):10.2f} s")
        print()


def training_data() -> Iterator[tuple[str, Dataset]]:
    folder = os.environ.get("RULERANK_DATA")
    if folder:
        for name in ("letor4-mq2008", "letor3-ohsumed"):
            yield f"{name}, Fold1", read_letor(Path(folder) / name / "Fold1" / "train.txt")
        return
    print("RULERANK_DATA is not set: a synthetic world instead of LETOR")
    data = make_world(n_queries=60, docs_per_query=(100, 200), n_features=25, seed=0)
    yield "synthetic", Dataset(np.nan_to_num(data.X), data.y, data.qid)


def plain_round(data: Dataset, queries: np.ndarray) -> float:
    """Return the seconds for r of every threshold of every feature, from those of one."""
    better, worse = [], []
    for query in range(queries.max() + 1):
        rows = np.flatnonzero(queries == query)
        above, below = np.nonzero(data.y[rows][:, None] > data.y[rows][None, :])
        better.append(rows[above])
        worse.append(rows[below])
    better_rows, worse_rows = np.concatenate(better), np.concatenate(worse)
    scores = np.zeros(len(data))
    values = data.X[:, 0]
    thresholds = cut_columns(data.X[:, :1], 255).thresholds[0]
    start = time.perf_counter()
    weights = np.exp(scores[worse_rows] - scores[better_rows])
    for threshold in thresholds:
        says = (values >= threshold).astype(np.float64)
        (weights * (says[better_rows] - says[worse_rows])).sum()
    return (time.perf_counter() - start) * data.X.shape[1]


def lightgbm(data: Dataset, queries: np.ndarray) -> None:
    from lightgbm import LGBMRanker

    order = np.argsort(queries, kind="stable")
    model = LGBMRanker(n_estimators=300, num_leaves=2, n_jobs=1, verbose=-1)
    model.fit(data.X[order], data.y[order], group=np.bincount(queries))


if __name__ == "__main__":
    main()
