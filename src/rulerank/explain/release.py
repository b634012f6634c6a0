"""The release page: what a new ranking changes for all queries, why, and whether labels show that it is better.

It compares the top results of a model with those of the baseline ranking, query by query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from rulerank._util.estimator import check_is_fitted
from rulerank._util.parameters import is_whole
from rulerank._util.words import as_date, counted, decimal, joined, percent
from rulerank.baseline import Baseline, FeatureBaseline, SumBaseline, find_baseline
from rulerank.dataset import UNLABELLED, Array, Dataset, doc_name, query_index
from rulerank.errors import DataError
from rulerank.evaluation import Comparison, compare
from rulerank.explain.documents import Documents, about, called, clipped, method_of
from rulerank.explain.explanation import Shown, label_of
from rulerank.rankers.base import Ranker
from rulerank.recall_base import FEW_ZEROS
from rulerank.render.document import DASH, Bar, Block, Cell, Content, Page, Section, Sentences, Table

MOST_QUERIES = 500  # whose contributions are computed
FEATURES = 8  # lines of a table
REASONS = 3  # in a sentence
LEAST = 0.1  # share of all reasons for a change that one in a sentence has
MOVERS = 6  # of each direction
LETTERS = 60  # of a title or a query
GAINS = 5  # queries that gain or lose most
STEPS = 10  # groups of documents by the value of a feature
KINDS = 2  # categories that are named
VERDICTS = {"better": "better", "worse": "worse", "unclear": "no clear difference", "too few": "too few queries"}
NO_LABELS = "There are no labels, so this page shows what changes, and not whether it is better."


class GoodValues(NamedTuple):
    """The values of a feature that raise the score most."""

    text: str  # "2 or more"; empty: not known
    holds: Array  # bool, of each row of the data


@dataclass(frozen=True, slots=True)
class FeatureShift:
    """How a feature differs between results that enter the top and results that leave it."""

    feature: str
    name: str  # what people call it
    adds: float  # to the score of those that enter, less that of those that leave
    entered: str  # mean value
    left: str
    good: str  # the values that raise the score most, over all queries; empty: not known
    entered_good: float  # share of the results with such a value
    left_good: float

    def __str__(self) -> str:
        if self.good and (self.entered_good - self.left_good) * self.adds > 0:
            return f"{self.name} {self.good} ({percent(self.entered_good)} against {percent(self.left_good)})"
        return f"{self.name} ({self.entered} against {self.left} on average)" if self.entered else self.name


def main_reasons(shifts: Sequence[FeatureShift]) -> list[FeatureShift]:
    """Return the strongest reasons for a change, without those that hardly count."""
    speak_for = sum(shift.adds for shift in shifts if shift.adds > 0)
    return [shift for shift in shifts if shift.adds > LEAST * speak_for][:REASONS]


@dataclass(frozen=True, slots=True)
class RankedResult:
    """A document of a query with its two ranks."""

    query: str
    query_text: str
    document: str
    title: str
    before: int  # rank
    now: int
    grade: int | None
    shifts: tuple[FeatureShift, ...] = ()  # of a mover: against the results that leave, or against those that enter

    @property
    def why(self) -> str:
        """The strongest reasons for its move: its values, and which values are good."""
        up, reasons = self.now < self.before, []
        for one in main_reasons(self.shifts):
            own, others = (one.entered, one.left) if up else (one.left, one.entered)
            told = one.good and (one.entered_good if up else one.left_good) == up
            compared = f"good: {one.good}" if told else f"others: {others}"
            reasons.append(f"{one.name} {own} ({compared})" if own else one.name)
        return "; ".join(reasons)


@dataclass(frozen=True, slots=True)
class QueryGain:
    """A query with its values of the first measure."""

    query: str
    query_text: str
    before: float
    now: float


@dataclass(frozen=True, slots=True)
class ExampleQuery:
    """The top results of a query, before and after."""

    query: str
    query_text: str
    why: str  # it is shown
    n_new: int  # results
    before: tuple[RankedResult, ...]
    after: tuple[RankedResult, ...]
    shifts: tuple[FeatureShift, ...]
    values: tuple[float, float] | None  # of the first measure, before and after


@dataclass(frozen=True, slots=True)
class Turnover:
    """The results of all queries that enter the top, or those that leave it, by their labels."""

    n_results: int
    n_relevant: int
    n_not_relevant: int
    n_unlabelled: int
    relevant_share: float | None  # of all, or of those with a label; None: there are none

    def __str__(self) -> str:
        parts = [(self.n_not_relevant, "not relevant"), (self.n_unlabelled, "without a label")]
        return ", ".join([f"{self.n_relevant:,} relevant", *(f"{n:,} {what}" for n, what in parts if n)])


@dataclass(frozen=True, repr=False)
class Release(Shown):
    """What a new ranking changes against the baseline."""

    method: str
    baseline: str
    top: int
    n_queries: int
    n_docs: int
    n_same: int  # queries whose top is the same, in the same order
    n_reordered: int  # the same results in another order
    first_changed: int  # queries with another first result
    new_results: tuple[int, ...]  # queries with 0, 1, ... new results in the top
    shifts: tuple[FeatureShift, ...]  # the largest first
    risen: tuple[RankedResult, ...]
    fallen: tuple[RankedResult, ...]
    examples: tuple[ExampleQuery, ...]
    comparisons: tuple[Comparison, ...]  # new against baseline, by measure; none without labels
    gains: tuple[QueryGain, ...]  # the largest gain first; queries with labels
    entered: Turnover
    left: Turnover
    n_listed: int  # results in the new top
    n_labelled: int  # of them, judged
    max_grade: int  # of the labels
    note: str = ""  # on the labels
    baseline_name: str = field(default="", kw_only=True)  # what people call it

    @property
    def n_changed(self) -> int:
        return self.n_queries - self.n_same

    @property
    def mean_new(self) -> float:
        """Results of a query's top that are new there, on average over all queries."""
        return sum(n * count for n, count in enumerate(self.new_results)) / self.n_queries

    def to_dict(self) -> dict[str, Any]:
        plain = asdict(self) | {"comparisons": [one.to_dict() for one in self.comparisons]}
        return {"kind": "release", "n_changed": self.n_changed, "mean_new": self.mean_new} | plain

    def page(self) -> Page:
        facts = [
            ("queries", f"{self.n_queries:,}"),
            (f"top {self.top} changes", percent(self.n_changed / self.n_queries)),
            (f"new results per top {self.top}", f"{self.mean_new:.1f}"),
            ("first result changes", percent(self.first_changed / self.n_queries)),
        ]
        if self.comparisons:
            one, left, entered = self.comparisons[0], self.left.relevant_share, self.entered.relevant_share
            if left is not None and entered is not None:
                facts.append(("relevant: results that leave → enter", f"{percent(left)} → {percent(entered)}"))
            facts.append((one.measure, f"{one.mean_b:.3f} → {one.mean_a:.3f}"))
        blocks: list[Block] = [_quality(self), _amount(self)]
        blocks += [_reasons(self)] if self.shifts else []
        blocks += [_movers(self)] if self.risen or self.fallen else []
        blocks += [_examples(self)] if self.examples else []
        blocks.append(_how_to_read(self))
        return Page(f"What changes with {self.method}", tuple(_lead(self)), tuple(blocks), tuple(facts))


def release_of(ranker: Ranker, data: Dataset, baseline: Any, n: int = 10, examples: int = 5, name: str = "") -> Release:
    """Compare a ranker with the baseline ranking on all queries of the data; parameters as in `Ranker.release`."""
    check_is_fitted(ranker)
    if not isinstance(data, Dataset) or not len(data):
        raise DataError("a release page needs a Dataset with documents: make one with rr.Dataset(X, y, qid)")
    for what, value, least in (("n", n, 1), ("examples", examples, 0)):
        if not is_whole(value, least):
            raise DataError(f"{what} must be an integer of at least {least}: got {value!r}")
    if baseline is None:
        raise DataError("a release page compares two rankings: name the one that users see now, baseline='bm25'")
    data = data if data.base is None else data[~data.base.extra]  # which no ranking retrieves
    old = find_baseline(data.feature_names, baseline, data.categories)
    new_scores, old_scores = ranker.predict(data), old.scores(data)
    judged = _judged(data)
    unjudged = "0" if judged.any() and (data.y[judged] == 0).mean() < FEW_ZEROS else "skip"  # as in `counted_rows`
    comparisons, gains, note = _by_labels(data, new_scores, old_scores, n, unjudged)
    lists = TopLists(ranker, data, new_scores, old_scores, n)
    return Release(
        method=name or method_of(ranker),
        baseline=str(old),
        baseline_name=_in_words(old, ranker),
        top=n,
        n_queries=lists.n_new.size,
        n_docs=len(data),
        n_same=int(lists.same.sum()),
        n_reordered=int(((lists.n_new == 0) & ~lists.same).sum()),
        first_changed=int(((lists.now == 1) & (lists.before > 1)).sum()),
        new_results=tuple(np.bincount(lists.n_new, minlength=n + 1).tolist()),
        shifts=lists.shifts(lists.entered, lists.left),
        risen=lists.movers(lists.entered),
        fallen=lists.movers(lists.left),
        examples=lists.examples(examples, gains),
        comparisons=comparisons,
        gains=gains,
        entered=lists.turnover(lists.entered, unjudged),
        left=lists.turnover(lists.left, unjudged),
        n_listed=int((lists.now <= n).sum()),
        n_labelled=int((lists.judged & (lists.now <= n)).sum()),
        max_grade=int(data.y.max()),
        note=note,
    )


def _in_words(baseline: Baseline, ranker: Ranker) -> str:
    """Return a baseline with the names that people read."""
    words = str(baseline)
    parts = baseline.parts if isinstance(baseline, SumBaseline) else (baseline,)
    for part in parts:
        words = (
            words.replace(part.feature, called(ranker, part.feature)) if isinstance(part, FeatureBaseline) else words
        )
    return words


def _judged(data: Dataset) -> Array:
    """Return which documents have a label of their own: others may count as grade 0, and nobody judged them."""
    return (data.y != UNLABELLED) & (True if data.base is None else data.base.judged)


def _by_labels(
    data: Dataset, new: Array, old: Array, n: int, unjudged: str
) -> tuple[tuple[Comparison, ...], tuple[QueryGain, ...], str]:
    """Compare the two rankings by the judged documents, where there are some.

    The documents that a new ranking brings up are often not judged. They do not count against it, unless the labels
    list relevant documents only.
    """
    judged = _judged(data)
    if not judged.any():
        return (), (), NO_LABELS
    try:
        table = compare(data, {"new": new, "baseline": old}, measures=[f"NDCG@{n}", "P@3", "MRR"], unjudged=unjudged)
    except DataError as error:
        return (), (), f"The labels do not suffice to compare the two rankings: {error}."
    first_rows = np.unique(query_index(data.qid)[0], return_index=True)[1].tolist()
    texts = {str(data.qid[row]): _query_text(data, row) for row in first_rows}
    results = [table.results[name] for name in ("baseline", "new")]
    values = zip(map(str, results[0].queries), *(one.values[0].tolist() for one in results), strict=True)
    gains = [QueryGain(query, texts[query], before, now) for query, before, now in values]
    gains.sort(key=lambda gain: gain.before - gain.now)
    left_out = "are left out" if unjudged == "skip" else "count as not relevant"
    return table.pairs, tuple(gains), "" if judged.all() else f"Documents without a label {left_out}."


def _query_text(data: Dataset, row: int) -> str:
    return clipped(about(data, row).query_text, LETTERS)


class TopLists:
    """The ranks of all documents by both rankings, and what enters and leaves the top of each query."""

    def __init__(self, ranker: Ranker, data: Dataset, new: Array, old: Array, n: int) -> None:
        self.ranker, self.data, self.n, self.judged = ranker, data, n, _judged(data)
        self.query, queries = query_index(data.qid)  # number of each row's query
        self.now, self.before = (ranks_in_queries(scores, self.query) for scores in (new, old))
        self.entered = np.flatnonzero((self.now <= n) & (self.before > n))
        self.left = np.flatnonzero((self.now > n) & (self.before <= n))
        self.n_new = np.bincount(self.query[self.entered], minlength=len(queries))
        moved = (self.now != self.before) & (np.minimum(self.now, self.before) <= n)
        self.same = np.bincount(self.query[moved], minlength=len(queries)) == 0
        self.documents = Documents(ranker, data)
        self.shares = self._shares()
        self._good: dict[int, GoodValues] = {}

    def _shares(self) -> Array | None:
        """Return what each part adds to the scores of some changed queries, NaN elsewhere; None: it is not known."""
        changed = np.flatnonzero(self.n_new)
        some = changed[np.linspace(0, changed.size - 1, min(changed.size, MOST_QUERIES)).astype(np.int64)]
        rows = np.flatnonzero(np.isin(self.query, some))
        shares = np.full((len(self.data), len(self.ranker.feature_names_) + 1), np.nan)
        try:
            if rows.size:
                shares[rows] = self.ranker.contributions(self.data[rows]).by_feature(shares.shape[1])
        except DataError:  # its score is not a sum of parts
            return None
        return shares

    @cached_property
    def above_mean(self) -> Array:
        """What each part adds to the scores of the known rows, less its mean over the documents of the query."""
        assert self.shares is not None
        known = np.flatnonzero(~np.isnan(self.shares[:, 0]))
        _, query, sizes = np.unique(self.query[known], return_inverse=True, return_counts=True)
        above = np.full_like(self.shares, np.nan)
        for part in range(above.shape[1]):
            own = self.shares[known, part]
            above[known, part] = own - (np.bincount(query, own) / sizes)[query]
        return above

    def good(self, part: int) -> GoodValues:
        """Return the values of a part that raise the score most."""
        if part not in self._good:
            column, documents = self.documents.column(part), self.documents
            nothing = GoodValues("", np.zeros(len(self.data), dtype=bool))
            if column is None:
                return nothing
            values, name = documents.raw[:, column].astype(np.float64), documents.features[column]
            if name in documents.categories:
                found = good_kinds(values, self.above_mean[:, part], documents.categories[name])
            else:
                write = partial(self._written, column)
                found = good_range(values, self.above_mean[:, part], write, date=name in documents.dates)
            self._good[part] = found or nothing
        return self._good[part]

    def shifts(self, entered: Array, left: Array) -> tuple[FeatureShift, ...]:
        """Return how features differ between rows that enter and rows that leave, mean over queries, largest first."""
        if self.shares is None:
            return ()
        sides = [rows[~np.isnan(self.shares[rows, 0])] for rows in (entered, left)]
        if not sides[0].size:
            return ()
        adds = np.zeros(self.shares.shape[1])
        for rows, sign in zip(sides, (1, -1), strict=True):
            sizes = np.bincount(self.query[rows])
            weights = sign / sizes[self.query[rows]] / np.count_nonzero(sizes)
            adds += weights @ self.shares[rows]
        found = []
        for part in np.argsort(-np.abs(adds), kind="stable")[: np.count_nonzero(adds)].tolist():
            good, name, human = self.good(part), self.documents.name(part), self.documents.human(part)
            human = human.removesuffix(" (log)") if is_log(name) else human
            usual = [self._usual(rows, part) for rows in sides]
            held = [float(good.holds[rows].mean()) for rows in sides]
            shift = FeatureShift(name, human, float(adds[part]), usual[0], usual[1], good.text, held[0], held[1])
            found.append(shift)
        return tuple(found)

    def _usual(self, rows: Array, part: int) -> str:
        """Return the mean of a feature as people write it, or its most common category; "" of what has no values."""
        documents, column = self.documents, self.documents.column(part)
        if column is None:
            return ""
        values = documents.raw[rows, column].astype(np.float64)
        values = values[~np.isnan(values)]
        if not values.size:
            return "missing"
        name = documents.features[column]
        if name in documents.categories:
            codes, counts = np.unique(values, return_counts=True)
            most = documents.written(column, float(codes[counts.argmax()]))
            return f"mostly {most}" if codes.size > 1 else most
        return self._written(column, float(values.mean()))

    def _written(self, column: int, value: float) -> str:
        """Return a value of a feature as people write it: dates without times, logarithms as what they are of."""
        name = self.documents.features[column]
        if name in self.documents.dates:
            return as_date(round(value))
        return decimal(float(np.expm1(value)) if is_log(name) else value)

    def turnover(self, rows: Array, unjudged: str) -> Turnover:
        """Count rows by their labels; unjudged: "0", rows without a label count as not relevant, or "skip"."""
        grades = self.data.y[rows[self.judged[rows]]]
        n_relevant, n_counted = int((grades > 0).sum()), rows.size if unjudged == "0" else grades.size
        share = n_relevant / n_counted if n_counted else None
        return Turnover(rows.size, n_relevant, grades.size - n_relevant, rows.size - grades.size, share)

    def movers(self, rows: Array) -> tuple[RankedResult, ...]:
        """Return those of the rows that moved furthest, one of each query, with reasons."""
        rows = rows[np.lexsort((rows, self.query[rows], -np.abs(self.before - self.now)[rows]))]
        firsts = np.sort(np.unique(self.query[rows], return_index=True)[1])[:MOVERS]
        return tuple(self.result(row, reasons=True) for row in rows[firsts].tolist())

    def result(self, row: int, *, reasons: bool = False) -> RankedResult:
        """Return a document with its ranks; reasons: with its values against the results it moved past."""
        own, read, name = np.array([row]), about(self.data, row), doc_name(self.data, row)
        shifts: tuple[FeatureShift, ...] = ()
        if reasons:
            up = self.now[row] < self.before[row]
            others = self.left if up else self.entered
            others = others[self.query[others] == self.query[row]]
            shifts = self.shifts(*((own, others) if up else (others, own)))[:FEATURES]
        return RankedResult(
            query=read.query,
            query_text=clipped(read.query_text, LETTERS),
            document=name,
            title=clipped(read.title, LETTERS) or name,
            before=int(self.before[row]),
            now=int(self.now[row]),
            grade=int(self.data.y[row]) if self.judged[row] else None,
            shifts=shifts,
        )

    def examples(self, n: int, gains: Sequence[QueryGain]) -> tuple[ExampleQuery, ...]:
        """Return queries to look at: those that gain and lose most by labels, and those that change most."""
        numbers = {str(self.data.qid[row]): int(self.query[row]) for row in np.flatnonzero(self.now == 1).tolist()}
        by_change = np.argsort(-self.n_new, kind="stable").tolist()
        known = [gain for gain in gains if gain.query in numbers]
        chosen: dict[int, str] = {}
        if known and known[0].now > known[0].before:
            chosen[numbers[known[0].query]] = "largest gain by labels"
        if known and known[-1].now < known[-1].before:
            chosen[numbers[known[-1].query]] = "largest loss by labels"
        chosen.setdefault(by_change[0], "changes most")
        typical = int(np.argmin(np.abs(self.n_new - np.median(self.n_new))))
        chosen.setdefault(typical, "typical amount of change")
        for place in np.linspace(0, len(by_change) - 1, n + 2).astype(np.int64)[1:-1].tolist():
            chosen.setdefault(by_change[place], "chosen evenly by amount of change")
        values = {gain.query: (gain.before, gain.now) for gain in gains}
        return tuple(self._example(query, why, values) for query, why in [*chosen.items()][:n])

    def _example(self, query: int, why: str, values: dict[str, tuple[float, float]]) -> ExampleQuery:
        own = np.flatnonzero(self.query == query)
        tops = [own[np.argsort(ranks[own])][: self.n] for ranks in (self.before, self.now)]
        before, after = (tuple(self.result(row) for row in rows.tolist()) for rows in tops)
        entered, left = (rows[self.query[rows] == query] for rows in (self.entered, self.left))
        shifts, first = self.shifts(entered, left), after[0]
        return ExampleQuery(
            first.query, first.query_text, why, int(self.n_new[query]), before, after, shifts, values.get(first.query)
        )


def ranks_in_queries(scores: Array, query: Array) -> Array:
    """Return the rank of each row among those of its query, from 1; ties in the order of the rows.

    >>> ranks_in_queries(np.array([0.5, 0.9, 0.5, 0.1]), np.array([0, 0, 1, 0])).tolist()
    [2, 1, 1, 3]
    """
    order = np.lexsort((-scores, query))
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[order] = np.arange(len(scores)) - np.searchsorted(query[order], query[order]) + 1
    return ranks


def is_log(feature: str) -> bool:
    """Tell whether `rulerank features` took the logarithm of a field plus 1."""
    return feature.startswith("log(")


def good_range(
    values: Array, adds: Array, write: Callable[[float], str] = decimal, *, date: bool = False
) -> GoodValues | None:
    """Return the range of values whose documents gain most together; None where all values are alike.

    adds: what each document gains, NaN where that is not known.
    write: how a value is written.

    >>> good_range(np.array([0.0, 2.0, 3.0, 9.0]), np.array([-1.0, 0.5, 0.6, -0.2])).text
    '2 to 3'
    """
    known = ~np.isnan(values) & ~np.isnan(adds)
    if not known.any():
        return None
    cuts = np.unique(np.quantile(values[known], np.arange(1, STEPS) / STEPS, method="lower"))
    group = np.searchsorted(cuts, values)  # a group ends with a cut
    sums = np.bincount(group[known], adds[known], len(cuts) + 1)
    there = np.flatnonzero(np.bincount(group[known], minlength=len(cuts) + 1))
    totals = [0.0, *accumulate(sums[there].tolist())]
    gain, first, end = max((totals[j] - totals[i], i, j) for j in range(1, len(totals)) for i in range(j))
    if gain <= 0 or (first, end) == (0, there.size):
        return None
    holds = np.isin(group, there[first:end]) & ~np.isnan(values)
    low, high = write(float(values[holds].min())), write(float(values[holds].max()))
    text = f"{low} to {high}"
    if low == high:
        text = low
    elif first == 0:
        text = f"{high} or {'earlier' if date else 'less'}"
    elif end == there.size and not values[known & np.isin(group, there[first - 1])].max():
        text = "above 0"
    elif end == there.size:
        text = f"{low} or {'later' if date else 'more'}"
    return GoodValues(text, holds)


def good_kinds(values: Array, adds: Array, kinds: Sequence[str]) -> GoodValues | None:
    """Return the categories whose documents gain, the one that gains most in all first.

    >>> good_kinds(np.array([0.0, 1.0, 1.0, 2.0]), np.array([-1.0, 0.5, 0.6, 0.2]), ["Drama", "War", "Music"]).text
    'War or Music'
    """
    known = ~np.isnan(values) & ~np.isnan(adds) & (values >= 0) & (values < len(kinds))
    sums = np.bincount(values[known].astype(np.int64), adds[known], len(kinds))
    best = np.argsort(-sums, kind="stable")[: np.count_nonzero(sums > 0)].tolist()
    if not best:
        return None
    names = [kinds[code] for code in best[:KINDS]]
    names += [counted(len(best) - KINDS, "other")] if len(best) > KINDS else []
    return GoodValues(" or ".join(names), np.isin(values, best))


def _lead(r: Release) -> list[str]:
    lines = [f"Before: {r.baseline_name}, the baseline. After: {r.method}. Both rank the same results."]
    if r.comparisons:
        one = r.comparisons[0]
        verdict = {"better": "it is better", "worse": "it is worse"}.get(one.verdict, "there is no clear difference")
        lines.append(
            f"By the labels {verdict}. {_turnover(r)} Quality of the top {r.top} by grades and order ({one.measure}, "
            f"from 0 to 1) {one.mean_b:.3f} → {one.mean_a:.3f}: {one.wins:,} of "
            f"{counted(one.n_queries, 'labelled query', 'labelled queries')} get better, {one.losses:,} get worse. "
            "If the model was trained on these labels, it gains less on new queries."
        )
    else:
        lines.append(r.note)
    same = (
        f"{counted(r.n_same, 'query keeps', 'queries keep')} the same list" if r.n_same else "No query keeps its list"
    )
    lines.append(
        f"The top {r.top} changes for {r.n_changed:,} of {counted(r.n_queries, 'query', 'queries')}: on average "
        f"{r.mean_new:.1f} of {r.top} results are new. {same}."
    )
    raised = [str(shift) for shift in main_reasons(r.shifts)]
    if raised:
        lines.append(f"Main reasons, results that enter the top {r.top} against those that leave: {joined(raised)}.")
    return lines


def _turnover(r: Release) -> str:
    return (
        f"{counted(r.entered.n_results, 'result enters', 'results enter')} the top {r.top}: {r.entered}. "
        f"{counted(r.left.n_results, 'result leaves', 'results leave')}: {r.left}."
    )


def _quality(r: Release) -> Section:
    if not r.comparisons:
        return Section("Is it better?", (Sentences("Labels", (r.note,)),), key="quality")
    rows = tuple(
        (
            one.measure,
            f"{one.mean_b:.3f}",
            f"{one.mean_a:.3f}",
            Cell(f"{one.difference:+z.3f}", one.difference, strong=one.verdict in ("better", "worse")),
            f"{one.low:+z.3f} to {one.high:+z.3f}",
            f"{one.wins:,} / {one.ties:,} / {one.losses:,}",
            VERDICTS[one.verdict],
        )
        for one in r.comparisons
    )
    first = r.comparisons[0]
    note = (
        f"Means over {counted(first.n_queries, 'labelled query', 'labelled queries')}. Higher is better. Interval: the "
        f"difference lies in it with {percent(first.level)} confidence. NDCG@{r.top}: quality of the first {r.top} "
        "results by their labels and order, from 0 to 1. P@3: share of relevant results among the first 3. MRR: 1 / "
        "rank of the first relevant result."
    )
    header = ("measure", "before", "after", "difference", "interval", "queries better / same / worse", "verdict")
    parts = [_relevant(r), Table("Metrics", header, rows, 1, note, words=("verdict",), stack=True)]
    gained = [gain for gain in r.gains[:GAINS] if gain.now > gain.before]
    lost = [gain for gain in r.gains[-GAINS:] if gain.now < gain.before]
    most = max((abs(gain.now - gain.before) for gain in (*gained, *lost)), default=0.0)
    cells = tuple(
        (
            gain.query_text or gain.query,
            f"{gain.before:.3f}",
            f"{gain.now:.3f}",
            Bar(gain.now - gain.before, most, text=f"{gain.now - gain.before:+.3f}"),
        )
        for gain in (*gained, *lost)
    )
    columns = ("query", f"{first.measure} before", "after", "difference")
    parts += [Table("Queries that gain and lose most", columns, cells, 1, stack=True)] if cells else []
    about = f"Labels are grades of relevance from 0, not relevant, to {r.max_grade}, the best."
    return Section("Is it better?", tuple(parts), about, key="quality")


def _relevant(r: Release) -> Table:
    rows: list[tuple[Content, ...]] = []
    for name, side in ((f"enter the top {r.top}", r.entered), (f"leave the top {r.top}", r.left)):
        share = side.relevant_share
        counts = (side.n_results, side.n_relevant, side.n_not_relevant, side.n_unlabelled)
        bar = DASH if share is None else Bar(share, 1.0, signed=False, text=percent(share))
        rows.append((name, *(f"{n:,}" for n in counts), bar))
    header = ("results that", "in all", "relevant", "not relevant", "no label", "share relevant")
    note = (
        f"Relevant: label 1 or higher. Of all results of the new top {r.top}, {percent(r.n_labelled / r.n_listed)} "
        f"have a label. {r.note}"
    )
    return Table("Results that enter and leave", header, tuple(rows), 1, note, stack=True)


def _amount(r: Release) -> Section:
    groups = [("same results in the same order", r.n_same), ("same results in another order", r.n_reordered)]
    cuts = [1, 2, 4, 7, r.top + 1] if r.top >= 8 else list(range(1, r.top + 2))
    for low, high in pairwise(cuts):
        name = counted(low, "new result") if high == low + 1 else f"{low} to {high - 1} new results"
        groups.append((name, sum(r.new_results[low:high])))
    rows = tuple(
        (name, f"{count:,}", Bar(count, r.n_queries, signed=False, text=percent(count / r.n_queries)))
        for name, count in groups
    )
    note = (
        f"A result is new if it is in the top {r.top} after the change and was not before. The first result changes "
        f"for {r.first_changed:,} of {counted(r.n_queries, 'query', 'queries')}."
    )
    table = Table(f"Changes in the top {r.top}", (f"top {r.top}", "queries", "share"), rows, 1, note)
    return Section("How much changes?", (table,), key="amount")


def _reasons(r: Release) -> Section:
    shown, others = r.shifts[:FEATURES], [shift.adds for shift in r.shifts[FEATURES:]]
    speak_for = sum(shift.adds for shift in r.shifts if shift.adds > 0)
    largest = max(abs(shift.adds) for shift in shown)
    about = (
        "The score of the new model is a sum of what its features add. Good values are those that add most, over all "
        "queries. Low ones can be good, of a match too: the model learned from labels that, with the other features "
        "equal, such results are relevant more often."
    )
    if not all(shift.good for shift in shown):
        about += " The model starts from the baseline, which speaks for the results of before."
    note = (
        f"Results that enter or leave the top {r.top}: share of them with a good value. Weight: all reasons for the "
        "results that enter are 100 % together. Minus: a reason for those that leave, which the others outweigh."
    )
    if others:
        both = [percent(sum(abs(adds) for adds in others if sign * adds > 0) / speak_for) for sign in (1, -1)]
        note += f" {counted(len(others), 'weaker feature')} not shown: {both[0]} for, {both[1]} against."
    rows = tuple(
        (
            label_of(shift.feature, shift.name),
            shift.good,
            percent(shift.entered_good) if shift.good else "",
            percent(shift.left_good) if shift.good else "",
            Bar(shift.adds, largest, text=f"{100 * shift.adds / speak_for:+.0f} %"),
        )
        for shift in shown
    )
    header = ("feature", "good values", "results that enter", "results that leave", "weight")
    table = Table("Features that move results most", header, rows, 2, note, stack=True)
    return Section("Why does it change?", (table,), about, key="why")


def _movers(r: Release) -> Section:
    parts = []
    for title, mark, movers in ((f"Into the top {r.top}", "▲", r.risen), (f"Out of the top {r.top}", "▼", r.fallen)):
        rows = tuple(
            (
                mover.title,
                mover.query_text or mover.query,
                Cell(f"{mover.before} → {mover.now}", mover.before - mover.now, mark=mark),
                "none" if mover.grade is None else str(mover.grade),
                mover.why,
            )
            for mover in movers
        )
        table = Table(title, ("document", "query", "rank", "label", "why"), rows, 2, words=("why",), stack=True)
        labels = any(mover.grade is not None for mover in movers)
        parts += [table if labels else table.without(3)] if movers else []
    about = (
        "The documents that move furthest, at most one per query. Why: its values that count most, with the good "
        f"values of the feature or the mean of the others: of the results that leave the top {r.top} of the query, or "
        "for a document that leaves, of those that enter."
    )
    return Section("Which documents move most?", tuple(parts), about, key="movers")


def _examples(r: Release) -> Section:
    about = "▲ ▼ and bold: in one of the two lists only. In brackets: the rank in the other list"
    about += f", and the label, 0 to {r.max_grade}." if r.comparisons else "."
    return Section("Examples, before and after", tuple(_example(one, r) for one in r.examples), about, key="examples")


def _example(one: ExampleQuery, r: Release) -> Table:
    graded = any(result.grade is not None for result in (*one.before, *one.after))

    def cell(result: RankedResult, rank: int, words: str, mark: str) -> Cell:
        label = ("no label" if result.grade is None else f"label {result.grade}") if graded else ""
        note = ", ".join(filter(None, ("" if result.before == result.now else f"{words} {rank}", label)))
        moved = rank > r.top
        return Cell(f"{result.title}{f' ({note})' if note else ''}", strong=moved, mark=mark if moved else "")

    rows = tuple(
        (f"{place}.", cell(old, old.now, "now", "▼"), cell(new, new.before, "was", "▲"))
        for place, (old, new) in enumerate(zip(one.before, one.after, strict=True), start=1)
    )
    facts = [f"Shown because: {one.why}.", f"{counted(one.n_new, 'new result')}."]
    if one.values is not None:
        facts.append(f"{r.comparisons[0].measure} {one.values[0]:.3f} → {one.values[1]:.3f}.")
    raised, lowered = main_reasons(one.shifts), [shift for shift in one.shifts if shift.adds < 0]
    if raised:
        despite = f", despite {lowered[0]}" if lowered else ""
        why = joined([str(shift) for shift in raised])
        facts.append(f"Main reasons, results that enter against those that leave: {why}{despite}.")
    title = f"“{one.query_text}”" if one.query_text else f"Query {one.query}"
    header = ("rank", "before", "after")
    return Table(title, header, rows, 1, " ".join(facts), words=("before", "after"), stack=True)


def _how_to_read(r: Release) -> Section:
    lines = [
        f"Before: {r.baseline}. After: {r.method}. Both rank the same {r.n_docs:,} documents of "
        f"{counted(r.n_queries, 'query', 'queries')}.",
        "For search engineers: `rulerank explain DATA MODEL -o model.html` draws what each value of a feature adds; "
        "`train --set monotone=match` lets no lower match be better.",
    ]
    return Section("How to read this page", (Sentences("Notes", tuple(lines)),), key="notes")
