"""The click rate by position, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulerank.clicks.summary import PositionRate
from rulerank.render.figures import check_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 50  # positions drawn
BLUE, INK, FAINT = "#0072b2", "#30343a", "#e4e6ea"


def rates_figure(rates: tuple[PositionRate, ...]) -> Figure:
    """Draw the click rate at every position: a dot, and its 95 % interval by query."""
    check_matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    drawn = rates[:MOST]
    places, values = [one.position for one in drawn], [one.rate.value for one in drawn]
    figure = Figure(figsize=(min(9.0, 3.6 + 0.28 * len(drawn)), 3.6), layout="constrained")
    axis = figure.subplots()
    axis.plot(places, values, color=BLUE, linewidth=1, alpha=0.4, zorder=2)
    axis.vlines(places, [one.rate.low for one in drawn], [one.rate.high for one in drawn], color=BLUE, linewidth=2)
    axis.plot(places, values, "o", color=BLUE, markersize=6, zorder=3)
    axis.set_xlabel("position")
    axis.set_ylabel("click rate")
    axis.set_title("Click rate by position, 95 % intervals by query", fontsize=11, color=INK, loc="left")
    axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))
    axis.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0 if max(values) >= 0.1 else 1, symbol=" %"))
    axis.set_ylim(bottom=0)
    axis.set_xlim(min(places) - 0.6, max(places) + 0.6)
    axis.grid(axis="y", color=FAINT, linewidth=0.8)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
    return figure
