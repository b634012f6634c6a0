"""Systems compared: differences to one of them with their intervals; precision and NDCG at the first ten places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rulerank.render.figures import check_matplotlib, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BETTER, WORSE, SAME = "#10b981", "#ef4444", "#7c8592"
LINE_INCHES = 0.235
FAINT = "#9aa0a8"  # a grid that is seen on white and on black
COLOURS = ("#3b82f6", "#ef4444", "#10b981", "#d97706", "#8b5cf6", "#db2777", "#0d9488", "#65a30d", "#7c8592", "#b45309")
MARKERS = "osD^vP*Xhp"


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
    axis.set_yticks(range(len(ordered)), [plain(span.name) for span in ordered])
    axis.set_ylim(len(ordered) - 0.4, -0.6)
    axis.set_xlim(-1.03 * limit, 1.03 * limit)
    axis.set_xlabel(f"{measure} less that of {plain(against)}")
    axis.grid(axis="x", color=FAINT, alpha=0.35, linewidth=0.8)
    axis.tick_params(axis="y", length=0)
    axis.spines[["top", "right", "left"]].set_visible(False)
    return figure


def rank_curves(curves: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
    """Draw the papers' Figures 1 and 3, a panel per measure and a line per system.

    curves[measure][system] holds the figures at 1, 2, ...

    >>> figure = rank_curves({"P": {"RE-GR": [0.6, 0.5]}, "NDCG": {"RE-GR": [0.5, 0.4]}})
    >>> [axis.get_title() for axis in figure.axes]
    ['P@k', 'NDCG@k']
    """
    check_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.4), layout="constrained")
    panels = figure.subplots(1, len(curves), squeeze=False)[0]
    for panel, (measure, lines) in zip(panels, curves.items(), strict=True):
        for place, (system, values) in enumerate(lines.items()):
            panel.plot(
                range(1, len(values) + 1),
                values,
                label=plain(system),
                color=COLOURS[place % len(COLOURS)],
                marker=MARKERS[place % len(MARKERS)],
                markersize=5,
                linewidth=1.8,
            )
        panel.set_title(f"{measure}@k", fontsize=11)
        panel.set_xlabel("k")
        panel.set_xticks(range(1, max(map(len, lines.values())) + 1))
        panel.grid(axis="y", color=FAINT, alpha=0.35, linewidth=0.8)
        panel.spines[["top", "right"]].set_visible(False)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure
