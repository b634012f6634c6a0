"""Rule voting on a few labels: SSAR, SSARP, and as many labels chosen at random or from the top of one feature.

The bins are unsupervised and come from all documents of train, as the paper has it; grades are seen only of the
documents that were asked for.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rulerank.dataset import Array, Dataset, Fold
from rulerank.discretize import make_discretizer
from rulerank.evaluation.single_feature import best_feature, feature_scores
from rulerank.experiment.cells import Scores, described
from rulerank.experiment.label_curve.simulation import shuffled
from rulerank.experiment.plans import rank
from rulerank.rankers.global_rules import GlobalRules
from rulerank.sampling.ssar import SSAR

N_DRAWS = 20  # random choices that are averaged, as in the paper


@dataclass(frozen=True)
class Asked:
    """Train RE-GR on the documents that a sampler asks for."""

    sampler: SSAR
    bins: str = "tube"

    @property
    def learns_from(self) -> str:
        return "the chosen documents of train"

    def describe(self) -> dict[str, Any]:
        return {"sampler": described(self.sampler), "bins": self.bins, "ranker": described(voters())}

    def run(self, fold: Fold, used: Mapping[str, Scores], measure: str) -> Scores:
        fold = shuffled_train(fold)
        binned = in_bins(fold, self.bins)
        sampler = SSAR(**self.sampler.get_params() | {"discretizer": None, "n_jobs": 1})
        start = time.process_time()
        chosen = sampler.select(binned.train.X, lambda row: int(fold.train.y[row]), fold.train.qid)
        seconds = time.process_time() - start
        return train_on(binned, chosen, measure, seconds)


@dataclass(frozen=True)
class AtRandom:
    """Train RE-GR on as many documents as another system asked for, drawn at random; scores of every draw."""

    bins: str = "tube"
    n_draws: int = N_DRAWS
    seed: int = 0

    @property
    def learns_from(self) -> str:
        return f"random documents of train, mean of {self.n_draws} draws"

    def describe(self) -> dict[str, Any]:
        return {"draws": self.n_draws, "seed": self.seed, "bins": self.bins, "ranker": described(voters())}

    def run(self, fold: Fold, used: Mapping[str, Scores], measure: str) -> Scores:
        [other] = used.values()
        fold = shuffled_train(fold)
        binned = in_bins(fold, self.bins)
        rng = np.random.default_rng(self.seed)
        drawn = [
            train_on(binned, rng.permutation(len(fold.train))[: other.n_labels], measure, 0.0)
            for _ in range(self.n_draws)
        ]
        return Scores(
            vali=np.array([scores.vali for scores in drawn]),
            test=np.array([scores.test for scores in drawn]),
            params={},
            tried=(),
            n_labels=other.n_labels,
            fit_seconds=float(np.mean([scores.fit_seconds for scores in drawn])),
            tune_seconds=sum(scores.tune_seconds for scores in drawn),
            predict_seconds=float(np.mean([scores.predict_seconds for scores in drawn])),
        )


@dataclass(frozen=True)
class FromTheTop:
    """Train RE-GR on as many documents as another system asked for: those highest by one feature."""

    feature: str | None = None  # None: the one that ranks vali best
    bins: str = "tube"

    @property
    def learns_from(self) -> str:
        return "the top documents of train by a feature" + ("" if self.feature else ", chosen on vali")

    def describe(self) -> dict[str, Any]:
        return {"feature": self.feature, "bins": self.bins, "ranker": described(voters())}

    def run(self, fold: Fold, used: Mapping[str, Scores], measure: str) -> Scores:
        [other] = used.values()
        fold = shuffled_train(fold)
        start = time.process_time()
        name = self.feature or best_feature(fold.vali, measure)
        order = np.argsort(-feature_scores(fold.train, name), kind="stable")
        seconds = time.process_time() - start
        return train_on(in_bins(fold, self.bins), order[: other.n_labels], measure, seconds, {"feature": name})


def voters() -> GlobalRules:
    """Return the paper's ranker, which takes bins as they are."""
    return GlobalRules(votes="mean", drop_weakest=0.0, discretizer=None)


def shuffled_train(fold: Fold) -> Fold:
    """Return the fold with train in random order: of equal documents the first is chosen, and files tell by order."""
    return replace(fold, train=shuffled(fold, [0]))


def in_bins(fold: Fold, name: str) -> Fold:
    """Return the fold with bin numbers for features, the bins fitted to train without its grades."""
    bins = make_discretizer(name).fit(fold.train.X)

    def binned(data: Dataset) -> Dataset:
        return Dataset(bins.transform(data.X), data.y, data.qid, data.docid, data.feature_names)

    return Fold(fold.name, binned(fold.train), binned(fold.vali), binned(fold.test))


def train_on(binned: Fold, chosen: Array, measure: str, seconds: float, params: dict[str, Any] | None = None) -> Scores:
    scores = rank(voters(), {}, binned.train[np.sort(chosen)], binned, measure)
    return Scores(
        vali=scores.vali,
        test=scores.test,
        params=params or {},
        tried=(),
        n_labels=len(chosen),
        fit_seconds=scores.fit_seconds + seconds,
        tune_seconds=scores.tune_seconds + seconds,
        predict_seconds=scores.predict_seconds,
    )
