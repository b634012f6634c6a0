"""The table of docs/judging.md: which way to combine the labels of several raters gives the best ranker.

Half of the queries are the pool, half are tested on. `Strata` chooses 300 documents; every rater of a team grades each,
and errs in a known share of cases: then any other grade is given, all alike. The combined labels train `Anchored`.

    python benchmarks/combine_labels.py DATA --today FEATURE [--splits 20]

Printed: NDCG@10 x 1000 beyond one rater who errs in a fifth of cases, mean over splits and its standard error, and the
share of documents whose combined grade is the true one.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping

import numpy as np

import rulerank as rr
from rulerank.io.convert import read_any
from rulerank.judging.combine import COMBINATIONS, combine
from rulerank.training.in_pool import PoolLearner

TEAMS: Mapping[str, tuple[float, ...]] = {
    "3 raters, .2 each": (0.2, 0.2, 0.2),
    "3 raters, .05 .2 .5": (0.05, 0.2, 0.5),
    "4 raters, .05 .5 .5 .5": (0.05, 0.5, 0.5, 0.5),
    "5 raters, .3 each": (0.3,) * 5,
}
BUDGET = 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--today", required=True)
    parser.add_argument("--splits", type=int, default=20)
    chosen = parser.parse_args()
    data = read_any(chosen.data)
    levels = np.unique(data.y[data.y >= 0])
    gains, right = defaultdict(list), defaultdict(list)
    names = np.unique(data.qid.astype(str))
    for seed in range(chosen.splits):
        rng = np.random.default_rng(seed)
        inside = np.isin(data.qid.astype(str), rng.permutation(names)[: names.size // 2])
        pool, test = data[np.flatnonzero(inside)], data[np.flatnonzero(~inside)]
        rows = rr.Strata(today=chosen.today, seed=seed).select(pool, lambda row, y=pool.y: y[row], budget=BUDGET)
        learner = PoolLearner(rr.Anchored(today=chosen.today), pool)

        def ndcg(grades: Mapping[int, int], learner: PoolLearner = learner, test: rr.Dataset = test) -> float:
            ranker = learner.fit(np.fromiter(grades, dtype=np.int64), np.fromiter(grades.values(), dtype=np.int16))
            return float(rr.evaluate(test.y, ranker.predict(test), test.qid, ["NDCG@10"]).means["NDCG@10"])

        alone = ndcg({row: graded(int(pool.y[row]), 0.2, levels, rng) for row in rows.tolist()})
        gains["no errors at all", ""].append(ndcg({row: int(pool.y[row]) for row in rows.tolist()}) - alone)
        for team, errors in TEAMS.items():
            given = {
                row: {f"rater {n}": graded(int(pool.y[row]), error, levels, rng) for n, error in enumerate(errors)}
                for row in rows.tolist()
            }
            for how in COMBINATIONS:
                grades = combine(given, how)
                gains[team, how].append(ndcg(grades) - alone)
                right[team, how].append(np.mean([grades[row] == pool.y[row] for row in grades]))
    print("| raters and how often they err | labels combined by | NDCG@10 x 1000 | right |\n| --- | --- | --- | --- |")
    for (team, how), found in gains.items():
        error = np.std(found, ddof=1) / len(found) ** 0.5
        share = f"{np.mean(right[team, how]):.2f}" if how else "1.00"
        print(f"| {team} | {how} | {1000 * np.mean(found):+.1f} ± {1000 * error:.1f} | {share} |")


def graded(true: int, error: float, levels: np.ndarray, rng: np.random.Generator) -> int:
    return int(rng.choice(levels[levels != true])) if rng.random() < error else true


if __name__ == "__main__":
    main()
