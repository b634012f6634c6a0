"""The tables of docs/benchmarks/active-learning.md: what labels chosen by SSAR are worth, against chance and a feature.

RULERANK_DATA must name the folder with the LETOR sets: python benchmarks/compare_sampling.py [--thin 20] [--pools 3]
The training part of each fold is the pool; five folds, mean test MAP, ties neutral, rows shuffled by a fixed seed.
Columns are those of Tables 1 to 3 of the paper (Silva, Goncalves and Veloso, 2011), with a band beside chance:
Random is the mean of 20 draws +- the 95 % confidence interval of that mean, [..] where 95 % of the draws lie; G% is the
gain over the better of Random and Top; R% the share of relevant documents among those chosen, in the pool, by Top.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.stats import t

import rulerank as rr
from rulerank.dataset import Array
from rulerank.evaluation.rankings import best_feature, feature_scores
from rulerank.experiment.curve import SAMPLERS, choose, scores_after
from rulerank.methods import method_named
from rulerank.rankers.pool import PoolLearner
from rulerank.render.text import markdown_table
from rulerank.selection.few_labels import BY_RULES, few_label_ranker
from thinning import thin

SETS = {"OHSUMED 3.0": "letor3-ohsumed", "MQ2008": "letor4-mq2008"}
WAYS = {
    **{name: way for name, way in SAMPLERS.items() if name.startswith("SSAR")},
    # its bins were chosen by benchmarks/choose_sampler.py
    "SSARP by z-scores": rr.SSAR(partitions=5, discretizer="equal_width", normalize="zscore"),
}
HEADER = ["", "MAP", "all", "Top", "Random", "95 % of draws", "G %", "Sel", "Utot", "Sel%", "Rsel%", "R%", "Rtop%"]


class Figures(NamedTuple):
    """What a way to choose gives in one fold."""

    chosen: float
    all_labels: float
    top: float
    draws: list[float]
    n_labels: int
    n_pool: int
    relevant: tuple[float, float, float]  # share among the chosen, in the pool, in the top


def figures_of(folds: list[rr.datasets.Fold], method: str, sampler: rr.SSAR, n_draws: int) -> list[Figures]:
    found = []
    for place, fold in enumerate(folds):
        pool, test = fold.train, fold.test
        by_rules = method_named(method).name in BY_RULES
        whole = method_named(method).ranker_class()() if by_rules else few_label_ranker(method)
        few, full = PoolLearner(few_label_ranker(method), pool), PoolLearner(whole, pool)

        def worth(rows: Array, learner: PoolLearner = few, pool: rr.Dataset = pool, test: rr.Dataset = test) -> float:
            return float(rr.evaluate(test, scores_after(learner, pool, rows, test), measures="MAP").means["MAP"])

        rows = choose(sampler, pool, 0, place, "")
        mixed = np.random.default_rng([0, place]).permutation(len(pool))
        best = feature_scores(pool, best_feature(pool, "MAP"))
        top = mixed[np.argsort(-best[mixed], kind="stable")][: len(rows)]
        rngs = [np.random.default_rng([0, place, draw]) for draw in range(n_draws)]
        draws = [worth(mixed[rng.permutation(len(pool))][: len(rows)]) for rng in rngs]
        shares = tuple(float((pool.y[some] > 0).mean()) for some in (rows, np.arange(len(pool)), top))
        all_labels = worth(np.arange(len(pool)), full)
        found.append(Figures(worth(rows), all_labels, worth(top), draws, len(rows), len(pool), shares))
    return found


def row_of(found: list[Figures], name: str) -> list[str]:
    chosen, whole, top = (float(np.mean([one[place] for one in found])) for place in range(3))
    by_draw = np.mean([one.draws for one in found], axis=0)
    chance, (low, high) = float(by_draw.mean()), np.quantile(by_draw, [0.025, 0.975])
    interval = by_draw.std(ddof=1) / np.sqrt(by_draw.size) * t.ppf(0.975, by_draw.size - 1)
    share = np.mean([one.n_labels / one.n_pool for one in found])
    relevant = np.mean([one.relevant for one in found], axis=0)
    return [
        name, f"{chosen:.4f}", f"{whole:.4f}", f"{top:.4f}", f"{chance:.4f} +- {interval:.4f}",
        f"{low:.4f}-{high:.4f} {'above' if chosen > high else ''}".strip(),
        f"{100 * (chosen / max(chance, top) - 1):+.1f}",
        f"{np.mean([one.n_labels for one in found]):.0f}", f"{np.mean([one.n_pool for one in found]):,.0f}",
        f"{100 * share:.2f}", *(f"{100 * one:.1f}" for one in relevant),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--thin", type=int, default=1, help="keep one relevant document in so many")
    parser.add_argument("--pools", type=int, default=3, help="thinned pools per fold")
    parser.add_argument("--ways", nargs="*", default=[*WAYS], choices=[*WAYS])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--method", nargs="*", default=["RE-GR", "QI"])
    options = parser.parse_args()
    if not os.environ.get("RULERANK_DATA"):
        print("RULERANK_DATA is not set: there is nothing to compare on")
        return
    warnings.simplefilter("ignore")  # that few labels say little is what is measured
    tables: dict[str, list[list[str]]] = {method: [] for method in options.method}
    for name, folder in SETS.items():
        folds = rr.read_folds(f"{os.environ['RULERANK_DATA']}/{folder}")
        if options.thin > 1:
            seeds = range(options.pools)
            folds = [replace(fold, train=thin(fold.train, options.thin, n)) for fold in folds for n in seeds]
        for method, rows in tables.items():
            for way in options.ways:
                rows.append(row_of(figures_of(folds, method, WAYS[way], options.draws), f"{name}, {way}"))
        print(name, file=sys.stderr)
    for method, rows in tables.items():
        print(f"\n{method}\n{markdown_table(HEADER, rows)}")


if __name__ == "__main__":
    main()
