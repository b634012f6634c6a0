"""Curves, drawn and as a table: what features add by their values, and how many documents have them."""

from __future__ import annotations

import math
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rulerank._util.words import SCALES, as_date, counted, decimal
from rulerank.dataset import Array
from rulerank.errors import MissingExtraError
from rulerank.explain.curves import OBSERVED, FeatureCurve, FeatureCurves
from rulerank.explain.explanation import label_of
from rulerank.render.document import Block, Content, Picture, Table, shown
from rulerank.render.figures import check_matplotlib, inline_svg, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec


LINE, BAND, COUNT, AXIS = "#2f6fb3", "#2f6fb340", "#8a929c99", "#8a929c"
TITLE = "What each feature adds"
COLUMNS = 3
WIDTH, HEIGHT = 3.5, 3.3  # of a panel
PARTS = (5, 1)  # heights of curve and counts
ROOM = 0.05  # above and below what is drawn
KINDS = 8  # drawn of a feature that names kinds
POINTS = 60  # of a band around a sloping line
PAD = 0.02  # of the axis, on either side
LONG = 14  # letters of a kind's name


def curves_figure(found: FeatureCurves, limits: tuple[float, float] | None = None) -> Figure:
    """Draw a panel for each curve, all on one scale: steps or lines with bands of two deviations, and counts below."""
    check_matplotlib()
    from matplotlib.figure import Figure

    n_columns = min(COLUMNS, len(found.curves))
    n_lines = math.ceil(len(found.curves) / n_columns)
    figure = Figure(figsize=(WIDTH * n_columns, HEIGHT * n_lines), layout="constrained")
    grid = figure.add_gridspec(n_lines, n_columns, hspace=0.1)
    limits = limits or score_range(found)
    for place, curve in enumerate(found.curves):
        upper = _draw_panel(figure, grid[place], curve, limits, found.scale)
        upper.tick_params(labelleft=place % n_columns == 0)
    figure.supylabel("adds to the score", fontsize=9)
    return figure


def score_range(found: FeatureCurves) -> tuple[float, float]:
    """Return the scale that all panels share: what is drawn lies on it, with some room."""
    ends = [0.0]
    for curve in found.curves:
        values = drawn_values(curve)
        values = np.append(values, math.nan) if curve.counts.missing else values
        unsure = curve.unsure(values)
        band = 0.0 if unsure is None else 2 * np.nan_to_num(unsure)
        ends += [float((curve.adds(values) - band).min()), float((curve.adds(values) + band).max())]
    low, high = min(ends), max(ends)
    room = ROOM * (high - low) or 1.0
    return low - room, high + room


def about_curves(found: FeatureCurves) -> str:
    """Return in words what the curves show, and on which documents."""
    said = ["Contribution of each feature to the score, by value; all panels share one scale."]
    if any(curve.slope_error is not None for curve in found.curves):
        said.append("Band: two standard errors of the weight to either side.")
    elif found.how == OBSERVED:
        said.append("Band: two deviations of the documents to either side.")
    elif any(curve.spread is not None for curve in found.curves):
        said.append("Band: two standard deviations of the votes to either side.")
    if found.scale is not None:
        said.append("Axis: {}, {}.".format(*SCALES[found.scale]))
    said.append(
        f"Centred: the mean over {counted(found.n_docs, found.noun)} is 0. Grey bars: how many of them have each "
        "value; values beyond the axis are counted in the outermost bars."
    )
    said += [found.how] if found.how else []
    if any(curve.counts.missing for curve in found.curves):
        said.append("The point on the right: documents whose value is missing.")
    if found.n_left_out:
        said.append(f"{counted(found.n_left_out, 'less important feature')} left out.")
    return " ".join(said)


def curves_picture(found: FeatureCurves) -> list[Block]:
    """Return the curves for a page, panels that find their own lines; none where Matplotlib is not installed."""
    key = f"curves-{zlib.crc32(repr(found.to_dict()).encode()):08x}"  # several pictures may share a notebook
    limits = score_range(found)
    try:
        panels = [
            inline_svg(curves_figure(replace(found, curves=(curve,)), limits), f"{key}-{place}")
            for place, curve in enumerate(found.curves)
        ]
    except MissingExtraError:
        return []
    return [Picture(TITLE, f'<div class="panels">{"".join(panels)}</div>', about_curves(found))]


def curves_table(found: FeatureCurves) -> Table:
    """Return where each curve is lowest and highest, as numbers."""
    rows: list[tuple[Content, ...]] = []
    for curve in found.curves:
        values = drawn_values(curve)
        adds = curve.adds(values)
        scale = "" if found.scale is None or curve.kinds is not None else f"{SCALES[found.scale][0]} "
        ends = [
            f"{shown(float(adds[at]))} at {scale}{_value(curve, values[at])}" for at in (adds.argmin(), adds.argmax())
        ]
        rows.append((label_of(curve.feature, curve.name), *ends, f"{curve.counts.missing:,}"))
    header = ("feature", "lowest", "highest", "missing")
    note = f"Contributions are centred: their mean over {counted(found.n_docs, found.noun)} is 0."
    note += f" {counted(found.n_left_out, 'less important feature')} left out." if found.n_left_out else ""
    return Table("Smallest and largest contribution", header, tuple(rows), 3, note)


def drawn_values(curve: FeatureCurve) -> Array:
    """Return the values that a curve is drawn at: kinds, or where its steps begin and both ends."""
    if curve.kinds is not None:
        return drawn_kinds(curve).astype(np.float64)
    low, high = curve.counts.edges[[0, -1]]
    inner = curve.cuts[(curve.cuts > low) & (curve.cuts < high)]
    return np.concatenate([[low], inner, [high]])


def drawn_kinds(curve: FeatureCurve) -> Array:
    """Return the kinds that are drawn: the most frequent ones, the best first."""
    assert curve.kinds is not None
    codes = np.arange(len(curve.kinds))
    adds = curve.adds(codes)
    kept = np.argsort(-curve.counts.counts[: codes.size], kind="stable")[:KINDS]
    return kept[np.argsort(-adds[kept], kind="stable")]


def _draw_panel(
    figure: Figure, spot: SubplotSpec, curve: FeatureCurve, limits: tuple[float, float], scale: str | None
) -> Axes:
    """Draw a curve, and its counts below; return the axis of the curve."""
    inner = spot.subgridspec(2, 1, height_ratios=PARTS, hspace=0)
    upper = figure.add_subplot(inner[0], ylim=limits)
    lower = figure.add_subplot(inner[1], sharex=upper)
    if curve.kinds is not None:
        _draw_kinds(upper, lower, curve)
        missing_at, width = len(lower.get_xticks()) + 0.1, 0.7
    else:
        edges = curve.counts.edges
        low, high = edges[0], edges[-1]
        _draw_steps(upper, curve)
        missing_at, width = high + (high - low) * 0.1, (high - low) * 0.04
        upper.set_xlim(low - (high - low) * PAD, high + (high - low) * PAD)
        lower.bar(edges[:-1], curve.counts.counts, np.diff(edges), align="edge", color=COUNT, lw=0)
        if curve.date:
            ticks = np.linspace(low, high, 3).round().tolist()
            lower.set_xticks(ticks, [_value(curve, tick) for tick in ticks])
        if scale is not None:
            lower.set_xlabel(SCALES[scale][1], fontsize=8)
    if curve.counts.missing:
        _draw_missing(upper, lower, curve, missing_at, width)
    most = max(1, lower.dataLim.y1)  # the highest bar
    lower.set_ylim(0, most)
    lower.set_yticks([most], [f"{most:,.0f}"], fontsize=7)
    lower.spines[["top", "right", "left"]].set_visible(False)
    lower.tick_params(axis="y", length=0)
    lower.tick_params(axis="x", labelsize=8)
    upper.tick_params(labelbottom=False)
    some, name = curve.kinds is not None and len(curve.kinds) > KINDS, curve.name or curve.feature
    upper.set_title(plain(f"{name} ({KINDS} of {len(curve.kinds or ())} categories)" if some else name), fontsize=11)
    upper.axhline(0, color=AXIS, lw=0.8, ls=":")
    upper.tick_params(axis="y", labelsize=8)
    upper.spines[["top", "right"]].set_visible(False)
    return upper


def _draw_missing(upper: Axes, lower: Axes, curve: FeatureCurve, place: float, width: float) -> None:
    """Draw what missing values add as a point apart, and their number below it."""
    unsure = curve.unsure(np.array([math.nan]))
    error = None if unsure is None or np.isnan(unsure).any() else 2 * unsure
    upper.errorbar(
        [place], curve.adds(np.array([math.nan])), error, fmt="o", color=LINE, ms=4.5, elinewidth=4, ecolor=BAND
    )
    texts = [text.get_text() for text in lower.get_xticklabels()]
    left, right = upper.get_xlim()
    room = right if curve.kinds is not None else place - (right - left) * 0.16
    ticks = [tick for tick in lower.get_xticks() if left <= tick <= room]
    texts = texts if curve.kinds is not None else [_value(curve, tick) for tick in ticks]
    lower.set_xticks([*ticks, place], [*texts, "missing"])
    upper.set_xlim(left, place + 1.8 * width)
    for axis in (upper, lower):
        axis.axvline((right + place - width / 2) / 2, color=AXIS, lw=0.6)
    lower.bar([place], [curve.counts.missing], width, color=COUNT, lw=0)


def _draw_steps(axis: Axes, curve: FeatureCurve) -> None:
    """Draw the line bin by bin: level, or sloping where the value itself counts."""
    xs: list[Array] = []
    ends = drawn_values(curve)
    for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        inside = float(np.nextafter(stop, -np.inf)) if stop < ends[-1] else stop
        xs.append(np.linspace(start, inside, POINTS if curve.slope and len(ends) == 2 else 2))
    values = np.concatenate(xs)
    adds, unsure = curve.adds(values), curve.unsure(values)
    if unsure is not None:
        axis.fill_between(values, adds - 2 * unsure, adds + 2 * unsure, color=BAND, lw=0)
    axis.plot(values, adds, color=LINE, lw=1.5, solid_joinstyle="miter")


def _draw_kinds(upper: Axes, lower: Axes, curve: FeatureCurve) -> None:
    """Draw kinds as bars."""
    assert curve.kinds is not None
    codes = drawn_kinds(curve)
    places = np.arange(codes.size)
    unsure = curve.unsure(codes)
    upper.bar(places, curve.adds(codes), 0.7, color=LINE)
    if unsure is not None:
        upper.errorbar(places, curve.adds(codes), 2 * unsure, fmt="none", ecolor=AXIS, elinewidth=1.5)
    names = [curve.kinds[code] for code in codes.tolist()]
    texts = [plain(name if len(name) <= LONG else f"{name[: LONG - 1]}…") for name in names]
    lower.set_xticks(places.tolist(), texts, rotation=30, ha="right", fontsize=8)
    upper.set_xlim(-0.6, codes.size - 0.4)
    lower.bar(places, curve.counts.counts[codes], 0.7, color=COUNT, lw=0)


def _value(curve: FeatureCurve, value: float) -> str:
    if curve.kinds is not None:
        return curve.kinds[int(value)]
    return as_date(round(value)) if curve.date else decimal(value)
