"""How well grades by clicks agree with the true grades, and what training on them is worth.

    python benchmarks/judge_clicks.py --data MQ2008/Fold1 MQ2008/Fold2 --noise 0.1 0.3 --out judged.json
    python benchmarks/judge_clicks.py --data MQ2008/Fold1 MQ2008/Fold2 --test test.txt --seed 100 --out tested.json

Production, QueryIntercepts on the grades of 1 % of the training queries (two at the least), shows its top ten to
simulated users (eta 1); `rulerank clicks --grades` grades what they clicked. Said of each number of impressions: how
many documents get a grade; the quadratic-weighted kappa and the mean rank correlation within queries (Spearman) of
these grades with the true ones, with and without the correction for positions, and the kappa of other cuts; and NDCG@10
on the test queries' true grades of QueryIntercepts trained on grades by clicks, on the same without the correction, and
on all true grades, beside production. Without --data the documents are those of synthetic worlds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.exceptions import ConvergenceWarning

import rulerank as rr
from rulerank.clicks.grades import ClickGrades, grade_by_clicks
from rulerank.dataset import UNLABELLED, Array, Dataset, query_index
from rulerank.shown import Shown

SIZES, MODELS = (10_000, 100_000, 1_000_000), ("position", "cascade")
FIRSTS, STEPS = (0.7, 1.0, 1.4, 2.0), (1.4, 2.0, 2.8)  # other cuts: first, first x step, first x step^2, ...


def kappa(found: Array, true: Array, n_grades: int) -> float:
    """Return the agreement beyond chance, where a mistake of two grades counts four times one of one."""
    if not found.size:
        return float("nan")
    table = np.zeros((n_grades, n_grades))
    np.add.at(table, (found, true), 1)
    weights = np.subtract.outer(np.arange(n_grades), np.arange(n_grades)) ** 2
    chance = np.outer(table.sum(1), table.sum(0)) / table.sum()
    return 1 - float((weights * table).sum() / (weights * chance).sum())


def correlation(values: Array, true: Array, queries: Array) -> float:
    """Return the mean rank correlation of queries whose documents have different grades."""
    parts = [np.flatnonzero(queries == query) for query in np.unique(queries)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where all values are the same, nothing is known: 0
        found = [spearmanr(values[rows], true[rows]).statistic for rows in parts if np.ptp(true[rows]) > 0]
    return float(np.nan_to_num(found).mean()) if found else float("nan")


def cut(appeal: Array, highest: int, first: float, step: float) -> Array:
    """Return grades by other cuts than those of the library."""
    return np.searchsorted(first * step ** np.arange(highest), appeal, side="right")


def compared(train: Dataset, test: Dataset, model: str, n_impressions: int, noise: float, seed: int) -> dict[str, Any]:
    """Return all figures of one simulation."""
    rng = np.random.default_rng(seed)
    numbers, ids = query_index(train.qid)
    teaches = np.flatnonzero(np.bincount(numbers, train.y > 0) % np.bincount(numbers))  # has both kinds of documents
    few = rng.choice(teaches, max(2, ids.size // 100), replace=False)
    production = rr.QueryIntercepts(l2=10.0, missing="mean").fit(train[np.isin(numbers, few)])
    how: dict[str, Any] = {"n_impressions": n_impressions, "model": model, "noise": noise, "seed": seed}
    docid = np.array([str(row) for row in range(len(train))], dtype=object)
    seen = rr.simulate_clicks(replace(train, docid=docid), production.predict(train), **how)
    assert seen.shown is not None
    highest = int(train.y.max())
    alike = Shown(np.ones(len(seen), dtype=np.int64), seen.shown.impressions, seen.shown.clicks)
    ways = {"": grade_by_clicks(seen, highest), " uncorrected": grade_by_clicks(replace(seen, shown=alike), highest)}
    found: dict[str, Any] = {"NDCG production": quality(production, test), "NDCG true": trained(train, train.y, test)}
    for name, way in ways.items():
        rows, graded = rows_of(seen, way), way.grades != UNLABELLED
        true, queries = train.y[rows][graded], numbers[rows][graded]
        grades = np.full(len(train), UNLABELLED)
        grades[rows] = way.grades
        found[f"graded{name}"] = float(graded.mean())
        found[f"kappa{name}"] = kappa(way.grades[graded], true, highest + 1)
        found[f"correlation{name}"] = correlation(way.grades[graded], true, queries)
        found[f"correlation of appeal{name}"] = correlation(way.appeal[graded], true, queries)
        found[f"NDCG clicks{name}"] = trained(train, grades, test)
        if not name:
            for first, step in itertools.product(FIRSTS, STEPS):
                other = cut(way.appeal, highest, first, step)
                found[f"kappa {first} {step}"] = kappa(other[graded], true, highest + 1)
                grades[rows] = np.where(graded, other, UNLABELLED)
                found[f"NDCG {first} {step}"] = trained(train, grades, test)
    return found


def halves(data: Dataset) -> tuple[Dataset, Dataset]:
    odd = query_index(data.qid)[0] % 2 == 1
    return data[odd], data[~odd]


def rows_of(seen: Dataset, way: ClickGrades) -> Array:
    assert seen.docid is not None
    return np.array([int(one) for one in seen.docid[way.rows]])


def trained(train: Dataset, grades: Array, test: Dataset) -> float:
    labelled = replace(train, y=grades).labelled()
    if not len(labelled) or np.ptp(labelled.y) == 0:
        return float("nan")  # nothing to learn from
    return quality(rr.QueryIntercepts(l2=10.0, missing="mean").fit(labelled), test)


def quality(ranker: rr.QueryIntercepts, data: Dataset) -> float:
    return rr.evaluate(data, ranker.predict(data), measures=["NDCG@10"]).means["NDCG@10"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", type=Path, default=[], help="Folders with train.txt and another file.")
    parser.add_argument("--test", default="vali.txt", help="The file to measure on.")
    parser.add_argument("--noise", nargs="*", type=float, default=[0.1])
    parser.add_argument("--seed", type=int, default=0, help="Another one: other clicks, and other worlds.")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # where grades by clicks are too few to learn from
    found: list[dict[str, Any]] = []
    folds = [
        (path.as_posix(), *(rr.read_letor(path / name) for name in ("train.txt", given.test))) for path in given.data
    ]
    folds = folds or [
        (f"world {seed}", *halves(rr.make_ranking(n_queries=600, seed=given.seed + seed))) for seed in range(5)
    ]
    for model, n, noise in itertools.product(MODELS, SIZES, given.noise):
        here = [compared(train, test, model, n, noise, seed) for seed, (_, train, test) in enumerate(folds, given.seed)]
        mean = {name: float(np.mean([one[name] for one in here])) for name in here[0]}
        found.append({"data": [name for name, *_ in folds], "model": model, "impressions": n, "noise": noise, **mean})
        print(f"{model} {n:,} impressions, noise {noise}", flush=True)
        print("  " + ", ".join(f"{name} {value:.4f}" for name, value in mean.items()), flush=True)
        if given.out:
            given.out.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
