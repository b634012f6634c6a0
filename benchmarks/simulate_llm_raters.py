"""The tables of docs/llm-labels.md: LLM raters of known faults beside people, whose grades are those of the data.

    python benchmarks/simulate_llm_raters.py coverage DATA --baseline FEATURE [--repetitions 2000]
    python benchmarks/simulate_llm_raters.py training DATA --baseline FEATURE [--splits 20] [--way library | cli]

coverage: how often the 95 % interval of new - baseline holds the truth, and its width beside human labels alone. The
new ranking is QueryIntercepts, fitted on one half of the queries for the other and the other way round. A repetition
draws 300 queries with replacement from the data, whose mean is the truth: all have LLM labels, the first n human ones.
training: QueryIntercepts of human labels (10 documents each of 10 random queries), of LLM labels (of all documents of
the pool) and of both (`fit_by_rater`); NDCG@10 on the other half of the queries.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

import rulerank as rr
from few_labels import read_graded
from rulerank.baseline import find_baseline
from rulerank.dataset import Array, query_index
from rulerank.evaluation.comparison import interval
from rulerank.evaluation.llm_labels import TOP, corrected_mean, sampled_mean, sdcg_weights
from rulerank.experiment.curve import split_halves
from rulerank.io.formats import write_any
from rulerank.selection.few_labels import PEOPLE, fit_by_rater

N_QUERIES = 300  # with LLM labels
N_RATINGS = 20  # times that a rater grades all documents; a repetition takes one of them per query
SIZES = (20, 40)  # human-judged queries
N_SAMPLED = (60, 120)  # documents, one per query


class Judged(NamedTuple):
    """What a rater sees: documents with true grades, and their ranks in the two rankings, from 0."""

    y: Array
    query: Array
    new: Array
    old: Array


def errs(grades: Array, share: float, rng: np.random.Generator, top: int) -> Array:
    """Replace a share of the grades by any other grade."""
    other = (grades + rng.integers(1, top + 1, grades.size)) % (top + 1)
    return np.where(rng.random(grades.size) < share, other, grades)


def moves(grades: Array, step: int, share: float, where: Array, rng: np.random.Generator, top: int) -> Array:
    moved = (rng.random(grades.size) < share) & where
    return np.clip(grades + step * moved, 0, top)


def blind(seen: Judged, rng: np.random.Generator, top: int) -> Array:
    """Grade the documents of half of the queries at random."""
    unseen = rng.random(seen.query.max() + 1) < 0.5
    return np.where(unseen[seen.query], rng.permutation(seen.y), errs(seen.y, 0.1, rng, top))


def by_position(seen: Judged, rng: np.random.Generator, top: int) -> Array:
    """Grade what the baseline has on top too high, and the rest too low."""
    first = seen.old < TOP
    return moves(moves(errs(seen.y, 0.1, rng, top), 1, 0.3, first, rng, top), -1, 0.3, ~first, rng, top)


Rater = Callable[[Judged, np.random.Generator, int], Array]
RATERS: dict[str, Rater] = {
    "accurate": lambda seen, rng, top: errs(seen.y, 0.05, rng, top),
    "20 % errors": lambda seen, rng, top: errs(seen.y, 0.2, rng, top),
    "lenient": lambda seen, rng, top: moves(errs(seen.y, 0.1, rng, top), 1, 0.3, seen.y >= 0, rng, top),
    "harsh": lambda seen, rng, top: moves(errs(seen.y, 0.05, rng, top), -1, 0.5, seen.y >= 0, rng, top),
    "blind on half": blind,
    "by position": by_position,
    "likes the new": lambda seen, rng, top: moves(
        errs(seen.y, 0.1, rng, top), 1, 0.5, (seen.new < TOP) & (seen.old >= TOP), rng, top
    ),
    "random": lambda seen, rng, top: rng.permutation(seen.y),
}


def ranks(scores: Array, query: Array) -> Array:
    order = np.lexsort((-scores, query))
    found = np.empty(query.size, dtype=np.int64)
    found[order] = np.arange(query.size) - np.searchsorted(query[order], query[order])
    return found


def new_ranking(data: rr.Dataset) -> Array:
    """Return scores of a model that did not see the query."""
    query = query_index(data.qid)[0]
    second = np.random.default_rng(0).permutation(query.max() + 1)[query] % 2 == 1
    scores = np.empty(len(data))
    for own in (second, ~second):
        scores[own] = (
            rr.QueryIntercepts(l2=100.0, missing="mean", normalize="zscore").fit(data[~own]).predict(data[own])
        )
    return scores


def print_coverage(data: rr.Dataset, baseline: str, n_repetitions: int) -> None:
    rankings = np.stack([new_ranking(data), find_baseline(data.feature_names, baseline).scores(data)])
    query = query_index(data.qid)[0]
    n_all, top = int(query.max()) + 1, int(data.y.max())
    seen = Judged(data.y.astype(int), query, *(ranks(scores, query) for scores in rankings))
    weight = sdcg_weights(rankings, query) / top
    size = np.bincount(query, np.abs(weight))
    chance = np.divide(np.abs(weight), size[query], out=np.zeros(query.size), where=size[query] > 0)
    starts, ends = np.searchsorted(query, np.arange(n_all)), np.cumsum(chance)

    def ndcg(grades: Array) -> Array:
        ours, theirs = (rr.evaluate(grades, scores, query, "NDCG@10", any_grades=True).values[0] for scores in rankings)
        return ours - theirs

    y, truth_sdcg = ndcg(data.y), float((np.bincount(query, weight * data.y)).mean())
    print(f"{len(data):,} documents, {n_all:,} queries; new - baseline {y.mean():+.4f}, SDCG@10 {truth_sdcg:+.4f}")
    print("| rater | LLM alone |" + "".join(f" n = {n} |" for n in (*SIZES, *N_SAMPLED)) + " human alone |")
    for name, rate in RATERS.items():
        rng = np.random.default_rng(1)
        grades = np.stack([rate(seen, rng, top) for _ in range(N_RATINGS)])
        f = np.stack([ndcg(one) for one in grades])
        sdcg = np.stack([np.bincount(query, weight * one) for one in grades])
        cells = {n: ([], []) for n in (*SIZES, *N_SAMPLED)}
        alone: dict[int, list[bool]] = {n: [] for n in SIZES}
        for _ in range(n_repetitions):
            drawn, rating = rng.integers(0, n_all, N_QUERIES), rng.integers(0, N_RATINGS, N_QUERIES)
            f_all = f[rating, drawn]
            for n in SIZES:
                human, found = interval(y[drawn[:n]]), corrected_mean(y[drawn[:n]], f_all[:n], f_all)
                cells[n][0].append(found.low <= y.mean() <= found.high)
                cells[n][1].append((found.high - found.low) / (human.high - human.low))
                alone[n].append(human.low <= y.mean() <= human.high)
            changed = size[drawn] > 0
            own, by = drawn[changed], rating[changed]
            share, of_query = changed.mean(), sdcg[by, own]
            for n in N_SAMPLED:
                u = ends[starts[own[:n]]] - chance[starts[own[:n]]] + rng.random(own[:n].size)
                rows = np.searchsorted(ends, np.minimum(u, ends[-1] - 1e-12))
                a, b = (weight[rows] * one / chance[rows] for one in (data.y[rows], grades[by[:n], rows]))
                found, human = sampled_mean(a, b, of_query[:n], of_query), interval(a)
                cells[n][0].append(share * found.low <= truth_sdcg <= share * found.high)
                cells[n][1].append((found.high - found.low) / (human.high - human.low))
        shown = [f"{np.mean(hits):.3f} {np.mean(widths):.2f}" for hits, widths in cells.values()]
        human_only = " ".join(f"{np.mean(hits):.3f}" for hits in alone.values())
        print(f"| {name} | {f.mean():+.3f} | {' | '.join(shown)} | {human_only} |", flush=True)


def by_library(pool: rr.Dataset, given: dict[str, dict[int, int]]) -> rr.QueryIntercepts:
    return fit_by_rater("QI", pool, given)


def by_command_line(pool: rr.Dataset, given: dict[str, dict[int, int]]) -> rr.QueryIntercepts:
    """Train with `rulerank train --labels both.csv --raters gpt`, as a user does."""
    with tempfile.TemporaryDirectory() as folder:
        table, labels, model = (f"{folder}/{name}" for name in ("pool.parquet", "both.csv", "model.rulerank"))
        ids = [f"{number}" for number in range(len(pool))]
        write_any(replace(pool, docid=np.array(ids, dtype=object), y=np.full(len(pool), -1)), table)
        kinds = {PEOPLE: "person", "gpt": "llm"}
        lines = [
            f"{pool.qid[row]},{row},{grade},{rater},{kinds[rater]}\n"
            for rater, grades in given.items()
            for row, grade in sorted(grades.items())
        ]
        Path(labels).write_text("qid,docid,grade,rater,kind\n" + "".join(lines))
        asked = ["--raters", "gpt"] if "gpt" in given else ["--method", "QueryIntercepts"]
        words = ["train", table, "--labels", labels, *asked, "-o", model]
        subprocess.run([sys.executable, "-m", "rulerank", *words], check=True, capture_output=True)
        return rr.load(model)


def print_training(data: rr.Dataset, baseline: str, n_splits: int, way: Callable[..., rr.QueryIntercepts]) -> None:
    """Compare models of human labels, of LLM labels and of both on the half of the queries that has no labels."""
    top, found = int(data.y.max()), {name: [] for name in RATERS}
    for seed in range(n_splits):
        pool, test = split_halves(data, seed)
        query, test_query = query_index(pool.qid)[0], query_index(test.qid)[0]
        old = find_baseline(pool.feature_names, baseline).scores(pool)
        rng = np.random.default_rng(seed)
        rows = [
            rng.permutation(np.flatnonzero(query == number))[:10] for number in rng.permutation(query.max() + 1)[:10]
        ]
        human = {int(row): int(pool.y[row]) for row in np.concatenate(rows)}
        seen = Judged(pool.y.astype(int), query, np.full(len(pool), TOP), ranks(old, query))

        def ndcg(given: dict[str, dict[int, int]], pool: rr.Dataset = pool, test: rr.Dataset = test) -> float:
            scores = way(pool, given).predict(test)
            return float(rr.evaluate(test.y, scores, test_query, "NDCG@10").means["NDCG@10"])  # noqa: B023

        alone = ndcg({PEOPLE: human})
        for name in found:
            llm = dict(enumerate(RATERS[name](seen, rng, top).tolist()))
            found[name].append((alone, ndcg({"gpt": llm}), ndcg({PEOPLE: human, "gpt": llm})))
    print("| rater | human only | LLM only | both | both - human only | worst |\n| --- | --- | --- | --- | --- | --- |")
    for name, values in found.items():
        of = np.array(values)
        gain = of[:, 2] - of[:, 0]
        means = " | ".join(f"{value:.3f}" for value in of.mean(axis=0))
        error = gain.std(ddof=1) / np.sqrt(len(gain))
        print(f"| {name} | {means} | {gain.mean():+.3f} (error {error:.3f}) | {gain.min():+.3f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["coverage", "training"])
    parser.add_argument("data")
    parser.add_argument("--baseline", required=True)
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--raters", default=",".join(RATERS))
    parser.add_argument("--way", choices=["library", "cli"], default="library")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in set(RATERS) - set(given.raters.split(",")):
        del RATERS[name]
    data = read_graded(Path(given.data))
    if given.part == "coverage":
        print_coverage(data, given.baseline, given.repetitions)
    else:
        way = by_library if given.way == "library" else by_command_line
        print_training(data, given.baseline, given.splits, way)


if __name__ == "__main__":
    main()
