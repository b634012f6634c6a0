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
from rulerank.recall_base import FEW_ZEROS
from rulerank.render.document import Bar, Block, Cell, Page, Section, Sentences, Table, bars

MOST_QUERIES = 500  # whose contributions are computed
FEATURES = 8  # lines of a table
REASONS = 3  # in a sentence
MOVERS = 6  # of each direction
LETTERS = 60  # of a title or a query
GAINS = 5  # queries that gain or lose most
VERDICTS = {"better": "better", "worse": "worse", "unclear": "no clear difference", "too few": "too few queries"}
NO_LABELS = "The data has no labels, so this page shows what changes, and not whether it is better."


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
        """The strongest reasons for its move: its own values against those of the others."""
        reasons = [shift for shift in self.shifts if shift.adds > 0][:REASONS]
        pairs = [(one.name, *((one.entered, one.left) if self.now < self.before else (one.left, one.entered)))
                 for one in reasons]  # fmt: skip
        return "; ".join(f"{name} {own} against {others}" if own else name for name, own, others in pairs)


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
    n_listed: int  # results in the new top
    n_labelled: int  # of them, judged
    max_grade: int  # of the labels
    note: str = ""  # on the labels

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
    old = find_baseline(data.feature_names, baseline, data.categories)
    new_scores, old_scores = ranker.predict(data), old.scores(data)
    comparisons, gains, note = _by_labels(data, new_scores, old_scores, n)
    candidates = np.arange(len(data)) if data.base is None else np.flatnonzero(~data.base.extra)
    lists = TopLists(ranker, data[candidates], new_scores[candidates], old_scores[candidates], n)
    return Release(
        method=name or method_of(ranker),
        baseline=str(old),
        top=n,
        n_queries=lists.n_new.size,
        n_docs=len(candidates),
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
        n_listed=int((lists.now <= n).sum()),
        n_labelled=int((lists.judged & (lists.now <= n)).sum()),
        max_grade=int(data.y.max()),
        note=note,
    )


def _judged(data: Dataset) -> Array:
    """Return which documents have a label of their own: others may count as grade 0, and nobody judged them."""
    return (data.y != UNLABELLED) & (True if data.base is None else data.base.judged)


def _by_labels(
    data: Dataset, new: Array, old: Array, n: int
) -> tuple[tuple[Comparison, ...], tuple[QueryGain, ...], str]:
    """Compare the two rankings by the judged documents, where there are some.

    The documents that a new ranking brings up are often not judged. They do not count against it, unless the labels
    list relevant documents only.
    """
    judged = _judged(data)
    if not judged.any():
        return (), (), NO_LABELS
    unjudged = "skip" if (data.y[judged] == 0).mean() >= FEW_ZEROS else "0"  # as in `counted_rows`
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
        self.shares = self._shares()

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
        documents = [Documents(self.ranker, self.data, rows) for rows in sides]
        found = []
        for part in np.argsort(-np.abs(adds), kind="stable")[: np.count_nonzero(adds)].tolist():
            usual = [_usual(side, part) for side in documents]
            usual = ["", ""] if usual[0] == usual[1] else usual
            found.append(FeatureShift(documents[0].name(part), documents[0].human(part), float(adds[part]), *usual))
        return tuple(found)

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


def _usual(documents: Documents, part: int) -> str:
    """Return the mean of a feature as people write it, or its most common category; "" of what has no values."""
    column = documents.column(part)
    if column is None:
        return ""
    values = documents.raw[:, column].astype(np.float64)
    values = values[~np.isnan(values)]
    if not values.size:
        return "missing"
    name = documents.features[column]
    if name in documents.categories:
        codes, counts = np.unique(values, return_counts=True)
        most = documents.written(column, float(codes[counts.argmax()]))
        return f"mostly {most}" if codes.size > 1 else most
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
            f"better, {one.losses:,} get worse. Labels that the model was trained on flatter it: rulerank check "
            "compares on other queries."
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
    raised = [str(shift) for shift in r.shifts if shift.adds > 0][:REASONS]
    if raised:
        lines.append(f"Main reasons, results that enter the top {r.top} against those that leave: {joined(raised)}.")
    return lines


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
        f"Means over {counted(first.n_queries, 'labelled query', 'labelled queries')}, with {percent(first.level)} "
        f"intervals of the difference. Of the new top {r.top} results, {percent(r.n_labelled / r.n_listed)} have a "
        f"label. {r.note}"
    )
    header = ("measure", "baseline", "new", "difference", "interval", "better / same / worse", "verdict")
    parts = [Table("By labels", header, rows, 1, note, words=("verdict",), stack=True)]
    gained = [gain for gain in r.gains[:GAINS] if gain.now > gain.before]
    lost = [gain for gain in r.gains[: -GAINS - 1 : -1] if gain.now < gain.before]
    for title, gains in (("Queries that gain most", gained), ("Queries that lose most", lost)):
        differences = [gain.now - gain.before for gain in gains]
        cells = tuple(
            (
                gain.query_text or gain.query,
                f"{gain.before:.3f}",
                f"{gain.now:.3f}",
                Bar(value, max(map(abs, differences)), text=f"{value:+.3f}"),
            )
            for gain, value in zip(gains, differences, strict=True)
        )
        columns = ("query", f"{first.measure} before", "after", "difference")
        parts += [Table(title, columns, cells, 1, stack=True)] if gains else []
    return Section("Is it better?", tuple(parts), key="quality")


def _amount(r: Release) -> Section:
    groups = [("same results in the same order", r.n_same), ("same results in another order", r.n_reordered)]
    cuts = [1, 2, 4, 7, r.top + 1] if r.top >= 8 else list(range(1, r.top + 2))
    for low, high in pairwise(cuts):
        name = counted(low, "new result") if high == low + 1 else f"{low} to {high - 1} new results"
        groups.append((name, sum(r.new_results[low:high])))
    most = max(count for _, count in groups)
    rows = tuple(
        (name, f"{count:,}", Bar(count, most, signed=False, text=percent(count / r.n_queries)))
        for name, count in groups
    )
    note = (
        f"A result is new if it is in the top {r.top} now and was not before. The first result changes for "
        f"{r.first_changed:,} of {counted(r.n_queries, 'query', 'queries')}."
    )
    table = Table(f"Changes in the top {r.top}", (f"top {r.top}", "queries", "share"), rows, 1, note)
    return Section("How much changes?", (table,), key="amount")


def _reasons(r: Release) -> Section:
    shown = r.shifts[:FEATURES]
    left = len(r.shifts) - len(shown)
    note = (
        f"Mean values of the results that enter and leave the top {r.top}. Effect: what the feature adds to the new "
        "score of those that enter, less that of those that leave, on average over queries. Plus: a reason for the "
        "change. Minus: the change happens despite it."
    )
    note += f" {counted(left, 'weaker feature')} not shown." if left else ""
    rows = tuple(
        (label_of(shift.feature, shift.name), shift.entered, shift.left, number)
        for shift, number in zip(shown, bars(shift.adds for shift in shown), strict=True)
    )
    header = ("feature", "results that enter", "results that leave", "effect")
    table = Table("Features that move results most", header, rows, 3, note, stack=True)
    return Section("Why does it change?", (table,), key="why")


def _movers(r: Release) -> Section:
    parts = []
    for title, mark, movers in ((f"Into the top {r.top}", "▲", r.risen), (f"Out of the top {r.top}", "▼", r.fallen)):
        rows = tuple(
            (
                mover.title,
                mover.query_text or mover.query,
                Cell(f"{mover.before} → {mover.now}", mover.before - mover.now, mark=mark),
                "" if mover.grade is None else str(mover.grade),
                mover.why,
            )
            for mover in movers
        )
        table = Table(title, ("document", "query", "rank", "label", "why"), rows, 2, words=("why",), stack=True)
        labels = any(mover.grade is not None for mover in movers)
        parts += [table if labels else table.without(3)] if movers else []
    about = (
        "The documents that move furthest, at most one per query. Why: the value of the document against the mean of "
        f"the results that leave the top {r.top} of its query, or for a document that leaves, of those that enter."
    )
    return Section("Which documents move most?", tuple(parts), about, key="movers")


def _example(one: ExampleQuery, r: Release, number: int) -> Section:
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
    note = f"Bold: not in the top {r.top} of the other list."
    note += f" Labels go from 0 to {r.max_grade}, the best." if graded else ""
    header = ("rank", "before", "after")
    table = Table("Side by side", header, rows, 1, note, words=("before", "after"), stack=True)
    facts = [f"Shown because: {one.why}.", f"{counted(one.n_new, 'new result')} in the top {r.top}."]
    if one.values is not None:
        facts.append(f"{r.comparisons[0].measure} {one.values[0]:.3f} → {one.values[1]:.3f}.")
    raised, lowered = ([str(shift) for shift in one.shifts if sign * shift.adds > 0] for sign in (1, -1))
    if raised:
        despite = f", despite {lowered[0]}" if lowered else ""
        facts.append(f"New results come in because of {joined(raised[:REASONS])}{despite}.")
    title = f"Example {number}: {f'“{one.query_text}”' if one.query_text else f'query {one.query}'}"
    return Section(title, (table,), " ".join(facts), key="examples" if number == 1 else "")


def _how_to_read(r: Release) -> Section:
    lines = [
        f"Baseline: {r.baseline}, the ranking that users see now. New: {r.method}.",
        f"Both rank the same {r.n_docs:,} documents of {counted(r.n_queries, 'query', 'queries')}.",
        "Reasons are exact: the score of the new model is the sum of what its features add.",
    ]
    if r.comparisons:
        lines.append(
            f"NDCG@{r.top}: quality of the first {r.top} results by their labels and order, from 0 to 1. P@3: share of "
            "relevant results among the first 3. MRR: 1 / rank of the first relevant result. Higher is better."
        )
    return Section("How to read this page", (Sentences("Notes", tuple(lines)),), key="notes")
