"""Fusions of what other systems made of a fold, as the competence paper compares with them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank.dataset import Array, Fold, query_index
from rulerank.evaluation import evaluate
from rulerank.experiment.systems import Scores
from rulerank.fusion.classic import fuse, neutral_sum, on_one_scale


@dataclass(frozen=True)
class Fuse:
    """Put the lists of the systems used together by a fixed rule."""

    method: str

    def run(self, fold: Fold, used: Mapping[str, Scores], measure: str) -> Scores:
        vali = fuse([scores.vali for scores in used.values()], fold.vali.qid, self.method)
        start = time.process_time()
        test = fuse([scores.test for scores in used.values()], fold.test.qid, self.method)
        return together(used, vali, test, {}, 0.0, time.process_time() - start)


@dataclass(frozen=True)
class LinearCombination:
    """Weigh the lists of the systems used; the weights are learned on vali, which none of them has seen."""

    n_steps: int = 20

    def run(self, fold: Fold, used: Mapping[str, Scores], measure: str) -> Scores:
        vali, test = (np.array([getattr(scores, part) for scores in used.values()]) for part in ("vali", "test"))
        start = time.process_time()
        learned = learned_weights(vali, fold.vali.y, fold.vali.qid, measure, self.n_steps)
        middle = time.process_time()
        scores = fuse(test, fold.test.qid, "linear", learned)
        done = time.process_time()
        weights = {name: round(float(w), 4) for name, w in zip(used, learned, strict=True) if w}
        fused = fuse(vali, fold.vali.qid, "linear", learned)
        return together(used, fused, scores, {"weights": weights}, middle - start, done - middle)


def learned_weights(scores: Array, y: Array, qid: Array, measure: str = "MAP", n_steps: int = 20) -> Array:
    """Return weights of rankers' scores (n_rankers, n_rows) by coordinate ascent on a measure; they sum to 1.

    Starts from equal weights, or from the best single ranker if that is better, and moves one ranker's share of the
    whole at a time, in steps of 1 / n_steps, as long as the measure rises. Nothing is random.

    >>> lists = np.array([[3.0, 2, 1, 1, 2], [1, 2, 3, 1, 3]])  # a good ranker beside a bad one
    >>> learned_weights(lists, np.array([2, 1, 0, 0, 1]), np.array(["a", "a", "a", "b", "b"])).tolist()
    [1.0, 0.0]
    """
    query = query_index(qid)[0]
    parts = np.nan_to_num(on_one_scale(scores, query))

    def value(weights: Array) -> float:
        fused = neutral_sum(parts * weights[:, None])
        return next(iter(evaluate(y, fused, query, measure, any_grades=True).means.values()))

    starts = [np.full(len(scores), 1 / len(scores)), *np.eye(len(scores))]
    values = [value(weights) for weights in starts]
    best = values[int(np.argmax(values))]
    weights, before = starts[int(np.argmax(values))], -np.inf
    while best > before:
        before = best
        for ranker in range(len(scores)):
            others = weights * (np.arange(len(scores)) != ranker)
            if not others.any():  # it has all the weight: the others will take their shares from it
                continue
            others = others / others.sum()
            for step in range(n_steps + 1):
                tried = (1 - step / n_steps) * others
                tried[ranker] = step / n_steps
                found = value(tried)
                if found > best:
                    weights, best = tried, found
    return weights


def together(
    used: Mapping[str, Scores], vali: Array, test: Array, params: dict[str, Any], fit_seconds: float, seconds: float
) -> Scores:
    """Return fused scores with the time of the whole process, as the papers count it: members and fusion."""
    members = list(used.values())
    return Scores(
        vali=vali,
        test=test,
        params=params,
        n_labels=max(member.n_labels for member in members),
        fit_seconds=fit_seconds + sum(member.fit_seconds for member in members),
        tune_seconds=fit_seconds + sum(member.tune_seconds for member in members),
        predict_seconds=seconds + sum(member.predict_seconds for member in members),
    )
