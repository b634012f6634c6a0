"""Explanations, drawn: from one score to another, feature by feature; and score against bin, with the data's spread."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from rulerank.errors import DataError
from rulerank.explain.overview import ModelOverview
from rulerank.explain.versus import Versus
from rulerank.render.document import only, shown
from rulerank.render.figures import check_matplotlib, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UP, DOWN, REST = "#1a7f4b", "#b3403a", "#8a929c"
LEAST = 0.005  # of the difference; smaller steps are drawn as one
LINE, BAND, SHARE = "#2f6fb3", "#2f6fb333", "#8a929c66"
COLUMNS = 3


def decision_figure(versus: Versus, most: int = 8) -> Figure:
    """Draw the steps from the lower score to the higher one, the largest first; the rest is one step."""
    check_matplotlib()
    from matplotlib.figure import Figure

    high, low = versus.high, versus.low
    telling = [gap for gap in versus.features[:most] if abs(gap.adds) > LEAST * abs(versus.difference)]
    rest = versus.difference - sum(gap.adds for gap in telling)
    labels = [f"{gap.feature}\n{gap.high_value}, not {gap.low_value}" for gap in telling]
    steps = [gap.adds for gap in telling]
    if abs(rest) > LEAST * abs(versus.difference):
        labels, steps = [*labels, "everything else"], [*steps, rest]
    figure = Figure(figsize=(8, 1.6 + 0.55 * len(steps)), layout="constrained")
    axis = figure.subplots()
    ends = [low.score]
    for step in steps:
        ends.append(ends[-1] + step)
    for place, (start, stop) in enumerate(pairwise(ends)):
        colour = REST if labels[place] == "everything else" else UP if stop > start else DOWN
        axis.barh(place, stop - start, left=start, height=0.6, color=colour)
        axis.plot(
            [stop, stop], [place - 0.3, place + 1.3 if place + 1 < len(steps) else place + 0.3], color=REST, lw=0.8
        )
        axis.annotate(
            f"{stop - start:+.3f}", (max(start, stop), place), (4, 0), textcoords="offset points", va="center"
        )
    axis.set_yticks(range(len(labels)), [plain(label) for label in labels], fontsize=9)
    axis.invert_yaxis()
    axis.margins(x=0.12)
    for score, name in ((low.score, low.document), (high.score, high.document)):
        axis.axvline(score, color=REST, lw=0.8, ls=":")
        axis.annotate(f"{plain(name)}\n{shown(score)}", (score, -0.6), ha="center", va="bottom", annotation_clip=False)
    axis.set_xlabel("score")
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(axis="y", length=0)
    return figure


def effects_figure(overview: ModelOverview, most: int = 9) -> Figure:
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
        axis.set_title(plain(effect.feature), fontsize=11)
        texts = [plain(only(point.text, effect.feature)) for point in effect.curve]
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
