"""Clicks as one more judge: how often a document was clicked, against what its positions lead one to expect.

The clicks of a document at a position are taken to be Poisson with the mean impressions x rate of the position x
appeal of the document; appeals have a gamma prior with mean 1, as wide as the log says they differ. Rates and appeals
are fitted in turns, so that a position's rate rests on the documents that move. Where none does, it is the plain click
rate there, and a good document that always stands on top looks average: it is compared with its like.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from rulerank.core.checks import is_whole
from rulerank.core.words import counted
from rulerank.dataset import MAX_GRADE, UNLABELLED, Array, Dataset
from rulerank.errors import DataError

ROUNDS, CLOSE = 200, 1e-6
RATER = "clicks"  # whose grades they are
LEAST = 1.0  # clicks to expect; below, a document has no grade
NARROW, WIDE = 100.0, 0.1  # strengths of the prior, in clicks to expect


@dataclass(frozen=True, eq=False)
class ClickGrades:
    """Grades of a pool's documents by their clicks."""

    rows: Array  # first row of each document in the joined table
    expected: Array  # clicks that its positions lead one to expect
    clicks: Array
    appeal: Array  # clicks by those expected, shrunken towards 1
    grades: Array  # int16, -1: shown too little
    cuts: tuple[float, ...]  # the appeals at which grades 1, 2, ... begin

    def table(self, data: Dataset) -> pl.DataFrame:
        """Return the graded documents as a table of labels: qid, docid, grade, and clicks as rater and kind."""
        rows, grades = self.rows[self.grades != UNLABELLED], self.grades[self.grades != UNLABELLED]
        ids = {"qid": data.qid, "docid": data.docid if data.docid is not None else ()}
        columns = [pl.Series(name, [str(one) for one in column[rows]], dtype=pl.String) for name, column in ids.items()]
        return pl.DataFrame([*columns, pl.Series("grade", grades)]).with_columns(
            rater=pl.lit(RATER), kind=pl.lit(RATER)
        )

    def sentence(self) -> str:
        """Say how grades were made, and for how many documents."""
        graded = self.grades[self.grades != UNLABELLED]
        each = ", ".join(f"{grade}: {n:,}" for grade, n in zip(*np.unique(graded, return_counts=True), strict=True))
        cuts = ", ".join(f"{grade} from {cut:.2g}" for grade, cut in enumerate(self.cuts, 1))
        few = int((self.grades == UNLABELLED).sum())
        return (
            f"{counted(graded.size, 'document')} graded by clicks against what their positions lead one to expect "
            f"(times as many: {cuts}): {each or 'none'}; {counted(few, 'document')} shown too little for a grade"
        )


def grade_by_clicks(data: Dataset, highest: int | None = None) -> ClickGrades:
    """Grade the documents of a pool that was joined with a click log (`ClickCounts.join`).

    highest: the best grade; None: the best that the pool's labels have, or 2.

    >>> from rulerank.shown import Shown
    >>> shown = Shown([1, 1, 2, 2], [1000, 1000, 1000, 1000], [400, 100, 200, 50])
    >>> data = Dataset([[0.0]] * 4, [-1] * 4, ["q"] * 4, docid=["a", "b", "a", "b"], shown=shown)
    >>> grade_by_clicks(data).grades.tolist()
    [2, 0]
    """
    if data.shown is None:
        raise DataError("expected documents with impressions and clicks: join a pool with a click log first")
    if highest is None:
        highest = int(data.y.max(initial=UNLABELLED))
        highest = 2 if highest < 1 else highest
    if not is_whole(highest, 1, MAX_GRADE):
        raise DataError(f"the highest grade must be a whole number from 1 to {MAX_GRADE}: got {highest!r}")
    assert data.docid is not None
    number: dict[tuple[str, str], int] = {}
    pairs = zip(map(str, data.qid), map(str, data.docid), strict=True)
    docs = np.array([number.setdefault(pair, len(number)) for pair in pairs], dtype=np.int64)
    rows = np.unique(docs, return_index=True)[1]
    expected, appeal = _fitted(docs, data.shown.position, data.shown.impressions, data.shown.clicks)
    cuts = 2.0 ** (np.arange(highest) / 2)  # 1, 1.4, 2, ...: what agrees best of what benchmarks/judge_clicks.py tried
    grades = np.searchsorted(cuts, appeal, side="right").astype(np.int16)
    grades[expected < LEAST] = UNLABELLED
    clicks = np.bincount(docs, data.shown.clicks).astype(np.int64)
    return ClickGrades(rows, expected, clicks, appeal, grades, tuple(cuts.tolist()))


def _fitted(docs: Array, positions: Array, impressions: Array, clicks: Array) -> tuple[Array, Array]:
    """Return the clicks that each document's positions lead one to expect, and its appeal."""
    places = np.unique(positions, return_inverse=True)[1].reshape(-1)
    by_doc, by_place = np.bincount(docs, clicks), np.bincount(places, clicks)
    rates = by_place / np.bincount(places, impressions)
    expected, appeal = by_doc, np.ones(by_doc.size)
    for _ in range(ROUNDS):
        expected = np.bincount(docs, impressions * rates[places])
        strength = _strength(by_doc, expected)
        appeal = (by_doc + strength) / (expected + strength)
        before, usual = rates, np.bincount(places, impressions * appeal[docs])
        rates = by_place / usual
        if np.abs(rates - before).max() < CLOSE * max(rates.max(), CLOSE):
            break
    return expected, appeal


def _strength(clicks: Array, expected: Array) -> float:
    """Return how strong the prior is, by moments: the variance of counts beyond that of a Poisson."""
    beyond = float(((clicks - expected) ** 2 - expected).sum())
    squares = float((expected**2).sum())
    return float(np.clip(squares / beyond, WIDE, NARROW)) if beyond > 0 else NARROW
