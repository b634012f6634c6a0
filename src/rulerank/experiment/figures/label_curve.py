"""The label-efficiency curve: quality against labels, one panel per ranker."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from rulerank.experiment.figures.label_gains import COLOURS, GREY, INK, label_gains_figure
from rulerank.experiment.label_curve.result import RANDOM, LabelCurve
from rulerank.io.outputs import write_bytes
from rulerank.render.figures import check_figure_file, check_matplotlib, figure_bytes, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RING: dict[str, Any] = {"marker": "o", "markersize": 9, "markerfacecolor": "white", "markeredgewidth": 2}


def draw_label_curve(curve: LabelCurve, path: str | PathLike[str]) -> None:
    """Write the curve to a .png, .svg or .pdf file."""
    target = check_figure_file(path)
    write_bytes(target, figure_bytes(label_curve_figure(curve), target.suffix))


def label_curve_figure(curve: LabelCurve) -> Figure:
    """Draw quality against labels, of splits what is gained; a ring marks where a way to choose stops by itself."""
    if curve.n_splits:
        return label_gains_figure(curve)
    check_matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    figure = Figure(figsize=(1.2 + 4.6 * len(curve.rankers), 4.6), layout="constrained")
    panels = figure.subplots(1, len(curve.rankers), sharey=True, squeeze=False)[0]
    for panel, ranker in zip(panels, curve.rankers, strict=True):
        _draw_band(panel, curve, ranker)
        _draw_curves(panel, curve, ranker)
        for line in curve.lines:
            if line.ranker in (ranker, None):
                style = "--" if line.ranker else ":"
                name = "all labels" if line.ranker else line.name
                panel.axhline(line.value, color=INK, linestyle=style, linewidth=1.2, label=plain(name), zorder=1)
        panel.set_title(plain(ranker), fontsize=11)
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter(FuncFormatter(lambda labels, _: f"{labels:,.0f}"))
        panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.set_xlabel(f"labels (of {curve.n_pool:,.0f} documents)")
        panel.grid(axis="y", color="#e4e6ea", linewidth=0.8)
        panel.set_axisbelow(True)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel(f"{curve.measure} on the test queries")
    handles, _ = panels[0].get_legend_handles_labels()
    handles.append(Line2D([], [], color=INK, linestyle="none", label="stops by itself", **RING))
    columns = min(4, 2 * len(panels))  # four are wider than one panel
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False, fontsize=9)
    return figure


def _draw_band(panel: Any, curve: LabelCurve, ranker: str) -> None:
    chance = curve.of(ranker, RANDOM)
    labels = [point.n_labels for point in chance]
    low, high = ([getattr(point, end) for point in chance] for end in ("low", "high"))
    panel.fill_between(labels, low, high, color=GREY, alpha=0.22, linewidth=0)
    label = f"random, 95 % of {curve.n_draws} draws"
    panel.plot(labels, [point.value for point in chance], color=GREY, linewidth=1.6, label=plain(label))


def _draw_curves(panel: Any, curve: LabelCurve, ranker: str) -> None:
    others = [sampler for sampler in curve.samplers if sampler != RANDOM]
    for place, sampler in enumerate(others):
        points = curve.of(ranker, sampler)
        colour = COLOURS[place % len(COLOURS)]
        labels, values = [point.n_labels for point in points], [point.value for point in points]
        style = "-." if sampler.startswith("top of") else "-"
        panel.plot(labels, values, style, color=colour, marker="o", markersize=3, linewidth=1.8, label=plain(sampler))
        if points and points[-1].stop_of == sampler:
            panel.plot(labels[-1:], values[-1:], color=colour, zorder=4, **RING)
