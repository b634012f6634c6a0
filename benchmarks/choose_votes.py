"""How the default votes of RE-GR were chosen: cross-validation over whole parts inside train + validation of each fold.

A LETOR set has five parts, each the test part of one fold. For each fold its test part is left out; of the other four,
each is held out in turn and the rest trained on: 20 runs a set. (A part tested in one fold is held out in others, so a
choice made for all folds at once has seen every query, but never a model trained on the queries it is tested on.)

RULERANK_DATA must name the folder with the sets: python benchmarks/choose_votes.py [--test]
With --test the test folds are evaluated as well, beside the best single feature by training MAP and boosted trees.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import numpy as np

import rulerank as rr

SETS = ("letor3-ohsumed", "letor2-ohsumed", "letor4-mq2008")
Score = Callable[[rr.Dataset, rr.Dataset], np.ndarray]


def main() -> None:
    if not os.environ.get("RULERANK_DATA"):
        print("RULERANK_DATA is not set: there is nothing to choose by")
        return
    choices: dict[str, Score] = {
        f"votes={votes}, max_size={size}, drop_weakest={drop}": by_rules(votes=votes, max_size=size, drop_weakest=drop)
        for votes in ("mean", "evidence")
        for size in (1, 2)
        for drop in (0.0, 0.25, 0.5)
    }
    testing = "--test" in sys.argv
    if testing:
        choices = {
            "best single feature": by_best_feature,
            "RE-GR, literal": by_rules(votes="mean"),
            "RE-GR": by_rules(),
        }
    print(f"{'mean MAP':44}" + "".join(f"{name:>16}" for name in SETS))
    for label, score in choices.items():
        values = [np.mean(list(runs(name, score, testing))) for name in SETS]
        print(
            f"{label:44}" + "".join(f"{value:16.4f}" for value in values) + f"   mean {np.mean(values):.4f}", flush=True
        )


def runs(name: str, score: Score, testing: bool):  # type: ignore[no-untyped-def]  # yields floats
    folds = rr.read_folds(f"{os.environ['RULERANK_DATA']}/{name}")
    parts = [fold.test for fold in folds]
    for k, fold in enumerate(folds):
        if testing:
            yield mean_map(score, fold.train, fold.test)
            continue
        others = [part for number, part in enumerate(parts) if number != k]
        for held_out in others:
            yield mean_map(score, rr.Dataset.concat([part for part in others if part is not held_out]), held_out)


def mean_map(score: Score, train: rr.Dataset, test: rr.Dataset) -> float:
    return rr.evaluate(test.y, score(train, test), test.qid, "MAP").means["MAP"]


def by_rules(**options: object) -> Score:
    return lambda train, test: rr.GlobalRules(**options).fit(train).predict(test)


def by_best_feature(train: rr.Dataset, test: rr.Dataset) -> np.ndarray:
    def quality(column: np.ndarray) -> float:
        return rr.evaluate(train.y, column, train.qid, "MAP").means["MAP"]

    signs = [(sign, f) for f in range(train.X.shape[1]) for sign in (1, -1)]
    sign, best = max(signs, key=lambda choice: quality(choice[0] * train.X[:, choice[1]]))
    return sign * test.X[:, best]


if __name__ == "__main__":
    main()
