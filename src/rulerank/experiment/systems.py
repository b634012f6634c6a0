"""The systems that `compare` runs: each has a name and a plan that ranks the test documents of a fold.

A system trains on train, selects parameters on vali and never sees test grades. TREC runs from elsewhere can be
compared too; they are joined by ids. Documents that are not in the run count as not retrieved, as in trec_eval;
documents of the run that are not in the data are left out.
"""

from __future__ import annotations

import difflib
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from rulerank._util.estimator import clone
from rulerank.dataset import Array, Dataset, Fold, query_index
from rulerank.errors import DataError
from rulerank.evaluation.rankings import best_feature, feature_scores
from rulerank.fusion.competence import Competence
from rulerank.io.columns import doc_keys
from rulerank.io.trec import Run, some_ids
from rulerank.methods import METHODS
from rulerank.rankers.fitted.fitted_rules import FittedRules
from rulerank.rankers.foreign import fit_ranker, predict_ranker
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.linear.query_intercepts import L2_GRID, QueryIntercepts
from rulerank.rankers.query_rules import QueryRules
from rulerank.rankers.stable_rules import StableRules
from rulerank.selection.select import select

WARM_QUERIES = 3  # enough to load the compiled loops


@dataclass(frozen=True, eq=False, slots=True)
class Scores:
    """The scores of a system on one fold."""

    # one score per document, NaN if it was not retrieved; (n_draws, n_docs) if results are means over random draws
    vali: Array
    test: Array
    params: dict[str, Any] = field(default_factory=dict)  # chosen on vali, as JSON holds them
    n_labels: int = 0  # grades of train that were used
    # CPU seconds of one core
    fit_seconds: float = 0.0  # of the selected setting
    tune_seconds: float = 0.0  # of all settings, on train and vali
    predict_seconds: float = 0.0  # all test documents
    chosen: Array | None = None  # rows of train whose grades were used, (n_draws, n) if drawn; None: all, or none


class Plan(Protocol):
    """How a system ranks a fold; its pickle has everything that the scores depend on."""

    def run(self, fold: Fold, measure: str) -> Scores: ...


@dataclass(frozen=True)
class System:
    """A named way to rank; "literal" is the version of the paper if our default differs."""

    name: str
    group: str
    plan: Plan
    about: str


@dataclass(frozen=True)
class Rank:
    """Fit a ranker on train with each setting of the grid, and keep the best one on vali."""

    ranker: Any
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def run(self, fold: Fold, measure: str) -> Scores:
        return rank(self.ranker, self.grid, fold.train, fold, measure)


@dataclass(frozen=True)
class BestFeature:
    """Rank by the feature that is best on vali, highest or lowest value first."""

    def run(self, fold: Fold, measure: str) -> Scores:
        start = time.process_time()
        name = best_feature(fold.vali, measure)
        seconds = time.process_time() - start
        vali, test = (feature_scores(part, name) for part in (fold.vali, fold.test))
        return Scores(vali, test, {"feature": name}, fit_seconds=seconds, tune_seconds=seconds)


@dataclass(frozen=True, eq=False)
class GivenRun:
    """Rank the documents of test by a run; NaN for a document that it did not return."""

    ranking: Run

    def run(self, fold: Fold, measure: str) -> Scores:
        run, test = self.ranking, fold.test
        scores = dict(zip(zip(run.qid, run.docid, strict=True), run.score.tolist(), strict=True))
        pairs = zip(map(str, test.qid.tolist()), doc_keys(test).tolist(), strict=True)
        found = np.array([scores.get(pair, np.nan) for pair in pairs], dtype=np.float64)
        n_returned = int((~np.isnan(found)).sum())
        queries, ran = set(map(str, test.qid)), set(run.qid)
        if not n_returned:
            what, own, theirs = (
                ("document", run.docid, doc_keys(test)) if queries & ran else ("query", run.qid, test.qid)
            )
            raise DataError(
                f"no {what} of {fold.name}'s test is in the run: the run has {some_ids(own)}, the data have "
                f"{some_ids(theirs)}; ids must match exactly"
            )
        counts = {
            "documents returned": f"{n_returned:,} of {len(test):,}",
            "queries": f"{len(queries & ran):,} of {len(queries):,}",
            "left out, not in the data": f"{sum(query in queries for query in run.qid) - n_returned:,}",
        }
        return Scores(np.full(len(fold.vali), np.nan), found, counts)


def rank(ranker: Any, grid: Mapping[str, Sequence[Any]], train: Dataset, fold: Fold, measure: str) -> Scores:
    """Fit on train with each setting, select on the fold's vali, and score its test documents; timed on one core."""
    warm_up(ranker, train)
    start = time.process_time()
    found = select(train, single_threaded(clone(ranker)), grid, measure, vali=fold.vali)
    tuned = time.process_time()
    assert found.scores is not None  # there is a validation set
    test = predict_ranker(found.ranker, fold.test)
    done = time.process_time()
    if not (np.isfinite(found.scores).all() and np.isfinite(test).all()):
        raise DataError("its scores are not all finite numbers")
    params = as_json(found.table[0].chosen)
    return Scores(found.scores, test, params, len(train), found.fit_seconds, tuned - start, done - tuned)


def as_json(value: Any) -> Any:
    """Return a value as JSON would return it; values that JSON does not support become their repr.

    >>> as_json({"l2": np.float64(0.5), "sizes": (1, 2), "kind": int})
    {'l2': 0.5, 'sizes': [1, 2], 'kind': "<class 'int'>"}
    """
    return json.loads(json.dumps(value, default=lambda one: one.item() if isinstance(one, np.generic) else repr(one)))


def single_threaded(ranker: Any) -> Any:
    """Use one thread per process; our rankers return identical scores for any number of threads."""
    if not hasattr(ranker, "get_params"):
        return ranker
    names = [name for name in ranker.get_params() if name == "n_jobs" or name.endswith("__n_jobs")]
    return ranker.set_params(**dict.fromkeys(names, 1))


def warm_up(ranker: Any, train: Dataset) -> None:
    """Run once on a few queries, so that times do not include loading the compiled loops."""
    some = train[query_index(train.qid)[0] < WARM_QUERIES]
    try:
        predict_ranker(fit_ranker(single_threaded(clone(ranker)), some, vali=some), some)
    except Exception:  # other libraries may fail on so few rows
        return  # the run on the fold reports its own errors


ROBUST_LINEAR = QueryIntercepts(l2=30.0, normalize="zscore", missing="mean", n_jobs=1)  # the middle of the grid
MEMBERS = {
    "GlobalRules": GlobalRules(n_jobs=1),
    "StableRules": StableRules(n_jobs=1),
    "QueryRules": QueryRules(n_jobs=1),
    "QueryIntercepts": ROBUST_LINEAR,
}
PENALTIES = {"l2": L2_GRID[1:]}

LITERAL = GlobalRules(votes="mean", drop_weakest=0.0)

SYSTEMS = {
    system.name: system
    for system in (
        System("GlobalRules, literal", "rules", Rank(LITERAL), "RE-GR as published"),
        System("StableRules, literal", "rules", Rank(StableRules(literal=True)), "RE-SR as published, phi 0.1"),
        System("QueryRules, literal", "rules", Rank(QueryRules(literal=True)), "RE-QR as published, by competence"),
        System("GlobalRules", "rules", Rank(GlobalRules()), "global rules, weighed by evidence"),
        System("StableRules", "rules", Rank(StableRules()), "rules weighed by how many queries agree"),
        System("QueryRules", "rules", Rank(QueryRules()), "the 25 most trusted queries' shrunken rules"),
        System("FittedRules", "rules", Rank(FittedRules()), "one fitted vote per rule, 30 pairs of features at most"),
        System("QueryIntercepts", "linear", Rank(QueryIntercepts(missing="mean")), "logistic, an intercept per query"),
        System("QueryIntercepts, tuned", "linear", Rank(ROBUST_LINEAR, PENALTIES), "on z-scores, l2 chosen on vali"),
        System("Best feature", "beyond", BestFeature(), "one feature alone, chosen on vali with its direction"),
        System("Competence", "beyond", Rank(Competence(MEMBERS, n_jobs=1)), "the rules and QueryIntercepts, mixed"),
    )
}

Asking = str | System | Mapping[str, Any]


def choose_systems(asked: Iterable[Asking] | Mapping[str, Any] | None = None) -> list[System]:
    """Return systems: by name, as `System`, or your own rankers and runs as a dict.

    >>> [system.name for system in choose_systems(["RE-GR", {"mine": GlobalRules(max_size=1)}])]
    ['GlobalRules', 'mine']
    """
    if asked is None:
        return list(SYSTEMS.values())
    if isinstance(asked, str):
        raise DataError(f"expected a list of systems, such as [{asked!r}]: got the text {asked!r}")
    wanted: list[System] = []
    for one in [asked] if isinstance(asked, Mapping) else asked:
        if isinstance(one, Mapping):
            wanted += [own_system(str(name), value) for name, value in one.items()]
        else:
            wanted.append(one if isinstance(one, System) else system_named(one))
    if not wanted:
        raise DataError("expected at least one system to run: got none")
    names = [system.name for system in wanted]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"two systems are called {twice!r}: give each a different name")
    return wanted


def own_system(name: str, value: Any) -> System:
    """Return a user's system: a ranker, a run, or a known system under another name.

    >>> own_system("mine", GlobalRules()).about, own_system("ours", "RE-GR").about
    ('GlobalRules', 'global rules, weighed by evidence')
    """
    if isinstance(value, str | System):
        return replace(system_named(value) if isinstance(value, str) else value, name=name)
    if isinstance(value, Run):
        return System(name, "yours", GivenRun(value), "a run made elsewhere")
    if hasattr(value, "fit") and hasattr(value, "predict") and not isinstance(value, type):
        return System(name, "yours", Rank(value), type(value).__name__)
    came = f"the class {value.__name__}, not an instance" if isinstance(value, type) else f"{value!r:.60}"
    raise DataError(
        f"{name}: expected a ranker with fit and predict, a run (rr.read_run) or the name of a system: got {came}"
    )


def system_named(name: str) -> System:
    """Return a system by its name or its code in the papers, ignoring case, blanks and punctuation.

    >>> system_named("re-gr").name, system_named("bestfeature").name, system_named("globalrules").name
    ('GlobalRules', 'Best feature', 'GlobalRules')
    """
    if not isinstance(name, str):
        raise DataError(f"expected the name of a system, or {{'mine': {name!r:.40}}} for one of your own")

    def bare(name: str) -> str:
        return "".join(char for char in name.lower() if char.isalnum() or char == "+")

    known = {bare(other): system for other, system in SYSTEMS.items()}
    for method in METHODS.values():
        if method.class_name in SYSTEMS:
            known |= {bare(other): SYSTEMS[method.class_name] for other in method.names}
    if bare(name) in known:
        return known[bare(name)]
    close = difflib.get_close_matches(bare(name), known, n=1)
    meant = f"did you mean {known[close[0]].name}? " if close else ""
    raise DataError(f"unknown system {name!r}; {meant}choose from {', '.join(SYSTEMS)}")
