"""The tables of docs/few-labels.md: what few labels add to the baseline ranking, and whether `train` and `check`
find it out.

Half of the queries are the pool, half are tested on, so many splits. Labels are taken by `StratifiedSampler` in the
order of each split's seed; `Anchored` learns from the first 20, 50, 100, 200, 400. Differences of NDCG@10 to the
baseline ranking x 1000.

    python benchmarks/few_labels.py DATA --baseline FEATURE [--splits 20] [--way library | cli] [--method NAME]
    python benchmarks/few_labels.py DATA --baseline FEATURE --verdicts | --samplers | --learners Anchored,QI

DATA: graded documents, a folder of folds, whose test parts are put together, a folder with the texts of movies,
cranfield or cisi, or the words shop or synthetic. --embed static adds meaning(all); --sizes 0 is the model without
labels, which differs from a baseline that is a sum. --way cli drives `rulerank sample`, `train --labels` and `rank`
instead of the library, on the same splits. --verdicts simulates raters who err in 0, 10 and 20 % of their grades, and
counts how often `train` and `check` say better or worse, and are right. --samplers and --learners compare other ways
to choose and to learn; the learner LightGBM is LambdaMART on the same labels, LightGBM-init the same with the
baseline's z-scores as init_score, both with leaves and trees chosen by cross-validation by query on these labels.
Texts have the default features of `rulerank features`, cranfield those of the best 50 documents by BM25, with grade 0
where none is given.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from lightgbm import LGBMRanker

import rulerank as rr
from compare_texts import cranfield, movies
from rulerank.baseline import Baseline, find_baseline
from rulerank.experiment.curve import LOSS, split_halves
from rulerank.io.formats import read_any, write_any
from rulerank.judging.pool import Pool
from rulerank.judging.side_by_side import DocumentPair, DocumentPairs, compare_pair_grades, grade_pairs
from rulerank.methods import FROM_BASELINE, method_named
from rulerank.rankers.pool import PoolLearner
from rulerank.selection.few_labels import few_label_ranker

SIZES = [20, 50, 100, 200, 400]
LEARNERS = ["Anchored", "QI", "RE-GR"]
ERRORS = (0.0, 0.1, 0.2)
LIGHTGBM = ("LightGBM", "LightGBM-init")
TREES = [{"num_leaves": leaves, "n_estimators": trees} for leaves in (2, 7) for trees in (10, 50, 200)]


class Split(NamedTuple):
    """Documents to label, documents to test on, and the baseline ranking of both."""

    seed: int
    pool: rr.Dataset
    test: rr.Dataset
    baseline: Baseline

    def ndcg(self, scores: np.ndarray) -> float:
        return float(rr.evaluate(self.test.y, scores, self.test.qid, ["NDCG@10"]).means["NDCG@10"])


def splits(data: rr.Dataset, baseline: Baseline, n_splits: int) -> Iterator[Split]:
    for seed in range(n_splits):
        yield Split(seed, *split_halves(data.labelled(), seed), baseline)


def labelled(pool: rr.Dataset, rows: np.ndarray) -> rr.Dataset:
    y = np.full(len(pool), -1)
    y[rows] = pool.y[rows]
    return replace(pool, y=y)


def by_strata(split: Split, most: int) -> np.ndarray:
    sampler = rr.StratifiedSampler(baseline=split.baseline.option, seed=split.seed)
    return sampler.select(split.pool, lambda row: split.pool.y[row], budget=most)


def by_library(split: Split, method: str | None = None) -> Iterator[tuple[str, int, float]]:
    """Yield (who took part, labels, NDCG@10)."""
    ranker = None if method is None else method_named(method).ranker_class()(baseline=split.baseline.option)
    order = by_strata(split, max(SIZES))
    for size in SIZES:
        learned = rr.select(labelled(split.pool, order[:size]), ranker, baseline=split.baseline.option)
        yield learned.facts["method"], size, split.ndcg(learned.ranker.predict(split.test))


def by_command_line(split: Split, method: str | None = None) -> Iterator[tuple[str, int, float]]:
    asked = [] if method is None else ["--method", method]
    with tempfile.TemporaryDirectory() as folder:
        pool, test, labels, model, scores = (
            str(Path(folder) / name)
            for name in ("pool.parquet", "test.parquet", "labels.csv", "model.rulerank", "scores.txt")
        )
        write_any(split.pool, pool)
        write_any(split.test, test)
        for size in SIZES:
            baseline = ["--baseline", split.baseline.option]
            rulerank(
                "sample",
                pool,
                *baseline,
                "--sampler",
                f"strata:seed={split.seed}",
                "--own-grades",
                "-n",
                str(size),
                "-o",
                labels,
            )
            rulerank("train", pool, "--labels", labels, *baseline, *asked, "-o", model)
            rulerank("rank", model, test, "-o", scores)
            yield type(rr.load(model)).__name__, size, split.ndcg(np.loadtxt(scores))


def rulerank(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "rulerank", *words], check=True, capture_output=True)


Order = Callable[[Split, int], np.ndarray]


def by_ssar(**options: object) -> Order:
    def order(split: Split, most: int) -> np.ndarray:
        sampler = rr.SSAR(**options)  # type: ignore[arg-type]
        return sampler.select(split.pool, lambda row: split.pool.y[row], budget=most)

    return order


def at_random(split: Split, most: int) -> np.ndarray:
    return np.random.default_rng(split.seed).permutation(len(split.pool))[:most]


def by_variance(split: Split, most: int) -> np.ndarray:
    """Label, of a random query at a time, the ten documents of which the model so far is least sure."""
    rng = np.random.default_rng(split.seed)
    query = np.unique(split.pool.qid.astype(str), return_inverse=True)[1]
    learner = PoolLearner(rr.Anchored(baseline=split.baseline.option), split.pool)
    Z = learner.standard(np.arange(len(split.pool)))
    chosen: list[int] = []
    for number in rng.permutation(query.max() + 1):
        rows = np.flatnonzero(query == number)
        known = np.array(chosen, dtype=int)
        fitted = (
            learner.fit(known, split.pool.y[known]) if chosen else rr.Anchored(split.baseline.option).start(split.pool)
        )
        spread = fitted.covariance_.copy()
        centred = Z[rows] - Z[rows].mean(axis=0)
        for _ in range(min(10, rows.size)):
            variance = np.einsum("ij,jk,ik->i", centred, spread, centred)
            variance[np.isin(rows, chosen)] = -1
            best = int(variance.argmax())
            chosen.append(int(rows[best]))
            z = centred[best]
            spread -= np.outer(spread @ z, spread @ z) / (
                4 + z @ spread @ z
            )  # as if a label were a number of variance 4
            if len(chosen) == most:
                return np.array(chosen)
    return np.array(chosen)


SAMPLERS: dict[str, Order] = {
    "strata": by_strata,
    "greedy variance": by_variance,
    "SSARP": by_ssar(partitions=5),
    "SSAR per query": by_ssar(per_query=True),
    "SSAR": by_ssar(),
    "random": at_random,
}


def compare_samplers(split: Split) -> Iterator[tuple[str, int, float]]:
    learner = PoolLearner(rr.Anchored(baseline=split.baseline.option), split.pool)
    for name, take in SAMPLERS.items():
        order = take(split, 200)
        for size in (50, 100, 200):
            rows = order[:size]
            yield name, size, split.ndcg(learner.fit(rows, split.pool.y[rows]).predict(split.test))


def compare_learners(split: Split) -> Iterator[tuple[str, int, float]]:
    order = by_strata(split, max(SIZES))
    for name in LEARNERS:
        if name in LIGHTGBM:
            for size in SIZES:
                yield name, size, split.ndcg(lambdamart(split, order[:size], start=name == "LightGBM-init"))
            continue
        ranker = few_label_ranker(name)
        if name in FROM_BASELINE:
            ranker.set_params(baseline=split.baseline.option)
        learner = PoolLearner(ranker, split.pool)
        for size in SIZES:
            rows = order[:size]
            yield name, size, split.ndcg(learner.fit(rows, split.pool.y[rows]).predict(split.test))


def lambdamart(split: Split, rows: np.ndarray, start: bool) -> np.ndarray:
    """Return LightGBM's scores of the test half, of what it learns from the labelled rows."""
    few = split.pool[np.sort(rows)]
    offset = {id(data): by_query_zscores(split.baseline.scores(data), data.qid) * start for data in (few, split.test)}

    def fit(part: rr.Dataset, init: np.ndarray, setting: dict[str, int]) -> LGBMRanker:
        sizes = np.unique(part.qid.astype(str), return_counts=True)[1]
        order = np.argsort(part.qid.astype(str), kind="stable")
        model = LGBMRanker(**setting, min_child_samples=5, learning_rate=0.1, n_jobs=1, random_state=0, verbose=-1)
        return model.fit(part.X[order], part.y[order], group=sizes, init_score=init[order])

    means = []
    for setting in TREES:
        held = []
        for train, vali in rr.QueryKFold(min(5, np.unique(few.qid).size)).split(few.X, few.y, few.qid):
            model = fit(few[train], offset[id(few)][train], setting)
            scores = model.predict(few.X[vali]) + offset[id(few)][vali]
            held.append(rr.evaluate(few.y[vali], scores, few.qid[vali], "NDCG@10", any_grades=True).means["NDCG@10"])
        means.append(np.mean(held))
    model = fit(few, offset[id(few)], TREES[int(np.argmax(means))])
    return model.predict(split.test.X) + offset[id(split.test)]


def by_query_zscores(scores: np.ndarray, qid: np.ndarray) -> np.ndarray:
    number = np.unique(qid.astype(str), return_inverse=True)[1]
    n = np.bincount(number)
    centred = scores - (np.bincount(number, scores) / n)[number]
    deviation = np.sqrt(np.bincount(number, centred**2) / n)[number]
    return centred / np.where(deviation > 0, deviation, 1)


def print_gains(
    data: rr.Dataset, baseline: Baseline, n_splits: int, way: Callable[[Split], Iterator[tuple[str, int, float]]]
) -> None:
    found: dict[tuple[str, int], list[float]] = {}
    bases, methods = [], set()
    for split in splits(data, baseline, n_splits):
        base = split.ndcg(baseline.scores(split.test))
        bases.append(base)
        for name, size, value in way(split):
            key = "ours" if isinstance(way, partial) else name
            methods.add(name)
            found.setdefault((key, size), []).append(value - base)
    print(f"baseline {np.mean(bases):.4f}, {n_splits} splits; models: {', '.join(sorted(methods))}")
    print(f"{'':18}{'labels':>8}{'mean':>8}{'worst':>8}{'share below -.02':>18}")
    for (name, size), values in found.items():
        gains = np.array(values)
        share = (gains < -LOSS).mean()
        print(f"{name:18}{size:8}{1000 * gains.mean():8.1f}{1000 * gains.min():8.1f}{share:18.2f}")


class Verdict(NamedTuple):
    """What `train` says, what `check` says, and what is true."""

    train: str
    check: str
    gain: float  # of NDCG@10 on the test half


def erring(grades: np.ndarray, error: float, top: int, rng: np.random.Generator) -> np.ndarray:
    """Return grades of a rater who gives another one, any, to this share of the documents."""
    other = (grades + rng.integers(1, top + 1, grades.size)) % (top + 1)
    return np.where(rng.random(grades.size) < error, other, grades)


def verdicts(split: Split, error: float) -> Iterator[Verdict]:
    """Let a rater label the pool, and compare documents side by side in the test half, whose truth is known."""
    top = int(max(split.pool.y.max(), split.test.y.max()))
    rng = np.random.default_rng([split.seed, int(100 * error)])
    order = by_strata(split, max(SIZES))
    y = np.full(len(split.pool), -1)
    y[order] = erring(split.pool.y[order].astype(int), error, top, rng)
    seen = erring(split.test.y.astype(int), error, top, rng)
    old = split.baseline.scores(split.test)

    def ask(pair: DocumentPair) -> tuple[int, int]:
        return int(seen[pair.shown[0]]), int(seen[pair.shown[1]])

    for size in SIZES:
        some = np.full(len(split.pool), -1)
        some[order[:size]] = y[order[:size]]
        learned = rr.select(replace(split.pool, y=some), baseline=split.baseline.option)
        new = learned.ranker.predict(split.test)
        pairs = DocumentPairs(Pool(split.test), new, old, seed=split.seed)
        said = "too few" if learned.comparison is None else learned.comparison.verdict
        gain = split.ndcg(new) - split.ndcg(old)
        yield Verdict(said, compare_pair_grades(grade_pairs(pairs, ask)).verdict, gain)


def print_verdicts(data: rr.Dataset, baseline: Baseline, n_splits: int) -> None:
    """Print how often raters who err lead to a verdict, and how often it is right."""
    for error in ERRORS:
        runs = [one for split in splits(data, baseline, n_splits) for one in verdicts(split, error)]
        print(
            f"raters err in {error:.0%}: {len(runs)} runs, {sum(one.gain > 0 for one in runs)} above the baseline",
            end="",
        )
        for name, of in (("train", 0), ("check", 1)):
            better, worse = ([one.gain for one in runs if one[of] == said] for said in ("better", "worse"))
            right = f"{len(better)}, right {sum(gain > 0 for gain in better)}"
            print(f"; {name} better {right}, worse {len(worse)}, right {sum(gain < 0 for gain in worse)}", end="")
        print(flush=True)


def read_graded(path: Path, embed: str | None = None) -> rr.Dataset:
    """Return graded documents: synthetic, of a folder with texts, of a folder of folds, or of a file."""
    if path.name == "synthetic":
        return rr.datasets.make_ranking(n_queries=120, docs_per_query=40, seed=7)
    if path.name == "shop":
        shop = rr.datasets.make_shop()
        return rr.TextFeatures(embed=embed).fit(shop.documents).dataset(shop.queries, shop.qrels, top=0).labelled()
    if (path / "corpus.jsonl.gz").exists():
        return movies(path, embed)
    if (path / "docs.jsonl.gz").exists():
        return cranfield(path, embed)
    if path.is_dir():
        return rr.Dataset.concat([fold.test for fold in rr.read_folds(path)])
    return read_any(path)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--baseline", required=True)
    parser.add_argument("--embed", help="the embedder of texts, such as static")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--way", choices=["library", "cli"], default="library")
    parser.add_argument("--verdicts", action="store_true", help="with raters who err")
    parser.add_argument("--samplers", action="store_true")
    parser.add_argument("--learners", nargs="?", const=",".join(LEARNERS), help="compare methods, such as Anchored,QI")
    parser.add_argument("--method", help="the way's learner instead of Anchored")
    parser.add_argument("--sizes", default="20,50,100,200,400", help="numbers of labels")
    given = parser.parse_args()
    SIZES[:] = map(int, given.sizes.split(","))
    asked = [name for name in (given.learners or "").split(",") if name]
    LEARNERS[:] = [name if name in LIGHTGBM else method_named(name).name for name in asked]
    data = read_graded(Path(given.data), given.embed)
    baseline = find_baseline(data.feature_names, given.baseline)
    print(f"{given.data}: {data!r}, baseline {baseline}", flush=True)
    warnings.simplefilter("ignore")  # that few labels say little is what the table shows
    if given.verdicts:
        print_verdicts(data, baseline, given.splits)
        return
    ours = partial(by_library if given.way == "library" else by_command_line, method=given.method)
    way = compare_samplers if given.samplers else compare_learners if given.learners else ours
    print_gains(data, baseline, given.splits, way)


if __name__ == "__main__":
    main()
