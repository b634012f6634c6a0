"""Fit a ranker to a fold: one core, warm loops, parameters and rounds chosen on vali."""

from __future__ import annotations

import hashlib
import inspect
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from rulerank.dataset import Array, Dataset, Fold, query_index
from rulerank.errors import RulerankError
from rulerank.evaluation import evaluate
from rulerank.rankers.base import Ranker
from rulerank.training.validating import best_stage, settings_of

WARM_QUERIES = 3  # enough to load the compiled loops


@dataclass(frozen=True, slots=True)
class Trial:
    """One setting and what it reached on the validation queries."""

    params: dict[str, Any]
    value: float


@dataclass(frozen=True, eq=False, slots=True)
class Scores:
    """What a system made of one fold."""

    vali: Array  # one score per document; (n_draws, n_docs) when figures are means over random draws
    test: Array
    params: dict[str, Any]  # chosen on vali; empty when there was nothing to choose
    tried: tuple[Trial, ...]
    n_labels: int  # grades of train that were used
    # seconds of one core, whatever else the machine does at the same time
    fit_seconds: float  # of the chosen setting
    tune_seconds: float  # of all settings, on train and vali
    predict_seconds: float  # all test documents


def rank(ranker: Any, grid: Mapping[str, Sequence[Any]], train: Dataset, fold: Fold, measure: str) -> Scores:
    """Fit on train with each setting, choose on the fold's vali, and score its test documents."""
    warm_up(ranker, train)
    start = time.process_time()
    tried, best = [], None
    for setting in settings_of(grid):
        before = time.process_time()
        fitted = fit(single_threaded(clone(ranker)).set_params(**setting), train, fold.vali)
        seconds = time.process_time() - before
        fitted, stage = best_stage(fitted, fold.vali, partial(value_of, fold.vali, measure=measure))
        vali = predict(fitted, fold.vali)
        rounds = {} if stage is None else {"rounds": stage}
        trial = Trial(setting | rounds, value_of(fold.vali, vali, measure))
        tried.append(trial)
        if best is None or trial.value > best[0].value:  # of equal ones the earlier, simpler setting
            best = trial, fitted, vali, seconds
    assert best is not None
    chosen, fitted, vali, fit_seconds = best
    tuned = time.process_time()
    test = predict(fitted, fold.test)
    return Scores(
        vali=vali,
        test=test,
        params=plain(chosen.params),
        tried=tuple(tried) if len(tried) > 1 else (),
        n_labels=len(train),
        fit_seconds=fit_seconds,
        tune_seconds=tuned - start,
        predict_seconds=time.process_time() - tuned,
    )


def fit(ranker: Any, train: Dataset, vali: Dataset) -> Any:
    """Fit, with the queries and with vali if the ranker takes them."""
    takes = inspect.signature(ranker.fit).parameters
    more: dict[str, Any] = {"vali": vali} if "vali" in takes else {}  # it decides there when to stop
    if isinstance(ranker, Ranker):
        return ranker.fit(train, **more)
    return ranker.fit(train.X, train.y, **({"qid": query_index(train.qid)[0]} if "qid" in takes else {}))


def predict(ranker: Any, data: Dataset) -> Array:
    """Return the scores of documents, with their queries if the ranker takes them."""
    if isinstance(ranker, Ranker):
        scores = ranker.predict(data)
    elif "qid" in inspect.signature(ranker.predict).parameters:
        scores = ranker.predict(data.X, qid=query_index(data.qid)[0])
    else:
        scores = ranker.predict(data.X)
    return np.asarray(scores, dtype=np.float64)


def value_of(data: Dataset, scores: Array, measure: str) -> float:
    """Return the mean of a measure over the queries."""
    return float(evaluate(data.y, scores, data.qid, measure).values[0].mean())


def single_threaded(ranker: Any) -> Any:
    """Let one process take one core; our rankers give the same bits whatever the number of threads."""
    names = [name for name in ranker.get_params() if name == "n_jobs" or name.endswith("__n_jobs")]
    return ranker.set_params(**dict.fromkeys(names, 1))


def warm_up(ranker: Any, train: Dataset) -> None:
    """Run once on a few queries, so that times do not count how long compiled loops take to load."""
    some = train[query_index(train.qid)[0] < WARM_QUERIES]
    try:
        predict(fit(single_threaded(clone(ranker)), some, some), some)
    except (RulerankError, ValueError, ArithmeticError):
        return  # too few documents to learn from: the fold itself will tell


def described(ranker: Any) -> dict[str, Any]:
    """Return a ranker's class and parameters, those of its members too, as plain values; of foreign ones the code."""
    params = ranker.get_params(deep=False)
    made = {type(ranker).__name__: {name: plain(value) for name, value in params.items() if name != "n_jobs"}}
    return made if type(ranker).__module__.startswith("rulerank.") else made | {"code": code_of(type(ranker))}


def code_of(kind: type) -> str:
    """Return a fingerprint of a class that is not ours, which may be edited between runs; "" if it has no source."""
    try:
        return hashlib.sha256(inspect.getsource(kind).encode()).hexdigest()
    except (OSError, TypeError):
        return ""


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it, rankers as what describes them."""
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    if hasattr(value, "get_params") and not isinstance(value, type):
        return described(value)
    if isinstance(value, np.generic):
        return value.item()
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return repr(value)
    return value
