"""Competence-conscious aggregation: each member counts where it is competent (DC3A, QC3A, and beyond)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulerank.aggregate.calibration import AsTheyCome, Calibrated
from rulerank.aggregate.members import (
    cross_fitted_scores,
    fit_member,
    members_from_state,
    members_to_state,
    named_members,
)
from rulerank.aggregate.metric_competence import MemberRules
from rulerank.aggregate.mixing import Mixture
from rulerank.aggregate.weighs_members import WeighsMembers
from rulerank.core.parameters import Checked, Flag, Parameter, Whole, Word
from rulerank.dataset import Array
from rulerank.discretize import Discretizer
from rulerank.errors import DataError, ModelFileError
from rulerank.rankers.base import Labelled, Ranker
from rulerank.rankers.foreign import fresh
from rulerank.rankers.rule_ranker import RuleRanker
from rulerank.rules.by_query.most_competent import TIES
from rulerank.rules.metrics import METRICS


class Competence(WeighsMembers):
    """Combine rankers, or readings of the same rules, by how competent each is for a document or query.

    By default members are put on one scale (z-scores by query, worth what they proved to be worth on queries they
    were not fitted to), and mixed by how likely each makes the judges' grades. The weights follow the document's or
    the query's features where that holds on queries left out, and are the same for all where it does not.

    Parameters
    ----------
    members: two or more metric names (the seven by default), names of methods such as "RE-GR" and "QI", or rankers as
        (name, ranker) pairs or a dict: anything with fit and predict. They are copied and fitted here, with qid or
        group if their fit takes it.
    centric: weigh members per "document" or per "query".
    literal: the paper to the letter, DC3A (or QC3A, centric="query"): the member whose score is closest to the grade
        (for most documents of the query) labels a training document, and rules X -> member choose one for each new
        document, whose score it gets. `select` and `calibrate` are not used.
    scale: "query" puts what the chosen member says on a scale from 0 to 1 by the lowest and highest of its scores in
        the query (literal only): documents for which different members are chosen can then be compared.
    select: "mix" all members by their weights, or take the "best".
    calibrate: False takes the members' scores as they are for estimates of the grade.
    n_splits: parts of the queries; each is scored by rankers fitted to the others (metrics leave out one query).
    seed: another seed deals the queries out differently.
    ties: of several equally competent members take the "first", or give each a "share" (literal only).
    max_size, min_support, discretizer, mapped: as in GlobalRules; for metrics and for the literal form.
    n_jobs: threads of our own loops; all cores by default. Members bring their own.

    Attributes
    ----------
    names_: the members' names: the columns of all that follows.
    members_: the fitted rankers, in the order of names_; empty for metrics.
    competence_: log-likelihood of the grades of each training document (or query, in order of appearance) under each
        member; literal: |score - grade| of each training document, smaller is better.

    Examples
    --------
    >>> import rulerank as rr
    >>> world = rr.make_world(n_queries=20, seed=0)
    >>> members = {"rules": rr.GlobalRules(), "linear": rr.QueryIntercepts(l2=1.0, missing="mean")}
    >>> ranker = rr.Competence(members, centric="query").fit(world)
    >>> ranker.weights(world).shape == (len(world), 2)
    True
    >>> rr.Competence(["confidence", "yule_q"], literal=True).fit(world).chosen(world)[:2].tolist()
    ['confidence', 'confidence']
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "members": Checked(
            named_members, "two or more metric names, or rankers by name", meaning="what is put together"
        ),
        "centric": Word(("document", "query"), meaning="what the weights of the members are for"),
        "literal": Flag(meaning="the paper to the letter"),
        "select": Word(("mix", "best"), meaning="mix all members by their weights, or take the best"),
        "calibrate": Flag(meaning="put the members on one scale first"),
        "n_splits": Whole(2, meaning="parts of the queries, each scored by rankers fitted to the others"),
        "seed": Whole(0, meaning="another one deals the queries out differently"),
        "ties": Word(TIES, meaning="of several equally competent members take the first, or all (literal only)"),
        "scale": Word(("query",), meaning="put the chosen member's scores on one scale by query", none="as they are"),
        "mapped": Flag(meaning="map signed metrics onto 0 to 1 before they vote"),
    } | {name: RuleRanker.parameter_table[name] for name in ("max_size", "min_support", "discretizer")}
    _why_not_additive: ClassVar[str] = (
        "its members are put on one scale by query; they can be exported one by one, in parts (--parts)"
    )

    normalize = None  # members normalise for themselves

    competence_: Array

    def __init__(
        self,
        members: Any = METRICS,
        centric: str = "document",
        literal: bool = False,
        select: str = "mix",
        calibrate: bool = True,
        n_splits: int = 5,
        seed: int = 0,
        ties: str = "first",
        max_size: int | None = 2,
        min_support: float = 0.0,
        discretizer: Any = "mdlp",
        n_jobs: int | None = None,
        scale: str | None = None,
        mapped: bool = True,
    ) -> None:
        self.members = members
        self.centric = centric
        self.literal = literal
        self.select = select
        self.calibrate = calibrate
        self.n_splits = n_splits
        self.seed = seed
        self.ties = ties
        self.max_size = max_size
        self.min_support = min_support
        self.discretizer = discretizer
        self.n_jobs = n_jobs
        self.scale = scale
        self.mapped = mapped

    def check_parameters(self) -> None:
        """Raise a DataError that names a parameter with a value it may not have."""
        super().check_parameters()
        if self.scale is not None and not self.literal:
            raise DataError(
                f"scale={self.scale!r} is for literal=True, which takes one member's score; otherwise members are put "
                "on one scale anyway (calibrate=True)"
            )

    def predict(self, X: Any, qid: Any = None) -> Array:
        """Return one score per row; qid is needed except for the literal form without scale="query"."""
        self.check_names(X)
        return self.predict_codes(X, qid)

    def predict_codes(self, X: Any, qid: Any = None) -> Array:
        return self._score_documents(self._rows(X, qid))

    def weights(self, X: Any, qid: Any = None) -> Array:
        """Return how much each member counts for each row, (n_rows, n_members); they add up to 1."""
        return self._weights(self._rows(X, qid))

    def chosen(self, X: Any, qid: Any = None) -> Array:
        """Return the name of the member that counts most for each row."""
        return np.array(self.names_, dtype=object)[np.argmax(self.weights(X, qid), axis=1)]

    def member_scores(self, X: Any, qid: Any = None) -> Array:
        """Return each member's own scores, (n_rows, n_members)."""
        return self._member_scores(self._rows(X, qid))

    def _learn(self, data: Labelled) -> None:
        members = named_members(self.members)
        self.names_ = tuple(name for name, _ in members)
        rankers = [ranker for _, ranker in members if ranker is not None]
        X, grades, queries = data.X, data.grades.astype(np.int64), data.queries
        self._rules = MemberRules(
            () if rankers else self.names_, self.max_size, self.min_support, self.discretizer, self.n_jobs, self.mapped
        )
        self._rules.of_a_part = True  # these grades were looked at already
        if self.literal or not rankers:
            self._rules.fit(X, grades, qid=queries)
        if rankers:
            scores = cross_fitted_scores(rankers, X, grades, queries, self.n_splits, self.seed)
        else:
            scores = self._rules.left_out_scores()
        self.members_ = [fit_member(ranker, X, grades, queries) for ranker in rankers]
        self._pass_names_on()
        if self.literal:
            self.competence_ = np.abs(scores - grades[:, None])
            self._rules.learn_members(self.competence_, queries, self.centric, self.ties)
        else:
            self._learn_mixture(X, scores, grades, queries)

    def fit_prepared(self, X: Array, y: Any, qid: Any, **prepared: Any) -> Self:
        super().fit_prepared(X, y, qid, **prepared)
        if prepared.get("discretizer") is not None and hasattr(self._rules, "discretizer_"):
            # its rules were told to keep these bins, and are saved with them
            self._rules.discretizer = self._rules.discretizer_ = prepared["discretizer"]
            self._rules.record_params()
        self._pass_names_on()
        return self

    def _pass_names_on(self) -> None:
        """Let rules and members, which were fitted to arrays, call features by their names."""
        for part in (self._rules, *self.members_):
            if isinstance(part, Ranker):
                part.feature_names_, part.has_names_ = self.feature_names_, self.has_names_

    def _learn_mixture(self, X: Array, scores: Array, grades: Array, queries: Array) -> None:
        self._scale = (Calibrated if self.calibrate else AsTheyCome)(scores, grades, queries)
        by_query = self.centric == "query"
        judged = self._scale.by_query if by_query else self._scale.by_document
        self.competence_ = judged(scores, grades, queries)
        units = self._describe(X, scores, queries)
        unit_queries = np.arange(len(units)) if by_query else queries
        # a query without a relevant document tells nobody apart
        telling = np.ptp(self.competence_, axis=1) > 0 if by_query else np.ones(len(units), dtype=bool)
        telling = telling if telling.any() else ~telling
        self._mixture = Mixture(self.competence_[telling], units[telling], unit_queries[telling], self.seed)

    def mixing(self) -> dict[str, Any]:
        """Return how the members' scores become the score, as plain values: what an export in parts goes with.

        >>> import rulerank as rr
        >>> world = rr.make_world(n_queries=20, seed=0)
        >>> rr.Competence("RE-GR, RE-SR").fit(world).mixing()["score"]
        'sum of weight * factor * z-score of the member by query'
        """
        check_is_fitted(self)
        if self.params_["literal"] or self.params_["select"] == "best":
            raise DataError(
                "this Competence takes another member for every document, so its parts alone do not make its score: "
                'fit it with literal=False and select="mix"'
            )
        gate = None if self._mixture.coef is None else self._mixture.gate(self.feature_names_)
        if gate is not None and self.params_["centric"] == "query":
            raise DataError(
                "the weights of this Competence depend on what is known of the whole query, so its parts alone do not "
                'make its score; fit it with centric="document", or score with rulerank itself'
            )
        scale = "z-score of the member by query" if self.params_["calibrate"] else "score of the member"
        factors = self._scale.factors if isinstance(self._scale, Calibrated) else np.ones(len(self.names_))
        rows = zip(self.names_, self._mixture.common.tolist(), factors.tolist(), strict=True)
        members = [{"member": name, "weight": weight, "factor": factor} for name, weight, factor in rows]
        return {"score": f"sum of weight * factor * {scale}", "members": members} | ({"gate": gate} if gate else {})

    def _saved_params(self) -> dict[str, Any]:
        # rankers and objects are saved with what they learned, and stand here for something that may be given
        members = ["confidence", "strength"] if self.members_ else list(self.names_)
        discretizer = self.params_["discretizer"]
        return self.params_ | {
            "members": members,
            "discretizer": discretizer if isinstance(discretizer, str | None) else None,
        }

    def _learned_state(self) -> dict[str, Any]:
        discretizer = self.params_["discretizer"]
        if not isinstance(discretizer, str | Discretizer | None):
            raise DataError(
                "a model can be saved only with a discretizer of this library: "
                f"got {type(discretizer).__name__}; choose one by name"
            )
        counted = self.params_["literal"] or not self.members_
        state: dict[str, Any] = {
            "names": list(self.names_),
            "members": members_to_state(self.names_, self.members_) if self.members_ else [],
            "rules": self._rules.to_state() if counted else None,
            "competence": self.competence_,
        }
        if not self.params_["literal"]:
            scale = self._scale
            state["mixture"] = self._mixture.to_state()
            state["scale"] = (
                {"factors": scale.factors} if isinstance(scale, Calibrated) else {"errors": scale.deviation}
            )
        return state

    def _take_learned(self, state: dict[str, Any]) -> None:
        self.names_ = tuple(map(str, state["names"]))
        self.members_ = members_from_state(state["members"])
        self.competence_ = state["competence"]
        if state["rules"] is not None:
            self._rules = MemberRules.from_state(state["rules"])
        else:
            self._rules = MemberRules()
        if self.members_:
            self.members = [(name, fresh(member)) for name, member in zip(self.names_, self.members_, strict=True)]
        elif list(self._rules.metrics) != list(self.names_):
            raise ModelFileError("its metrics are not those of its rules")
        if state["rules"] is not None and not isinstance(self._rules.discretizer, str | None):
            self.discretizer = self._rules.discretizer
        self.record_params()
        if self.literal:
            self._rules.check_labels(len(self.names_))
            return
        self._mixture = Mixture.from_state(state["mixture"], len(self.names_))
        [(kind, values)] = state["scale"].items()
        if values.shape != (len(self.names_),):
            raise ModelFileError("its scale does not fit its members")
        self._scale = Calibrated.of(values) if kind == "factors" else AsTheyCome.of(values)
