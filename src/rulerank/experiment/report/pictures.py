"""The pictures of a report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from rulerank.core.words import joined
from rulerank.experiment.summary import DEPTH, Difference, Summary
from rulerank.experiment.systems import GROUPS
from rulerank.render.document import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_CURVES = 10  # as many as look different


def differences_picture(summary: Summary, measure: str, found: Sequence[Difference]) -> Picture:
    from rulerank.experiment.figures.comparison import Span, difference_plot

    spans = [Span(d.system, d.difference, d.low, d.high, d.mark) for d in found]
    about = (
        f"Dot: mean difference of {measure} to {summary.against}; line: 95% bootstrap interval over queries; green or "
        "red: significantly above or below after Holm's correction."
    )
    return picture(
        "differences", f"{measure} against {summary.against}", about, difference_plot(spans, summary.against, measure)
    )


def curves_picture(summary: Summary, key: str, title: str, about: str, shown: Sequence[str]) -> Picture:
    from rulerank.experiment.figures.comparison import rank_curves

    curves = {
        measure: {
            name: [float(summary.row(name).means[summary.place(f"{measure}@{k}")]) for k in range(1, DEPTH + 1)]
            for name in shown
        }
        for measure in ("P", "NDCG")
    }
    rules = f"Mean over folds, convention {summary.convention}, ties {summary.ties}."
    return picture(key, title, f"{about} {rules} Shown: {joined(shown)}.", rank_curves(curves))


def best_systems(summary: Summary) -> list[str]:
    """Return the best system of every group, and all of your own."""
    place = summary.place("MAP")
    names = []
    for group in dict.fromkeys([*GROUPS, *(row.system.group for row in summary.rows)]):
        rows = [row for row in summary.rows if row.system.group == group]
        if group == "yours":
            names += [row.name for row in rows]
        elif rows:
            names.append(max(rows, key=lambda row: float(row.means[place])).name)
    return names[:MOST_CURVES]


def picture(key: str, title: str, about: str, figure: Figure, dpi: int = 110) -> Picture:
    from rulerank.render.figures import figure_bytes, inline_svg

    if figure.get_suptitle():
        figure.suptitle("")  # the page has the title as text
    name = re.sub(r"\W", "-", key)
    svg, width = inline_svg(figure, name, dpi), float(figure.get_figwidth())
    return Picture(title, svg, about, name, partial(figure_bytes, figure), width)
