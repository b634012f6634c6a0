"""How the rankers' settings for few labels were chosen: cross-validation over whole parts inside train + validation.

A LETOR set has five parts, each the test part of one fold. For each fold its test part is left out; of the other four,
each is held out in turn and labels are drawn at random from the rest, once as it is and once with one relevant document
kept in 20: 20 runs a set and kind. Test parts are never evaluated with a model of the fold they belong to.

RULERANK_DATA must name the folder with the sets: python benchmarks/choose_few_labels.py [rules | linear]
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import numpy as np

import rulerank as rr
from rulerank.experiment.curve import scores_after
from rulerank.rankers.pool import PoolLearner
from thinning import thin

SETS = ("letor3-ohsumed", "letor4-mq2008")
SIZES = (100, 200, 400, 800)


def settings(kind: str) -> dict[str, rr.GlobalRules | rr.QueryIntercepts]:
    if kind == "linear":
        return {
            f"l2={l2}, normalize={normalize}": rr.QueryIntercepts(l2=l2, normalize=normalize)
            for normalize in ("zscore", None)
            for l2 in (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
        }
    cuts = {
        "mdlp": "mdlp",
        **{
            f"{made.__name__}({n_bins})": made(n_bins=n_bins)
            for made in (rr.discretize.TUBE, rr.discretize.EqualWidth, rr.discretize.EqualFrequency)
            for n_bins in (3, 5, 10)
        },
    }
    return {
        f"{label}, votes={votes}, size={size}, normalize={normalize}": rr.GlobalRules(
            discretizer=discretizer, votes=votes, max_size=size, normalize=normalize
        )
        for label, discretizer in cuts.items()
        for votes in ("evidence", "mean")
        for size in (1, 2)
        for normalize in (None, "zscore")
    }


def pools(name: str, keep_one_in: int) -> Iterator[tuple[rr.Dataset, rr.Dataset]]:
    """Yield documents to label, in random order, and those to test on."""
    folds = rr.read_folds(f"{os.environ['RULERANK_DATA']}/{name}")
    parts = [fold.test for fold in folds]
    for k in range(len(folds)):
        others = [part for number, part in enumerate(parts) if number != k]
        for place, held_out in enumerate(others):
            rest = rr.Dataset.concat([part for part in others if part is not held_out])
            train = thin(rest, keep_one_in, seed=5 * k + place)
            yield train[np.random.default_rng([k, place]).permutation(len(train))], held_out


def main() -> None:
    if not os.environ.get("RULERANK_DATA"):
        print("RULERANK_DATA is not set: there is nothing to choose by")
        return
    found: dict[str, list[list[float]]] = {}
    columns = []
    for name in SETS:
        for keep_one_in in (1, 20):
            columns.append(f"{name.rpartition('-')[2]}{', thinned' if keep_one_in > 1 else ''}")
            for pool, test in pools(name, keep_one_in):
                for label, ranker in settings(sys.argv[1] if len(sys.argv) > 1 else "rules").items():
                    learner = PoolLearner(ranker, pool)
                    # rows are shuffled: the first so many are a random draw
                    scores = [scores_after(learner, pool, np.arange(size), test) for size in SIZES]
                    values = [rr.evaluate(test, one, measures="MAP").means["MAP"] for one in scores]
                    found.setdefault(f"{label}|{columns[-1]}", []).append(values)
            print(columns[-1], file=sys.stderr)
    labels = list(dict.fromkeys(key.split("|")[0] for key in found))
    print(
        f"{'mean MAP over 100, 200, 400 and 800 labels':50}" + "".join(f"{name:>18}" for name in columns) + "    mean"
    )
    for label in labels:
        means = [np.mean(found[f"{label}|{column}"]) for column in columns]
        print(f"{label:50}" + "".join(f"{value:18.4f}" for value in means) + f"{np.mean(means):8.4f}")


if __name__ == "__main__":
    main()
