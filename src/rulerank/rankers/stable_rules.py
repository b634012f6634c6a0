"""RE-SR: rules count if they agree over queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rulerank._util.parameters import Flag, Number, Parameter, Whole
from rulerank.dataset import Array
from rulerank.rankers.base import Labelled
from rulerank.rankers.rule_ranker import IncrementalRules, RuleRanker
from rulerank.rules.engine import Rule
from rulerank.rules.tables import N_QUERIES, Counts, Rows
from rulerank.rules.votes import AgreementVotes, ConfidenceVotes, Votes


@dataclass(eq=False, repr=False)
class StableRules(IncrementalRules):
    """Rank documents by the rules that agree over queries (RE-SR).

    A set of items votes with the mean over training queries (each counts once) of how far the grades of its documents
    are above their query's mean grade. Its weight is the share of queries with the same sign, times how well its
    features separate relevant documents.

    Parameters
    ----------
    max_size: maximum number of items in a rule; None: any number, as in the papers, feasible for few features.
    min_support: minimum share of the training rows that a rule covers; at least one row.
    min_queries: minimum number of training queries that a stable rule covers; by default 2, and 1 when literal.
    literal: the method as published: a rule X -> r is stable when its confidence in every query that holds X is
        within phi of its confidence overall, and the stable rules vote with their confidence.
    phi: maximum difference of confidences (literal only); by default the paper's 0.1.
    discretizer: a name, an object of `rulerank.discretize`, or None when X holds bin numbers from 0.
    drop_weakest: share of the features to leave out, those that separate relevant documents least within queries;
        by default a quarter, and none when literal.
    normalize: normalise features by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
    memory_budget: maximum size of the tables in MiB, which does not grow with the number of queries; above it predict
        counts and scores in one pass, as in GlobalRules.
    keep_rows: MiB that training rows in bins may take to be kept, in memory and in the model file, for
        `partial_fit` and `unlearn`; a row takes a byte for each feature. Beyond it, and with 0, they are not kept.
    n_jobs: threads; all cores by default. The scores do not depend on it.

    A document without any stable rule is scored by all rules, as `GlobalRules` does.

    Examples
    --------
    >>> import rulerank as rr
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> ranker = rr.StableRules(discretizer=None, drop_weakest=0).fit(X, [0, 1, 0, 2], qid=["a", "a", "b", "b"])
    >>> ranker.predict(X).round(2).tolist()
    [0.25, 1.25, 0.25, 1.25]
    >>> print(ranker.rules_for([1, 1])[0])
    f2=1 -> 1 (1 of 2)
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "min_queries": Whole(
            1, meaning="minimum number of training queries that a stable rule covers", none="2, or 1 as published"
        ),
        "literal": Flag(meaning="the method as published"),
        "phi": Number(
            0, 1, "a difference of confidences", meaning="how far confidences may differ (literal only)", none="0.1"
        ),
    }
    former_parameters: ClassVar[frozenset[str]] = RuleRanker.former_parameters | {"stability"}
    former_values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "stability": dict.fromkeys(("signs", "clustered", "mean"), "agreement")
    }
    _why_not_additive: ClassVar[str] = "which rules vote, and what their weights add up to, depends on the document"

    min_queries: int | None = None
    literal: bool = False
    phi: float | None = None

    @staticmethod
    def rows_of(discretizer: Any, n_grades: int, data: Labelled) -> Rows:
        return IncrementalRules.rows_of(discretizer, n_grades, data).by_query(data.queries)

    def rules_for(self, x: Any, row: int | None = None) -> list[Rule]:
        """Return the stable rules that cover one document, smaller antecedents first; x and row as in GlobalRules."""
        row_bins = self._one_document(x, row)
        counts, stable = self._stable(row_bins)
        keep = stable[counts.grades >= self.engine_.training.min_rows] > 0
        return [rule for rule, kept in zip(self._rules(row_bins, counts), keep, strict=True) if kept]

    def _stable(self, row_bins: Array) -> tuple[Counts, Array]:
        """Return the counts of one document's cells, and where their rules are stable, (n_sets, n_grades)."""
        counts, votes = self.engine_.votes_of(row_bins)
        n_grades = self.engine_.training.n_grades
        by_rule = isinstance(self.engine_.scheme, ConfidenceVotes)
        return counts, votes[:, n_grades : 2 * n_grades] if by_rule else np.repeat(votes[:, 1:2], n_grades, axis=1)

    def notes_on(self, X: Any, row: int) -> tuple[str, ...]:
        counts, stable = self._stable(np.ascontiguousarray(self.known_bins(X[row : row + 1])[:, 0]))
        n_stable = int(stable.any(axis=1).sum())
        if not n_stable:
            return ("No stable rule covers it, so all rules vote.",)
        n_covering = int((counts.tallies[:, N_QUERIES] > 0).sum())
        return (f"{n_stable:,} of the {n_covering:,} rules that cover it are stable; they alone vote.",)

    def stood_for(self) -> dict[str, Any]:
        min_queries = (1 if self.literal else 2) if self.min_queries is None else self.min_queries
        return super().stood_for() | {"min_queries": min_queries, "phi": 0.1 if self.phi is None else self.phi}

    def scheme(self) -> Votes:
        """Return how stable rules vote."""
        used = self.stood_for()
        if self.literal:
            return ConfidenceVotes(used["phi"], used["min_queries"])
        return AgreementVotes(used["min_queries"])

    def _take_learned(self, state: dict[str, Any]) -> None:
        self._take_engine(state, self.scheme())
