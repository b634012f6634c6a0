"""Competence-conscious aggregation: each member counts where it is competent (DC3A, QC3A, and beyond)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from rulerank._util.estimator import check_is_fitted, clone
from rulerank._util.parameters import Checked, Flag, Parameter, Whole, Word
from rulerank.dataset import Array, Dataset, check_column, query_index
from rulerank.errors import DataError, ModelFileError
from rulerank.fusion.metric_rules import MemberRules, picked
from rulerank.fusion.mixture import Calibration, Mixture, log_likelihoods
from rulerank.methods import METHODS, method_named
from rulerank.rankers.base import Labelled, Ranker
from rulerank.rankers.foreign import QueryKFold, fit_ranker, fresh_for_part, predict_ranker
from rulerank.rankers.rule_ranker import RuleRanker
from rulerank.rules.additive import Contributions
from rulerank.rules.by_query import TIES
from rulerank.rules.metrics import METRICS, check_metric

MEMBERS_BASELINES = "baseline ranking of members"  # a part of members that start from one
LEAST = 5e-5  # weight of a member that explanations name
Members = list[tuple[str, Any]]  # names and rankers; None: the metric of that name


def named_members(members: Any) -> Members:
    """Check members given as names of metrics or of methods, or as a dict of rankers.

    >>> named_members(["confidence", "yule_q"])
    [('confidence', None), ('yule_q', None)]
    >>> named_members("RE-GR, QI")
    [('RE-GR', GlobalRules()), ('QI', QueryIntercepts())]
    """
    if isinstance(members, str):
        members = [name.strip() for name in members.split(",")]
    of_rankers = isinstance(members, Mapping) and all(
        isinstance(name, str) and all(callable(getattr(ranker, does, None)) for does in ("fit", "predict"))
        for name, ranker in members.items()
    )
    of_names = isinstance(members, Sequence) and all(isinstance(name, str) for name in members)
    if not (of_rankers or of_names) or len(members) < 2:
        raise DataError(
            "members must be two or more names of metrics or methods, or a dict of rankers (with fit and predict) by "
            f"name: got {str(members)[:60]!r}"
        )
    named = [*members.items()] if of_rankers else _by_name(members)
    names = [name for name, _ in named]
    if len(set(names)) < len(names):
        raise DataError(f"members must have different names: got {', '.join(names)}")
    return named


@dataclass(eq=False, repr=False)
class Competence(Ranker):
    """Combine rankers, or metrics of the same rules, by their competence for a document or query.

    By default the score is a weighted mean of the members' scores. Scores are first scaled: z-scores by query, times a
    factor per member that is fitted on queries the member was not trained on. The weights maximise the likelihood of
    the grades. They depend on the document's features if that improves held-out queries, and are constant otherwise.

    Parameters
    ----------
    members: two or more metric names (the seven by default), names of methods such as "RE-GR" and "QI", or a dict of
        rankers by name: anything with fit and predict. They are copied and fitted here, with qid or group if their fit
        has that argument.
    centric: choose members per "document" (DC3A) or per "query" (QC3A); "query" needs literal=True.
    literal: the method as published. Each training document is labelled with the member whose score is closest to its
        grade (QC3A: closest for most documents of its query). Rules X -> member on these labels choose one member for
        each new document, which gets that member's score.
    n_splits: number of folds of the queries; each is scored by members fitted to the others. (Metrics need no folds:
        every query is scored by the rules of all others.)
    seed: random seed of the split into parts.
    ties: if several members are equally close: "first" takes the first, "share" gives each an equal share (literal
        only).
    max_size, min_support, discretizer: as in GlobalRules; for metrics and for the literal form.
    n_jobs: threads of our own loops; all cores by default. Members use their own setting.

    Attributes
    ----------
    names_: the members' names, which are the columns of the attributes below.
    members_: the fitted rankers, in the order of names_; empty for metrics.
    competence_: log-likelihood of the grade of each training document under each member; literal: |score - grade|,
        smaller is better.

    Examples
    --------
    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=20, seed=0)
    >>> members = {"rules": rr.GlobalRules(), "linear": rr.QueryIntercepts(l2=1.0, missing="mean")}
    >>> ranker = rr.Competence(members).fit(data)
    >>> ranker.weights(data).shape == (len(data), 2)
    True
    >>> rr.Competence(["confidence", "yule_q"], literal=True).fit(data).chosen(data)[:2].tolist()
    ['confidence', 'confidence']
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "members": Checked(named_members, "two or more metric names, or rankers by name", meaning="rankers to combine"),
        "centric": Word(("document", "query"), meaning="weights per document, or per query as in QC3A (literal only)"),
        "literal": Flag(meaning="the method as published"),
        "n_splits": Whole(2, meaning="folds of the queries, each scored by rankers fitted to the others"),
        "seed": Whole(0, meaning="random seed of the split"),
        "ties": Word(TIES, meaning="of several equally competent members take the first, or all (literal only)"),
    } | {name: RuleRanker.parameter_table[name] for name in ("max_size", "min_support", "discretizer")}
    former_parameters: ClassVar[frozenset[str]] = frozenset({"select", "calibrate", "scale", "mapped"})
    former_values: ClassVar[Mapping[str, Mapping[Any, Any]]] = {
        "select": {"best": "mix"},
        "calibrate": {False: True},
        "scale": {"query": None},
        "mapped": {False: True},
    }
    _why_not_additive: ClassVar[str] = "its members are scaled by query; export a member, such as ranker.members_[0]"

    base_text: ClassVar[str] = "the score if no rule of any member voted"
    normalize = None  # members normalise for themselves

    members: Any = METRICS
    centric: str = "document"
    literal: bool = False
    n_splits: int = 5
    seed: int = 0
    ties: str = "first"
    max_size: int | None = 2
    min_support: float = 0.0
    discretizer: Any = "mdlp"
    n_jobs: int | None = None

    def check_parameters(self) -> None:
        """Raise a DataError that names a parameter with a value it may not have."""
        super().check_parameters()
        if self.centric == "query" and not self.literal:
            raise DataError(
                "centric='query' is for literal=True (QC3A): set literal=True, or leave out centric; weights per query "
                "were no better"
            )

    def needs_the_query(self) -> bool:
        return not self.params_["literal"] or bool(self.members_)

    def predict_codes(self, X: Any, qid: Any = None) -> Array:
        X, queries = self._rows(X, qid)
        scores = self._member_scores(X, queries)
        weights, estimates = self._weights(X), self._estimates(scores, queries)
        if self.params_["literal"]:
            return picked(estimates, weights)
        return np.asarray((weights * estimates).sum(axis=1))

    def weights(self, X: Any, qid: Any = None) -> Array:
        """Return how much each member counts for each row, (n_rows, n_members); they add up to 1."""
        return self._weights(self._rows(X, qid)[0])

    def chosen(self, X: Any, qid: Any = None) -> Array:
        """Return the name of the member that counts most for each row."""
        return np.array(self.names_, dtype=object)[np.argmax(self.weights(X, qid), axis=1)]

    def member_scores(self, X: Any, qid: Any = None) -> Array:
        """Return each member's own scores, (n_rows, n_members)."""
        return self._member_scores(*self._rows(X, qid))

    def _rows(self, X: Any, qid: Any) -> tuple[Array, Array | None]:
        """Check rows, and number their queries where they are given."""
        check_is_fitted(self)
        qid = X.qid if qid is None and isinstance(X, Dataset) else qid
        checked = self.check_rows(X, qid)
        return checked, None if qid is None else query_index(check_column("qid", qid, len(checked)))[0]

    def _score(self, X: Array) -> Array:
        return self.predict_codes(X)

    def _member_scores(self, X: Array, queries: Array | None) -> Array:
        if not self.members_:
            return self._rules.scores_by_metric(X)
        return scores_of(self.members_, X, queries)

    def _weights(self, X: Array) -> Array:
        if self.params_["literal"]:
            return self._rules.member_weights(X, len(self.names_))
        return self._mixture.weights(X.astype(np.float64))

    def _estimates(self, scores: Array, queries: Array | None) -> Array:
        """Return members' scores (n_rows, n_members) as they are picked or mixed."""
        if self.params_["literal"]:
            return scores
        if queries is None:
            raise DataError("members are scaled by query: give the query of each row, predict(X, qid=qid)")
        return self._scale.estimates(scores, queries)

    def _learn(self, data: Labelled) -> None:
        members = named_members(self.members)
        self.names_ = tuple(name for name, _ in members)
        rankers = [ranker for _, ranker in members if ranker is not None]
        X, grades, queries = data.X, data.grades.astype(np.int64), data.queries
        shared = {name: getattr(self, name) for name in ("max_size", "min_support", "discretizer", "n_jobs")}
        self._rules = MemberRules(metrics=() if rankers else self.names_, **shared)
        # these grades were looked at already, and so may be the bins
        self._rules.of_a_part, self._rules.prepared_bins = True, self.prepared_bins
        if self.literal or not rankers:
            self._rules.fit(X, grades, qid=queries)
        if rankers:
            scores = cross_fitted_scores(rankers, X, grades, queries, self.n_splits, self.seed)
        else:
            scores = self._rules.left_out_scores()
        self.members_ = [fit_ranker(fresh_for_part(ranker), X, grades, queries) for ranker in rankers]
        self._pass_names_on()
        if self.literal:
            self.competence_ = np.abs(scores - grades[:, None])
            self._rules.learn_members(self.competence_, queries, self.centric, self.ties)
        else:
            self._scale = Calibration.learn(scores, grades, queries)
            self.competence_ = log_likelihoods(scores, grades, queries)
            features = np.ascontiguousarray(X, dtype=np.float64)  # sums must not depend on how rows lie in memory
            self._mixture = Mixture(self.competence_, features, queries, self.seed)

    def fit_prepared(self, X: Array, y: Any, qid: Any, **prepared: Any) -> Self:
        super().fit_prepared(X, y, qid, **prepared)
        self._pass_names_on()
        return self

    def _pass_names_on(self) -> None:
        """Let rules and members, which were fitted to arrays, call features by their names."""
        for part in (self._rules, *self.members_):
            if isinstance(part, Ranker):
                part.feature_names_, part.has_names_ = self.feature_names_, self.has_names_

    def checked_contributions(self, X: Any, queries: Array | None = None) -> Contributions:
        if queries is None and self.needs_the_query():
            raise DataError("the documents of a query are compared with each other: give contributions(X, qid=qid)")
        numbers = np.zeros(len(X), dtype=np.int64) if queries is None else queries
        scores, weights = self._member_scores(X, numbers), self._member_weights(X)
        slopes = np.ones_like(scores)  # what one more point of score adds to each member's estimate
        for query in np.unique(numbers) if not self.params_["literal"] else ():
            slopes[numbers == query] = self._scale.slopes(scores[numbers == query])
        parts = self._member_contributions(X, numbers, scores)
        factors = weights * slopes  # what one more point of a member's score adds
        bases = np.column_stack([part.base for part in parts])
        base = weights * self._estimates(scores, numbers) + factors * (bases - scores)
        places = {own: place for place, own in enumerate(dict.fromkeys(own for part in parts for own in part.features))}
        values = np.zeros((len(X), len(places)))
        for part, factor in zip(parts, factors.T, strict=True):
            values[:, [places[own] for own in part.features]] += factor[:, None] * part.values
        return Contributions.of(base.sum(axis=1), values, list(places), (*self.feature_names_, MEMBERS_BASELINES))

    def _member_contributions(self, X: Array, queries: Array, scores: Array) -> list[Contributions]:
        """Take the members' scores apart; those of other libraries are nothing but a base."""
        if not self.members_:
            return self._rules.contributions_by_metric(X)
        parts = []
        for member, own in zip(self.members_, scores.T, strict=True):
            part = Contributions(own, np.zeros((len(X), 0)), (), ())
            if isinstance(member, Ranker):
                with suppress(DataError):
                    part = member.checked_contributions(member.check_rows(X, queries), queries)
            parts.append(part)
        return parts

    def _member_weights(self, X: Array) -> Array:
        """Return what each member weighs in the score of each row: the literal form takes one of them."""
        weights = self._weights(X)
        return np.eye(len(self.names_))[np.argmax(weights, axis=1)] if self.params_["literal"] else weights

    @property
    def metric_rules(self) -> MemberRules | None:
        """The rules that metrics read; None where members are rankers."""
        return None if self.members_ else self._rules

    def notes_on(self, X: Any, row: int) -> tuple[str, ...]:
        queries, weights = np.zeros(len(X), dtype=np.int64), self._member_weights(X)[row]
        estimates = self._estimates(self._member_scores(X, queries), queries)[row]
        counting = [member for member in np.argsort(-weights, kind="stable") if weights[member] >= LEAST]
        text = f"The score is that of {self.names_[counting[0]]}: it alone counts for this document."
        if len(counting) > 1:
            sums = " + ".join(f"{weights[m]:.4f} * {estimates[m]:.4f} ({self.names_[m]})" for m in counting)
            text = f"Weights times members' estimates: {sums}."
        return (text, *self._why(X, row))

    def _why(self, X: Array, row: int) -> tuple[str, ...]:
        """Explain the weights of the members."""
        if self.params_["literal"]:
            shares = zip(self.names_, self._weights(X)[row], strict=True)
            text = ", ".join(f"{name} {share:.0%}" for name, share in shares)
            return (f"Competence for documents like this one, by the rules X -> member: {text}.",)
        if self._mixture.coef is None:
            return (
                "The members' weights are the same for all documents: no feature shows where one is more competent.",
            )
        return self._mixture.reasons(X[row].astype(np.float64), self.feature_names_, self.names_)

    def _saved_params(self) -> dict[str, Any]:
        # rankers and objects are saved with what they learned, and stand here for something that may be given
        members = ["confidence", "strength"] if self.members_ else list(self.names_)
        named = self.params_ if isinstance(self.params_["discretizer"], str | None) else {"discretizer": None}
        return self.params_ | {"members": members, "discretizer": named["discretizer"]}

    def _learned_state(self) -> dict[str, Any]:
        counted = self.params_["literal"] or not self.members_
        state: dict[str, Any] = {"names": list(self.names_), "competence": self.competence_}
        state["members"] = members_to_state(self.names_, self.members_) if self.members_ else []
        state["rules"] = self._rules.to_state() if counted else None
        if not self.params_["literal"]:
            state |= {"mixture": self._mixture.to_state(), "scale": {"factors": self._scale.factors}}
        return state

    def _take_learned(self, state: dict[str, Any]) -> None:
        self.names_ = tuple(map(str, state["names"]))
        self.members_ = members_from_state(state["members"])
        self.competence_ = state["competence"]
        self._rules = MemberRules() if state["rules"] is None else MemberRules.from_state(state["rules"])
        if self.members_:
            self.members = {name: clone(member) for name, member in zip(self.names_, self.members_, strict=True)}
        elif list(self._rules.metrics) != list(self.names_):
            raise ModelFileError("inconsistent model file (its metrics are not those of its rules); train again")
        if state["rules"] is not None and not isinstance(self._rules.discretizer, str | None):
            self.discretizer = self._rules.discretizer
        self.record_params()
        if self.literal:
            self._rules.check_labels(len(self.names_))
            return
        self._mixture = Mixture.from_state(state["mixture"], len(self.names_))
        self._scale = Calibration(state["scale"]["factors"])
        if self._scale.factors.shape != (len(self.names_),):
            raise ModelFileError("inconsistent model file (its scale does not match its members); train again")


def scores_of(fitted: Sequence[Any], X: Array, queries: Array | None) -> Array:
    """Score rows by each fitted ranker, (n_rows, n_members)."""
    scores = np.column_stack([predict_ranker(ranker, X, queries) for ranker in fitted])
    if not np.isfinite(scores).all():
        place = int(np.flatnonzero(~np.isfinite(scores).all(axis=0))[0])
        raise DataError(f"the scores of member {place + 1}, {type(fitted[place]).__name__}, are not all finite")
    return scores


def cross_fitted_scores(
    rankers: Sequence[Any], X: Array, grades: Array, queries: Array, n_splits: int, seed: int
) -> Array:
    """Score each training row by rankers fitted without its query, (n_rows, n_members)."""
    scores = np.empty((len(X), len(rankers)))
    for train, test in QueryKFold(n_splits, seed=seed).split(X, qid=queries):
        rows = X[train], grades[train], queries[train]
        fitted = [fit_ranker(fresh_for_part(ranker), *rows) for ranker in rankers]
        scores[test] = scores_of(fitted, X[test], queries[test])
    return scores


def members_to_state(names: Sequence[str], fitted: Sequence[Any]) -> list[dict[str, Any]]:
    """Return fitted rankers as plain values and arrays; those of other libraries cannot be."""
    known = {method.class_name for method in METHODS.values()}
    for name, ranker in zip(names, fitted, strict=True):
        if not isinstance(ranker, Ranker) or type(ranker).__name__ not in known:
            raise DataError(
                f"this Competence cannot be saved: its member {name!r} is a {type(ranker).__name__}, which a model "
                f"file cannot store; members may be metrics and {', '.join(sorted(known))}"
            )
    return [{"class": type(ranker).__name__, "state": ranker.to_state()} for ranker in fitted]


def members_from_state(saved: Sequence[Mapping[str, Any]]) -> list[Ranker]:
    """Return the rankers that `members_to_state` described; nothing but our own rankers is ever loaded."""
    by_class = {method.class_name: method for method in METHODS.values()}
    for member in saved:
        if member["class"] not in by_class:
            raise ModelFileError(f"unknown member class {member['class']!r}")
    return [by_class[member["class"]].ranker_class().from_state(member["state"]) for member in saved]


def _by_name(names: Sequence[str]) -> Members:
    """Return metrics, or rankers with their defaults, by what they are called."""
    methods = {word.lower() for method in METHODS.values() for word in method.names}
    if any(name in METRICS for name in names) or not any(name.lower() in methods for name in names):
        return [(check_metric(name), None) for name in names]
    return [(method.name, method.ranker_class()()) for method in map(method_named, names)]
