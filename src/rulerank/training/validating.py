"""Choose a ranker's parameters on a validation set, as the LETOR pages did: fit on train, compare on validation."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank.dataset import Array, Dataset, check_contrast, query_index
from rulerank.evaluation import Measure
from rulerank.rankers.foreign import fit_ranker, fresh
from rulerank.training.trials import Fit, Scoring, Trial, settings_of, try_settings


@dataclass(frozen=True, eq=False)
class Validated:
    """The best ranker, fitted to the training set, and all that was tried."""

    ranker: Any
    measure: str
    best: Trial
    table: tuple[Trial, ...]
    scores: Array  # of the validation set, by the best ranker
    fit_seconds: float  # of one core, for the best alone


def fit_tuned(
    ranker: Any,
    train: Dataset,
    vali: Dataset,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    measure: str | Measure = "MAP",
    convention: str = "standard",
    ties: str | None = None,
) -> Validated:
    """Fit every setting of the grid to train and return the one that ranks vali best; of equals the first.

    A ranker with `staged_predict` is tried after every number of steps as well, which costs no further fit; one whose
    fit takes `vali` decides there when to stop. Any ranker will do, those of other libraries too.

    >>> from rulerank.rankers.linear.query_intercepts import QueryIntercepts
    >>> from rulerank.worlds import make_world
    >>> train, vali = make_world(n_queries=20, seed=1), make_world(n_queries=20, seed=2)
    >>> tuned = fit_tuned(QueryIntercepts(missing="mean"), train, vali, {"l2": [1.0, 100.0]})
    >>> tuned.ranker.l2 == tuned.best.params["l2"], len(tuned.table)
    (True, 2)
    """
    check_contrast(vali.y, query_index(vali.qid)[0], "choose by in the validation part")
    settings = settings_of(grid or {}, ranker)
    scoring = Scoring(measure, convention, ties)
    tried = try_settings(settings, _fits(ranker, settings, train, vali), vali, [np.arange(len(vali))], scoring)
    assert tried.kept is not None  # there is one part
    fit, scores = tried.kept
    return Validated(fit.ranker, str(measure), tried.table[tried.best], tried.table, scores, fit.seconds)


def _fits(ranker: Any, settings: Sequence[dict[str, Any]], train: Dataset, vali: Dataset) -> Iterator[Fit]:
    for place, setting in enumerate(settings):
        start = time.process_time()
        made = fresh(ranker)
        fitted = fit_ranker(made.set_params(**setting) if setting else made, train, vali=vali)
        yield Fit(place, 0, fitted, vali, time.process_time() - start)
