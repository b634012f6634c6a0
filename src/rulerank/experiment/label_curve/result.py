"""What a label-efficiency curve is made of, and its table, csv and JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, astuple, dataclass, fields
from typing import Any

from rulerank.experiment.label_curve.splits import LOSS, Gains
from rulerank.render.notebook import html_table, table_of
from rulerank.render.tables import csv_table, plain_table

RANDOM = "random"
BEST_FEATURE = "best single feature"


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
    took_over: str | None = None  # full learners that did, and in how many runs


@dataclass(frozen=True)
class Line:
    """Something the labels chosen do not change: all labels, or a single feature."""

    name: str
    ranker: str | None  # None: the same for all
    value: float


@dataclass(frozen=True, repr=False)
class LabelCurve:
    """Quality against labels, for rankers and ways to choose the documents.

    >>> ssar = Point("QI", "SSAR", 120.0, 0.02, 0.41, None, None, None, 0.3, "SSAR")
    >>> chance = Point("QI", "random", 120.0, 0.02, 0.38, 0.35, 0.4, 0.01, 0.2, "SSAR")
    >>> curve = LabelCurve("MAP", (ssar, chance), (Line("QI, all labels", "QI", 0.45),), ("bm25",), 6000.0, 0.2, 5, 20)
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
    features: tuple[str, ...]  # what the top-of-a-feature sampling sorted by, in each fold
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
        """The ways to choose, chance and the top of a feature last."""
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
        header = [ranker, *(f"{size:,.0f} labels" for size in sizes)]
        rows = []
        for sampler in self.samplers:
            points = self.of(ranker, sampler)
            by_size = {point.n_labels: point for point in points if point.stop_of is None}
            rows.append([sampler, *(str(by_size[size].gains) if size in by_size else "" for size in sizes)])
            rows[-1].append(next((f"{p.n_labels:,.0f}: {p.gains}" for p in points if p.stop_of), ""))
        if any(row[-1] for row in rows):
            header.append("at its stop")
        else:
            rows = [row[:-1] for row in rows]
        return header, rows

    def _last_points_table(self, ranker: str) -> tuple[list[str], list[list[str]]]:
        header = [f"{self.measure} of {ranker}", "labels", "% of pool", "% relevant", self.measure, "at random"]
        rows = []
        for sampler in self.samplers:
            if sampler == RANDOM:
                continue
            last = self.of(ranker, sampler)[-1]
            chance = self.with_same_labels(last, RANDOM)
            rows.append(
                [sampler, f"{last.n_labels:,.0f}", f"{last.share:.2%}"[:-1], f"{last.share_relevant:.1%}"[:-1],
                 f"{last.value:.3f}", "" if chance is None else _with_band(chance)]
            )  # fmt: skip
        for line in self.lines:
            if line.ranker == ranker:
                whole = [f"{self.n_pool:,.0f}", "100.00", f"{self.share_relevant:.1%}"[:-1]]
                rows.append([line.name, *whole, f"{line.value:.3f}", ""])
            elif line.ranker is None:
                rows.append([line.name, "", "", "", f"{line.value:.3f}", ""])
        return header, rows

    def __repr__(self) -> str:
        return "\n\n".join(plain_table(*self.table(ranker)) for ranker in self.rankers)

    def _repr_html_(self) -> str:
        return html_table(*(table_of(*self.table(ranker)) for ranker in self.rankers))

    def to_csv(self) -> str:
        """Return one line per point, then those that the choice does not change, without a number of labels."""
        header = [field.name for field in fields(Point)]
        place = header.index("gains")
        header[place : place + 1] = ["gain", "worst_gain", "n_losses", "n_runs"]
        blank = [""] * (len(header) - 5)
        cells = [["" if cell is None else cell for cell in _flat(point)] for point in self.points]
        cells += [[line.ranker or "", line.name, "", "", line.value, *blank] for line in self.lines]
        return csv_table(header, cells)

    def verdict(self, ranker: str) -> str:
        """Say in a sentence which ways to choose beat chance, or in splits what took over."""
        if self.n_splits:
            others = [f"{p.sampler}, {p.n_labels:,.0f} labels: {p.took_over}" for p in self.points
                      if p.ranker == ranker and p.took_over]  # fmt: skip
            return f"took over: {'; '.join(others)}" if others else ""
        above = [name for name in self.samplers if name != RANDOM and self.beats_random(ranker, name)]
        return f"above 95 % of the random draws: {', '.join(above) or 'none'}"

    def note(self, thinned: int | None = None) -> str:
        """Say how the figures came about; thinned: of how many relevant documents one was kept."""
        kept = f"; one relevant document in {thinned} kept" if thinned else ""
        chosen = ", ".join(dict.fromkeys(self.features))
        if self.n_splits:
            today = next(line for line in self.lines if line.name.startswith("today, "))
            cut = f" of the {self.n_splits} asked for, as it was interrupted" if self.n_folds < self.n_splits else ""
            relevant = f"{self.share_relevant:.1%}".replace("%", " %")
            return (
                f"{today.name}: {self.measure} {today.value:.3f}. Cells are what was gained over it in {self.n_folds} "
                f"splits{cut}:\nmean/worst, in brackets how many of them lost more than {LOSS}. Half of the queries "
                f"are the pool, half are tested on{kept};\n"
                f"{self.n_pool:,.0f} documents to choose from, {relevant} of them relevant"
            )
        return (
            f"means over {self.n_folds} folds{kept}; at random: mean of {self.n_draws} draws and where 95 % of them "
            f"lie\n% relevant: of the documents labelled; feature: {chosen}; ties count as the mean over all orders"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all there is as plain values."""
        return asdict(self)

    def to_json(self) -> str:
        """Return all there is, with all digits."""
        return json.dumps(self.to_dict(), indent=2)

    @classmethod
    def from_json(cls, text: str) -> LabelCurve:
        """Return the curve that `to_json` wrote."""
        found: dict[str, Any] = json.loads(text)
        known = {field.name: found[field.name] for field in fields(LabelCurve)}
        known["points"] = tuple(
            Point(**point | {"gains": point["gains"] and Gains(**point["gains"])}) for point in known["points"]
        )
        known["lines"] = tuple(Line(**line) for line in known["lines"])
        known["features"] = tuple(known["features"])
        return LabelCurve(**known)


def _flat(point: Point) -> list[Any]:
    """Return a point's fields, its gains as four of them."""
    cells: list[Any] = []
    for name in (field.name for field in fields(Point)):
        value = getattr(point, name)
        cells += [value] if name != "gains" else [None] * 4 if value is None else astuple(value)
    return cells


def _with_band(point: Point) -> str:
    return f"{point.value:.3f}, {point.low:.3f}-{point.high:.3f}"
