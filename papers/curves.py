"""Figures 1 and 3 of the paper on query-level rules: precision and NDCG at every rank; and pictures for a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from rulerank._util.words import joined
from rulerank.experiment.report import DEPTH, Summary
from rulerank.render.document import Picture
from rulerank.render.figures import check_matplotlib, figure_bytes, inline_svg, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#3b82f6", "#ef4444", "#10b981", "#d97706", "#8b5cf6", "#db2777", "#0d9488", "#65a30d", "#7c8592", "#b45309")
MARKERS = "osD^vP*Xhp"


@dataclass(frozen=True)
class DrawnPicture(Picture):
    """A picture that has files, too."""

    key: str
    draw: Callable[[str], bytes] = field(compare=False, repr=False)  # a file by its ending


def rank_curves(curves: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
    """Draw a panel per measure and a line per system; curves[measure][system] holds the figures at 1, 2, ...

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
            look = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
            ranks = range(1, len(values) + 1)
            panel.plot(ranks, values, label=plain(system), markersize=5, linewidth=1.8, **look)
        panel.set_title(f"{measure}@k", fontsize=11)
        panel.set_xlabel("k")
        panel.set_xticks(range(1, max(map(len, lines.values())) + 1))
        panel.grid(axis="y", color="#e4e6ea", linewidth=0.8)
        panel.spines[["top", "right"]].set_visible(False)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure


def curves_picture(summary: Summary, key: str, title: str, about: str, shown: Sequence[str]) -> Picture:
    """Draw P and NDCG of some systems."""
    ranks = range(1, DEPTH + 1)
    curves = {
        measure: {name: [summary.mean(name, f"{measure}@{k}") for k in ranks] for name in shown}
        for measure in ("P", "NDCG")
    }
    rules = f"Mean over folds, convention {summary.convention}, ties {summary.ties}."
    return picture(key, title, f"{about} {rules} Shown: {joined(shown)}.", rank_curves(curves))


def picture(key: str, title: str, about: str, figure: Figure, dpi: int = 110) -> Picture:
    """Return a figure for a page, which has the title as text."""
    if figure.get_suptitle():
        figure.suptitle("")
    name = re.sub(r"\W", "-", key)
    return DrawnPicture(title, inline_svg(figure, name, dpi), about, name, partial(figure_bytes, figure))
