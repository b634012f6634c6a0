"""Rankings made elsewhere, beside those made here: TREC runs, which meet the documents by ids, and score files.

A run need not hold every document: those it lacks are not returned, as trec_eval has it, and its documents that the
data do not have are left out, as nobody could have ranked them here. What was used says how many that were.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rulerank.dataset import Array, Dataset, Fold
from rulerank.errors import DataError
from rulerank.experiment.cells import Scores
from rulerank.io.doc_names import doc_keys
from rulerank.io.trec import Run

ELSEWHERE = "made elsewhere"


@dataclass(frozen=True, eq=False)
class GivenRun:
    """Rank the documents of test as a run has them."""

    ranking: Run
    leaves_out: bool = True  # NaN stands for a document that it did not return

    @property
    def learns_from(self) -> str:
        return ELSEWHERE

    def describe(self) -> dict[str, Any]:
        digest = hashlib.sha256("\0".join([*self.ranking.qid, *self.ranking.docid]).encode())
        digest.update(self.ranking.score.tobytes())
        return {"run": digest.hexdigest()}

    def run(self, fold: Fold, used: Mapping[str, Scores], measure: str) -> Scores:
        vali, test = (self.scores_of(part) for part in (fold.vali, fold.test))
        returned = ~np.isnan(test)
        queries, ran = set(map(str, fold.test.qid)), set(self.ranking.qid)
        if not queries & ran:
            raise DataError(
                f"no query of {fold.name}'s test is in the run: the run has {_some(self.ranking.qid)}, the data have "
                f"{_some(fold.test.qid)}"
            )
        if not returned.any():
            raise DataError(
                f"no document of {fold.name}'s test is in the run: the run has {_some(self.ranking.docid)}, the data "
                f"have {_some(doc_keys(fold.test))}; ids are compared letter by letter"
            )
        n_own = sum(query in queries for query in self.ranking.qid)
        found = {
            "documents returned": f"{int(returned.sum()):,} of {len(test):,}",
            "queries": f"{len(queries & ran):,} of {len(queries):,}",
            "left out, not in the data": f"{n_own - int(returned.sum()):,}",
        }
        return Scores(vali, test, found, (), 0, 0.0, 0.0, 0.0)

    def scores_of(self, data: Dataset) -> Array:
        """Return the run's score of each document, NaN where it has none."""
        pairs = zip(map(str, data.qid.tolist()), doc_keys(data).tolist(), strict=True)
        return np.array([self._score.get(pair, np.nan) for pair in pairs], dtype=np.float64)

    @cached_property
    def _score(self) -> dict[tuple[str, str], float]:
        run = self.ranking
        return dict(zip(zip(run.qid, run.docid, strict=True), run.score.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class GivenScores:
    """Rank the documents of test by scores that are there already, by fold."""

    by_fold: Mapping[str, Array]
    leaves_out: bool = True  # vali needs no scores

    @property
    def learns_from(self) -> str:
        return ELSEWHERE

    def describe(self) -> dict[str, Any]:
        return {
            "scores": {
                name: hashlib.sha256(np.asarray(scores).tobytes()).hexdigest() for name, scores in self.by_fold.items()
            }
        }

    def run(self, fold: Fold, used: Mapping[str, Scores], measure: str) -> Scores:
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


def _some(ids: Array) -> str:
    return ", ".join(repr(str(one)) for one in list(dict.fromkeys(ids[:1000].tolist()))[:3]) if len(ids) else "none"
