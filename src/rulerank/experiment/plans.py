"""How a system ranks the test documents of a fold: train on train, choose on vali, never look at test grades."""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from rulerank.aggregate.fusion import fuse
from rulerank.aggregate.linear_fusion import LinearFusion
from rulerank.dataset import Array, Fold
from rulerank.training.fold_fitting import Scores, described, plain, rank
from rulerank.training.single_feature import best_feature, feature_scores
from rulerank.training.validating import Staged


class Plan(Protocol):
    """What a system does with a fold; `describe` says all that its scores depend on, as plain values."""

    def run(self, fold: Fold, used: Mapping[str, Scores], measure: str) -> Scores: ...

    def describe(self) -> dict[str, Any]: ...

    @property
    def learns_from(self) -> str: ...


@dataclass(frozen=True)
class Rank:
    """Fit a ranker on train with each setting of the grid, and keep the one that does best on vali."""

    ranker: Any
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def learns_from(self) -> str:
        chosen = [*self.grid, *(["rounds"] if isinstance(self.ranker, Staged) else [])]
        if "vali" in inspect.signature(self.ranker.fit).parameters:
            chosen.append("when to stop")
        return f"train; {', '.join(chosen)} chosen on vali" if chosen else "train"

    def describe(self) -> dict[str, Any]:
        return {"ranker": described(self.ranker), "grid": plain(self.grid)}

    def run(self, fold: Fold, used: Mapping[str, Scores], measure: str) -> Scores:
        return rank(self.ranker, self.grid, fold.train, fold, measure)


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


@dataclass(frozen=True)
class BestFeature:
    """Rank by the one feature that does best on vali, either way round."""

    @property
    def learns_from(self) -> str:
        return "the feature and its direction: vali"

    def describe(self) -> dict[str, Any]:
        return {"best": "feature"}

    def run(self, fold: Fold, used: Mapping[str, Scores], measure: str) -> Scores:
        start = time.process_time()
        name = best_feature(fold.vali, measure)
        seconds = time.process_time() - start
        vali = feature_scores(fold.vali, name)
        before = time.process_time()
        test = feature_scores(fold.test, name)
        return Scores(vali, test, {"feature": name}, (), 0, seconds, seconds, time.process_time() - before)


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
