"""How the bins that SSAR chooses by were compared: cross-validation over whole parts inside train + validation.

A LETOR set has five parts, each the test part of one fold. For each fold its test part is left out, of the other four
each is held out in turn, and the rest, with one relevant document kept in 20, is the pool: 20 runs a set. Leaving out
one part and holding out another makes the same pool as the other way round, so each pool serves two runs. What a fold
would choose rests on its own four runs, none of which evaluates its test part.

RULERANK_DATA must name the folder with the sets: python benchmarks/choose_sampler.py [letor4-mq2008 ...]
"""

from __future__ import annotations

import os
import sys
import warnings
from itertools import combinations
from typing import Any

import numpy as np

import rulerank as rr
from rulerank.rankers.pool import PoolLearner
from rulerank.selection.few_labels import few_label_ranker
from thinning import thin

SETS = ("letor3-ohsumed", "letor4-mq2008")
RANKERS = ("QI", "RE-GR")
N_DRAWS = 20
KINDS: dict[str, dict[str, Any]] = {"SSARP": {"partitions": 5}, "per query": {"per_query": True}}
WAYS = {
    f"{way}, {bins.__name__}({n_bins}), normalize={normalize}": rr.SSAR(
        **options, discretizer=bins(n_bins=n_bins), normalize=normalize, n_jobs=1
    )
    for way, options in KINDS.items()
    for normalize in (None, "zscore")
    for bins, n_bins in ((rr.discretize.TUBE, 10), (rr.discretize.EqualWidth, 10))
}


def worth(learner: PoolLearner, pool: rr.Dataset, rows: np.ndarray, tests: list[rr.Dataset]) -> list[float]:
    """Return MAP on each test part after the labels of these rows."""
    grades = pool.y[rows]
    ranker = learner.fit(rows, grades) if np.unique(grades).size > 1 else None
    scores = [ranker.predict(test) if ranker else np.zeros(len(test)) for test in tests]
    return [rr.evaluate(t.y, s, t.qid, "MAP").means["MAP"] for t, s in zip(tests, scores, strict=True)]


def main() -> None:
    if not os.environ.get("RULERANK_DATA"):
        print("RULERANK_DATA is not set: there is nothing to choose by")
        return
    warnings.simplefilter("ignore")  # that few labels say little is what is measured
    for name in sys.argv[1:] or SETS:
        parts = [fold.test for fold in rr.read_folds(f"{os.environ['RULERANK_DATA']}/{name}")]
        folds: list[int] = []  # of each run: whose test part is left out
        labels: dict[str, list[tuple[int, float]]] = {way: [] for way in WAYS}
        found: dict[tuple[str, str], list[list[float]]] = {}  # for each run: the choice, then the draws
        for number, pair in enumerate(combinations(range(5), 2)):
            rest = rr.Dataset.concat([part for place, part in enumerate(parts) if place not in pair])
            pool = thin(rest, 20, seed=number)
            pool = pool[np.random.default_rng([number, 0]).permutation(len(pool))]
            tests = [parts[place] for place in pair]
            folds += reversed(pair)
            learners = {ranker: PoolLearner(few_label_ranker(ranker), pool) for ranker in RANKERS}
            draws = [np.random.default_rng([number, 1, draw]).permutation(len(pool)) for draw in range(N_DRAWS)]
            for way, sampler in WAYS.items():
                rows = sampler.select(pool, pool.y.__getitem__)
                labels[way].append((len(rows), 100 * (pool.y[rows] > 0).mean()))
                for ranker, learner in learners.items():
                    orders = [rows, *(draw[: len(rows)] for draw in draws)]
                    values = np.array([worth(learner, pool, order, tests) for order in orders])
                    found.setdefault((way, ranker), []).extend(values.T.tolist())
            print(f"{name}: pool {number + 1} of 10", file=sys.stderr)
        for ranker in RANKERS:
            print(f"\n{name}, {ranker:28}  labels  % relevant     MAP  random  97.5 %    gain   gain in each fold")
            for way in WAYS:
                runs = np.array(found[way, ranker])  # run, choice or draw
                chosen, by_draw = runs[:, 0].mean(), runs[:, 1:].mean(axis=0)
                gains = runs[:, 0] - runs[:, 1:].mean(axis=1)
                by_fold = " ".join(f"{gains[np.array(folds) == fold].mean():+.3f}" for fold in range(5))
                n_labels, relevant = np.mean(labels[way], axis=0)
                print(
                    f"{way:44}{n_labels:8.0f}{relevant:12.1f}{chosen:8.4f}{by_draw.mean():8.4f}"
                    f"{np.quantile(by_draw, 0.975):8.4f}{gains.mean():+8.4f}   {by_fold}"
                )


if __name__ == "__main__":
    main()
