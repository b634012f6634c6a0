"""The tables of docs/benchmarks/judging.md: which way to combine the labels of several raters gives the best ranker.

Half of the queries are the pool, half are tested on. `StratifiedSampler` chooses 300 documents; every rater of a team
grades each, and errs in a known share of cases: any other grade is given, all alike, or, by a kind rater, a higher one
if there is one. The combined labels train `Anchored`. "decided": the admin gives the true grades of the 30 largest
disputes. A judge who is no person grades the documents too, and 1,200 more; people are then one rater who errs in a
fifth of cases.

    python benchmarks/combine_labels.py DATA --baseline FEATURE [--splits 20] [--keep FILE]

Printed: NDCG@10 x 1000 beyond one rater who errs in a fifth of cases, mean over splits and its standard error; the
share of documents whose combined grade is the true one; and, for models of raters, minus the mean log-probability that
they gave to held-out judgements (inner evidence: it needs no true grade). `--keep` goes on where a run was cut.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import rulerank as rr
from rulerank.io.formats import read_any
from rulerank.judging.agreement import disputes
from rulerank.judging.grades import MODELS, combine
from rulerank.judging.labels import COMBINATIONS
from rulerank.rankers.pool import PoolLearner
from rulerank.selection.few_labels import few_label_ranker

Errors = tuple[float | str, ...]
TEAMS: Mapping[str, Errors] = {  # how often each rater errs; "kind .5": only upwards
    ".2 .2 .2": (0.2, 0.2, 0.2),
    ".05 .2 .5": (0.05, 0.2, 0.5),
    ".05 .5 .5 .5": (0.05, 0.5, 0.5, 0.5),
    ".3 .3 .3 .3 .3": (0.3,) * 5,
    ".1 .1, kind .5": (0.1, 0.1, "kind .5"),
    ".1, kind .5, kind .5": (0.1, "kind .5", "kind .5"),
}
JUDGES: Mapping[str, float | str] = {"judge errs .1": 0.1, "judge errs .3": 0.3, "judge kind .5": "kind .5"}
BUDGET, DECIDED, BY_RATER = 300, 30, 1200
FOLDS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--baseline", required=True)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--keep", type=Path)
    chosen = parser.parse_args()
    before = chosen.keep.read_text().splitlines() if chosen.keep and chosen.keep.exists() else []
    kept = [json.loads(line) for line in before]
    data = read_any(chosen.data)
    data = data[np.flatnonzero(data.y >= 0)]
    for seed in range(len(kept), chosen.splits):
        kept.append(one_split(data, chosen.baseline, seed))
        if chosen.keep:
            with chosen.keep.open("a") as file:
                file.write(json.dumps(kept[-1]) + "\n")
    cells: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for split in kept:
        for row in split:
            for what, value in row["found"].items():
                cells[row["raters"], row["way"]][what].append(value)
    print("| raters err in | labels combined by | NDCG@10 x 1000 | right | held out |\n| --- | --- | --- | --- | --- |")
    for (raters, way), found in cells.items():
        gains = 1000 * np.array(found["gain"])
        spread = gains.std(ddof=1) / gains.size**0.5 if gains.size > 1 else math.nan
        others = [f"{np.mean(found[what]):.3f}" if what in found else "" for what in ("right", "held out")]
        print(f"| {raters} | {way} | {gains.mean():+.1f} ± {spread:.1f} | {' | '.join(others)} |")


def one_split(data: rr.Dataset, baseline: str, seed: int) -> list[dict[str, Any]]:
    """Return what came of every team and way on one split."""
    levels = np.unique(data.y)
    names, rng = np.unique(data.qid.astype(str)), np.random.default_rng(seed)
    inside = np.isin(data.qid.astype(str), rng.permutation(names)[: names.size // 2])
    pool, test = data[np.flatnonzero(inside)], data[np.flatnonzero(~inside)]
    true = pool.y.tolist()
    rows = (
        rr.StratifiedSampler(baseline=baseline, seed=seed).select(pool, lambda row: true[row], budget=BUDGET).tolist()
    )
    learner = PoolLearner(rr.Anchored(baseline=baseline), pool)

    def ndcg(ranker: Any) -> float:
        return float(rr.evaluate(test.y, ranker.predict(test), test.qid, ["NDCG@10"]).means["NDCG@10"])

    def learned(grades: Mapping[int, int]) -> float:
        return ndcg(learner.fit(np.fromiter(grades, dtype=np.int64), np.fromiter(grades.values(), dtype=np.int16)))

    one = {row: graded(true[row], 0.2, levels, rng) for row in rows}
    alone = learned(one)
    found: list[dict[str, Any]] = []

    def note(raters: str, way: str, **values: float) -> None:
        found.append({"raters": raters, "way": way, "found": values})

    note("none", "", gain=learned({row: true[row] for row in rows}) - alone)
    for team, errors in TEAMS.items():
        given = {
            row: {f"rater {n}": graded(true[row], error, levels, rng) for n, error in enumerate(errors)} for row in rows
        }
        decided = {one.doc: true[one.doc] for one in disputes(given)[:DECIDED]}
        for how in COMBINATIONS:
            more = {"held out": held_out(given, how)} if how in MODELS else {}
            for way, grades in {how: combine(given, how), f"{how}, decided": combine(given, how, decided)}.items():
                right = float(np.mean([grades.get(row) == true[row] for row in rows]))
                note(team, way, gain=learned(grades) - alone, right=right, **(more if way == how else {}))
    others = [int(row) for row in rng.permutation(len(pool)) if int(row) not in one][:BY_RATER]
    linear = PoolLearner(few_label_ranker("QI"), pool)
    note("one .2", "QI on the person", gain=ndcg(fitted(linear, {"person": one})) - alone)
    for name, error in JUDGES.items():
        judged = {row: graded(true[row], error, levels, rng) for row in [*rows, *others]}
        both = {row: {"judge": grade} | ({"person": one[row]} if row in one else {}) for row, grade in judged.items()}
        note(name, "Anchored on the mixture", gain=learned(combine(both)) - alone)
        note(name, "QI on the mixture", gain=ndcg(fitted(linear, {"all": combine(both)})) - alone)
        note(name, "QI, intercepts per judge", gain=ndcg(fitted(linear, {"person": one, "judge": judged})) - alone)
    return found


def fitted(learner: PoolLearner, given: Mapping[str, Mapping[int, int]]) -> Any:
    """Return a ranker of the grades that judges gave to rows of the pool, each with intercepts of its own."""
    triples = [(row, grade, judge) for judge, grades in given.items() for row, grade in grades.items()]
    rows, grades, judges = (np.array(column) for column in zip(*triples, strict=True))
    return learner.fit(rows, grades, rater=judges.astype(object))


def held_out(given: Mapping[int, Mapping[str, int]], how: str) -> float:
    """Return minus the mean log-probability of judgements that the model has not seen, by the others of a document."""
    total = n = 0.0
    for fold in range(FOLDS):
        left = {
            (doc, rater) for doc, by in given.items() for place, rater in enumerate(by) if (doc + place) % FOLDS == fold
        }
        seen = {doc: {r: g for r, g in by.items() if (doc, r) not in left} for doc, by in given.items()}
        model = MODELS[how]({doc: by for doc, by in seen.items() if by}, {})
        truth = model.probabilities(seen)
        for doc, row in zip(seen, truth, strict=True):
            for rater, grade in given[doc].items():
                if (doc, rater) in left:
                    table = model.tables[model.raters.index(rater)]
                    total -= math.log(row @ table[:, model.levels.index(grade)])
                    n += 1
    return total / n


def graded(true: int, error: float | str, levels: np.ndarray, rng: np.random.Generator) -> int:
    """Return the grade that a rater gives."""
    kind = isinstance(error, str)
    others = levels[levels > true] if kind else levels[levels != true]
    share = float(str(error).removeprefix("kind "))
    return int(rng.choice(others)) if rng.random() < share and others.size else true


if __name__ == "__main__":
    main()
