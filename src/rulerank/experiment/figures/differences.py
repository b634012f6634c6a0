"""Differences to one system with their intervals, the best on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rulerank.experiment.figures.rank_curves import FAINT
from rulerank.render.svg import check_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BETTER, WORSE, SAME = "#10b981", "#ef4444", "#7c8592"
LINE_INCHES = 0.235


class Span(NamedTuple):
    """A mean difference and its interval."""

    name: str
    difference: float
    low: float
    high: float
    mark: str  # ▲ or ▼ where it is significant


def difference_plot(spans: Sequence[Span], against: str, measure: str) -> Figure:
    """Draw each system's difference to another one, sorted.

    >>> figure = difference_plot([Span("a", 0.01, -0.01, 0.03, ""), Span("b", 0.02, 0.01, 0.03, "▲")], "c", "MAP")
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['b', 'a']
    """
    check_matplotlib()
    from matplotlib.figure import Figure

    ordered = sorted(spans, key=lambda span: -span.difference)
    far = sorted(max(abs(span.low), abs(span.high)) for span in ordered)
    limit = max(1e-6, 1.1 * far[int(0.75 * (len(far) - 1))])  # a few that lie far off must not squeeze the others
    figure = Figure(figsize=(9, 1.1 + LINE_INCHES * len(ordered)), layout="constrained")
    axis = figure.subplots()
    axis.axvline(0, color="#000000", linewidth=1)
    for place, span in enumerate(ordered):
        colour = {"▲": BETTER, "▼": WORSE}.get(span.mark, SAME)
        low, high = max(span.low, -limit), min(span.high, limit)
        if abs(span.difference) > limit:
            side = 1 if span.difference > 0 else -1
            axis.plot([side * limit], [place], ">" if side > 0 else "<", color=colour, markersize=6)
            beside: dict[str, Any] = {"ha": "right" if side > 0 else "left", "va": "center", "fontsize": 9}
            axis.text(side * limit * 0.97, place, f"{span.difference:+.3f}", color=colour, **beside)
            continue
        axis.plot([low, high], [place, place], color=colour, linewidth=2.2, solid_capstyle="round", alpha=0.75)
        axis.plot([span.difference], [place], "o", color=colour, markersize=6)
    axis.set_yticks(range(len(ordered)), [span.name for span in ordered])
    axis.set_ylim(len(ordered) - 0.4, -0.6)
    axis.set_xlim(-1.03 * limit, 1.03 * limit)
    axis.set_xlabel(f"{measure} less that of {against}")
    axis.grid(axis="x", color=FAINT, alpha=0.35, linewidth=0.8)
    axis.tick_params(axis="y", length=0)
    axis.spines[["top", "right", "left"]].set_visible(False)
    return figure
