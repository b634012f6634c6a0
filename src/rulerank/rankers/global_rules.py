"""RE-GR, also known as LRAR: every rule that covers a document votes on its grade."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from rulerank.core.parameters import Flag, Parameter, Word
from rulerank.errors import DataError
from rulerank.rankers.incremental import IncrementalRules
from rulerank.rankers.rule_tables import additive_tables, axes_of
from rulerank.rules.additive import AdditiveTables
from rulerank.rules.engine import Engine
from rulerank.rules.metrics import METRICS, theta
from rulerank.rules.rule import Rule, RuleBook
from rulerank.rules.votes import VOTES, LiftVotes, Votes, votes_named


class GlobalRules(IncrementalRules):
    """Rank documents by the votes of the association rules that cover them (RE-GR).

    Parameters
    ----------
    max_size: a rule has at most this many items; None: any number, as the papers have it, as long as some feature set
        of so many holds in min_support of the rows. Feasible for few features; else refused with an estimate.
    min_support: share of the training rows a rule must hold in; one row is always needed.
    metric: how strong a rule is when votes="mean": "added_value", "certainty", "confidence", "strength", "yule_q",
        "yule_y" or "relative_confidence"; `rulerank.rules.metrics` defines them.
    votes: "evidence" averages how far each cell's grades lie above what its queries lead one to expect, weighed by
        how well its features tell relevant documents apart; "mean" is the papers' literal RE-GR, the mean strength
        (metric) of the rules.
    discretizer: a name, an object with fit and transform, or None when X holds bin numbers from 0.
    drop_weakest: share of the features left out because they tell relevant documents least apart within queries;
        by default a quarter, and none for the literal votes="mean".
    normalize: put features on one scale by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
    memory_budget: MiB the tables may take; beyond it, predict counts and scores in one pass (same scores, slower).
    keep_rows: MiB that training rows in bins may take to be kept, in memory and in the model file, for
        `partial_fit` and `unlearn`; a row takes a byte for each feature. Beyond it, and with 0, they are not kept.
    work_limit: refuse to start more steps (rows x feature sets) than this; None never refuses.
    n_jobs: threads; all cores by default. The scores are the same bits whatever the number.
    mapped: False lets rules vote with their metric as the papers print it, signed and unbounded (votes="mean" only):
        worse, as scores are then divided by sums near zero.

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
        "votes": Word(tuple(VOTES), meaning="how the rules of a document are put together"),
        "mapped": Flag(meaning='map signed metrics onto 0 to 1 before they vote (votes="mean")'),
    }

    _tables: tuple[Engine, AdditiveTables] | None = None  # of `additive`, with what they were made of
    former_values: ClassVar[Mapping[str, Mapping[str, str]]] = {"votes": {"residual": "evidence"}}

    def __init__(
        self,
        max_size: int | None = 2,
        min_support: float = 0.0,
        metric: str = "confidence",
        votes: str = "evidence",
        discretizer: Any = "mdlp",
        drop_weakest: float | None = None,
        normalize: str | None = None,
        memory_budget: float = 1024,
        keep_rows: float = 16,
        work_limit: float | None = 5e12,
        n_jobs: int | None = None,
        mapped: bool = True,
    ) -> None:
        self.max_size = max_size
        self.min_support = min_support
        self.metric = metric
        self.votes = votes
        self.discretizer = discretizer
        self.drop_weakest = drop_weakest
        self.normalize = normalize
        self.memory_budget = memory_budget
        self.keep_rows = keep_rows
        self.work_limit = work_limit
        self.n_jobs = n_jobs
        self.mapped = mapped

    def scheme(self) -> Votes:
        """Return how rules vote."""
        return votes_named(self.votes, self.metric, mapped=self.mapped)

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
        counts, _ = self.engine_.votes_of(row_bins)
        return self._rules(row_bins, self.engine_.layout.sets, counts, self.engine_.training.min_rows)

    def theta_of(self, rule: Rule, metric: str = "confidence", *, mapped: bool = False) -> float:
        """Return how strong one of this model's rules is by a metric, as the papers print it.

        >>> ranker = GlobalRules(discretizer=None).fit([[0], [0], [1], [1]], [0, 1, 1, 1], qid=[1, 1, 1, 1])
        >>> print(ranker.rules_[0], ranker.theta_of(ranker.rules_[0], "added_value"))
        f1=0 -> 0 (1 of 2) 0.25
        """
        check_is_fitted(self)
        by_grade = self.engine_.training.n_by_grade
        return theta(metric, rule.hits, rule.covered, int(by_grade[rule.grade]), int(by_grade.sum()), mapped=mapped)

    def _uses_queries(self) -> bool:
        return self.votes != "mean" or self.normalize is not None

    def _votes_as_in_the_paper(self) -> bool:
        return self.votes == "mean"

    def check_parameters(self) -> None:
        """Raise a DataError that names a parameter with a value it may not have."""
        super().check_parameters()
        votes_named(self.votes, self.metric, mapped=self.mapped)

    def _learned_state(self) -> dict[str, Any]:
        engine = {"engine": self.engine_.to_state(), "additive": self._is_additive()}
        return self._discretizer_state() | engine | self._kept_state()

    def _take_learned(self, state: dict[str, Any]) -> None:
        self._take_discretizer(state)
        # a model of the first version says nothing: there empty cells had no say, and have none now
        additive = bool(state.get("additive", False))
        scheme = votes_named(self.votes, self.metric, additive=additive, mapped=self.mapped)
        self.engine_ = Engine.from_state(state["engine"], scheme)
        self._take_kept(state)

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
                "this GlobalRules is not additive: in models of the first version the cells that no training row is "
                "in have no say; fit it again"
            )
        if self._tables is None or self._tables[0] is not self.engine_:  # rows may have been added since
            axes = axes_of(self.discretizer_, self.n_bins_)
            self._tables = self.engine_, additive_tables(self.engine_, axes, self.feature_names_)
        return self._tables[1]

    def as_tables(self) -> AdditiveTables | None:
        """Return the same; None where votes are means, or where there is no memory for the tables."""
        try:
            return None if self.engine_.counts is None else self.additive()
        except DataError:
            return None

    def _is_additive(self) -> bool:
        scheme = self.engine_.scheme
        return isinstance(scheme, LiftVotes) and scheme.additive
