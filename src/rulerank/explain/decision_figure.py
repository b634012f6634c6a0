"""Why one document stands above another, drawn: from the lower score to the higher one, feature by feature."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from rulerank.explain.versus import Versus
from rulerank.render.document import only, shown
from rulerank.render.svg import check_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UP, DOWN, REST = "#1a7f4b", "#b3403a", "#8a929c"
LEAST = 0.005  # of the difference; smaller steps are drawn as one


def decision_figure(versus: Versus, most: int = 8) -> Figure:
    """Draw the steps from the lower score to the higher one, the largest first; the rest is one step."""
    check_matplotlib()
    from matplotlib.figure import Figure

    high, low = versus.high, versus.low
    telling = [gap for gap in versus.features[:most] if abs(gap.adds) > LEAST * abs(versus.difference)]
    rest = versus.difference - sum(gap.adds for gap in telling)
    labels = [
        f"{gap.feature}\n{only(gap.of_high, gap.feature)}, not {only(gap.of_low, gap.feature)}" for gap in telling
    ]
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
    axis.set_yticks(range(len(labels)), labels, fontsize=9)
    axis.invert_yaxis()
    axis.margins(x=0.12)
    for score, name in ((low.score, low.document), (high.score, high.document)):
        axis.axvline(score, color=REST, lw=0.8, ls=":")
        axis.annotate(f"{name}\n{shown(score)}", (score, -0.6), ha="center", va="bottom", annotation_clip=False)
    axis.set_xlabel("score")
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(axis="y", length=0)
    return figure
