"""Precision and NDCG at the first ten places: the papers' Figures 1 and 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rulerank.render.svg import check_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#3b82f6", "#ef4444", "#10b981", "#d97706", "#8b5cf6", "#db2777", "#0d9488", "#65a30d", "#7c8592", "#b45309")
MARKERS = "osD^vP*Xhp"
FAINT = "#9aa0a8"  # a grid that is seen on white and on black


def rank_curves(curves: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
    """Draw one panel per measure, one line per system: curves[measure][system] holds the figures at 1, 2, ...

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
                label=system,
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
