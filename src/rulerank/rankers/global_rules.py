"""RE-GR, also known as LRAR: every rule that covers a document votes on its grade."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from rulerank._util.estimator import check_is_fitted
from rulerank._util.parameters import Parameter, Word
from rulerank.dataset import Array
from rulerank.errors import DataError, TooLargeError
from rulerank.rankers.rule_ranker import IncrementalRules, RuleRanker
from rulerank.rules.additive import MAX_SIZE, AdditiveTables, Table
from rulerank.rules.engine import Engine, Rule, RuleBook
from rulerank.rules.metrics import METRICS
from rulerank.rules.votes import VOTES, LiftVotes, Votes, votes_named


@dataclass(eq=False, repr=False)
class GlobalRules(IncrementalRules):
    """Rank documents by the votes of the association rules that cover them (RE-GR).

    Parameters
    ----------
    max_size: maximum number of items in a rule; None: any number, as in the papers, feasible for few features.
    min_support: minimum share of the training rows that a rule covers; at least one row.
    metric: how strong a rule is when votes="mean": "added_value", "certainty", "confidence", "strength", "yule_q",
        "yule_y" or "relative_confidence"; `rulerank.rules.metrics` defines them.
    votes: "evidence" averages how far the grades of each rule's documents are above the expectation of their queries,
        weighted by how well the rule's features separate relevant documents; "mean" is RE-GR as published, the mean
        strength (metric) of the rules.
    discretizer: a name, an object of `rulerank.discretize`, or None when X holds bin numbers from 0.
    drop_weakest: share of the features to leave out, those that separate relevant documents least within queries;
        by default a quarter, and none for votes="mean".
    normalize: normalise features by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
    memory_budget: maximum size of the tables in MiB. Above it the training rows are kept, and each call of predict
        counts and scores in one pass over the feature sets, with bit-identical scores.
    keep_rows: MiB that training rows in bins may take to be kept, in memory and in the model file, for
        `partial_fit` and `unlearn`; a row takes a byte for each feature. Beyond it, and with 0, they are not kept.
    n_jobs: threads; all cores by default. The scores do not depend on it.

    Examples
    --------
    >>> import rulerank as rr
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> ranker = rr.GlobalRules(discretizer=None, votes="mean").fit(X, [0, 0, 1, 2], qid=["a", "a", "b", "b"])
    >>> ranker.predict(X).round(2).tolist()
    [0.37, 0.75, 1.0, 1.1]
    >>> print(ranker.rules_for([1, 1])[-1])
    f1=1 & f2=1 -> 2 (1 of 1)
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "metric": Word(METRICS, meaning='how strong a rule is when votes="mean"'),
        "votes": Word(tuple(VOTES), meaning="how the rules of a document are combined"),
    }
    former_parameters: ClassVar[frozenset[str]] = RuleRanker.former_parameters | {"mapped"}

    _tables: tuple[Engine, AdditiveTables] | None = field(
        default=None, init=False
    )  # of `additive`, with what they were made of
    former_values: ClassVar[Mapping[str, Mapping[Any, Any]]] = {
        "votes": {"residual": "evidence"},
        "mapped": {False: True},
    }

    metric: str = "confidence"
    votes: str = "evidence"

    def scheme(self) -> Votes:
        """Return how rules vote."""
        return votes_named(self.votes, self.metric)

    @property
    def rules_(self) -> RuleBook:
        """All rules, as a sequence that makes each Rule when it is looked at."""
        check_is_fitted(self)
        return RuleBook(self.engine_, self.item_text)

    def rules_for(self, x: Any, row: int | None = None) -> list[Rule]:
        """Return the rules that cover one document, smaller antecedents first.

        x: the document's features; or those of all documents of its query, `row` saying which one is meant, which a
        ranker that normalises by query needs.
        """
        row_bins = self._one_document(x, row)
        return self._rules(row_bins, self.engine_.votes_of(row_bins)[0])

    def _uses_queries(self) -> bool:
        return self.votes != "mean" or self.normalize is not None

    def _votes_as_in_the_paper(self) -> bool:
        return self.votes == "mean"

    def check_parameters(self) -> None:
        """Raise a DataError that names a parameter with a value it may not have."""
        super().check_parameters()
        votes_named(self.votes, self.metric)

    def _learned_state(self) -> dict[str, Any]:
        return super()._learned_state() | {"additive": self._is_additive()}

    def _take_learned(self, state: dict[str, Any]) -> None:
        # a model of the first version says nothing: there empty cells had no say, and have none now
        additive = bool(state.get("additive", False))
        self._take_engine(state, votes_named(self.votes, self.metric, additive=additive))

    def additive(self) -> AdditiveTables:
        """Return the fitted model as a sum of tables, one for each set of features: what `predict` adds up."""
        check_is_fitted(self)
        if self.params_["votes"] == "mean":
            raise DataError(
                "GlobalRules(votes='mean') is not additive: it divides by the number of rules that cover a document; "
                'fit it with votes="evidence"'
            )
        if not self._is_additive():
            raise DataError(
                "this GlobalRules is not additive: models of the first version have no votes for cells without "
                "training rows; fit it again"
            )
        if self._tables is None or self._tables[0] is not self.engine_:  # rows may have been added since
            axes = axes_of(self.discretizer_, self.n_bins_)
            self._tables = self.engine_, additive_tables(self.engine_, axes, self.feature_names_)
        return self._tables[1]

    def as_tables(self) -> AdditiveTables | None:
        """Return the same; None where the votes are not such a sum, or its tables too large."""
        try:
            return self.additive()
        except (DataError, TooLargeError):
            return None

    def _is_additive(self) -> bool:
        scheme = self.engine_.scheme
        return isinstance(scheme, LiftVotes) and scheme.additive


@dataclass(frozen=True, eq=False)
class RuleAxis:
    """How the values of a feature lie on the axis of a table."""

    cuts: Array  # float64, ascending
    bins: Array  # int64 (len(cuts) + 2,) the rules' bin of each index on the axis, -1 where training had none
    kinds: tuple[str, ...] | None = None  # of a feature that names kinds


def axes_of(discretizer: Any, n_bins: Array) -> list[RuleAxis]:
    """Return the axis of each feature, given the bins that training had.

    >>> [axis.bins.tolist() for axis in axes_of(None, np.array([2]))]
    [[0, 1, -1, -1]]
    """
    if discretizer is None:  # values are bin numbers, and others than training had vote for nothing
        return [RuleAxis(np.arange(1.0, n + 1), _known(np.arange(n + 2), n)) for n in n_bins.tolist()]
    axes = [
        RuleAxis(cuts, _known(np.arange(len(cuts) + 2), n))
        for cuts, n in zip(discretizer.inner.cuts_, n_bins.tolist(), strict=True)
    ]
    for f, bins in discretizer.bins.items():
        kinds = discretizer.kinds[f]
        axes[f] = RuleAxis(np.arange(len(kinds)) + 0.5, _known(np.append(bins, bins[-1] + 1), n_bins[f]), kinds)
    return axes


def additive_tables(engine: Engine, axes: list[RuleAxis], feature_names: tuple[str, ...]) -> AdditiveTables:
    """Return what the engine's lifts add up to as tables over values."""
    scheme, training, layout = engine.scheme, engine.training, engine.layout
    assert isinstance(scheme, LiftVotes)
    if len(layout.sets) > MAX_SIZE:
        raise DataError(
            f"rules of up to {len(layout.sets)} features cannot be exported or drawn; "
            f"fit with max_size={MAX_SIZE} or less"
        )
    total = scheme.total_weight(layout, training) or 1.0
    tables, votes = [], engine.whole.votes
    for sets in layout.sets:
        for number, members in enumerate(sets.features.tolist()):
            own = votes[sets.offsets[number] : sets.offsets[number + 1], 0].reshape(layout.n_bins[members]) / total
            for place, feature in enumerate(members):
                bins = axes[feature].bins
                spread = np.take(own, np.maximum(bins, 0), axis=place)
                seen = (bins >= 0).reshape([-1 if one == place else 1 for one in range(own.ndim)])
                own = np.where(seen, spread, 0.0)
            tables.append(Table(tuple(members), tuple(axes[f].cuts for f in members), own))
    kinds = {name: axis.kinds for name, axis in zip(feature_names, axes, strict=True) if axis.kinds is not None}
    return AdditiveTables(training.mean_grade, tuple(tables), feature_names, kinds)


def _known(bins: Array, n_bins: int) -> Array:
    return np.where(bins < n_bins, bins, -1).astype(np.int64)
