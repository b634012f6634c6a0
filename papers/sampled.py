"""Rankers that learn from a few labels: those that SSAR and SSARP ask for, and as many at random or from the top.

Literal RE-GR learns from them in unsupervised bins, as the paper has it, and RankSVM on features scaled by query (its
Table 3). Bins and scales come from all documents of train; grades are seen only of the documents that were asked for.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from papers.baselines.rank_svm import C_GRID, RankSVM
from rulerank.dataset import Array, Dataset, Fold, query_index
from rulerank.discretize.binning import DISCRETIZERS
from rulerank.errors import DataError
from rulerank.evaluation.rankings import best_feature, feature_scores
from rulerank.experiment.systems import Scores, rank
from rulerank.normalize import normalize_by_query
from rulerank.rankers.global_rules import GlobalRules
from rulerank.sampling.ssar import SSAR

N_DRAWS = 20  # random choices that are averaged, as in the paper


@dataclass(frozen=True)
class Learner:
    """A ranker for chosen documents, and how all documents are prepared for it without their grades."""

    ranker: Any
    grid: Mapping[str, Sequence[Any]]
    bins: str | None = None  # how to cut features; None: they are scaled by query instead
    needs_pairs: bool = False  # whether it learns nothing without two grades in a query

    def prepare(self, fold: Fold) -> Fold:
        """Return the fold as the ranker takes it."""
        if self.bins is not None:
            return in_bins(fold, self.bins)
        return Fold(fold.name, *(_scaled(part) for part in (fold.train, fold.vali, fold.test)))


VOTING = Learner(GlobalRules(votes="mean", drop_weakest=0.0, discretizer=None), {}, "tube")
SVM = Learner(RankSVM(missing="mean"), {"C": C_GRID}, needs_pairs=True)


@dataclass(frozen=True)
class Asked:
    """Learn from the documents that a sampler asks for."""

    sampler: SSAR
    learner: Learner = VOTING

    def run(self, fold: Fold, measure: str) -> Scores:
        order = shuffled_rows(fold)
        bins = in_bins(fold, "tube")  # what the sampler sees, whoever learns
        sampler = SSAR(**self.sampler.get_params() | {"discretizer": None, "n_jobs": 1})
        train = fold.train[order]
        start = time.process_time()
        asked = sampler.select(bins.train.X[order], lambda row: int(train.y[row]), train.qid)
        seconds = time.process_time() - start
        return learn_from(self.learner, self.learner.prepare(fold), order[asked], measure, seconds)


@dataclass(frozen=True)
class AsChosen:
    """Let another ranker learn from the very documents that a system asked for."""

    learner: Learner = SVM

    def run(self, fold: Fold, used: Mapping[str, Scores], measure: str) -> Scores:
        chosen = chosen_by_other(used)
        return learn_from(self.learner, self.learner.prepare(fold), chosen, measure, 0.0)


@dataclass(frozen=True)
class AtRandom:
    """Learn from as many documents as another system asked for, drawn at random; scores of every draw."""

    learner: Learner = VOTING
    n_draws: int = N_DRAWS
    seed: int = 0

    def run(self, fold: Fold, used: Mapping[str, Scores], measure: str) -> Scores:
        n_labels = len(chosen_by_other(used))
        order = shuffled_rows(fold)
        prepared = self.learner.prepare(fold)
        rng = np.random.default_rng(self.seed)
        drawn = [
            learn_from(self.learner, prepared, order[rng.permutation(len(order))[:n_labels]], measure, 0.0)
            for _ in range(self.n_draws)
        ]
        return Scores(
            vali=np.array([scores.vali for scores in drawn]),
            test=np.array([scores.test for scores in drawn]),
            params={},
            n_labels=n_labels,
            fit_seconds=float(np.mean([scores.fit_seconds for scores in drawn])),
            tune_seconds=sum(scores.tune_seconds for scores in drawn),
            predict_seconds=float(np.mean([scores.predict_seconds for scores in drawn])),
            chosen=np.array([scores.chosen for scores in drawn]),
        )


@dataclass(frozen=True)
class FromTheTop:
    """Learn from as many documents as another system asked for: those highest by one feature."""

    feature: str | None = None  # None: the one that ranks vali best
    learner: Learner = VOTING

    def run(self, fold: Fold, used: Mapping[str, Scores], measure: str) -> Scores:
        n_labels = len(chosen_by_other(used))
        order = shuffled_rows(fold)
        start = time.process_time()
        name = self.feature or best_feature(fold.vali, measure)
        highest = np.argsort(-feature_scores(fold.train, name)[order], kind="stable")[:n_labels]
        seconds = time.process_time() - start
        found = learn_from(self.learner, self.learner.prepare(fold), order[highest], measure, seconds)
        return replace(found, params={"feature": name} | found.params)


def chosen_by_other(used: Mapping[str, Scores]) -> Array:
    """Return the rows of train that the system built on has asked for."""
    [(name, other)] = used.items()
    if other.chosen is None or other.chosen.ndim != 1:
        raise DataError(f"{name} has not chosen documents to label, such as SSAR does")
    return other.chosen


def shuffled_rows(fold: Fold) -> Array:
    """Return the rows of train in random order: of equal documents the first is chosen, and files tell by order."""
    return np.random.default_rng([0]).permutation(len(fold.train))


def in_bins(fold: Fold, name: str) -> Fold:
    """Return the fold with bin numbers for features, the bins fitted to train without its grades."""
    bins = DISCRETIZERS[name]().fit(fold.train.X)

    def binned(data: Dataset) -> Dataset:
        return Dataset(bins.transform(data.X), data.y, data.qid, data.docid, data.feature_names)

    return Fold(fold.name, binned(fold.train), binned(fold.vali), binned(fold.test))


def learn_from(learner: Learner, prepared: Fold, chosen: Array, measure: str, seconds: float) -> Scores:
    """Return the scores of a ranker fitted to chosen rows of train; seconds: what choosing them took."""
    rows = np.sort(chosen)
    some = prepared.train[rows]
    if learner.needs_pairs and not _has_pairs(some):  # nothing to learn from: all tied
        nothing = np.zeros(len(prepared.vali)), np.zeros(len(prepared.test))
        return Scores(*nothing, {}, len(rows), seconds, seconds, 0.0, rows)
    scores = rank(learner.ranker, learner.grid, some, prepared, measure)
    return replace(
        scores,
        n_labels=len(rows),
        fit_seconds=scores.fit_seconds + seconds,
        tune_seconds=scores.tune_seconds + seconds,
        chosen=rows,
    )


def _scaled(data: Dataset) -> Dataset:
    return replace(data, X=normalize_by_query(data.X, query_index(data.qid)[0], "minmax"))


def _has_pairs(data: Dataset) -> bool:
    """Tell whether a query has documents of two grades."""
    query = query_index(data.qid)[0]
    return bool(np.unique(np.stack([query, data.y]), axis=1).shape[1] > np.unique(query).size)
