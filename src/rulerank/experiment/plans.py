"""How a system ranks the test documents of a fold: train on train, choose on vali, never look at test grades.

Rankings made elsewhere stand beside those made here: TREC runs, which meet the documents by ids, and scores by fold. A
run need not hold every document: those it lacks are not returned, as trec_eval has it, and its documents that the data
do not have are left out, as nobody could have ranked them here.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import joblib
import numpy as np

from rulerank.dataset import Array, Dataset, Fold, query_index
from rulerank.errors import DataError
from rulerank.evaluation.rankings import best_feature, feature_scores
from rulerank.experiment.cells import Scores, described, plain
from rulerank.io.doc_names import doc_keys
from rulerank.io.trec import Run
from rulerank.rankers.foreign import fit_ranker, fresh, predict_ranker, takes
from rulerank.training.selection import Staged, select

WARM_QUERIES = 3  # enough to load the compiled loops


class Plan(Protocol):
    """What a system does with a fold; `describe` says all that its scores depend on, as plain values."""

    @property
    def learns_from(self) -> str: ...

    def describe(self) -> dict[str, Any]: ...

    def run(self, fold: Fold, measure: str) -> Scores: ...


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

    def run(self, fold: Fold, measure: str) -> Scores:
        return rank(self.ranker, self.grid, fold.train, fold, measure)


@dataclass(frozen=True)
class BestFeature:
    """Rank by the one feature that does best on vali, either way round."""

    learns_from: str = "the feature and its direction: vali"

    def describe(self) -> dict[str, Any]:
        return {"best": "feature"}

    def run(self, fold: Fold, measure: str) -> Scores:
        start = time.process_time()
        name = best_feature(fold.vali, measure)
        seconds = time.process_time() - start
        vali = feature_scores(fold.vali, name)
        before = time.process_time()
        test = feature_scores(fold.test, name)
        return Scores(vali, test, {"feature": name}, (), 0, seconds, seconds, time.process_time() - before)


@dataclass(frozen=True, eq=False)
class GivenRun:
    """Rank the documents of test as a run has them; NaN stands for a document that it did not return."""

    ranking: Run
    learns_from: str = "made elsewhere"

    def describe(self) -> dict[str, Any]:
        run = self.ranking
        return {"run": joblib.hash([run.qid.astype(str), run.docid.astype(str), run.score])}

    def run(self, fold: Fold, measure: str) -> Scores:
        run, test = self.ranking, self.scores_of(fold.test)
        n_returned = int((~np.isnan(test)).sum())
        queries, ran = set(map(str, fold.test.qid)), set(run.qid)
        if not queries & ran:
            raise DataError(
                f"no query of {fold.name}'s test is in the run: the run has {_some(run.qid)}, the data have "
                f"{_some(fold.test.qid)}"
            )
        if not n_returned:
            raise DataError(
                f"no document of {fold.name}'s test is in the run: the run has {_some(run.docid)}, the data "
                f"have {_some(doc_keys(fold.test))}; ids are compared letter by letter"
            )
        counts = {
            "documents returned": f"{n_returned:,} of {len(test):,}",
            "queries": f"{len(queries & ran):,} of {len(queries):,}",
            "left out, not in the data": f"{sum(query in queries for query in run.qid) - n_returned:,}",
        }
        return Scores(self.scores_of(fold.vali), test, counts, (), 0, 0.0, 0.0, 0.0)

    def scores_of(self, data: Dataset) -> Array:
        """Return the run's score of each document, NaN where it has none."""
        pairs = zip(map(str, data.qid.tolist()), doc_keys(data).tolist(), strict=True)
        return np.array([self._by_doc.get(pair, np.nan) for pair in pairs], dtype=np.float64)

    @cached_property
    def _by_doc(self) -> dict[tuple[str, str], float]:
        run = self.ranking
        return dict(zip(zip(run.qid, run.docid, strict=True), run.score.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class GivenScores:
    """Rank the documents of test by scores that are there already, by fold; vali needs none."""

    by_fold: Mapping[str, Array]
    learns_from: str = "made elsewhere"

    def describe(self) -> dict[str, Any]:
        return {"scores": {name: joblib.hash(np.asarray(scores)) for name, scores in self.by_fold.items()}}

    def run(self, fold: Fold, measure: str) -> Scores:
        if fold.name not in self.by_fold:
            raise DataError(f"there are no scores for {fold.name}: those of {', '.join(self.by_fold)} are there")
        scores = np.asarray(self.by_fold[fold.name], dtype=np.float64)
        if scores.shape != (len(fold.test),):
            raise DataError(
                f"expected {len(fold.test):,} scores for {fold.name}, one per document of its test: got {scores.size:,}"
            )
        if not np.isfinite(scores).all():
            row = int(np.flatnonzero(~np.isfinite(scores))[0])
            raise DataError(f"scores must be finite numbers: got {scores[row]} at row {row} of {fold.name}'s test")
        return Scores(np.full(len(fold.vali), np.nan), scores, {}, (), 0, 0.0, 0.0, 0.0)


def rank(ranker: Any, grid: Mapping[str, Sequence[Any]], train: Dataset, fold: Fold, measure: str) -> Scores:
    """Fit on train with each setting, choose on the fold's vali, and score its test documents; timed on one core."""
    warm_up(ranker, train)
    start = time.process_time()
    found = select(train, single_threaded(fresh(ranker)), grid, measure, vali=fold.vali)
    tuned = time.process_time()
    assert found.scores is not None  # there is a validation set
    test = predict_ranker(found.ranker, fold.test)
    done = time.process_time()
    if not (np.isfinite(found.scores).all() and np.isfinite(test).all()):
        raise DataError("its scores are not all finite numbers")
    return Scores(
        vali=found.scores,
        test=test,
        params=plain(found.table[0].chosen),
        tried=found.table if len(found.table) > 1 else (),
        n_labels=len(train),
        fit_seconds=found.fit_seconds,
        tune_seconds=tuned - start,
        predict_seconds=done - tuned,
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


def _some(ids: Array) -> str:
    return ", ".join(repr(str(one)) for one in list(dict.fromkeys(ids[:1000].tolist()))[:3]) if len(ids) else "none"
