"""The release page: what a new ranking changes for all queries, why, and whether labels say that it is better.

It compares the top results of a model with those of the baseline ranking, query by query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulerank._util.parameters import is_whole
from rulerank._util.words import as_date, counted, decimal, joined, percent
from rulerank.baseline import find_baseline
from rulerank.dataset import UNLABELLED, Array, Dataset, doc_name, query_index
from rulerank.errors import DataError
from rulerank.evaluation import Comparison, compare
from rulerank.explain.documents import Documents, about, clipped, method_of
from rulerank.explain.explanation import Shown, label_of
from rulerank.rankers.base import Ranker
from rulerank.render.document import Bar, Block, Cell, Content, Page, Section, Sentences, Table, bars

MOST_QUERIES = 500  # whose contributions are computed
FEATURES = 8  # lines of a table
REASONS = 3  # in a sentence
MOVERS = 6  # of each direction
LETTERS = 60  # of a title or a query
GAINS = 5  # queries that gain or lose most
VERDICTS = {"better": "better", "worse": "worse", "unclear": "no clear difference", "too few": "too few queries"}


@dataclass(frozen=True, slots=True)
class FeatureShift:
    """How a feature differs between results that enter the top and results that leave it."""

    feature: str
    name: str  # what people call it
    adds: float  # to the score of those that enter, less that of those that leave
    entered: str  # mean value
    left: str

    def __str__(self) -> str:
        return f"{self.name} ({self.entered} against {self.left})" if self.entered else self.name

    def of(self, *, up: bool) -> str:
        """Return it for a document that enters (up) or leaves: its own value first."""
        own, others = (self.entered, self.left) if up else (self.left, self.entered)
        return f"{self.name} {own} against {others}" if own else self.name


@dataclass(frozen=True, slots=True)
class Mover:
    """A document that enters the top of a query, or leaves it."""

    query: str
    query_text: str
    document: str
    title: str
    before: int  # rank
    now: int
    grade: int | None
    shifts: tuple[FeatureShift, ...]  # against the results that leave, or for one that leaves, against those that enter

    @property
    def why(self) -> str:
        """The strongest reasons: its own values against those of the others."""
        reasons = [shift for shift in self.shifts if shift.adds > 0][:REASONS]
        return "; ".join(shift.of(up=self.now < self.before) for shift in reasons)


@dataclass(frozen=True, slots=True)
class ListedResult:
    """A document in the top of one of the two rankings."""

    document: str
    title: str
    before: int  # rank
    now: int
    grade: int | None


@dataclass(frozen=True, slots=True)
class ExampleQuery:
    """The top results of a query, before and after."""

    query: str
    query_text: str
    why: str  # it is shown
    n_new: int  # results
    before: tuple[ListedResult, ...]
    after: tuple[ListedResult, ...]
    shifts: tuple[FeatureShift, ...]
    values: tuple[float, float] | None  # of the first measure, before and after


@dataclass(frozen=True, slots=True)
class QueryGain:
    """A query with its values of the first measure."""

    query: str
    query_text: str
    before: float
    now: float


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
    risen: tuple[Mover, ...]
    fallen: tuple[Mover, ...]
    examples: tuple[ExampleQuery, ...]
    comparisons: tuple[Comparison, ...]  # new against baseline, by measure; none without labels
    gains: tuple[QueryGain, ...]  # the largest gain first; queries with labels
    n_labelled: int  # results in the new top that have a label
    max_grade: int  # of the labels
    note: str = ""  # on the labels

    @property
    def n_changed(self) -> int:
        return self.n_queries - self.n_same

    @property
    def mean_new(self) -> float:
        """Results of a query's top that are new there, on average over all queries."""
        return sum(n * count for n, count in enumerate(self.new_results)) / max(1, self.n_queries)

    def to_dict(self) -> dict[str, Any]:
        plain = asdict(self) | {"comparisons": [one.to_dict() for one in self.comparisons]}
        return {"kind": "release", "n_changed": self.n_changed, "mean_new": self.mean_new} | plain

    def page(self) -> Page:
        share = percent(self.n_changed / self.n_queries)
        facts = [
            ("queries", f"{self.n_queries:,}"),
            (f"top {self.top} changes", share),
            (f"new results per top {self.top}", f"{self.mean_new:.1f}"),
            ("first result changes", percent(self.first_changed / self.n_queries)),
        ]
        facts += [(one.measure, f"{one.mean_b:.3f} → {one.mean_a:.3f}") for one in self.comparisons[:1]]
        blocks: list[Block] = [_quality(self), _amount(self)]
        blocks += [_reasons(self)] if self.shifts else []
        blocks += [_movers(self)] if self.risen or self.fallen else []
        blocks += [_example(one, self, number) for number, one in enumerate(self.examples, start=1)]
        blocks.append(_how_to_read(self))
        title = f"What changes: {self.method} instead of {self.baseline}"
        return Page(title, tuple(_lead(self)), tuple(blocks), tuple(facts))


def release_of(ranker: Ranker, data: Dataset, baseline: Any, n: int = 10, examples: int = 5, name: str = "") -> Release:
    """Compare a ranker with the baseline ranking on all queries of the data; parameters as in `Ranker.release`."""
    check_is_fitted(ranker)
    if not isinstance(data, Dataset) or not len(data):
        raise DataError("a release page needs a Dataset with documents: make one with rr.Dataset(X, y, qid)")
    for what, value, least in (("n", n, 1), ("examples", examples, 0)):
        if not is_whole(value, least):
            raise DataError(f"{what} must be a whole number from {least}: got {value!r}")
    if baseline is None:
        raise DataError("a release page compares two rankings: name the one that users see now, baseline='bm25'")
    found = find_baseline(data.feature_names, baseline, data.categories)
    new, old = ranker.predict(data), found.scores(data)
    comparisons, gains, note = _by_labels(data, new, old, n)
    candidates = np.arange(len(data)) if data.base is None else np.flatnonzero(~data.base.extra)
    made = _Lists(ranker, data[candidates], new[candidates], old[candidates], n)
    chosen = made.examples(examples, gains)
    return Release(
        method=name or method_of(ranker),
        baseline=str(found),
        top=n,
        n_queries=len(made.queries),
        n_docs=len(candidates),
        n_same=int((made.same_order).sum()),
        n_reordered=int(((made.n_new == 0) & ~made.same_order).sum()),
        first_changed=int(made.first_changed.sum()),
        new_results=tuple(np.bincount(made.n_new, minlength=n + 1).tolist()),
        shifts=made.shifts(np.flatnonzero(made.n_new)),
        risen=made.movers(1),
        fallen=made.movers(-1),
        examples=chosen,
        comparisons=comparisons,
        gains=gains,
        n_labelled=made.n_labelled,
        max_grade=int(data.y.max()),
        note=note,
    )


def _by_labels(
    data: Dataset, new: Array, old: Array, n: int
) -> tuple[tuple[Comparison, ...], tuple[QueryGain, ...], str]:
    """Compare the two rankings by the labels of the data, where there are some."""
    if (data.y == UNLABELLED).all():
        return (), (), "The data has no labels, so this page shows what changes, and not whether it is better."
    try:
        table = compare(data, {"new": new, "baseline": old}, measures=[f"NDCG@{n}", "P@3", "MRR"])
    except DataError as error:
        return (), (), f"The labels do not suffice to compare the two rankings: {error}."
    texts = _query_texts(data)
    queries = [str(query) for query in table.results["new"].queries]
    now, before = (dict(zip(map(str, table.results[name].queries), table.results[name].values[0].tolist(), strict=True))
                   for name in ("new", "baseline"))  # fmt: skip
    gains = [QueryGain(query, texts.get(query, ""), before[query], now[query]) for query in queries]
    return table.pairs, tuple(sorted(gains, key=lambda gain: gain.before - gain.now)), ""


def _query_texts(data: Dataset) -> dict[str, str]:
    """Return what was asked in each query, by its id."""
    firsts = np.unique(query_index(data.qid)[0], return_index=True)[1].tolist()
    return {str(data.qid[row]): clipped(about(data, row).query_text, LETTERS) for row in firsts}


class _Lists:
    """The top results of all queries by both rankings."""

    def __init__(self, ranker: Ranker, data: Dataset, new: Array, old: Array, n: int) -> None:
        self.ranker, self.data, self.new, self.old, self.n = ranker, data, new, old, n
        numbers, _ = query_index(data.qid)
        order = np.argsort(numbers, kind="stable")
        self.queries = np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)  # rows of each
        self.after = [rows[np.argsort(-new[rows], kind="stable")[:n]] for rows in self.queries]
        self.before = [rows[np.argsort(-old[rows], kind="stable")[:n]] for rows in self.queries]
        pairs = list(zip(self.before, self.after, strict=True))
        self.entered = [np.setdiff1d(after, before) for before, after in pairs]
        self.left = [np.setdiff1d(before, after) for before, after in pairs]
        self.n_new = np.array([rows.size for rows in self.entered])
        self.same_order = np.array([np.array_equal(before, after) for before, after in pairs])
        self.first_changed = np.array([before[0] != after[0] for before, after in pairs])
        self.n_labelled = int((data.y[np.concatenate(self.after)] != UNLABELLED).sum())
        self.shares = self._shares()

    def _shares(self) -> Array | None:
        """Return what each part adds to the scores of some changed queries, NaN elsewhere; None: it is not known."""
        changed = np.flatnonzero(self.n_new)
        some = changed[np.linspace(0, changed.size - 1, min(changed.size, MOST_QUERIES)).astype(np.int64)]
        if not some.size:
            return None
        rows = np.concatenate([self.queries[query] for query in some.tolist()])
        width = len(self.ranker.feature_names_) + 1
        shares = np.full((len(self.data), width), np.nan)
        try:
            shares[rows] = self.ranker.contributions(self.data[rows]).by_feature(width)
        except DataError:  # its score is not a sum of parts
            return None
        return shares

    def shifts(self, queries: Array) -> tuple[FeatureShift, ...]:
        """Return how features differ between results that enter and leave, the mean over queries, largest first."""
        return self._shifts([(self.entered[query], self.left[query]) for query in queries.tolist()])

    def _shifts(self, pairs: Sequence[tuple[Array, Array]]) -> tuple[FeatureShift, ...]:
        """Return how features differ between the first rows and the second of some pairs, the largest first."""
        shares = self.shares
        if shares is None:
            return ()
        known = [pair for pair in pairs if not np.isnan(shares[pair[0]]).any()]
        if not known:
            return ()
        adds = np.mean([shares[entered].mean(axis=0) - shares[left].mean(axis=0) for entered, left in known], axis=0)
        entered, left = (np.concatenate(rows) for rows in zip(*known, strict=True))
        documents = Documents(self.ranker, self.data, np.concatenate([entered, left]))
        found = []
        for part in np.argsort(-np.abs(adds), kind="stable")[: np.count_nonzero(adds)].tolist():
            column, values = documents.column(part), ["", ""]
            if column is not None:
                split = slice(0, entered.size), slice(entered.size, None)
                values = [_usual(documents, column, rows) for rows in split]
                values = ["", ""] if values[0] == values[1] else values
            found.append(FeatureShift(documents.name(part), documents.human(part), float(adds[part]), *values))
        return tuple(found)

    def movers(self, way: int) -> tuple[Mover, ...]:
        """Return the documents that rise (1) or fall (-1) most into or out of the top, one of each query."""
        best: list[tuple[int, int, int]] = []  # places moved, query, row
        for query, rows in enumerate(self.queries):
            own = self.entered[query] if way > 0 else self.left[query]
            if own.size:
                ranks, before = self._ranks(rows)
                moved = {int(row): way * int(before[row] - ranks[row]) for row in own}
                row = max(moved, key=lambda one: moved[one])
                best.append((moved[row], query, row))
        best.sort(key=lambda one: (-one[0], one[1]))
        return tuple(self._mover(query, row) for _, query, row in best[:MOVERS])

    def _ranks(self, rows: Array) -> tuple[dict[int, int], dict[int, int]]:
        """Return the ranks of the documents of a query, now and before, by row; ties in the order of the data."""
        found = []
        for scores in (self.new, self.old):
            order = rows[np.argsort(-scores[rows], kind="stable")].tolist()
            found.append({row: rank for rank, row in enumerate(order, start=1)})
        return found[0], found[1]

    def _mover(self, query: int, row: int) -> Mover:
        now, before = self._ranks(self.queries[query])
        read, name, own = about(self.data, row), doc_name(self.data, row), np.array([row])
        up = row in self.entered[query]
        shifts = self._shifts([(own, self.left[query]) if up else (self.entered[query], own)])
        title = clipped(read.title, LETTERS) or name
        return Mover(
            read.query,
            clipped(read.query_text, LETTERS),
            name,
            title,
            before[row],
            now[row],
            self._grade(row),
            shifts[:FEATURES],
        )

    def _grade(self, row: int) -> int | None:
        return None if self.data.y[row] == UNLABELLED else int(self.data.y[row])

    def examples(self, n: int, gains: Sequence[QueryGain]) -> tuple[ExampleQuery, ...]:
        """Return queries to look at: those that gain and lose most by labels, and those that change most."""
        place = {str(self.data.qid[rows[0]]): query for query, rows in enumerate(self.queries)}
        by_change = np.argsort(-self.n_new, kind="stable").tolist()
        chosen: dict[int, str] = {}
        known = [gain for gain in gains if gain.query in place]
        if known and known[0].now > known[0].before:
            chosen[place[known[0].query]] = "largest gain by labels"
        if known and known[-1].now < known[-1].before:
            chosen[place[known[-1].query]] = "largest loss by labels"
        chosen.setdefault(by_change[0], "changes most")
        typical = int(np.argsort(np.abs(self.n_new - np.median(self.n_new)), kind="stable")[0])
        chosen.setdefault(typical, "typical amount of change")
        for query in np.linspace(0, len(by_change) - 1, n + 2).astype(np.int64)[1:-1].tolist():
            chosen.setdefault(by_change[query], "chosen evenly by amount of change")
        values = {gain.query: (gain.before, gain.now) for gain in gains}
        return tuple(self._example(query, why, values) for query, why in [*chosen.items()][:n])

    def _example(self, query: int, why: str, values: dict[str, tuple[float, float]]) -> ExampleQuery:
        now, before = self._ranks(self.queries[query])
        read = about(self.data, int(self.queries[query][0]))

        def listed(rows: Array) -> tuple[ListedResult, ...]:
            return tuple(
                ListedResult(
                    doc_name(self.data, row), clipped(about(self.data, row).title, LETTERS) or doc_name(self.data, row),
                    before[row], now[row], self._grade(row),
                )
                for row in rows.tolist()
            )  # fmt: skip

        shifts = self.shifts(np.array([query])) if self.n_new[query] else ()
        return ExampleQuery(
            read.query, clipped(read.query_text, LETTERS), why, int(self.n_new[query]), listed(self.before[query]),
            listed(self.after[query]), shifts, values.get(read.query),
        )  # fmt: skip


def _usual(documents: Documents, column: int, rows: slice) -> str:
    """Return the mean of a feature as people write it, or its most common category."""
    values = documents.raw[rows, column].astype(np.float64)
    values = values[~np.isnan(values)]
    if not values.size:
        return "missing"
    name = documents.features[column]
    if name in documents.categories:
        found, counts = np.unique(values, return_counts=True)
        most = documents.written(column, float(found[counts.argmax()]))
        return f"mostly {most}" if found.size > 1 else most
    mean = float(values.mean())
    return as_date(round(mean)) if name in documents.dates else decimal(mean)


def _lead(r: Release) -> list[str]:
    lines = []
    if r.comparisons:
        one = r.comparisons[0]
        verdict = {"better": "It is better by the labels", "worse": "It is worse by the labels"}
        lines.append(
            f"{verdict.get(one.verdict, 'The labels show no clear difference')}: {one.measure} {one.mean_b:.3f} → "
            f"{one.mean_a:.3f} ({one.difference:+.3f}, {percent(one.level)} interval {one.low:+.3f} to "
            f"{one.high:+.3f}). {one.wins:,} of {counted(one.n_queries, 'labelled query', 'labelled queries')} get "
            f"better, {one.losses:,} get worse."
        )
    elif r.note:
        lines.append(r.note)
    same = (
        f"{counted(r.n_same, 'query keeps', 'queries keep')} the same list" if r.n_same else "No query keeps its list"
    )
    lines.append(
        f"The top {r.top} changes for {r.n_changed:,} of {counted(r.n_queries, 'query', 'queries')}: on average "
        f"{r.mean_new:.1f} of {r.top} results are new. {same}."
    )
    raised = [str(shift) for shift in r.shifts if shift.adds > 0][:REASONS]
    if raised:
        lines.append(f"Results that enter the top {r.top}, against those that leave, have: {joined(raised)}.")
    return lines


def _quality(r: Release) -> Section:
    if not r.comparisons:
        return Section("Is it better?", (Sentences("Labels", (r.note,)),), key="quality")
    rows: list[tuple[Content, ...]] = [
        (
            one.measure, f"{one.mean_b:.3f}", f"{one.mean_a:.3f}",
            Cell(f"{one.difference:+z.3f}", one.difference, strong=one.verdict in ("better", "worse")),
            f"{one.low:+z.3f} to {one.high:+z.3f}", f"{one.wins:,} / {one.ties:,} / {one.losses:,}",
            VERDICTS[one.verdict],
        )
        for one in r.comparisons
    ]  # fmt: skip
    first = r.comparisons[0]
    listed = r.n_queries * r.top
    note = (
        f"Means over {counted(first.n_queries, 'labelled query', 'labelled queries')}, with {percent(first.level)} "
        f"intervals of the difference. Of the new top {r.top} results, {percent(r.n_labelled / max(1, listed))} have a "
        "label. If the model was trained on these labels, the numbers are too good: use queries that it has not seen."
    )
    header = ("measure", "baseline", "new", "difference", "interval", "better / same / worse", "verdict")
    parts = [Table("By labels", header, tuple(rows), 1, note, words=("verdict",), stack=True)]
    parts += [
        _gains(title, gains, first.measure)
        for title, gains in (
            ("Queries that gain most", [gain for gain in r.gains[:GAINS] if gain.now > gain.before]),
            ("Queries that lose most", [gain for gain in r.gains[: -GAINS - 1 : -1] if gain.now < gain.before]),
        )
        if gains
    ]
    return Section("Is it better?", tuple(parts), key="quality")


def _gains(title: str, gains: Sequence[QueryGain], measure: str) -> Table:
    numbers = bars(gain.now - gain.before for gain in gains)
    rows = tuple(
        (gain.query_text or gain.query, f"{gain.before:.3f}", f"{gain.now:.3f}", number)
        for gain, number in zip(gains, numbers, strict=True)
    )
    return Table(title, ("query", f"{measure} before", "after", "difference"), rows, 1, stack=True)


def _amount(r: Release) -> Section:
    groups: list[tuple[str, int]] = [
        ("same results in the same order", r.n_same),
        ("same results in another order", r.n_reordered),
    ]
    cuts = [1, 2, 4, 7, r.top + 1] if r.top >= 8 else list(range(1, r.top + 2))
    for low, high in pairwise(cuts):
        name = counted(low, "new result") if high == low + 1 else f"{low} to {high - 1} new results"
        groups.append((name, sum(r.new_results[low:high])))
    largest = max(count for _, count in groups)
    rows = tuple(
        (name, f"{count:,}", Bar(count / r.n_queries, largest / r.n_queries, signed=False,
                                 text=percent(count / r.n_queries)))
        for name, count in groups
    )  # fmt: skip
    note = (
        f"A result is new if it is in the top {r.top} now and was not before. The first result changes for "
        f"{r.first_changed:,} of {counted(r.n_queries, 'query', 'queries')}."
    )
    table = Table(f"Changes in the top {r.top}", (f"top {r.top}", "queries", "share"), rows, 1, note)
    return Section("How much changes?", (table,), key="amount")


def _shift_table(title: str, shifts: Sequence[FeatureShift], note: str = "") -> Table:
    numbers = bars(shift.adds for shift in shifts)
    rows = tuple(
        (label_of(shift.feature, shift.name), shift.entered, shift.left, number)
        for shift, number in zip(shifts, numbers, strict=True)
    )
    header = ("feature", "results that enter", "results that leave", "effect")
    return Table(title, header, rows, 3, note)


def _reasons(r: Release) -> Section:
    shown = r.shifts[:FEATURES]
    left = len(r.shifts) - len(shown)
    note = (
        f"Mean values of the results that enter and leave the top {r.top}. Effect: what the feature adds to the new "
        "score of those that enter, less that of those that leave, on average over queries. Plus: a reason for the "
        "change. Minus: the change happens despite it."
    )
    note += f" {counted(left, 'weaker feature')} not shown." if left else ""
    return Section("Why does it change?", (_shift_table("Features that move results most", shown, note),), key="why")


def _movers(r: Release) -> Section:
    parts = []
    for title, movers in ((f"Into the top {r.top}", r.risen), (f"Out of the top {r.top}", r.fallen)):
        labels = any(mover.grade is not None for mover in movers)
        rows = tuple(
            (
                mover.title, mover.query_text or mover.query,
                Cell(f"{mover.before} → {mover.now}", mover.before - mover.now, mark="▲" if mover.now < mover.before
                     else "▼"),
                "" if mover.grade is None else str(mover.grade), mover.why,
            )
            for mover in movers
        )  # fmt: skip
        table = Table(title, ("document", "query", "rank", "label", "why"), rows, 2, words=("why",), stack=True)
        parts += [table if labels else table.without(3)] if movers else []
    about = (
        "The documents that move furthest, at most one per query. Why: the value of the document against the mean of "
        f"the results that leave the top {r.top} of its query, or for a document that leaves, of those that enter."
    )
    return Section("Which documents move most?", tuple(parts), about, key="movers")


def _example(one: ExampleQuery, r: Release, number: int) -> Section:
    graded = any(result.grade is not None for result in (*one.before, *one.after))

    def cell(result: ListedResult, *, now: bool) -> Cell:
        moved = result.before > r.top if now else result.now > r.top
        where = f"was {result.before}" if now else f"now {result.now}"
        label = ("no label" if result.grade is None else f"label {result.grade}") if graded else ""
        same = result.before == result.now
        note = ", ".join(filter(None, ("" if same else where, label)))
        mark = ("▲" if now else "▼") if moved else ""
        return Cell(f"{result.title}{f' ({note})' if note else ''}", strong=moved, mark=mark)

    size = max(len(one.before), len(one.after))
    rows = tuple(
        (f"{place + 1}.", cell(one.before[place], now=False), cell(one.after[place], now=True)) for place in range(size)
    )
    note = f"Bold: not in the top {r.top} of the other list."
    note += f" Labels go from 0 to {r.max_grade}, the best." if graded else ""
    parts: list[Table | Sentences] = [
        Table("Side by side", ("rank", "before", "after"), rows, 1, note, words=("before", "after"), stack=True)
    ]
    facts = [f"Shown because: {one.why}.", f"{counted(one.n_new, 'new result')} in the top {r.top}."]
    if one.values is not None:
        facts.append(f"{r.comparisons[0].measure} {one.values[0]:.3f} → {one.values[1]:.3f}.")
    raised = [str(shift) for shift in one.shifts if shift.adds > 0][:REASONS]
    lowered = [str(shift) for shift in one.shifts if shift.adds < 0][:1]
    if raised:
        despite = f", despite {lowered[0]}" if lowered else ""
        facts.append(f"New results come in because of {joined(raised)}{despite}.")
    title = f"Example {number}: {f'“{one.query_text}”' if one.query_text else f'query {one.query}'}"
    return Section(title, tuple(parts), " ".join(facts), key="examples" if number == 1 else "")


def _how_to_read(r: Release) -> Section:
    lines = (
        f"Baseline: {r.baseline}, the ranking that users see now. New: {r.method}.",
        f"Both rank the same {r.n_docs:,} documents of {counted(r.n_queries, 'query', 'queries')}.",
        "Reasons are exact: the score of the new model is the sum of what its features add.",
        f"NDCG@{r.top}: quality of the first {r.top} results by their labels and order, from 0 to 1. P@3: share of "
        "relevant results among the first 3. MRR: 1 / rank of the first relevant result. Higher is better.",
    )
    shown = lines if r.comparisons else lines[:-1]
    return Section("How to read this page", (Sentences("Notes", shown),), key="notes")
