"""Why one score: frozen values that print well and add up, rules that say the same folded into groups."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from rulerank.core.arrays import unmasked
from rulerank.core.checks import is_whole
from rulerank.core.words import counted, decimal
from rulerank.dataset import Array, Dataset, doc_name
from rulerank.errors import DataError
from rulerank.explain.cases import Case, GradeVote, MemberVote, QueryVote, case_of
from rulerank.explain.standing import IN_ALL, About, Background, background_of, placed
from rulerank.rankers.base import Ranker
from rulerank.render import Page, render_fragment, render_html, render_markdown, render_text, rich_page
from rulerank.render.document import Bar, only, sum_digits, summed, units
from rulerank.rules.rule import Item


class Shown:
    """Whatever can be shown as a page: in the terminal, as text, Markdown or HTML, and as JSON."""

    def page(self) -> Page:
        """Return what there is to show, in no format yet."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return plain values with all their digits."""
        raise NotImplementedError

    def to_json(self) -> str:
        """Return JSON, with all digits."""
        return json.dumps(self.to_dict(), indent=2)

    def to_text(self) -> str:
        """Return aligned text."""
        return render_text(self.page())

    def to_markdown(self) -> str:
        """Return Markdown."""
        return render_markdown(self.page())

    def to_html(self) -> str:
        """Return a web page that needs nothing else: no scripts, no fonts, no other files.

        Pictures of curves and pairs are drawn where Matplotlib is installed.
        """
        return render_html(self.drawn())

    def __repr__(self) -> str:
        return self.to_text()

    def __rich__(self) -> Any:
        return rich_page(self.page())

    def _repr_html_(self) -> str:
        return render_fragment(self.drawn())

    def drawn(self) -> Page:
        """Return what a web page shows: pictures too, where there are some."""
        return self.page()


@dataclass(frozen=True, slots=True)
class RuleVote:
    """One rule that covers the document: its items, what it adds to the score, and the training rows behind it."""

    items: tuple[Item, ...]
    adds: float  # to the score
    weight: float  # of what it says in the score; all add up to 1. 0 where votes are just added
    by_grade: tuple[int, ...]  # training rows that hold the items, of grade 0, 1, ...; empty where that is not known
    queries: tuple[int, int, int] | None = None  # training queries with such rows; where they lift; where they lower

    @property
    def is_rule(self) -> bool:
        """Whether it speaks of bins, and not of a weight times a value."""
        return all(item.bin >= 0 for item in self.items)

    @property
    def covered(self) -> int:
        """How many training rows hold the items: the support."""
        return sum(self.by_grade)

    @property
    def mean_grade(self) -> float:
        """The mean grade of those rows."""
        return sum(grade * n for grade, n in enumerate(self.by_grade)) / max(1, self.covered)

    def confidence(self, grade: int) -> float:
        """Return the share of those rows that have a grade: the confidence of items -> grade."""
        return self.by_grade[grade] / max(1, self.covered)

    @property
    def evidence(self) -> str:
        """What training knows of documents like this.

        >>> RuleVote((Item(0, 2),), 0.1, 0.2, (12, 7, 26)).evidence
        '45 like it in training: 58% grade 2, 16% grade 1, 27% grade 0'
        """
        if not self.covered:
            return ""
        grades = [g for g in reversed(range(len(self.by_grade))) if self.by_grade[g]]
        shares = ", ".join(f"{self.confidence(g):.0%} grade {g}" for g in grades)
        agree = ""
        if self.queries is not None:
            n, up, down = self.queries
            agree = f"; up in {up}, down in {down} of {counted(n, 'query', 'queries')}"
        return f"{self.covered:,} like it in training: {shares}{agree}"

    def __str__(self) -> str:
        return " & ".join(map(str, self.items))


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """Rules that share a feature with the strongest of them and point the same way."""

    rules: tuple[RuleVote, ...]  # the strongest; the first leads
    n_rules: int  # all of them
    adds: float  # all of them together

    def __str__(self) -> str:
        others = self.n_rules - 1
        return f"{self.rules[0]}" + (f" (and {counted(others, 'rule')} like it)" if others else "")


@dataclass(frozen=True, slots=True)
class FeatureShare:
    """What one feature has to do with the score."""

    feature: str
    text: str  # its item in words, or its value
    adds: float  # its part of the score: what each rule adds, shared alike by the rule's features
    effect: float  # the score less the score without all rules that hold the feature
    value: str = ""  # as it came, before any normalisation
    standing: str = ""  # of the value, among those of the query

    @property
    def said(self) -> str:
        """The feature as a sentence names it: its value and where that stands, or its item.

        >>> FeatureShare("bm25", "bm25 >= 3.85", 0.1, 0.1, "6.48", "highest of 40").said
        'bm25 (6.48, highest of 40)'
        """
        known = placed(self.value, self.standing)
        return f"{self.feature} ({known})" if known else self.text

    @property
    def varies(self) -> bool:
        """Whether the documents of the query differ in it: else it is no reason to rank one above another."""
        return not self.standing.startswith(IN_ALL)


@dataclass(frozen=True, repr=False)
class Explanation(Shown):
    """Why a document has its score. score = base + what the groups add = base + what the features add, exactly."""

    document: str
    method: str
    score: float
    base: float
    base_text: str  # what the base is, in words
    groups: tuple[RuleGroup, ...]  # the strongest first; each rule that voted is in one
    features: tuple[FeatureShare, ...]  # the largest share first
    n_rules: int  # that voted
    arithmetic: tuple[str, ...]  # how votes became the score, step by step
    grades: tuple[GradeVote, ...] = ()
    queries: tuple[QueryVote, ...] = ()
    members: tuple[MemberVote, ...] = ()
    notes: tuple[str, ...] = ()
    noun: str = "rule"  # what votes: rules, or features by themselves
    baseline: str = ""  # the part that is the baseline ranking's, as `features` names it; empty where there is none
    sees_values: bool = False  # the model sees the values as they came, and no bins or scales of them
    about: About = field(default_factory=About)

    @property
    def digits(self) -> int:
        """With how many decimals the score and its parts are printed."""
        shares, groups = (share.adds for share in self.features), (group.adds for group in self.groups)
        return sum_digits([self.base, *shares, *groups])

    @property
    def printed(self) -> str:
        """The score as it is printed."""
        return f"{self.score:z.{self.digits}f}"

    @property
    def printed_base(self) -> str:
        """The base as it is printed."""
        return f"{self.base:z.{self.digits}f}"

    def parts(self, adds: Iterable[float]) -> list[Bar]:
        """Return parts as they are printed: with the printed base they add up to the printed score."""
        return summed(adds, units(self.score, self.digits) - units(self.base, self.digits), self.digits)

    def page(self) -> Page:
        from rulerank.explain.pages import explanation_page

        return explanation_page(self)

    def lines(self, n: int = 5) -> list[str]:
        """Return plain sentences: the score, then the n strongest reasons."""
        from rulerank.explain.pages import explanation_lines

        return explanation_lines(self, n)

    def to_dict(self) -> dict[str, Any]:
        values = {name: value for name, value in asdict(self).items() if value != ()}
        if not self.baseline:
            del values["baseline"]
        values["about"] = asdict(self.about)
        values["groups"] = [group_dict(group) for group in self.groups]
        values["queries"] = [asdict(vote) | {"query": _plain(vote.query)} for vote in self.queries]
        return {"kind": "explanation"} | values


def rule_dict(rule: RuleVote) -> dict[str, Any]:
    """Return a rule as plain values, its items as text."""
    values = {"items": [str(item) for item in rule.items], "adds": rule.adds, "weight": rule.weight}
    known = {"rows_by_grade": list(rule.by_grade), "queries": rule.queries and list(rule.queries)}
    return values | {name: value for name, value in known.items() if value}


def group_dict(group: RuleGroup) -> dict[str, Any]:
    return {"adds": group.adds, "n_rules": group.n_rules, "rules": [rule_dict(rule) for rule in group.rules]}


def together(groups: Sequence[RuleGroup]) -> tuple[int, float]:
    """Return how many rules some groups have, and what they add."""
    return sum(group.n_rules for group in groups), sum(group.adds for group in groups)


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float) else getattr(value, "item", lambda: str(value))()


class RowOfQuery(NamedTuple):
    """One document among those of its query, checked and normalised as the ranker wants them."""

    X: Array
    row: int
    name: str


def find_row(ranker: Ranker, x: Any, row: int | None, name: str = "the document") -> RowOfQuery:
    """Find the document that is meant, given alone, or as a row of the documents of its query, or of a Dataset."""
    check_is_fitted(ranker)
    # frames and sparse rows stay what they are: the ranker checks their columns
    keeps = isinstance(x, Dataset) or issparse(x) or hasattr(x, "columns")
    data = x if keeps else np.atleast_2d(np.asarray(unmasked(x)))
    n_rows = len(x) if isinstance(x, Dataset) else data.shape[0]
    whole_query = ranker.needs_the_query()
    if row is None and (n_rows != 1 or whole_query):
        raise DataError(
            "this ranker compares the documents of a query with each other: give all of them and say which is meant, "
            "explain(X_of_the_query, row=3)"
            if whole_query
            else f"expected one document: got {n_rows}; say which is meant, explain(X, row=3)"
        )
    number = 0 if row is None else row
    if not is_whole(number, 0, n_rows - 1):
        raise DataError(f"row must be a whole number from 0 to {n_rows - 1}: got {row!r}")
    if isinstance(data, Dataset):
        name = doc_name(data, number)
        rows = np.flatnonzero(data.qid == data.qid[number]) if whole_query else np.array([number])
        return RowOfQuery(ranker.check_rows(data[rows], None), int(np.flatnonzero(rows == number)[0]), name)
    name = name if row is None else f"row {number + 1}"
    if whole_query:
        return RowOfQuery(ranker.check_rows(data, np.zeros(n_rows)), number, name)
    return RowOfQuery(ranker.check_rows(data[number : number + 1], np.zeros(1)), 0, name)


def explain_score(ranker: Ranker, x: Any, row: int | None, n_rules: int | None) -> Explanation:
    """Explain the score of one document; x, row and n_rules are those of `Ranker.explain`."""
    found = find_row(ranker, x, row)
    return explained(case_of(ranker, found.X, found.row), found.name, background_of(ranker, x, row), n_rules)


def explained(case: Case, name: str, behind: Background, n_rules: int | None) -> Explanation:
    """Turn a case into an explanation that keeps the n_rules strongest rules of each group (None: all)."""
    ballot = case.ballot
    groups = fold(ballot.adds, ballot.holds, ballot.voted, ballot.by_grade.sum(axis=1))
    score, without = ballot.score, ballot.scores_without
    parts = np.flatnonzero(ballot.holds.any(axis=0) | (without != score)).tolist()
    features = [share_of(case, behind, f, float(ballot.shares[f]), float(score - without[f])) for f in parts]
    return Explanation(
        document=name,
        method=case.method,
        score=score,
        base=ballot.base,
        base_text=case.base_text,
        groups=tuple(
            RuleGroup(
                tuple(rule_vote(case, int(cell), behind) for cell in cells[:n_rules]),
                cells.size,
                float(ballot.adds[cells].sum()),
            )
            for cells in groups
        ),
        features=tuple(sorted(features, key=lambda share: -abs(share.adds))),
        n_rules=int(ballot.voted.sum()),
        arithmetic=case.arithmetic,
        grades=case.grades,
        queries=case.queries,
        members=case.members,
        notes=case.notes,
        noun=case.noun,
        baseline="" if case.baseline is None else case.baseline.name,
        sees_values=all(sees_value(case, behind, f, share) for f, share in zip(parts, features, strict=True)),
        about=behind.about,
    )


def share_of(case: Case, behind: Background, part: int, adds: float, effect: float) -> FeatureShare:
    """Return what one part of a score adds: a feature, or the baseline ranking."""
    name, column, text = case.part_name(part), case.column(part), case.value(part)
    known = (only(text, name), "") if column is None else (behind.value(column), behind.standing(column))
    return FeatureShare(name, text, adds, effect, *known)


def sees_value(case: Case, behind: Background, part: int, share: FeatureShare) -> bool:
    """Tell whether the model sees the value of a part as it came, and no bin or scale of it."""
    column = case.column(part)
    return column is not None and share.text == f"{share.feature} = {decimal(behind.number(behind.names[column]), 4)}"


def rule_vote(case: Case, cell: int, behind: Background | None = None) -> RuleVote:
    """Return one cell of a case as a rule that a person can read, given the document with its raw values."""
    ballot = case.ballot
    tally = None
    if case.tallies is not None:
        n_queries, up, down = case.tallies[cell, :3].tolist()
        tally = (n_queries, up, down)
    items = [case.item(cell, feature) for feature in ballot.features_of(cell)]
    if behind is not None:
        items = [behind.item(item, case.column(item.feature)) for item in items]
    return RuleVote(
        tuple(items),
        float(ballot.adds[cell]),
        float(ballot.weights[cell]),
        tuple(ballot.by_grade[cell].tolist()),
        tally,
    )


def fold(adds: Array, holds: Array, voted: Array, covered: Array | None = None) -> list[Array]:
    """Return groups of cells, the strongest group first and in each the strongest cell, its leader.

    The strongest cell leads; the cells that share a feature with it and point the same way follow it. Then the
    strongest of the rest leads, until each cell that voted is in one group. Those that add nothing form the last.

    adds: float64 (n_cells,) what each adds to the score; holds: bool (n_cells, n_features); voted: bool (n_cells,)
    covered: training rows of each cell, to tell leaders apart that add the same: more rows are better evidence.

    >>> holds = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]], dtype=bool)
    >>> [group.tolist() for group in fold(np.array([0.2, 0.3, 0.1, -0.05]), holds, np.ones(4, dtype=bool))]
    [[1, 0, 2], [3]]
    """
    rows = np.zeros(len(adds)) if covered is None else covered
    size = np.abs(adds)
    strongest_first = np.lexsort((-rows, -np.round(size, 12)))  # equal but for rounding is equal
    strongest_first = strongest_first[voted[strongest_first]]
    left = voted & (size > 0)
    groups = []
    for leader in strongest_first:
        if left[leader]:
            alike = left & (np.sign(adds) == np.sign(adds[leader])) & holds[:, holds[leader]].any(axis=1)
            left &= ~alike
            groups.append(alike)
    if (voted & (size == 0)).any():
        groups.append(voted & (size == 0))
    ordered = [strongest_first[members[strongest_first]] for members in groups]
    return sorted(ordered, key=lambda cells: -abs(float(adds[cells].sum())))
