"""Effects of features, drawn: score against bin, with the data's spread."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rulerank.errors import DataError
from rulerank.explain.overview import Overview
from rulerank.render.document import only
from rulerank.render.svg import check_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINE, BAND, SHARE = "#2f6fb3", "#2f6fb333", "#8a929c66"
COLUMNS = 3


def effects_figure(overview: Overview, most: int = 9) -> Figure:
    """Draw a panel for each of the most influential features: mean score by bin, 8 in 10 documents, and how many."""
    check_matplotlib()
    from matplotlib.figure import Figure

    effects = [effect for effect in overview.features if effect.curve][:most]
    if not effects:
        raise DataError("there are no effects to draw: no feature of this model has bins or a weight")
    n_columns = min(COLUMNS, len(effects))
    n_lines = math.ceil(len(effects) / n_columns)
    figure = Figure(figsize=(3.6 * n_columns, 3.1 * n_lines), layout="constrained")
    axes = figure.subplots(n_lines, n_columns, squeeze=False, sharey=True)
    for axis, effect in zip(axes.flat, effects, strict=False):
        places = range(len(effect.curve))
        known = [point for point in effect.curve if not point.text.endswith("is missing")]  # a line joins values
        axis.fill_between(range(len(known)), [p.low for p in known], [p.high for p in known], color=BAND, lw=0)
        axis.plot(range(len(known)), [p.score for p in known], color=LINE, marker="o", ms=4)
        for place in places[len(known) :]:
            point = effect.curve[place]
            axis.plot([place, place], [point.low, point.high], color=BAND, lw=8, solid_capstyle="butt")
            axis.plot([place], [point.score], color=LINE, marker="o", ms=4)
        behind = axis.twinx()
        behind.bar(places, [p.share for p in effect.curve], color=SHARE, width=0.5)
        behind.set_ylim(0, 4)  # at the foot of the panel
        behind.set_axis_off()
        axis.set_title(effect.feature, fontsize=11)
        texts = [only(point.text, effect.feature) for point in effect.curve]
        axis.set_xticks(list(places), texts, fontsize=8, rotation=20, ha="right")
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[:, 0]:
        axis.set_ylabel("score")
    for axis in axes.flat[len(effects) :]:
        axis.set_visible(False)
    figure.supxlabel(
        "line: mean score with every document in the bin; band: 8 in 10 of them; grey: share there", fontsize=9
    )
    return figure
