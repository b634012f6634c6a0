"""Pictures of experiments, drawn with Matplotlib (the extra `figures`), which each function loads when it draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from rulerank.experiment.label_curve.result import RANDOM, LabelCurve
from rulerank.render.figures import check_matplotlib, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BETTER, WORSE, SAME = "#10b981", "#ef4444", "#7c8592"
LINE_INCHES = 0.235
COLOURS = ("#3b82f6", "#ef4444", "#10b981", "#d97706", "#8b5cf6", "#db2777", "#0d9488", "#65a30d", "#7c8592", "#b45309")
MARKERS = "osD^vP*Xhp"
INK, GREY = "#30343a", "#8a8f98"
SAMPLER_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")  # told apart by colour-blind eyes too
RING: dict[str, Any] = {"marker": "o", "markersize": 9, "markerfacecolor": "white", "markeredgewidth": 2}
THIN: dict[str, Any] = {"linewidth": 0.9, "linestyle": (0, (3, 2))}
BEHIND = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.5}
ACROSS = 3  # panels in a row
DEEPEST = 0.06  # the axis goes down this far at most, or as far as the best mean is high: losses are told in words


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
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)
    _lay_out(axis, "x")
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
            look = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
            ranks = range(1, len(values) + 1)
            panel.plot(ranks, values, label=plain(system), markersize=5, linewidth=1.8, **look)
        panel.set_title(f"{measure}@k", fontsize=11)
        panel.set_xlabel("k")
        panel.set_xticks(range(1, max(map(len, lines.values())) + 1))
        _lay_out(panel)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure


def label_curve_figure(curve: LabelCurve) -> Figure:
    """Draw quality against labels, a panel per ranker; a ring marks where a way to choose stops by itself.

    Of splits it is what is gained over today's ranking, which is zero, and as thin lines the worst split of each.
    """
    check_matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    shown = "minus today's" if curve.n_splits else "on the test queries"
    n_across = 2 if len(curve.rankers) == 4 else min(ACROSS, len(curve.rankers))
    n_down = ceil(len(curve.rankers) / n_across)
    figure = Figure(figsize=(1.2 + 4.2 * n_across, 1.1 + 3.4 * n_down), layout="constrained")
    panels = figure.subplots(n_down, n_across, sharey=True, sharex=True, squeeze=False)
    for place, panel in enumerate(panels.flat):
        if place >= len(curve.rankers):
            panel.set_visible(False)
            continue
        _draw_panel(panel, curve, curve.rankers[place])
        panel.tick_params(labelbottom=True)
        if place % n_across == 0:
            panel.set_ylabel(f"{curve.measure} {shown}")
        if place + n_across >= len(curve.rankers):
            panel.set_xlabel(f"labels (of {curve.n_pool:,.0f} documents)")
    handles, _ = panels[0, 0].get_legend_handles_labels()
    if curve.n_splits:
        handles.append(Line2D([], [], color=INK, label="worst split of each", **THIN))
    if any(point.stop_of for point in curve.points):
        handles.append(Line2D([], [], color=INK, linestyle="none", label="stops by itself", **RING))
    columns = 4 if n_across > 1 else 2  # four are wider than one panel
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False, fontsize=9)
    return figure


def _draw_panel(panel: Any, curve: LabelCurve, ranker: str) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    others = [name for name in curve.samplers if name != RANDOM]
    for sampler in curve.samplers:
        colour = GREY if sampler == RANDOM else SAMPLER_COLOURS[others.index(sampler) % len(SAMPLER_COLOURS)]
        points = curve.of(ranker, sampler)
        labels, values = [point.n_labels for point in points], [point.value for point in points]
        name = sampler
        if curve.n_splits:
            gains = [point.gains for point in points if point.gains]
            values = [gain.mean for gain in gains]
            panel.plot(labels, [gain.worst for gain in gains], color=colour, zorder=2, **THIN)
        elif sampler == RANDOM:
            low, high = ([getattr(point, end) for point in points] for end in ("low", "high"))
            panel.fill_between(labels, low, high, color=colour, alpha=0.22, linewidth=0)
            name = f"random, 95 % of {curve.n_draws} draws"
        panel.plot(labels, values, color=colour, marker="o", markersize=3.5, linewidth=1.8, label=plain(name), zorder=3)
        if points and points[-1].stop_of == sampler:
            panel.plot(labels[-1:], values[-1:], color=colour, zorder=4, **RING)
    for line in curve.lines:
        if line.ranker in (ranker, None):
            name = "all labels" if line.ranker else line.name
            value, style = (0.0, "-") if curve.n_splits else (line.value, "--" if line.ranker else ":")
            name += f": {curve.measure} {line.value:.3f}" * bool(curve.n_splits)
            panel.axhline(value, color=INK, linestyle=style, linewidth=1.2, label=plain(name), zorder=1)
    if curve.n_splits:
        _limit_losses(panel, curve, ranker)
    panel.set_title(plain(ranker), fontsize=11)
    panel.set_xscale("log")
    panel.xaxis.set_major_formatter(FuncFormatter(lambda labels, _: f"{labels:,.0f}"))
    panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.xaxis.set_minor_locator(NullLocator())
    _lay_out(panel)


def _limit_losses(panel: Any, curve: LabelCurve, ranker: str) -> None:
    """Let the axis show all that is gained, and losses as far as they leave the gains readable."""
    gains = [point.gains for point in curve.points if point.gains]
    top = max(0.005, *(gain.mean for gain in gains))
    low = max(1.08 * min(0.0, *(gain.worst for gain in gains)), -max(DEEPEST, top))
    panel.set_ylim(low, top + 0.06 * (top - low))  # a ring at the top is drawn whole
    deepest = min(point.gains.worst for point in curve.points if point.gains and point.ranker == ranker)
    if deepest < low:
        text = f"worst: {deepest:.2f}".replace("-", "\N{MINUS SIGN}")
        panel.text(0.98, 0.03, text, transform=panel.transAxes, ha="right", fontsize=8.5, color=INK, bbox=BEHIND)


def _lay_out(panel: Any, axis: str = "y") -> None:
    panel.grid(axis=axis, color="#e4e6ea", linewidth=0.8)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)
