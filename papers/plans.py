"""Fusions of what other systems made of a fold, as the competence paper compares with them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank.aggregate.fusion import fuse
from rulerank.aggregate.linear_fusion import LinearFusion
from rulerank.dataset import Array, Fold
from rulerank.experiment.cells import Scores


@dataclass(frozen=True)
class Fuse:
    """Put the lists of the systems used together by a fixed rule."""

    method: str

    @property
    def learns_from(self) -> str:
        return "nothing of its own; its members: train"

    def describe(self) -> dict[str, Any]:
        return {"fuse": self.method}

    def run(self, fold: Fold, used: Mapping[str, Scores], measure: str) -> Scores:
        vali = fuse([scores.vali for scores in used.values()], fold.vali.qid, self.method)
        start = time.process_time()
        test = fuse([scores.test for scores in used.values()], fold.test.qid, self.method)
        return together(used, vali, test, {}, 0.0, time.process_time() - start)


@dataclass(frozen=True)
class LinearCombination:
    """Weigh the lists of the systems used; the weights are learned on vali, which none of them has seen."""

    n_steps: int = 20

    @property
    def learns_from(self) -> str:
        return "weights: vali; its members: train"

    def describe(self) -> dict[str, Any]:
        return {"linear": self.n_steps}

    def run(self, fold: Fold, used: Mapping[str, Scores], measure: str) -> Scores:
        vali, test = (np.array([getattr(scores, part) for scores in used.values()]).T for part in ("vali", "test"))
        start = time.process_time()
        fusion = LinearFusion(measure, self.n_steps).fit(vali, fold.vali.y, fold.vali.qid)
        learned = time.process_time()
        scores = fusion.predict(test, fold.test.qid)
        done = time.process_time()
        weights = {name: round(float(w), 4) for name, w in zip(used, fusion.weights_, strict=True) if w}
        fused = fusion.predict(vali, fold.vali.qid)
        return together(used, fused, scores, {"weights": weights}, learned - start, done - learned)


def together(
    used: Mapping[str, Scores], vali: Array, test: Array, params: dict[str, Any], fit_seconds: float, seconds: float
) -> Scores:
    """Return fused scores with the time of the whole process, as the papers count it: members and fusion."""
    members = list(used.values())
    return Scores(
        vali=vali,
        test=test,
        params=params,
        tried=(),
        n_labels=max(member.n_labels for member in members),
        fit_seconds=fit_seconds + sum(member.fit_seconds for member in members),
        tune_seconds=fit_seconds + sum(member.tune_seconds for member in members),
        predict_seconds=seconds + sum(member.predict_seconds for member in members),
    )
