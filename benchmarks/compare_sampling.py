"""The tables of docs/active-sampling.md: what labels chosen by SSAR are worth, against chance and the top of a feature.

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
from dataclasses import replace

import numpy as np
from scipy.stats import t

import rulerank as rr
from rulerank.dataset import Array
from rulerank.evaluation.rankings import best_feature, feature_scores
from rulerank.experiment.label_curve.curve import label_curve
from rulerank.experiment.label_curve.result import RANDOM, LabelCurve
from rulerank.experiment.label_curve.simulation import SAMPLERS, thin
from rulerank.render.text import markdown_table

SETS = {"OHSUMED 3.0": "letor3-ohsumed", "MQ2008": "letor4-mq2008"}
WAYS = {
    **{name: way for name, way in SAMPLERS.items() if name != RANDOM},
    # its bins were chosen by benchmarks/choose_sampler.py
    "SSARP by z-scores": rr.SSAR(partitions=5, discretizer="equal_width", normalize="zscore"),
}
TOP = "top of the best feature"
HEADER = ["", "MAP", "all", "Top", "Random", "95 % of draws", "G %", "Sel", "Utot", "Sel%", "Rsel%", "R%", "Rtop%"]


def top_of_best_feature(pool: rr.Dataset, rng: np.random.Generator) -> Array:
    """Label the documents with the highest values of the feature that ranks the pool best by itself."""
    return np.argsort(-feature_scores(pool, best_feature(pool, "MAP")), kind="stable")


def rows_of(curve: LabelCurve, ranker: str, name: str, ways: list[str]) -> list[list[str]]:
    whole = next(line.value for line in curve.lines if line.ranker == ranker)
    rows = []
    for sampler in ways:
        chosen = curve.of(ranker, sampler)[-1]
        chance, top = curve.with_same_labels(chosen, RANDOM), curve.with_same_labels(chosen, TOP)
        assert chance is not None
        assert top is not None
        assert chance.error is not None
        interval = chance.error * t.ppf(0.975, curve.n_draws - 1)
        gain = 100 * (chosen.value / max(chance.value, top.value) - 1)
        above = "above" if curve.beats_random(ranker, sampler) else ""
        rows.append(
            [f"{name}, {sampler}", f"{chosen.value:.4f}", f"{whole:.4f}", f"{top.value:.4f}",
             f"{chance.value:.4f} +- {interval:.4f}", f"{chance.low:.4f}-{chance.high:.4f} {above}".strip(),
             f"{gain:+.1f}", f"{chosen.n_labels:.0f}", f"{curve.n_pool:,.0f}", f"{100 * chosen.share:.2f}",
             f"{100 * chosen.share_relevant:.1f}", f"{100 * curve.share_relevant:.1f}",
             f"{100 * top.share_relevant:.1f}"]
        )  # fmt: skip
    return rows


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
    curves = {}
    ways = {way: WAYS[way] for way in options.ways}
    for name, folder in SETS.items():
        folds = rr.read_folds(f"{os.environ['RULERANK_DATA']}/{folder}")
        if options.thin > 1:
            seeds = range(options.pools)
            folds = [replace(fold, train=thin(fold.train, options.thin, n)) for fold in folds for n in seeds]
        samplers = {**ways, TOP: top_of_best_feature}
        curves[name] = label_curve(folds, options.method, samplers, sizes=[], n_draws=options.draws)
        print(name, file=sys.stderr)
    for ranker in options.method:
        rows = [row for name, curve in curves.items() for row in rows_of(curve, ranker, name, options.ways)]
        print(f"\n{ranker}\n{markdown_table(HEADER, rows)}")


if __name__ == "__main__":
    main()
