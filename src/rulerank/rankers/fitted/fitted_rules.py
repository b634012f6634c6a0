"""FittedRules: the score is a sum of votes, one of each table of rules, and every vote is fitted."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from rulerank._util.parameters import Checked, Flag, Parameter, Whole, shown
from rulerank._util.words import listed
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.rankers.base import Labelled, Ranker
from rulerank.rankers.fitted import bins
from rulerank.rankers.fitted.bins import (
    Columns,
    OrderedRows,
    Settings,
    lay_out,
    merge_turns,
    ordered,
    row_keys,
    tables_of,
)
from rulerank.rankers.fitted.boosting import Stages, deal, linear_votes
from rulerank.rankers.rows import NOTHING
from rulerank.rules.additive import AdditiveTables
from rulerank.text.fields import match_features

MATCH = "match"  # of monotone: all features that say how well a document matches the query
FEW_LABELS, FEW_QUERIES = 500, 15  # below either only a straight line is fitted: more would be noise


def check_monotone(value: Any) -> None:
    """Raise an error unless a value is "match" or gives 1 or -1 by feature name."""
    if value == MATCH:
        return
    if not isinstance(value, Mapping) or not all(
        isinstance(name, str) and not isinstance(sign, bool) and sign in (1, -1) for name, sign in value.items()
    ):
        raise DataError(
            f'monotone must be "match" or give 1 or -1 by feature name, such as {{"bm25": 1}}: got {shown(value)}'
        )


def signs_of(monotone: Mapping[str, int] | str | None, names: tuple[str, ...], categories: Collection[str]) -> Array:
    """Return 1 for features whose votes must rise, -1 for those whose must fall, else 0."""
    signs = np.zeros(len(names), dtype=np.int64)
    if isinstance(monotone, str):
        monotone = dict.fromkeys(match_features(name for name in names if name not in categories), 1)
        if not monotone:
            raise DataError(
                f'monotone="match" found no feature such as bm25(title) or cosine(all) among {listed(names)}; give 1 '
                'or -1 by feature name, such as {"f1": 1}'
            )
    for name, sign in (monotone or {}).items():
        if name not in names:
            known = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
            raise DataError(f"monotone names {name!r}, which is not a feature; the features are {known}")
        if name in categories:
            raise DataError(f"monotone names {name!r}, whose categories have no order; leave it out")
        signs[names.index(name)] = sign
    return signs


@dataclass(eq=False, repr=False)
class FittedRules(Ranker):
    """Rank documents by the sum of one fitted vote for every rule.

    score = base + a vote for the bin of each feature + a vote for the bins of a few pairs of features. The votes
    maximise the likelihood of query intercepts (as in `QueryIntercepts`, where a vote is a weight times a value): they
    start as linear functions; in each round a small tree changes the votes of the table that gains most; boosting
    stops early when the held-out loss no longer improves. Pairs are those on which two halves of the queries agree.
    Five folds of the queries are fitted separately: the model is the mean of their votes, and their spread is its
    uncertainty. With fewer than 500 labels or 15 queries only the linear part is fitted.

    Parameters
    ----------
    max_pairs: maximum number of feature pairs, each with a table; 0: none.
    normalize: normalise features by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
    monotone: features by name whose votes must only rise (1) or only fall (-1) with the value: {"bm25": 1}; or "match":
        the features of query-document match (bm25, cosine, covered, ...) must rise. With few
        labels this helps much; with very many it may cost a little. A missing value counts as the worst: a document
        without a price never gains by it over one with a bad price. Fill in missing values if you do not want this.
    merge: merge neighbouring bins of a feature where its curve turns by less than a standard error, so that
        explanations do not name a lower value as a reason because of noise.
    n_folds: parts of the queries; each is held out once.
    seed: random seed of the folds.
    n_jobs: threads; all cores by default. The votes do not depend on it.

    Attributes
    ----------
    tables_: the model as `AdditiveTables`. Votes are relative to the average training document.
    pairs_: the chosen pairs, by name, the most informative first.
    n_rounds_: rounds of each fold; none if only the linear part was fitted.

    Examples
    --------
    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=60, n_features=4, seed=0)
    >>> ranker = rr.FittedRules().fit(data)
    >>> len(ranker.tables_.tables), len(ranker.n_rounds_)
    (10, 5)
    >>> bool(ranker.predict(data)[3] == ranker.explain(data, 3).score)
    True
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "max_pairs": Whole(0, 10_000, meaning="maximum number of feature pairs"),
        "monotone": Checked(
            check_monotone,
            '"match", or 1 or -1 by feature name',
            meaning='features whose votes must rise (1) or fall (-1), or "match": bm25, cosine, ... must rise',
            none="no constraint",
        ),
        "merge": Flag(meaning="merge neighbouring bins where a curve turns by less than a standard error"),
        "n_folds": Whole(2, 100, meaning="number of folds, each held out once for early stopping"),
        "seed": Whole(0, 2**32 - 1, meaning="random seed of the folds"),
    }
    former_parameters: ClassVar[frozenset[str]] = frozenset(
        ("link", "position_shape", "document_spread", "leave_after_click", "max_size")
    )
    _weighs_rows: ClassVar[bool] = True
    base_text: ClassVar[str] = "the average document in training"
    _knows_categories: ClassVar[bool] = True

    tables_: AdditiveTables = field(init=False)
    pairs_: tuple[tuple[str, ...], ...] = field(init=False)
    n_rounds_: tuple[int, ...] = field(init=False)

    max_pairs: int = 30
    normalize: str | None = None
    monotone: Mapping[str, int] | str | None = None
    n_folds: int = 5
    seed: int = 0
    n_jobs: int | None = None
    merge: bool = False

    def as_tables(self) -> AdditiveTables:
        """Return the fitted model as a sum of tables: `tables_`."""
        return self.tables_

    def _learn(self, data: Labelled) -> None:
        self.learn_rows(ordered(row_keys(data)), lambda find: find(self.feature_names_, data.X))

    def learn_rows(self, rows: OrderedRows, columns: Columns) -> None:
        """Learn from rows in order, whose features are looked at some columns at a time."""
        categories = self.categories_
        n_kinds = {name: len(kinds) for name, kinds in categories.items()}
        monotone = signs_of(self.monotone, self.feature_names_, categories)
        places, folds = deal(rows.numbers, rows.grades, rows.weights, self.n_folds, self.seed)
        self.pairs_, self.n_rounds_ = (), ()
        if not folds.n_queries:
            from sklearn.exceptions import ConvergenceWarning  # slow to load

            warnings.warn(f"no query has documents of different grades: {NOTHING}", ConvergenceWarning, stacklevel=4)
            self.tables_ = AdditiveTables(0.0, (), self.feature_names_)
            return
        few = rows.grades.size < FEW_LABELS or folds.n_queries < FEW_QUERIES
        settings = Settings.of(places.size)
        if few and categories:
            least = f"{FEW_LABELS} labels or {FEW_QUERIES} queries"
            why = f"with fewer than {least} only a weighted sum is learned"
            warnings.warn(f"categories are left out ({', '.join(categories)}): {why}", stacklevel=4)

        n_bins = bins.MAX_BINS // 2 if few else settings.n_bins
        binned = bins.binned_rows(columns, n_kinds, rows.order, places, n_bins, self.n_jobs)
        if few:
            terms, everything = lay_out(binned.bins, binned.axes, monotone), np.arange(places.size)
            votes, spread = linear_votes(binned, folds, everything, folds.queries, monotone)
            self.tables_ = tables_of(terms, votes[None, :], folds.weights, self.feature_names_, categories, spread)
            return
        stages = Stages(binned, folds, monotone, settings, self.n_jobs)
        stages.learn(self.max_pairs)
        pairs = stages.terms.sets[len(binned.axes) :]
        self.pairs_ = tuple(tuple(self.feature_names_[f] for f in pair) for pair in pairs)
        self.n_rounds_ = tuple(stages.n_rounds.tolist())
        votes = merge_turns(stages.terms, stages.votes, folds.weights) if self.merge else stages.votes
        self.tables_ = tables_of(stages.terms, votes, folds.weights, self.feature_names_, categories)

    def _score(self, X: Array) -> Array:
        return self.tables_.score(X, self.n_jobs)

    def _learned_state(self) -> dict[str, Any]:
        return {
            "tables": self.tables_.to_state(),
            "pairs": [list(pair) for pair in self.pairs_],
            "n_rounds": list(self.n_rounds_),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the ranker that `to_state` described; one of version 0.1 may have chosen its scale by itself."""
        params = state["params"]
        chosen = {"normalize": state["learned"]["view"]} if params.get("normalize") == "auto" else {}
        no_pairs = {"max_pairs": 0} if params.get("max_size") == 1 else {}
        return super().from_state(state | {"params": params | chosen | no_pairs})

    def _take_learned(self, state: dict[str, Any]) -> None:
        self.tables_ = AdditiveTables.from_state(state["tables"], self.feature_names_)
        self.pairs_ = tuple(tuple(pair) for pair in state["pairs"])
        self.n_rounds_ = tuple(state["n_rounds"])
