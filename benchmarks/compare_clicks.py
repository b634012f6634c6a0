"""Learning from simulated clicks, NDCG@10 on true grades of test queries, beside LightGBM and XGBoost.

    RULERANK_DATA=FOLDER RULERANK_TEXTS=FOLDER python benchmarks/compare_clicks.py OUT.json [SET ...] [--etas 0,1,2]

Training queries of a fold are asked at random; production, QueryIntercepts on the grades of 1 % of the queries (2 at
least), shows its ten best, scores of deviation 1 by query with noise of deviation `explore` added to each list (0.5, so
that documents move; 0: never). Users are those of `rr.clicks.simulate_clicks`, noise 0.1. Ours see counts of
clicks; "trained" is what `rulerank train --baseline production.rulerank` keeps. The competing libraries see
every list as a group and each row's click; each is the better, by true grades of validation queries, of two settings,
which is more than logs could tell. OUT.json keeps every finished figure, by query: a run that was cut goes on.
`compare_clicks_table.py OUT.json` makes tables of it.
"""

from __future__ import annotations

import argparse
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
from rulerank._util.parameters import Array
from rulerank.clicks.simulate import MODELS, Lists, simulate_lists
from rulerank.dataset import Impressions, query_index
from rulerank.io.files import write_bytes
from rulerank.selection.from_clicks import CLICK_PARAMS, select_by_clicks

SETS = ("letor4-mq2008", "letor3-ohsumed", "movies")
SIZES = (1_000, 10_000, 100_000, 1_000_000)
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


def cells(names: list[str], etas: list[float], sizes: list[int], folds: list[int], explore: float) -> Iterator[Cell]:
    """Yield the cells, the small logs first, fold by fold."""
    for n in sizes:
        for fold in folds:
            for name in names:
                for eta in etas:
                    for model in MODELS:
                        yield Cell(name, fold, model, eta, explore, n)


def read(name: str, fold: int) -> tuple[rr.Dataset, rr.Dataset, rr.Dataset]:
    if name != "movies":
        folder = Path(os.environ["RULERANK_DATA"], name, f"Fold{fold}")
        train, vali, test = (rr.read_letor(folder / f"{part}.txt") for part in ("train", "vali", "test"))
        return train, vali, test
    kept = Path(os.environ.get("TMPDIR", "/tmp"), "rulerank-movies.parquet")
    if not kept.exists():
        rr.io.write_table(movies(Path(os.environ["RULERANK_TEXTS"], "movies")), kept)
    data = rr.read_table(kept)
    X = np.where(np.isnan(data.X), np.nanmean(data.X, axis=0), data.X)
    data = rr.Dataset(X, data.y, data.qid, feature_names=data.feature_names)
    numbers, ids = query_index(data.qid)
    part = np.random.default_rng(fold).permutation(ids.size)[numbers]
    edges = np.cumsum([0, *MOVIE_QUERIES])
    train, vali, test = (data[(part >= a) & (part < b)] for a, b in pairwise(edges))
    return train, vali, test


def simulate(cell: Cell, share: float = 0.01) -> Log:
    """Simulate a log; production learned from the grades of a share of the queries."""
    train, vali, test = read(cell.name, cell.fold)
    numbers, ids = query_index(train.qid)
    train = train[np.argsort(numbers, kind="stable")]
    numbers = np.sort(numbers)
    few = np.random.default_rng(cell.fold).permutation(ids.size)[: max(2, round(share * ids.size))]
    production = rr.QueryIntercepts(l2=10.0, missing="mean").fit(train[np.isin(numbers, few)])
    lists = simulate_lists(
        train.y.astype(np.int64), numbers, production.predict(train), n_impressions=cell.n_impressions,
        model=cell.model, eta=cell.eta, noise=0.1, explore=cell.explore, n_shown=10, seed=1000 + cell.fold,
    )  # fmt: skip
    rows, position, impressions, clicks = lists.counted()
    own = train[rows]
    counted = rr.Dataset(
        own.X, np.full(rows.size, -1), own.qid, feature_names=own.feature_names,
        impressions=Impressions(position, impressions, clicks),
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


def by_query(data: rr.Dataset, scores: Array) -> dict[str, Any]:
    """Return NDCG@10, its mean and that of each query."""
    found = rr.evaluate(data, scores, measures="NDCG@10")
    return {"NDCG@10": found.means["NDCG@10"], "queries": found.per_query["NDCG@10"].round(5).tolist()}


def figures(log: Log, cell: Cell, method: str) -> dict[str, Any]:
    """Return the figures of one method."""
    positions = range(1, 11)
    even, known = dict.fromkeys(positions, 1.0), {k: k**-cell.eta for k in positions}
    if method in LIBRARIES:
        tried = []
        for setting in SETTINGS:
            predict = LIBRARIES[method](log, setting)
            tried.append((ndcg(log.vali, predict(log.vali.X)), predict(log.test.X)))
        return by_query(log.test, max(tried, key=lambda one: one[0])[1])
    note: dict[str, Any] = {}
    ranker: Any
    if method == "production":
        ranker = log.production
    elif method.startswith("true grades"):
        data = log.train[np.unique(log.lists.rows)] if "shown" in method else log.train
        ranker = rr.QueryIntercepts(l2=100.0, missing="mean").fit(data)
    elif method in ("intercepts", "trained"):
        learned = select_by_clicks(
            log.counted, None if method == "trained" else rr.QueryIntercepts(**CLICK_PARAMS), baseline=log.production
        )
        ranker, note = learned.ranker, learned.learned.positions().to_dict() | {"kept": learned.facts["keep_baseline"]}
    else:
        given = {"without": even, "known": known}.get(method.split(", ")[-1])
        ranker = rr.QueryIntercepts(**CLICK_PARAMS).fit(log.counted, propensities=given)
        note = {"effects": ranker.positions().effects.tolist()}
    return by_query(log.test, ranker.predict(log.test)) | note


LIBRARIES = {"LightGBM, position": lightgbm, "XGBoost, unbiased": xgboost}
METHODS = ("production", "intercepts", *LIBRARIES, "true grades, all", "trained")
VARIANTS = ("intercepts, without", "intercepts, known", "true grades, shown")
WHERE_IT_MATTERS = 10_000  # impressions: with more, "trained" never keeps production, and takes minutes


def run(out: Path, todo: list[Cell], methods: tuple[str, ...]) -> None:
    found: dict[str, dict[str, Any]] = json.loads(out.read_text()) if out.exists() else {}
    for cell in todo:
        own = found.setdefault(str(cell), {})
        missing = [method for method in methods if method not in own]
        if cell.n_impressions > WHERE_IT_MATTERS and "trained" in missing:
            missing.remove("trained")
        log = simulate(cell) if missing else None
        for method in missing:
            start = time.perf_counter()
            assert log is not None
            own[method] = figures(log, cell, method) | {"seconds": round(time.perf_counter() - start, 1)}
            print(cell, method, own[method]["NDCG@10"], own[method]["seconds"], file=sys.stderr, flush=True)
            write_bytes(out, json.dumps(found).encode())


def numbers(text: str) -> list[float]:
    return [float(one) for one in text.split(",")]


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description="Learning from simulated clicks beside LightGBM and XGBoost.")
    parser.add_argument("out", type=Path, metavar="OUT.json", help="keeps every finished figure")
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)}")
    parser.add_argument("--etas", type=numbers, default=[1.0], help="how fast people lose patience: 0,1,2")
    parser.add_argument("--sizes", type=numbers, default=[*SIZES], help="impressions: 1000,10000")
    parser.add_argument("--folds", type=numbers, default=[1, 2, 3, 4, 5])
    parser.add_argument("--explore", type=float, default=0.5, help="0: documents never move")
    parser.add_argument("--variants", action="store_true", help="the other ways to learn, too")
    asked = parser.parse_args()
    unknown = [name for name in asked.sets if name not in SETS]
    if unknown:
        parser.error(f"unknown set {unknown[0]!r}; choose from {', '.join(SETS)}")
    sizes, folds = ([int(one) for one in some] for some in (asked.sizes, asked.folds))
    todo = [*cells(asked.sets or [*SETS], asked.etas, sizes, folds, asked.explore)]
    for methods in (METHODS, VARIANTS)[: 1 + asked.variants]:
        run(asked.out, todo, methods)


if __name__ == "__main__":
    main()
