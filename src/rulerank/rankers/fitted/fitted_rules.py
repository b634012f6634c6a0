"""FittedRules: the score is a sum of votes, one of each table of rules, and every vote is fitted."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from rulerank.ballots import Case, TableForm
from rulerank.ballots.table_cases import table_case
from rulerank.core.parameters import Checked, Parameter, Steps, Whole, Word
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.evaluation.significance import clearly_less
from rulerank.normalize import NORMALIZATIONS
from rulerank.rankers.fitted.bins import MAX_BINS
from rulerank.rankers.fitted.fit import Stage, boosted, linear_stage, straight_line
from rulerank.rankers.fitted.monotone import check_monotone, signs_of
from rulerank.rankers.fitted.row_views import BinnedRows, RowKeys, binned_rows
from rulerank.rankers.fitted.sets import with_pairs
from rulerank.rankers.fitted.settings import FEW_LABELS, FEW_QUERIES, Settings
from rulerank.rankers.fitted.tables import tables_of
from rulerank.rankers.fitted.training_folds import TrainingFolds, deal
from rulerank.rankers.parts import LearnsFromParts, TrainingParts
from rulerank.rankers.training_rows import NOTHING
from rulerank.rules.additive import AdditiveTables

AUTO = "auto"


class View(NamedTuple):
    """Training rows on one scale, and what was learned from them."""

    rows: BinnedRows
    stage: Stage | None  # what the folds have learned from single features; None: too few labels


class FittedRules(LearnsFromParts):
    """Rank documents by the sum of one fitted vote for every rule.

    score = base + a vote for the bin of each feature + a vote for the bins of a few pairs of features. The votes
    maximise the likelihood of query intercepts (as in `QueryIntercepts`, where a vote is a weight times a value): they
    begin as a straight line; in each round a small tree moves the votes of the one table that gains most; and it is
    over when queries that were held out gain no more. Pairs are those on which two halves of the queries agree. Five
    folds of the queries do this on their own: the model is the mean of their votes, their spread says how sure it is.
    With fewer than 500 labels or 15 queries only the straight line is fitted.

    Parameters
    ----------
    max_pairs: pairs of features that have a table of their own, at most: so many a person can look at.
    max_size: 1 leaves out the pairs.
    normalize: put features on one scale by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
        "auto" takes "zscore" if held-out queries clearly gain, else None; `normalize_` says which.
    monotone: features by name whose votes must only rise (1) or only fall (-1) with the value: {"bm25": 1}. With few
        labels this is worth much; with very many it can cost a little. A missing value counts as the worst: a document
        without a price never gains by it over one with a bad price. Fill missing values in where that is not meant.
    n_folds: parts of the queries; each is held out once.
    seed: another seed deals the queries to other folds.
    n_jobs: threads; all cores by default. The votes are the same bits whatever the number.

    Attributes
    ----------
    tables_: the model as `AdditiveTables`. Votes are relative to the average training document.
    pairs_: the chosen pairs, by name, the most informative first.
    n_rounds_: rounds of each fold; none when the model is a straight line.

    Examples
    --------
    >>> import rulerank as rr
    >>> world = rr.make_world(n_queries=60, n_features=4, seed=0)
    >>> ranker = rr.FittedRules().fit(world)
    >>> len(ranker.tables_.tables), len(ranker.n_rounds_)
    (10, 5)
    >>> bool(ranker.predict(world)[3] == ranker.explain(world, 3).score)
    True
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "max_pairs": Whole(0, 10_000, meaning="pairs of features with a table of their own at most"),
        "max_size": Whole(1, 2, meaning="maximum number of features in a rule"),
        "normalize": Word(
            (*NORMALIZATIONS, AUTO), meaning="how features are put on one scale by query first", none="not at all"
        ),
        "monotone": Checked(
            check_monotone,
            "1 or -1 by feature name",
            meaning="features whose votes must rise (1) or fall (-1); a missing value is the worst",
            none="any may do either",
        ),
        "n_folds": Whole(2, 100, meaning="parts of the queries, each held out once to tell when to stop"),
        "seed": Steps(0, most=2**32 - 1, meaning="another seed deals the queries differently"),
    }
    former_parameters: ClassVar[frozenset[str]] = frozenset(
        ("link", "position_shape", "document_spread", "leave_after_click")
    )
    _weighs_rows: ClassVar[bool] = True
    _knows_categories: ClassVar[bool] = True

    tables_: AdditiveTables
    pairs_: tuple[tuple[str, ...], ...]
    n_rounds_: tuple[int, ...]

    def __init__(
        self,
        max_pairs: int = 30,
        max_size: int = 2,
        normalize: str | None = None,
        monotone: Mapping[str, int] | None = None,
        n_folds: int = 5,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.max_pairs = max_pairs
        self.max_size = max_size
        self.normalize = normalize
        self.monotone = monotone
        self.n_folds = n_folds
        self.seed = seed
        self.n_jobs = n_jobs

    @property
    def normalize_(self) -> str | None:
        """How features are put on one scale by query, as it was when fitted."""
        return self._view if self.params_["normalize"] == AUTO else super().normalize_

    def case(self, X: Array, row: int) -> Case:
        return table_case(self.table_form(), X[row], type(self).__name__)

    def table_form(self) -> TableForm:
        """Return the fitted model as tables that are added up."""
        return TableForm(self.tables_, self.n_jobs, scale=self.normalize_, dates=self.dates_)

    def additive(self) -> AdditiveTables:
        """Return the fitted model as a sum of tables: `tables_`."""
        check_is_fitted(self)
        return self.tables_

    def _scale_before(self) -> str | None:
        return None if self.normalize == AUTO else self.normalize

    def _learn_parts(self, parts: TrainingParts) -> None:
        categories = parts.facts.categories
        monotone = signs_of(self.monotone, self.feature_names_, categories)
        rows = parts.total(RowKeys.of).ordered()
        places, folds = deal(rows.numbers, rows.grades, rows.weights, self.n_folds, self.seed)
        self._view, self.pairs_, self.n_rounds_ = None, (), ()
        if not folds.n_queries:
            warnings.warn(f"no query has documents of different grades: {NOTHING}", ConvergenceWarning, stacklevel=5)
            self.tables_ = AdditiveTables(0.0, (), self.feature_names_)
            return
        few = rows.grades.size < FEW_LABELS or folds.n_queries < FEW_QUERIES
        settings = Settings.of(places.size)
        if few and categories:
            least = f"{FEW_LABELS} labels or {FEW_QUERIES} queries"
            why = f"with fewer than {least} only a weighted sum is learned"
            warnings.warn(f"categories are left out ({', '.join(categories)}): {why}", stacklevel=5)

        def view(name: str | None) -> View:
            n_bins = MAX_BINS // 2 if few else settings.n_bins
            binned = binned_rows(parts, rows, places, name, n_bins, self.n_jobs)
            stage = None
            if not few or self.normalize == AUTO:
                stage = linear_stage(binned.bins, binned.axes, binned.centres, folds, monotone, self.n_jobs)
            if stage is not None and not few:
                stage = boosted(stage, stage.terms, folds, settings, self.n_jobs)
            return View(binned, stage)

        chosen = view(None)
        if self.normalize == AUTO and folds.n_folds > 1:
            other = view("zscore")
            if chosen.stage and other.stage and clearly_less(other.stage.losses, chosen.stage.losses):
                chosen = other
            self._view = chosen.rows.name
        binned = chosen.rows
        if few or chosen.stage is None:
            terms, votes, spread = straight_line(binned.bins, binned.axes, binned.centres, folds, monotone)
            self.tables_ = tables_of(terms, votes[None, :], folds.weights, self.feature_names_, categories, spread)
            return
        stage = self._with_pairs(chosen.stage, binned, folds, monotone, settings)
        self._keep(stage, binned, folds, categories)

    def _keep(
        self, stage: Stage, binned: BinnedRows, folds: TrainingFolds, categories: Mapping[str, tuple[str, ...]]
    ) -> None:
        self.pairs_ = tuple(tuple(self.feature_names_[f] for f in one) for one in stage.terms.sets[len(binned.axes) :])
        self.n_rounds_ = tuple(stage.n_rounds)
        self.tables_ = tables_of(stage.terms, stage.votes, folds.weights, self.feature_names_, categories)

    def _with_pairs(
        self, stage: Stage, view: BinnedRows, folds: TrainingFolds, monotone: Array, settings: Settings
    ) -> Stage:
        return with_pairs(
            stage, view, folds, monotone, settings, self.max_pairs if self.max_size > 1 else 0, self.n_jobs
        )

    def _score(self, X: Array) -> Array:
        return self.tables_.score(X, self.n_jobs)

    def _learned_state(self) -> dict[str, Any]:
        return {
            "tables": self.tables_.to_state(),
            "view": self._view,
            "pairs": [list(pair) for pair in self.pairs_],
            "n_rounds": list(self.n_rounds_),
        }

    def _take_learned(self, state: dict[str, Any]) -> None:
        self.tables_ = AdditiveTables.from_state(state["tables"], self.feature_names_)
        if state["view"] not in (None, *NORMALIZATIONS):
            raise DataError(f"unknown view {state['view']!r}")
        self._view = state["view"]
        self.pairs_ = tuple(tuple(pair) for pair in state["pairs"])
        self.n_rounds_ = tuple(state["n_rounds"])
