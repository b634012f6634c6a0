"""What a label-efficiency curve is made of, and its table, csv and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rulerank.render.html import html_table, table_of
from rulerank.render.text import csv_table, plain_table

RANDOM = "random"
LOSS = 0.02  # below today's ranking by more than this is a loss that users would notice


@dataclass(frozen=True, slots=True)
class Gains:
    """Differences to today's ranking over many splits: the mean, the worst, and how many were a loss.

    >>> Gains.of([0.03, 0.01, -0.04])
    Gains(mean=0.0, worst=-0.04, n_losses=1, n=3)
    >>> print(Gains.of([0.03, 0.01, -0.05]))
    -.003/-.050 (1)
    """

    mean: float
    worst: float
    n_losses: int  # of more than LOSS
    n: int

    @classmethod
    def of(cls, differences: Iterable[float]) -> Gains:
        """Sum up the differences, one of each split, or of each draw in each."""
        values = np.array([*differences], dtype=np.float64)
        return cls(float(values.mean()), float(values.min()), int((values < -LOSS).sum()), values.size)

    def __str__(self) -> str:
        losses = f" ({self.n_losses})" if self.n_losses else ""
        return f"{signed(self.mean)}/{signed(self.worst)}{losses}"


def signed(value: float) -> str:
    """Return a difference to three digits, zero without a sign.

    >>> signed(0.0123), signed(-0.0001), signed(-1.0)
    ('+.012', '.000', '-1.000')
    """
    text = f"{value:+.3f}"
    text = text[1:] if float(text) == 0 else text
    return text.replace("0.", ".", 1) if abs(value) < 0.9995 else text


@dataclass(frozen=True)
class Point:
    """How good a ranker is after so many labels: a mean over the folds, and over the draws where it was drawn."""

    ranker: str
    sampler: str
    n_labels: float  # mean over the folds: a sampler that stops by itself does so at its own number in each
    share: float  # of the pool that is labelled
    value: float
    low: float | None  # 95 % of the draws lie from low to high
    high: float | None
    error: float | None  # standard error of the mean over the draws
    share_relevant: float  # of the labelled documents
    stop_of: str | None  # the sampler that stops here by itself
    gains: Gains | None = None  # over today's ranking, where that is said


@dataclass(frozen=True)
class Line:
    """Something the labels chosen do not change: all labels, or today's ranking."""

    name: str
    ranker: str | None  # None: the same for all
    value: float


@dataclass(frozen=True, repr=False)
class LabelCurve:
    """Quality against labels, for rankers and ways to choose the documents.

    >>> ssar = Point("QI", "SSAR", 120.0, 0.02, 0.41, None, None, None, 0.3, "SSAR")
    >>> chance = Point("QI", "random", 120.0, 0.02, 0.38, 0.35, 0.4, 0.01, 0.2, "SSAR")
    >>> curve = LabelCurve("MAP", (ssar, chance), (Line("QI, all labels", "QI", 0.45),), 6000.0, 0.2, 5, 20)
    >>> print(curve)
    MAP of QI       labels  % of pool  % relevant    MAP           at random
    SSAR               120       2.00        30.0  0.410  0.380, 0.350-0.400
    QI, all labels   6,000     100.00        20.0  0.450
    >>> curve.beats_random("QI", "SSAR")
    True
    """

    measure: str
    points: tuple[Point, ...]
    lines: tuple[Line, ...]
    n_pool: float
    share_relevant: float
    n_folds: int
    n_draws: int
    today: str | None = None  # the feature that ranks the documents now
    n_splits: int | None = None  # that were asked for, when folds are splits into halves

    @property
    def rankers(self) -> list[str]:
        """The rankers in the order they were named."""
        return list(dict.fromkeys(point.ranker for point in self.points))

    @property
    def samplers(self) -> list[str]:
        """The ways to choose, in folds chance last."""
        return list(dict.fromkeys(point.sampler for point in self.points))

    def of(self, ranker: str, sampler: str) -> list[Point]:
        """Return one curve, from few labels to many."""
        return [point for point in self.points if (point.ranker, point.sampler) == (ranker, sampler)]

    def with_same_labels(self, point: Point, sampler: str) -> Point | None:
        """Return another sampler's point with the same number of labels in every fold."""
        same = (point.n_labels, point.stop_of)
        return next(
            (other for other in self.of(point.ranker, sampler) if (other.n_labels, other.stop_of) == same), None
        )

    def beats_random(self, ranker: str, sampler: str) -> bool:
        """Tell whether the last point of a curve lies above 95 % of the random draws of as many labels."""
        last = self.of(ranker, sampler)[-1]
        chance = self.with_same_labels(last, RANDOM)
        return chance is not None and chance.high is not None and last.value > chance.high

    def table(self, ranker: str) -> tuple[list[str], list[list[str]]]:
        """Return header and rows: of splits the gains, of folds each way to choose at its last point, beside chance."""
        return self._gains_table(ranker) if self.n_splits else self._last_points_table(ranker)

    def _gains_table(self, ranker: str) -> tuple[list[str], list[list[str]]]:
        """Return mean and worst gain over today's ranking: a row per way to choose, a column per number of labels."""
        sizes = sorted({point.n_labels for point in self.points if point.stop_of is None})
        header = [ranker, *(f"{size:,.0f} labels" for size in sizes), "at its stop"]
        rows = []
        for sampler in self.samplers:
            points = self.of(ranker, sampler)
            by_size = {point.n_labels: str(point.gains) for point in points if point.stop_of is None}
            stop = next((f"{point.n_labels:,.0f}: {point.gains}" for point in points if point.stop_of), "")
            rows.append([sampler, *(by_size.get(size, "") for size in sizes), stop])
        if any(row[-1] for row in rows):
            return header, rows
        return header[:-1], [row[:-1] for row in rows]

    def _last_points_table(self, ranker: str) -> tuple[list[str], list[list[str]]]:
        header = [f"{self.measure} of {ranker}", "labels", "% of pool", "% relevant", self.measure, "at random"]
        rows = []
        for sampler in self.samplers:
            if sampler == RANDOM:
                continue
            last = self.of(ranker, sampler)[-1]
            chance = self.with_same_labels(last, RANDOM)
            band = "" if chance is None else f"{chance.value:.3f}, {chance.low:.3f}-{chance.high:.3f}"
            shares = [f"{100 * last.share:.2f}", f"{100 * last.share_relevant:.1f}"]
            rows.append([sampler, f"{last.n_labels:,.0f}", *shares, f"{last.value:.3f}", band])
        for line in self.lines:
            whole = [f"{self.n_pool:,.0f}", "100.00", f"{100 * self.share_relevant:.1f}"]
            if line.ranker in (ranker, None):
                rows.append([line.name, *(whole if line.ranker else [""] * 3), f"{line.value:.3f}", ""])
        return header, rows

    def __repr__(self) -> str:
        return "\n\n".join(plain_table(*self.table(ranker)) for ranker in self.rankers)

    def _repr_html_(self) -> str:
        return html_table(*(table_of(*self.table(ranker)) for ranker in self.rankers))

    def verdict(self, ranker: str) -> str:
        """Say in a sentence which ways to choose beat chance; nothing of splits."""
        if self.n_splits:
            return ""
        above = [name for name in self.samplers if name != RANDOM and self.beats_random(ranker, name)]
        return f"above 95 % of the random draws: {', '.join(above) or 'none'}"

    def note(self, thinned: int | None = None) -> str:
        """Say how the figures came about; thinned: of how many relevant documents one was kept."""
        kept = f"; one relevant document in {thinned} kept" if thinned else ""
        if self.n_splits:
            today = self.lines[-1]
            cut = f" of the {self.n_splits} asked for, as it was interrupted" if self.n_folds < self.n_splits else ""
            return (
                f"{today.name}: {self.measure} {today.value:.3f}. Cells are what was gained over it in {self.n_folds} "
                f"splits{cut}:\nmean/worst, in brackets how many of them lost more than {LOSS}. Half of the queries "
                f"are the pool, half are tested on{kept};\n"
                f"{self.n_pool:,.0f} documents to choose from, {100 * self.share_relevant:.1f} % of them relevant"
            )
        return (
            f"means over {self.n_folds} folds{kept}; at random: mean of {self.n_draws} draws and where 95 % of them "
            "lie\n% relevant: of the documents labelled; ties count as the mean over all orders"
        )

    def to_csv(self) -> str:
        """Return one line per point, then those that the choice does not change, without a number of labels."""
        rows: list[dict[str, Any]] = []
        for point in self.points:
            row = asdict(point)
            gains = row.pop("gains") or dict.fromkeys(("mean", "worst", "n_losses", "n"))
            rows.append(row | dict(zip(("gain", "worst_gain", "n_losses", "n_runs"), gains.values(), strict=True)))
        header = list(rows[0])
        rows += [{"ranker": line.ranker, "sampler": line.name, "value": line.value} for line in self.lines]
        return csv_table(header, [["" if row.get(name) is None else row[name] for name in header] for row in rows])

    def to_dict(self) -> dict[str, Any]:
        """Return all there is as plain values."""
        return asdict(self)

    def to_json(self) -> str:
        """Return all there is, with all digits."""
        return json.dumps(self.to_dict(), indent=2)
