"""RE-QR: one function per training query; the competent ones contribute."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rulerank._util.estimator import check_is_fitted
from rulerank._util.parameters import Flag, Number, Parameter, Whole, Word
from rulerank._util.words import counted
from rulerank.dataset import Array
from rulerank.errors import ModelFileError
from rulerank.rankers.base import Labelled
from rulerank.rankers.rule_ranker import Prepared, RuleRanker
from rulerank.rules.additive import Contributions
from rulerank.rules.by_query import (
    OTHER,
    TIES,
    ByQuery,
    Labels,
    TrustedVotes,
    judged_rows,
    most_competent,
    share_of_right_pairs,
)
from rulerank.rules.votes import VOTES, Votes


@dataclass(eq=False, repr=False)
class QueryRules(RuleRanker):
    """Rank documents by the rules of the most competent training queries (RE-QR).

    Every training query scores a document by its own rules: the mean, over the rules that cover the document, of the
    query's grades there minus its mean grade. Rules of few rows are shrunk towards the rules of all queries, and rules
    are weighted by how well their features separate relevant documents. The competence of a query is the share of
    document pairs of other queries that it orders correctly. The score of a document is the mean over the `n_trusted`
    most competent queries.

    Parameters
    ----------
    max_size: a rule has at most this many items; None: any number.
    min_support: minimum share of the rows that a rule covers; at least one row.
    n_trusted: number of training queries that contribute (all if there are fewer).
    shrink: shrinkage of each query's rules towards the global rule, in rows.
    judged_rows: maximum number of training rows on which competence is measured: those of a sample of queries, which
        does not depend on the order of the rows. Rules count all rows.
    literal: the method as published. A query scores by RE-GR on its own rows. Each training document is labelled with
        the query whose score is closest to its grade (D* in the paper), and rules X -> query on these labels weight the
        queries for a new document. A document that no such rule covers is scored by RE-GR. n_trusted, shrink and
        judged_rows are not used.
    leave_one_out: leave a document out of its own query's rules when that query is judged on it (literal only). The
        default is False, which fits the paper's Table IV best.
    ties: if several queries are equally close: "first" takes the first, "other" the first that is not the document's
        own, "share" gives each an equal share (literal only). The default "other" fits the paper's Table IV best.
    discretizer: a name, an object of `rulerank.discretize`, or None when X holds bin numbers from 0.
    drop_weakest: share of the features to leave out, those that separate relevant documents least within queries;
        by default a quarter, and none when literal.
    normalize: normalise features by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
    memory_budget: maximum size in MiB of the tables of `predict`; above it they are counted again. Fitting takes about
        200 MiB more, for any number of queries.
    n_jobs: threads; all cores by default. The scores do not depend on it.

    Attributes
    ----------
    queries_: the training queries in order of appearance: the columns of `rank_by_query`, `weights` and `competence_`.
    trust_: competence of each query: its share of correctly ordered pairs (not when literal).

    Examples
    --------
    >>> import rulerank as rr
    >>> X = [[0, 0], [1, 0], [0, 1], [1, 1], [0, 0], [1, 1]]
    >>> grades, queries = [0, 1, 0, 1, 1, 0], ["a", "a", "b", "b", "c", "c"]
    >>> ranker = rr.QueryRules(discretizer=None, literal=True).fit(X, grades, qid=queries)
    >>> ranker.rank_by_query([[1, 1]]).tolist()
    [[1.0, 0.625, 0.0]]
    >>> ranker.weights([[1, 1]]).round(4).tolist()
    [[0.4091, 0.2727, 0.3182]]
    >>> ranker.predict([[1, 1]]).round(4).tolist()
    [0.5795]
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "n_trusted": Whole(1, meaning="maximum number of training queries that contribute"),
        "shrink": Number(
            1e-6,
            1e15,
            "rows' worth of the global rule",
            meaning="shrinkage of each query's rules towards the global rule, in rows",
        ),
        "judged_rows": Whole(1, meaning="maximum number of training rows that queries are judged on"),
        "literal": Flag(meaning="the method as published"),
        "leave_one_out": Flag(
            meaning="judge a query's estimate of its own document without that document (literal only)", none="False"
        ),
        "ties": Word(
            (*TIES, OTHER), meaning="which of several equally close queries to take (literal only)", none=OTHER
        ),
    }
    _why_not_additive: ClassVar[str] = "the queries of training that vote, and how many, depend on the document"

    n_trusted: int = 25
    shrink: float = 20.0
    judged_rows: int = 50_000
    literal: bool = False
    leave_one_out: bool | None = None
    ties: str | None = None

    def rank_by_query(self, X: Any, qid: Any = None) -> Array:
        """Return every training query's own estimate, (n_rows, n_queries), NaN where one abstains."""
        bins = self._documents(X, qid)
        return self._by_columns(bins.shape[1], lambda first, last: self._ranks(bins, first, last))

    def weights(self, X: Any, qid: Any = None) -> Array:
        """Return p(q|d), the weight of each training query for each row, (n_rows, n_queries).

        Each row adds up to 1, or to 0 where no rule of D* covers the document (literal only).
        """
        bins = self._documents(X, qid)
        if not self.params_["literal"]:
            trusted = self._trusted()
            return np.tile(np.isin(np.arange(self.queries_.size), trusted) / trusted.size, (bins.shape[1], 1))
        strengths = self._by_columns(bins.shape[1], lambda first, last: self._strengths(bins, first, last))
        total = strengths.sum(axis=1, keepdims=True)
        return np.divide(strengths, total, out=np.zeros_like(strengths), where=total > 0)

    @property
    def competence_(self) -> Array:
        """Delta = |rank(q, d) - grade|, (n_training_rows, n_queries), NaN where one abstains; computed when asked."""
        check_is_fitted(self)
        deltas = self._by_columns(self._by_query.rows.n_rows, self._deltas)
        deltas[self._by_query.order] = deltas.copy()
        return deltas

    def _learn(self, data: Labelled) -> None:
        prepared = self._prepare(data)
        self._take_rows(prepared, data.queries, data.query_ids)
        if self.literal:
            blocks = self._by_query.blocks(prepared.rows.n_rows)
            deltas = ((first, self._deltas(first, last)) for first, last in blocks)
            ties, own = self.stood_for()["ties"], self._by_query.queries
            found = most_competent(deltas, prepared.rows.n_rows, ties, own)
            self._labels = Labels.of(self._by_query.order[found.rows], found.queries)
        else:
            judged = judged_rows(self._by_query, data.query_ids, self.judged_rows)
            self.trust_ = share_of_right_pairs(self._by_query, prepared.training, self.shrink, judged)
        self._make_engine(prepared)

    def _take_rows(self, prepared: Prepared, queries: Array, query_ids: Array) -> None:
        self.queries_ = query_ids
        self._training = prepared.training
        self._by_query = ByQuery(prepared.rows, queries, prepared.layout, self.n_jobs)

    def _make_engine(self, prepared: Prepared) -> None:
        scheme: Votes = VOTES["mean"] if self.literal else TrustedVotes(self._by_query, self._trusted(), self.shrink)
        self.engine_ = self._count(prepared, scheme)  # the trusted queries' mean; RE-GR when literal

    def stood_for(self) -> dict[str, Any]:
        ties = OTHER if self.ties is None else self.ties
        return super().stood_for() | {"leave_one_out": bool(self.leave_one_out), "ties": ties}

    def heard(self) -> tuple[ByQuery, Any]:
        """Return the counts by query, and which queries contribute: rows with their queries (literal), or queries."""
        return self._by_query, self._labels if self.params_["literal"] else self._trusted()

    def _trusted(self) -> Array:
        """Return the numbers of the most competent queries, in order; of equals the first."""
        return np.sort(np.argsort(-self.trust_, kind="stable")[: self.params_["n_trusted"]])

    def _score_bins(self, bins: Array) -> Array:
        if not self.params_["literal"]:
            return self.engine_.score(bins)
        heard, weight = np.zeros((2, bins.shape[1]))
        for first, last in self._by_query.blocks(bins.shape[1]):
            ranks, strengths = self._ranks(bins, first, last), self._strengths(bins, first, last)
            strengths[np.isnan(ranks)] = 0.0
            for rank, strength in zip(np.nan_to_num(ranks), strengths, strict=True):  # one by one: an order for good
                heard += strength * rank
                weight += strength
        unheard = weight == 0
        heard[unheard] = self.engine_.score(np.ascontiguousarray(bins[:, unheard]))
        return heard / np.where(unheard, 1.0, weight)

    def notes_on(self, X: Any, row: int) -> tuple[str, ...]:
        queries = counted(self.queries_.size, "training query", "training queries")
        if not self.params_["literal"]:
            return (f"The {self._trusted().size} most trusted of {queries} contribute, with equal weight.",)
        ranks, weights = (found[0] for found in self._heard(self.known_bins(X[row : row + 1])))
        heard = np.flatnonzero(weights)
        if not heard.size:
            return ("No training query covers this document: the rules of all queries vote.",)
        first = heard[np.argsort(-weights[heard], kind="stable")[:3]]
        said = ", ".join(f"{self.queries_[q]} (weight {weights[q]:.1%}, estimate {ranks[q]:.2f})" for q in first)
        return (f"{heard.size} of {queries} contribute, each with its own estimate, most of all {said}.",)

    def _heard(self, bins: Array) -> tuple[Array, Array]:
        """Return the queries' own estimates and their weights, (n_rows, n_queries) each (literal only)."""
        ranks = self._by_columns(bins.shape[1], lambda first, last: self._ranks(bins, first, last))
        weights = self._by_columns(bins.shape[1], lambda first, last: self._strengths(bins, first, last))
        weights[np.isnan(ranks)] = 0.0
        total = weights.sum(axis=1, keepdims=True)
        return ranks, np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)

    def _bin_contributions(self, bins: Array) -> Contributions:
        found = super()._bin_contributions(bins)  # what RE-GR says where no query is heard
        if not self.params_["literal"]:
            return found
        above = np.arange(self._training.n_grades) - self._training.mean_grade
        for row, weights in enumerate(self._heard(bins)[1]):
            if weights.any():
                row_bins = np.ascontiguousarray(bins[:, row])
                found.values[row] = self._by_query.literal_adds(row_bins, weights, above, self.params_["min_support"])
        return found

    def _ranks(self, bins: Array, first: int, last: int, *, without_own: bool = False) -> Array:
        given, training, functions = self.params_, self._training, self._by_query
        if given["literal"]:
            return functions.literal_ranks(bins, first, last, min_support=given["min_support"], without_own=without_own)
        return training.mean_grade + functions.shrunken_lifts(bins, first, last, training, given["shrink"])

    def _strengths(self, bins: Array, first: int, last: int) -> Array:
        return self._by_query.label_strengths(bins, self._labels, first, last, min_support=self.params_["min_support"])

    def _deltas(self, first: int, last: int) -> Array:
        """Return Delta of the training rows, sorted by query."""
        without_own = bool(self.params_["leave_one_out"])
        ranks = self._ranks(self._by_query.bins, first, last, without_own=without_own)
        return np.abs(ranks - self._by_query.grades)

    def _documents(self, X: Any, qid: Any) -> Array:
        check_is_fitted(self)
        return self.known_bins(self.check_rows(X, qid))

    def _by_columns(self, n_rows: int, columns: Callable[[int, int], Array]) -> Array:
        """Put blocks of queries side by side, (n_rows, n_queries)."""
        out = np.empty((n_rows, self.queries_.size))
        for first, last in self._by_query.blocks(n_rows):
            out[:, first:last] = columns(first, last).T
        return out

    def _learned_state(self) -> dict[str, Any]:
        ids = [q if isinstance(q, int | float) else str(q) for q in self.queries_.tolist()]
        state = self._by_query.to_state() | {"query_ids": ids}
        if self.params_["literal"]:
            learned = {"rows": self._labels.rows, "queries": self._labels.queries}
        else:
            learned = {"trust": self.trust_}
        return self._discretizer_state() | {"training_rows": state, "learned": learned}

    def _take_learned(self, state: dict[str, Any]) -> None:
        self._take_discretizer(state)
        saved, learned = state["training_rows"], state["learned"]
        prepared = self._prepared_from(saved)
        ids = np.array(saved["query_ids"], dtype=object)
        if ids.size != saved["queries"].max() + 1:
            raise ModelFileError(f"inconsistent model file (rows do not match its {ids.size} queries); train again")
        self._take_rows(prepared, saved["queries"], ids)
        if self.literal:
            rows, queries = learned["rows"], learned["queries"]
            if not (_all_below(rows, len(saved["grades"])) and _all_below(queries, ids.size)):
                raise ModelFileError("inconsistent model file (its labels name missing rows or queries); train again")
            self._labels = Labels.of(rows, queries)
        elif learned["trust"].shape != ids.shape:
            sizes = f"trust: {learned['trust'].size} values for {ids.size} queries"
            raise ModelFileError(f"inconsistent model file ({sizes}); train again")
        else:
            self.trust_ = learned["trust"]
        self._make_engine(prepared)


def _all_below(numbers: Array, limit: int) -> bool:
    return bool(numbers.min(initial=0) >= 0 and numbers.max(initial=0) < limit)
