"""The label-efficiency curve as lines and ticks that a template can draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rulerank.judging.views import CurvePoint

WIDTH, HEIGHT = 440, 230
LEFT, RIGHT, TOP, BOTTOM = 34, 430, 10, 194  # the frame inside


@dataclass(frozen=True, slots=True)
class Tick:
    """A place along an axis and its text."""

    place: float
    text: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """A curve in pixels: its points as SVG takes them, and its ticks."""

    points: tuple[tuple[float, float, str], ...]  # x, y and what to say of it
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]

    @property
    def path(self) -> str:
        return " ".join(f"{x:g},{y:g}" for x, y, _ in self.points)


def draw(curve: Sequence[CurvePoint]) -> Drawing | None:
    """Return the drawing of the points that have a figure; None when there are none yet.

    >>> drawing = draw([CurvePoint(10, 0.4, 3), CurvePoint(20, 0.5, 5)])
    >>> [tick.text for tick in drawing.y_ticks]
    ['0.40', '0.42', '0.44', '0.46', '0.48', '0.50']
    >>> draw([CurvePoint(3, None, 0)]) is None
    True
    """
    known = [(point.n_labels, point.map) for point in curve if point.map is not None]
    if not known:
        return None
    low, high = min(m for _, m in known), max(m for _, m in known)
    if low == high:  # a flat line still needs a height around it
        low, high = max(0.0, low - 0.1), min(1.0, high + 0.1)
    xs, ys = ticks(0, max(n for n, _ in known)), ticks(low, high)

    def x_of(n: float) -> float:
        return round(LEFT + (n - xs[0]) / (xs[-1] - xs[0]) * (RIGHT - LEFT), 1)

    def y_of(figure: float) -> float:
        return round(BOTTOM - (figure - ys[0]) / (ys[-1] - ys[0]) * (BOTTOM - TOP), 1)

    return Drawing(
        tuple((x_of(n), y_of(figure), f"{n:,} labels: MAP {figure:.3f}") for n, figure in known),
        tuple(Tick(x_of(n), f"{n:,.0f}") for n in xs if n == int(n)),
        tuple(Tick(y_of(figure), f"{figure:.2f}") for figure in ys),
    )


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers from below low to above high.

    >>> ticks(0, 37), ticks(0.4, 0.6)
    ([0.0, 10.0, 20.0, 30.0, 40.0], [0.4, 0.45, 0.5, 0.55, 0.6])
    """
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    step *= next(times for times in (1, 2, 5, 10) if (high - low) / (step * times) <= most)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(place * step, 10) for place in range(first, last + 1)]
