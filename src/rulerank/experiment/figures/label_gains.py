"""What labels gain over today's ranking in many splits: a panel per learner, mean and worst of every way to choose."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

from rulerank.experiment.label_curve.result import RANDOM, LabelCurve, Point
from rulerank.render.figures import check_matplotlib, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")  # told apart by colour-blind eyes too
GREY = "#8a8f98"
INK = "#30343a"
RING: dict[str, Any] = {"marker": "o", "markersize": 8, "markerfacecolor": "white", "markeredgewidth": 1.8}
BEHIND = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.5}
ACROSS = 3  # panels in a row
DEEPEST = 0.06  # the axis goes down this far at most, or as far as the best mean is high: losses are told in words


def label_gains_figure(curve: LabelCurve) -> Figure:
    """Draw gains over today's ranking, which is zero: means as thick lines, the worst split of each as a thin one."""
    check_matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    n_across = 2 if len(curve.rankers) == 4 else min(ACROSS, len(curve.rankers))
    n_down = ceil(len(curve.rankers) / n_across)
    figure = Figure(figsize=(1.0 + 3.7 * n_across, 1.1 + 3.1 * n_down), layout="constrained")
    panels = figure.subplots(n_down, n_across, sharey=True, sharex=True, squeeze=False)
    low, high = _limits(curve)
    for place, panel in enumerate(panels.flat):
        if place >= len(curve.rankers):
            panel.set_visible(False)
            continue
        _draw_panel(panel, curve, curve.rankers[place], low)
        panel.set_ylim(low, high)
        panel.tick_params(labelbottom=True)
        if place % n_across == 0:
            panel.set_ylabel(f"{curve.measure} minus today's")
        if place + n_across >= len(curve.rankers):
            panel.set_xlabel(f"labels (of {curve.n_pool:,.0f} documents)")
    handles = [
        Line2D([], [], color=_colour(curve, sampler), linewidth=2, marker="o", markersize=3.5, label=plain(sampler))
        for sampler in curve.samplers
    ]
    handles.append(Line2D([], [], color=INK, linewidth=0.9, linestyle=(0, (3, 2)), label="worst split of each"))
    today = next(line for line in curve.lines if line.name.startswith("today, "))
    name = f"{today.name}: {curve.measure} {today.value:.3f}"
    handles.append(Line2D([], [], color=INK, linewidth=1.4, label=plain(name)))
    if any(point.stop_of for point in curve.points):
        handles.append(Line2D([], [], color=INK, linestyle="none", label="stops by itself", **RING))
    figure.legend(
        handles=handles, loc="outside lower center", ncols=4 if n_across > 1 else 2, frameon=False, fontsize=9
    )
    return figure


def _draw_panel(panel: Any, curve: LabelCurve, ranker: str, low: float) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    panel.axhline(0, color=INK, linewidth=1.4, zorder=1)
    drawn: list[Point] = []
    for sampler in curve.samplers:
        points = curve.of(ranker, sampler)
        labels, colour = [point.n_labels for point in points], _colour(curve, sampler)
        drawn += points
        means, worst = ([getattr(point.gains, name) for point in points] for name in ("mean", "worst"))
        panel.plot(labels, worst, color=colour, linewidth=0.9, linestyle=(0, (3, 2)), zorder=2)
        panel.plot(labels, means, color=colour, linewidth=2, marker="o", markersize=3.5, zorder=3)
        for label, mean, point in zip(labels, means, points, strict=True):
            if point.stop_of:
                panel.plot([label], [mean], color=colour, zorder=4, **RING)
    deepest = min(point.gains.worst for point in drawn if point.gains)
    if deepest < low:
        text = f"worst: {deepest:.2f}".replace("-", "\N{MINUS SIGN}")
        panel.text(0.98, 0.03, text, transform=panel.transAxes, ha="right", fontsize=8.5, color=INK, bbox=BEHIND)
    panel.set_title(plain(ranker), fontsize=11)
    panel.set_xscale("log")
    sizes = sorted({point.n_labels for point in drawn if not point.stop_of})
    panel.xaxis.set_major_locator(FixedLocator(sizes or [point.n_labels for point in drawn]))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda labels, _: f"{labels:,.0f}"))
    panel.grid(axis="y", color="#e4e6ea", linewidth=0.8)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)


def _limits(curve: LabelCurve) -> tuple[float, float]:
    """Return how far the axis goes: all that is gained, and losses as far as they leave the gains readable."""
    gains = [point.gains for point in curve.points if point.gains]
    top = max(0.005, *(gain.mean for gain in gains))
    deepest = min(0.0, *(gain.worst for gain in gains))
    low = max(deepest * 1.08, -max(DEEPEST, top))
    return low, top + 0.06 * (top - low)  # a ring at the top is drawn whole


def _colour(curve: LabelCurve, sampler: str) -> str:
    others = [name for name in curve.samplers if name != RANDOM]
    return GREY if sampler == RANDOM else COLOURS[others.index(sampler) % len(COLOURS)]
