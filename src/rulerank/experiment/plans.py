"""How a system ranks the test documents of a fold: train on train, choose on vali, never look at test grades."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from rulerank.dataset import Dataset, Fold, query_index
from rulerank.evaluation.single_feature import best_feature, feature_scores
from rulerank.experiment.cells import Scores, described, plain
from rulerank.rankers.foreign import fit_ranker, fresh, predict_ranker, takes
from rulerank.training.trials import Staged
from rulerank.training.validating import fit_tuned

WARM_QUERIES = 3  # enough to load the compiled loops


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
        if takes(self.ranker, "fit", "vali"):
            chosen.append("when to stop")
        return f"train; {', '.join(chosen)} chosen on vali" if chosen else "train"

    def describe(self) -> dict[str, Any]:
        return {"ranker": described(self.ranker), "grid": plain(self.grid)}

    def run(self, fold: Fold, used: Mapping[str, Scores], measure: str) -> Scores:
        return rank(self.ranker, self.grid, fold.train, fold, measure)


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


def rank(ranker: Any, grid: Mapping[str, Sequence[Any]], train: Dataset, fold: Fold, measure: str) -> Scores:
    """Fit on train with each setting, choose on the fold's vali, and score its test documents; timed on one core."""
    warm_up(ranker, train)
    start = time.process_time()
    found = fit_tuned(single_threaded(fresh(ranker)), train, fold.vali, grid, measure=measure)
    tuned = time.process_time()
    test = predict_ranker(found.ranker, fold.test)
    return Scores(
        vali=found.scores,
        test=test,
        params=plain(found.best.chosen),
        tried=found.table if len(found.table) > 1 else (),
        n_labels=len(train),
        fit_seconds=found.fit_seconds,
        tune_seconds=tuned - start,
        predict_seconds=time.process_time() - tuned,
    )


def single_threaded(ranker: Any) -> Any:
    """Let one process take one core; our rankers give the same bits whatever the number of threads."""
    if not hasattr(ranker, "get_params"):
        return ranker
    names = [name for name in ranker.get_params() if name == "n_jobs" or name.endswith("__n_jobs")]
    return ranker.set_params(**dict.fromkeys(names, 1))


def warm_up(ranker: Any, train: Dataset) -> None:
    """Run once on a few queries, so that times do not count how long compiled loops take to load."""
    some = train[query_index(train.qid)[0] < WARM_QUERIES]
    try:
        predict_ranker(fit_ranker(single_threaded(fresh(ranker)), some, vali=some), some)
    except Exception:  # other libraries have errors of their own where there is too little to learn from
        return  # the fold itself will tell
