"""A fitted ranker that weighs its members: scores and weights from what was learned, and why they are so."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulerank.aggregate.calibration import AsTheyCome, Calibrated, PickedByQuery
from rulerank.aggregate.descriptions import describe_queries, description_names
from rulerank.aggregate.members import member_scores
from rulerank.aggregate.metric_competence import MemberRules, picked
from rulerank.aggregate.mixing import Mixture
from rulerank.ballots import BinForm, Case
from rulerank.ballots.mixture_cases import Mix, member_case, mixture_case, mixture_of_rankers
from rulerank.dataset import Array, Dataset, check_column, query_index
from rulerank.errors import DataError
from rulerank.rankers.base import Ranker


class Documents(NamedTuple):
    """Checked rows to be scored."""

    X: Array
    queries: Array | None  # numbers in order of appearance; None where none were given


class WeighsMembers(Ranker):
    """What `Competence` does once it is fitted; how it learns, and its parameters, are its own."""

    names_: tuple[str, ...]
    members_: list[Any]
    _rules: MemberRules
    _scale: Calibrated | AsTheyCome
    _mixture: Mixture

    def needs_the_query(self) -> bool:
        return not self.params_["literal"] or bool(self.members_) or self.params_["scale"] is not None

    def _rows(self, X: Any, qid: Any) -> Documents:
        check_is_fitted(self)
        qid = X.qid if qid is None and isinstance(X, Dataset) else qid
        checked = self.check_rows(X, qid)
        return Documents(checked, None if qid is None else query_index(check_column("qid", qid, len(checked)))[0])

    def _queries_of(self, rows: Documents) -> Array:
        if rows.queries is None:
            raise DataError("members are put on one scale by query: give the rows' queries too, predict(X, qid=qid)")
        return rows.queries

    def _score(self, X: Array) -> Array:
        return self._score_documents(Documents(X, None))

    def _score_documents(self, rows: Documents) -> Array:
        scores = self._member_scores(rows)
        weights = self._weights(rows, scores)
        if self.params_["literal"]:
            return picked(self._said(scores, rows), weights)
        estimates = self._scale.estimates(scores, self._queries_of(rows))
        if self.params_["select"] == "best":
            return picked(estimates, weights)
        mixed: Array = (weights * estimates).sum(axis=1)
        return mixed

    def _said(self, scores: Array, rows: Documents) -> Array:
        """Return what the members' scores are taken for in the literal form."""
        return PickedByQuery().estimates(scores, self._queries_of(rows)) if self.params_["scale"] else scores

    def _weights(self, rows: Documents, scores: Array | None = None) -> Array:
        if self.params_["literal"]:
            return self._rules.member_weights(rows.X, len(self.names_))
        queries = self._queries_of(rows)
        scores = self._member_scores(rows) if scores is None else scores
        weights = self._mixture.weights(self._describe(rows.X, scores, queries))
        return weights[queries] if self.params_["centric"] == "query" else weights

    def _describe(self, X: Array, scores: Array, queries: Array) -> Array:
        if self.params_["centric"] == "document":
            return X.astype(np.float64)
        return describe_queries(X, self._scale.estimates(scores, queries), queries)

    def _member_scores(self, rows: Documents) -> Array:
        if not self.members_:
            return self._rules.scores_by_metric(rows.X)
        return member_scores(self.members_, rows.X, rows.queries)

    def case(self, X: Array, row: int) -> Case:
        rows = Documents(X, np.zeros(len(X), dtype=np.int64))
        scores = self._member_scores(rows)
        weights, notes = self._weights(rows, scores)[row], self._why(rows, scores, row)
        if self.params_["literal"] or self.params_["select"] == "best":
            weights = np.eye(len(weights))[np.argmax(weights)]
        estimates, slopes = self._said(scores, rows) if self.params_["literal"] else scores, np.ones(len(weights))
        if self.params_["scale"]:
            slopes = PickedByQuery().slopes(scores)
        if not self.params_["literal"]:
            estimates, slopes = self._scale.estimates(scores, self._queries_of(rows)), self._scale.slopes(scores)
        mix = Mix(self.names_, scores[row], estimates[row], weights, slopes)
        cases: list[Case] = []
        if self.members_:
            found = [member_case(member, X, row) for member in self.members_]
            ballot, cases, more = mixture_of_rankers(mix, found)
            notes += more
        else:
            ballot = self._rules.metric_ballot(mix, X, row)
        how = "literal" if self.params_["literal"] else self.params_["select"]
        method = f"Competence, {how} by {self.params_['centric']}"
        return mixture_case(mix, ballot, cases, self._rules.item_text, self.feature_names_, X[row], method, notes)

    def _why(self, rows: Documents, scores: Array, row: int) -> tuple[str, ...]:
        """Say on what the members' weights rest."""
        if self.params_["literal"]:
            shares = self._weights(rows, scores)[row]
            said = ", ".join(f"{name} {share:.0%}" for name, share in zip(self.names_, shares, strict=True))
            return (f"Who is competent for documents like this one, by the rules items -> member: {said}.",)
        if self._mixture.coef is None:
            return ("The members' weights are the same for all documents: nothing tells where one is more competent.",)
        queries = self._queries_of(rows)
        unit = row if self.params_["centric"] == "document" else 0
        names = list(self.feature_names_)
        if self.params_["centric"] == "query":
            names = description_names(names, self.names_)
        return self._mixture.reasons(self._describe(rows.X, scores, queries)[unit], names, self.names_)

    def bin_form(self) -> BinForm | None:
        """Return the literal form over metrics as a function of bins; others look at the whole query."""
        if not self.params_["literal"] or self.params_["scale"] or self.members_:
            return None
        return self._rules.picking_form(self.feature_names_)
