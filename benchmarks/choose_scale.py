"""On which scale to learn: values as they are, one scale for all queries, or z-scores by query.

    RULERANK_DATA=FOLDER RULERANK_TEXTS=FOLDER python benchmarks/choose_scale.py OUT.json [SET ...] [--splits 10]

The table of docs/benchmarks/scales.md. Half of the queries train, half are tested on, so many splits. Defaults are
chosen inside the training half ("inner"): with few labels by the same experiment on its two quarters, with all labels
by cross-validation, as `rulerank train` does it. OUT.json keeps every cell, so that a run can go on where it stopped;
without sets to run, the tables are printed from what is there.

Sets are OHSUMED 2.0 and 3.0 and MQ2008 (test parts of all folds put together), cranfield and cisi (best 50 documents by
BM25, default text features), movies (600 queries, judged documents) and the synthetic shop (200 queries).
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import rulerank as rr
from compare_meaning import read
from few_labels import Split, by_strata, read_graded
from rulerank._util.parameters import Array
from rulerank.baseline import find_baseline
from rulerank.dataset import query_index
from rulerank.experiment.curve import split_halves
from rulerank.io.files import write_bytes
from rulerank.normalize import normalize_by_query
from rulerank.rankers.anchored import anchored
from rulerank.rankers.pool import PoolLearner

SIZES = (50, 100, 400)
N_MOVIES = 600
FEW = {  # name: (on z-scores, the share of weights; None: that of Anchored, grows with the labels)
    "raw: votes of intervals": (False, 0.0),
    "pooled: weights": (False, 1.0),
    "raw and pooled: Anchored": (False, None),
    "z-scores: weights": (True, 1.0),
    "z-scores: Anchored": (True, None),
}
LINEAR = {
    f"QueryIntercepts, {scale}, l2 {l2}": {"l2": float(l2), "normalize": how, "missing": "mean", "n_jobs": 1}
    for scale, how in (("pooled", None), ("z-scores", "zscore"))
    for l2 in (100, 300)
}
ALL: dict[str, Any] = {
    "pooled: QueryIntercepts": rr.QueryIntercepts(l2=100.0, missing="mean", n_jobs=1),
    "raw: FittedRules": rr.FittedRules(n_jobs=1),
    "z-scores: QueryIntercepts": rr.QueryIntercepts(l2=100.0, normalize="zscore", missing="mean", n_jobs=1),
    "z-scores: FittedRules": rr.FittedRules(normalize="zscore", n_jobs=1),
    "pooled: QueryIntercepts, l2 0": rr.QueryIntercepts(missing="mean", n_jobs=1),
}
SELECTED = [*ALL][:4]  # by `rulerank train`
RAW = [name for name in SELECTED if not name.startswith("z")]
LETOR = {"OHSUMED 2.0": ("letor2-ohsumed", "f21"), "OHSUMED 3.0": ("letor3-ohsumed", "f41"),
         "MQ2008": ("letor4-mq2008", "f25")}  # fmt: skip


def load(name: str) -> tuple[rr.Dataset, str]:
    """Return a set and its baseline, chosen without labels: BM25 over all fields."""
    if name in LETOR:
        folder, baseline = LETOR[name]
        return read_graded(Path(os.environ["RULERANK_DATA"], folder)), baseline
    if name == "shop":
        shop = rr.datasets.make_shop()
        return shop.graded(rr.TextFeatures().fit(shop.texts).dataset(shop.queries, top=50)), "bm25(all)"
    folder = Path(os.environ["RULERANK_TEXTS"], name)
    if name != "movies":
        return read_graded(folder), "bm25(all)"
    texts, queries, qrels = read(folder)
    kept = queries.ids[:N_MOVIES]
    queries = rr.Queries(kept, queries.texts[:N_MOVIES])
    there = np.isin(qrels.qid, kept)
    qrels = rr.Qrels(qrels.qid[there], qrels.docid[there], qrels.grade[there])
    return rr.TextFeatures().fit(texts).dataset(queries, qrels, top=0), "bm25(all)"


SETS = (*LETOR, "cranfield", "cisi", "movies", "shop")


def by_query(test: rr.Dataset, scores: Array, measure: str = "NDCG@10") -> dict[str, float]:
    found = rr.evaluate(test, scores, measures=measure)
    return dict(zip(map(str, found.queries), found.values[0].round(5).tolist(), strict=True))


def zscored(data: rr.Dataset) -> rr.Dataset:
    X = normalize_by_query(data.X, query_index(data.qid)[0], "zscore")
    codes = [data.feature_names.index(name) for name in data.categories]
    X[:, codes] = data.X[:, codes]
    return replace(data, X=X)


def few_labels(split: Split) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield NDCG@10 of every form after each number of labels, by query."""
    order = by_strata(split, max(SIZES))
    usual = anchored.share_of_weights
    scaled = split._replace(pool=zscored(split.pool), test=zscored(split.test))
    ranker = rr.Anchored(baseline=split.baseline.option, n_jobs=1)
    learners = {on_z: PoolLearner(ranker, one.pool) for on_z, one in ((False, split), (True, scaled))}
    linear = {name: PoolLearner(rr.QueryIntercepts(**params), split.pool) for name, params in LINEAR.items()}
    for size in SIZES:
        rows = order[:size]
        grades = split.pool.y[rows]
        for name, (on_z, share) in FEW.items():
            anchored.share_of_weights = usual if share is None else lambda _, share=share: share  # type: ignore[assignment]
            fitted = learners[on_z].fit(rows, grades)
            anchored.share_of_weights = usual
            test = scaled.test if on_z else split.test
            yield f"{name}|{size}", by_query(test, fitted.predict(test))
        for name, learner in linear.items():
            yield f"{name}|{size}", by_query(split.test, learner.fit(rows, grades).predict(split.test))


def all_labels(train: rr.Dataset) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield NDCG@10 and MAP of every form on held-out queries of the training half, by query."""
    query = query_index(train.qid)[0]
    parts = list(rr.QueryKFold(5, seed=0).split(query[:, None], qid=query))
    for name, ranker in ALL.items():
        found: dict[str, float] = {}
        by_map: dict[str, float] = {}
        for inside, outside in parts:
            scores = ranker.fit(train[inside]).predict(train[outside])
            found |= by_query(train[outside], scores)
            by_map |= by_query(train[outside], scores, "MAP")
        yield f"{name}|all", found
        yield f"{name}|MAP", by_map


def cells(name: str, n_splits: int, known: dict[str, Any], keep: Callable[[], None]) -> None:
    """Compute what is not known yet of a set."""
    data, feature = load(name)
    data = data.labelled()
    baseline = find_baseline(data.feature_names, feature)
    for seed in range(n_splits):
        if f"{name}|{seed}" in known:
            continue
        train, test = split_halves(data, seed)
        halves = {"inner": split_halves(train, 1000 + seed), "test": (train, test)}
        own: dict[str, Any] = {}
        for stage, (pool, other) in halves.items():
            own[stage] = dict(few_labels(Split(seed, pool, other, baseline)))
            own[stage]["baseline"] = by_query(other, baseline.scores(other))
        own["inner"]["baseline"] |= by_query(train, baseline.scores(train))
        own["inner"] |= dict(all_labels(train))
        own["test"] |= {f"{form}|all": by_query(test, one.fit(train).predict(test)) for form, one in ALL.items()}
        known[f"{name}|{seed}"] = own
        keep()
        print(name, seed, flush=True)


def gains(known: dict[str, Any], name: str, stage: str, form: str, other: str) -> Array:
    """Return the mean difference of two forms in NDCG@10 on each split."""
    splits = [own[stage] for key, own in known.items() if key.split("|")[0] == name]
    return np.array([np.mean([own[form][qid] - own[other][qid] for qid in own[form]]) for own in splits])


def by_rule(own: dict[str, Any], rule: str) -> str:
    """Return the form that a rule takes on the training half of a split, by MAP of its held-out queries, as `train`."""

    def best(forms: list[str]) -> str:
        return max(forms, key=lambda form: np.mean([*own["inner"][f"{form}|MAP"].values()]))

    raw, free = best(RAW), best(SELECTED)
    if rule == "best":
        return free
    if rule == "raw":
        return raw
    one, two = own["inner"][f"{free}|MAP"], own["inner"][f"{raw}|MAP"]
    difference = np.array([one[qid] - two[qid] for qid in one])
    error = difference.std(ddof=1) / np.sqrt(difference.size)
    return free if difference.mean() > error else raw


def show(known: dict[str, Any]) -> None:
    """Print the tables: differences x 1000 with paired standard errors over splits."""
    names = [name for name in SETS if any(key.split("|")[0] == name for key in known)]

    def cell(values: Array) -> str:
        return f"{1000 * values.mean():.0f} ± {1000 * values.std(ddof=1) / np.sqrt(values.size):.0f}"

    for stage in ("inner", "test"):
        print(f"\n{stage}: NDCG@10 minus the baseline x 1000\n\n| labels | form | {' | '.join(names)} | mean |")
        print("| --- " * (len(names) + 3) + "|")
        for size in (*map(str, SIZES), "all"):
            for form in [*FEW, *LINEAR] if size != "all" else ALL:
                found = [gains(known, name, stage, f"{form}|{size}", "baseline") for name in names]
                mean = 1000 * np.mean([one.mean() for one in found])
                print(f"| {size} | {form} | {' | '.join(map(cell, found))} | {mean:.1f} |")
    for own in known.values():
        for rule in ("best", "raw", "one error"):
            own["test"][f"auto, {rule}"] = own["test"][f"{by_rule(own, rule)}|all"]
    for rule in ("best", "raw", "one error"):
        found = [gains(known, name, "test", f"auto, {rule}", "baseline") for name in names]
        taken = [
            np.mean([by_rule(own, rule).startswith("z") for key, own in known.items() if key.split("|")[0] == name])
            for name in names
        ]
        words = " | ".join(f"{cell(one)}, z {share:.0%}" for one, share in zip(found, taken, strict=True))
        print(f"| all | auto: {rule} | {words} | {1000 * np.mean([one.mean() for one in found]):.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("sets", nargs="*", choices=[*SETS, []])
    parser.add_argument("--splits", type=int, default=10)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    known = json.loads(given.out.read_text()) if given.out.exists() else {}
    for name in given.sets:
        cells(name, given.splits, known, lambda: write_bytes(given.out, json.dumps(known).encode()))
    show(known)


if __name__ == "__main__":
    main()
