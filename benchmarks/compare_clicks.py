"""Learning from simulated clicks, NDCG@10 on true grades of test queries, beside LightGBM and XGBoost.

    RULERANK_DATA=FOLDER RULERANK_TEXTS=FOLDER python benchmarks/compare_clicks.py OUT.json [SET ...]
    python benchmarks/compare_clicks.py OUT.json --table          # the figures so far, as Markdown

Training queries of a fold are asked at random; production, QueryIntercepts on the grades of 1 % of the queries (2 at
least), shows its ten best, scores of deviation 1 by query with noise of deviation `explore` added to each list (0.5, so
that documents move; 0: never). Users are those of `rr.simulate_clicks`, noise 0.1. Ours see counts of clicks, and
choose their l2 by held-out clicks. The peers see every list as a group and each row's click; each is the better, by
true grades of validation queries, of two settings (one at 1,000,000), which is more than logs could tell. OUT.json
keeps every finished figure: a run that was cut goes on.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rulerank as rr
from compare_texts import movies
from rulerank.clicks.simulate import Lists, simulate_lists
from rulerank.core.arrays import Array
from rulerank.dataset import query_index
from rulerank.io.outputs import write_bytes
from rulerank.shown import Shown
from rulerank.training.from_clicks import learn_from_clicks

SETS = ("letor4-mq2008", "letor3-ohsumed", "movies")
SIZES = (1_000, 10_000, 100_000, 1_000_000)
MANY = 1_000_000
SETTINGS = ((7, 3, 50), (15, 4, 100))  # leaves of LightGBM, depth of XGBoost, trees
MOVIE_QUERIES = (1_000, 300, 1_500)  # to train, validate and test on


class Cell(NamedTuple):
    """One simulated log."""

    name: str
    fold: int
    model: str
    eta: float
    explore: float
    n_impressions: int

    def __str__(self) -> str:
        return f"{self.name} {self.fold} {self.model} eta {self.eta:g} explore {self.explore:g} {self.n_impressions}"


class Log(NamedTuple):
    """What a log holds, and the truth beside it."""

    train: rr.Dataset
    vali: rr.Dataset
    test: rr.Dataset
    production: rr.QueryIntercepts
    lists: Lists
    counted: rr.Dataset


def cells(names: list[str]) -> Iterator[Cell]:
    """Yield the cells, the smallest first."""
    for n in SIZES:
        for name in names:
            for fold in (1, 2) if n < MANY and name != "movies" else (1,):
                for model in ("position", "cascade"):
                    yield Cell(name, fold, model, 1.0, 0.5, n)
        if n in (10_000, 100_000):
            for name in names:
                yield Cell(name, 1, "position", 1.0, 0.0, n)
                for eta in (0.0, 2.0):
                    yield Cell(name, 1, "position", eta, 0.5, n)


def read(name: str, fold: int) -> tuple[rr.Dataset, rr.Dataset, rr.Dataset]:
    if name != "movies":
        folder = Path(os.environ["RULERANK_DATA"], name, f"Fold{fold}")
        train, vali, test = (rr.read_letor(folder / f"{part}.txt") for part in ("train", "vali", "test"))
        return train, vali, test
    kept = Path(os.environ.get("TMPDIR", "/tmp"), "rulerank-movies.parquet")
    if not kept.exists():
        rr.write_table(movies(Path(os.environ["RULERANK_TEXTS"], "movies")), kept)
    data = rr.read_table(kept)
    X = np.where(np.isnan(data.X), np.nanmean(data.X, axis=0), data.X)
    data = rr.Dataset(X, data.y, data.qid, feature_names=data.feature_names)
    numbers, ids = query_index(data.qid)
    part = np.random.default_rng(fold).permutation(ids.size)[numbers]
    edges = np.cumsum([0, *MOVIE_QUERIES])
    train, vali, test = (data[(part >= a) & (part < b)] for a, b in pairwise(edges))
    return train, vali, test


def simulate(cell: Cell) -> Log:
    train, vali, test = read(cell.name, cell.fold)
    numbers, ids = query_index(train.qid)
    train = train[np.argsort(numbers, kind="stable")]
    numbers = np.sort(numbers)
    few = np.random.default_rng(cell.fold).permutation(ids.size)[: max(2, round(0.01 * ids.size))]
    production = rr.QueryIntercepts(l2=10.0, missing="mean").fit(train[np.isin(numbers, few)])
    lists = simulate_lists(
        train.y.astype(np.int64), numbers, production.predict(train), n_impressions=cell.n_impressions,
        model=cell.model, eta=cell.eta, noise=0.1, explore=cell.explore, n_shown=10, seed=1000 + cell.fold,
    )  # fmt: skip
    rows, position, impressions, clicks = lists.counted()
    own = train[rows]
    counted = rr.Dataset(
        own.X, np.full(rows.size, -1), own.qid, feature_names=own.feature_names,
        shown=Shown(position, impressions, clicks),
    )  # fmt: skip
    return Log(train, vali, test, production, lists, counted)


def lightgbm(log: Log, setting: tuple[int, int, int]) -> Callable[[Array], Array]:
    import lightgbm as lgb

    lists, (leaves, _, trees) = log.lists, setting
    data = lgb.Dataset(
        log.train.X[lists.rows],
        label=lists.clicked.astype(int),
        group=np.bincount(lists.lists),
        position=lists.position,
    )
    params = {
        "objective": "lambdarank", "num_threads": 1, "num_leaves": leaves, "learning_rate": 0.05,
        "min_data_in_leaf": 50, "verbosity": -1,
    }  # fmt: skip
    return lgb.train(params, data, trees).predict


def xgboost(log: Log, setting: tuple[int, int, int]) -> Callable[[Array], Array]:
    import xgboost as xgb

    lists, (_, depth, trees) = log.lists, setting
    data = xgb.DMatrix(log.train.X[lists.rows], label=lists.clicked.astype(int))
    data.set_group(np.bincount(lists.lists))
    params = {
        "objective": "rank:ndcg", "lambdarank_unbiased": True, "lambdarank_pair_method": "topk",
        "lambdarank_num_pair_per_sample": 10, "nthread": 1, "max_depth": depth, "eta": 0.05, "tree_method": "hist",
    }  # fmt: skip
    model = xgb.train(params, data, trees)
    return lambda X: model.predict(xgb.DMatrix(X))


def ndcg(data: rr.Dataset, scores: Array) -> float:
    return rr.evaluate(data, scores, measures="NDCG@10").means["NDCG@10"]


def figures(log: Log, cell: Cell, method: str, so_far: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of one method."""
    positions = range(1, 11)
    even, known = dict.fromkeys(positions, 1.0), {k: k**-cell.eta for k in positions}
    peers = {"LightGBM, position": lightgbm, "XGBoost, unbiased": xgboost}
    seen = np.unique(log.lists.rows)
    if method in peers:
        tried = []
        for setting in SETTINGS[:1] if cell.n_impressions >= MANY else SETTINGS:
            predict = peers[method](log, setting)
            tried.append((ndcg(log.vali, predict(log.vali.X)), ndcg(log.test, predict(log.test.X))))
        return {"NDCG@10": max(tried)[1]}
    note: dict[str, Any] = {}
    ranker: Any
    if method == "production":
        ranker = log.production
    elif method.startswith("true grades"):
        data = log.train[seen] if "shown" in method else log.train
        ranker = rr.FittedRules(n_jobs=1) if "rules" in method else rr.QueryIntercepts(l2=100.0, missing="mean")
        ranker.fit(data)
    elif method == "intercepts":
        learned = learn_from_clicks(log.counted, method="QI")
        ranker, note = learned.ranker, {"l2": learned.ranker.l2, "effects": learned.positions.effects.tolist()}
    elif method.startswith("intercepts"):
        l2 = so_far["intercepts"]["l2"]
        ranker = rr.QueryIntercepts(
            l2=l2, missing="mean", link="examination" if "examination" in method else "log-odds"
        )
        given = {"intercepts, without": even, "intercepts, known": known}.get(method)
        ranker.fit(log.counted, propensities=given)
        note = {"effects": ranker.positions().effects.tolist()}
    else:
        given = {"fitted rules, without": even, "fitted rules, known": known}.get(method)
        link = "examination" if "examination" in method else "log-odds"
        ranker = rr.FittedRules(n_jobs=1, link=link).fit(log.counted, propensities=given)
        note = {"effects": ranker.positions().effects.tolist()}
    return {"NDCG@10": ndcg(log.test, ranker.predict(log.test))} | note


METHODS = (
    "production", "intercepts", "fitted rules", "intercepts, without", "intercepts, known", "intercepts, examination",
    "LightGBM, position", "XGBoost, unbiased", "true grades, shown", "true grades, all", "true grades, all, rules",
    "fitted rules, without", "fitted rules, known", "fitted rules, examination",
)  # fmt: skip


def run(out: Path, names: list[str]) -> None:
    found: dict[str, dict[str, Any]] = json.loads(out.read_text()) if out.exists() else {}
    for cell in cells(names):
        own = found.setdefault(str(cell), {})
        todo = [method for method in METHODS if method not in own]
        log = simulate(cell) if todo else None
        for method in todo:
            start = time.perf_counter()
            assert log is not None
            own[method] = figures(log, cell, method, own) | {"seconds": round(time.perf_counter() - start, 1)}
            print(cell, method, own[method], file=sys.stderr, flush=True)
            write_bytes(out, json.dumps(found, indent=1).encode())


def table(out: Path) -> None:
    """Print the means over folds."""
    found = json.loads(out.read_text())
    groups: dict[str, list[dict[str, Any]]] = {}
    for name, methods in found.items():
        words = name.split()
        groups.setdefault(" ".join([words[0], *words[2:]]), []).append(methods)
    print(f"| log | folds | {' | '.join(METHODS)} |\n| --- | ---: |{' ---: |' * len(METHODS)}")
    for group, folds in groups.items():
        values = []
        for method in METHODS:
            own = [fold[method]["NDCG@10"] for fold in folds if method in fold]
            values.append(f"{np.mean(own):.4f}"[1:] if len(own) == len(folds) else "")
        print(f"| {group} | {len(folds)} | {' | '.join(values)} |")


def main() -> None:
    warnings.simplefilter("ignore")
    if len(sys.argv) < 2:
        sys.exit("name the file that keeps the figures: compare_clicks.py OUT.json")
    out, names = Path(sys.argv[1]), [one for one in sys.argv[2:] if one != "--table"]
    if "--table" in sys.argv:
        table(out)
        return
    unknown = [name for name in names if name not in SETS]
    if unknown:
        sys.exit(f"unknown set {unknown[0]!r}; choose from {', '.join(SETS)}")
    run(out, names or list(SETS))


if __name__ == "__main__":
    main()
