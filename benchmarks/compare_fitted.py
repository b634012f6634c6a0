"""FittedRules beside its competing libraries, like for like: NDCG@10 and MAP on test queries, with paired intervals.

    python benchmarks/compare_fitted.py run [--data synthetic-100,...] [--system EBM,...]   # what is finished is kept
    python benchmarks/compare_fitted.py table                                           # Markdown, from what is there

Finished cells lie as JSON in build/compare_fitted, one file for each data set and system; delete one to run it again.
RULERANK_DATA names the folder with the LETOR sets; RULERANK_MOVIES a table (Parquet) with the columns qid, docid, grade
and the features of the movies' judged pairs. What is not there is left out.

What is measured:
- synthetic-100, -400, -1600: `make_ranking` with that many queries (20 features, 20 to 60 documents a query), tested on
  2,000 queries of another seed; the mean over three, two, and one training synthetic_sets.
- movies-30 ... -9768: training queries at random, 3,256 others tested; the mean over three draws of 30
  and two of 100 queries.
- ohsumed (LETOR 3.0), mq2008: five folds, trained on train; the validation parts are used by nobody. ohsumed+vali and
  mq2008+vali: trained on train and vali together, by everybody.

How everyone is treated: no system sees a grade of a test part. Systems with settings are bagged by query: five members,
each fitted without one fifth of the training queries, on which it also stops growing; settings are chosen one after the
other by NDCG@10 on these fifths (only on the first of them above 50,000 rows), and the five scores are averaged. That
is how FittedRules is made too. One thread each. The settings tried are in GRIDS and, for large data, LARGE_GRIDS.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # papers/ is not installed

import rulerank as rr
from papers.baselines import EBM, ILMARTLike, LambdaMART, YetiRank
from rulerank.dataset import query_index
from rulerank.rankers.foreign import fit_ranker, predict_ranker

OUT = Path("build/compare_fitted")
MEASURES = ("NDCG@10", "MAP")
SYNTHETIC_SETS = {100: 3, 400: 2, 1600: 1}  # queries: training synthetic_sets
MOVIES = {30: 3, 100: 2, 300: 1, 1000: 1, 3000: 1, 9768: 1}  # queries: draws
N_TEST_SYNTHETIC, N_TEST_MOVIES = 2_000, 3_256
LETOR = {"ohsumed": "letor3-ohsumed", "mq2008": "letor4-mq2008"}
WITH_VALI = {f"{name}+vali": name for name in LETOR}
N_BAGS = 5
MANY_ROWS = 50_000  # above, settings are chosen on one fifth instead of five, among those of LARGE_GRIDS
VIEWS = (None, "zscore")
GRIDS: dict[str, dict[str, tuple[Any, ...]]] = {  # one parameter after the other; the first value is where it starts
    "LambdaMART x5": {
        "normalize": VIEWS,
        "learning_rate": (0.1, 0.05, 0.02),
        "n_leaves": (15, 7, 31),
        "min_docs": (20, 100),
    },
    "ILMART-like": {"normalize": VIEWS, "n_leaves": (7, 15)},
    "CatBoost": {"normalize": VIEWS, "depth": (6, 4)},
}
LARGE_GRIDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "LambdaMART x5": {"n_leaves": (31, 15, 63)},
    "ILMART-like": {"n_leaves": (15, 7)},
    "CatBoost": {"depth": (6,)},
}
BAGGED: dict[str, Callable[..., Any]] = {
    "LambdaMART x5": lambda **given: LambdaMART(n_trees=1000, n_jobs=1, **given),
    "ILMART-like": lambda **given: ILMARTLike(n_trees=1000, n_jobs=1, **given),
    "CatBoost": lambda **given: YetiRank(n_trees=1000, n_jobs=1, **given),
}
PENALTIES = (1.0, 10.0, 100.0, 1000.0)
SKIPPED: dict[tuple[str, str], str] = {}  # data, system: why

Scores = tuple[np.ndarray, dict[str, Any]]
Part = tuple[rr.Dataset, rr.Dataset]  # train, test


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("--data", default=",".join(DATA))
    parser.add_argument("--system", default=",".join(SYSTEMS))
    given = parser.parse_args()
    if given.what == "table":
        print_table()
        return
    warnings.simplefilter("ignore")
    for data in given.data.split(","):
        if not there(data):
            print(f"{data}: its folder or file is not named, left out", file=sys.stderr)
            continue
        for system in given.system.split(","):
            run_cell(data, system)


def run_cell(data: str, system: str) -> None:
    """Run one system on all parts of one data set, and keep what came out."""
    path = OUT / data / f"{system.replace(' ', '-')}.json"
    if path.exists() or (data, system) in SKIPPED:
        return
    values: dict[str, list[np.ndarray]] = {name: [] for name in MEASURES}
    chosen, start, cpu = [], time.perf_counter(), time.process_time()
    for train, test in DATA[data](data):
        scores, settings = SYSTEMS[system](system, train, test)
        result = rr.evaluate(test.y, scores, test.qid, MEASURES)
        chosen.append(settings)
        for name, found in zip(MEASURES, result.values, strict=True):
            values[name].append(found)
    # draws of a data set share their test queries, folds do not
    together = np.concatenate if DATA[data] is letor else lambda found: np.mean(found, axis=0)
    path.parent.mkdir(parents=True, exist_ok=True)
    kept: dict[str, Any] = {name: together(found).round(7).tolist() for name, found in values.items()}
    kept |= {"chosen": chosen, "seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}
    path.write_text(json.dumps(kept))
    means = "  ".join(f"{name} {np.mean(kept[name]):.4f}" for name in MEASURES)
    print(f"{data:12} {system:16} {means}  {kept['cpu']:7.1f} s of a core  {chosen}", flush=True)


# the data


def synthetic_sets(name: str) -> Iterator[Part]:
    n_queries = int(name.split("-")[1])
    test = rr.datasets.make_ranking(n_queries=N_TEST_SYNTHETIC, seed=20_000)
    for seed in range(SYNTHETIC_SETS[n_queries]):
        yield rr.datasets.make_ranking(n_queries=n_queries, seed=seed + 1), test


def movies(name: str) -> Iterator[Part]:
    n_queries = int(name.split("-")[1])
    data = rr.read_table(os.environ["RULERANK_MOVIES"], qid="qid", docid="docid", grade="grade").labelled()
    query, ids = query_index(data.qid)
    order = np.random.default_rng(0).permutation(ids.size)
    tested, others = order[:N_TEST_MOVIES], order[N_TEST_MOVIES:]
    for draw in range(MOVIES[n_queries]):
        trained = np.random.default_rng(1 + draw).permutation(others)[:n_queries]
        yield data[np.isin(query, trained)], data[np.isin(query, tested)]


def letor(name: str) -> Iterator[Part]:
    for fold in rr.read_folds(Path(os.environ["RULERANK_DATA"], LETOR[WITH_VALI.get(name, name)])):
        yield rr.Dataset.concat([fold.train, fold.vali]) if name in WITH_VALI else fold.train, fold.test


DATA: dict[str, Callable[[str], Iterator[Part]]] = {
    **{f"synthetic-{n}": synthetic_sets for n in SYNTHETIC_SETS},
    **dict.fromkeys([*LETOR, *WITH_VALI], letor),
    **{f"movies-{n}": movies for n in MOVIES},
}


def there(data: str) -> bool:
    needed = {letor: "RULERANK_DATA", movies: "RULERANK_MOVIES"}.get(DATA[data])
    return needed is None or bool(os.environ.get(needed))


# the systems


def by_bags(system: str, train: rr.Dataset, test: rr.Dataset) -> Scores:
    """Choose settings on the fifths that the members leave out, and average the members with the best ones."""
    make, grid = BAGGED[system], (LARGE_GRIDS if len(train) > MANY_ROWS else GRIDS)[system]
    query, ids = query_index(train.qid)
    part = (np.random.default_rng(0).permutation(ids.size) % N_BAGS)[query]
    tuned_on = range(1) if len(train) > MANY_ROWS else range(N_BAGS)
    members: dict[tuple[str, int], Any] = {}
    quality: dict[str, float] = {}

    def member(settings: dict[str, Any], bag: int) -> Any:
        key = repr(settings), bag
        if key not in members:
            members[key] = fit_ranker(make(**settings), train[part != bag], vali=train[part == bag])
        return members[key]

    def judged(settings: dict[str, Any]) -> float:
        key = repr(settings)
        if key not in quality:
            values = []
            for bag in tuned_on:
                held_out = train[part == bag]
                scores = predict_ranker(member(settings, bag), held_out)
                values.append(rr.evaluate(held_out.y, scores, held_out.qid, "NDCG@10").values[0])
            quality[key] = float(np.concatenate(values).mean())
        return quality[key]

    settings = {name: values[0] for name, values in grid.items()}
    for name, values in grid.items():
        if len(values) > 1:
            settings = max(({**settings, name: value} for value in values), key=judged)
    scores = [predict_ranker(member(settings, bag), test) for bag in range(N_BAGS)]
    return np.mean(scores, axis=0), settings


def by_ebm(system: str, train: rr.Dataset, test: rr.Dataset) -> Scores:
    """EBM makes its own bags; the view is chosen on one fifth with two of them."""
    query, ids = query_index(train.qid)
    held = (np.random.default_rng(0).permutation(ids.size) % N_BAGS == 0)[query]

    def judged(view: str | None) -> float:
        scores = EBM(n_bags=2, normalize=view, n_jobs=1).fit(train[~held]).predict(train[held])
        return float(rr.evaluate(train.y[held], scores, train.qid[held], "NDCG@10").values[0].mean())

    view = max(VIEWS, key=judged)
    return EBM(n_bags=N_BAGS, normalize=view, n_jobs=1).fit(train).predict(test), {"normalize": view}


def by_intercepts(system: str, train: rr.Dataset, test: rr.Dataset) -> Scores:
    made = rr.QueryIntercepts(missing="mean", n_jobs=1)
    n_splits = 2 if len(train) > MANY_ROWS else N_BAGS
    tuned = rr.select(train, made, {"l2": PENALTIES, "normalize": VIEWS}, measure="NDCG@10", n_splits=n_splits)
    return tuned.ranker.predict(test), tuned.best


def by_rules(system: str, train: rr.Dataset, test: rr.Dataset) -> Scores:
    return rr.GlobalRules(n_jobs=1).fit(train).predict(test), {}


def by_fitted(system: str, train: rr.Dataset, test: rr.Dataset) -> Scores:
    ranker = rr.FittedRules(n_jobs=1).fit(train)
    return ranker.predict(test), {}


SYSTEMS: dict[str, Callable[[str, rr.Dataset, rr.Dataset], Scores]] = {
    "FittedRules": by_fitted,
    "GlobalRules": by_rules,
    "QueryIntercepts": by_intercepts,
    "LambdaMART x5": by_bags,
    "ILMART-like": by_bags,
    "EBM": by_ebm,
    "CatBoost": by_bags,
}


# the table


def print_table(ours: str = "FittedRules") -> None:
    """Print a table for each measure: the mean, and the difference to ours with its 95 % interval."""
    for measure in MEASURES:
        print(f"\n{measure}: mean, and difference to {ours} with its 95 % interval (paired over test queries)\n")
        print("| | queries | " + " | ".join(SYSTEMS) + " |\n" + "| --- " * (2 + len(SYSTEMS)) + "|")
        for data in DATA:
            found = {system: kept(data, system, measure) for system in SYSTEMS}
            if all(values is None for values in found.values()):
                continue
            base = found[ours]
            cells = [described(values, None if system == ours else base) for system, values in found.items()]
            n_queries = next(values.size for values in found.values() if values is not None)
            print(f"| {data} | {n_queries:,} | " + " | ".join(cells) + " |")
    for (data, system), why in SKIPPED.items():
        print(f"\n{system} on {data} was left out: {why}")


def kept(data: str, system: str, measure: str) -> np.ndarray | None:
    path = OUT / data / f"{system.replace(' ', '-')}.json"
    return np.array(json.loads(path.read_text())[measure]) if path.exists() else None


def described(values: np.ndarray | None, base: np.ndarray | None) -> str:
    if values is None:
        return "-"
    mean = f"{values.mean():.4f}".lstrip("0")
    if base is None:
        return mean
    difference = values - base
    half = 1.96 * difference.std(ddof=1) / math.sqrt(difference.size)
    return f"{mean} ({difference.mean():+.4f} ± {half:.4f})"


if __name__ == "__main__":
    main()
