"""Explanations, drawn: what features add by their values, the steps from one score to another, effects, pairs."""

from __future__ import annotations

import math
import zlib
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rulerank.core.intervals import SCALES, on_scale, shorten
from rulerank.core.words import as_date, counted, decimal
from rulerank.dataset import Array
from rulerank.errors import DataError, MissingExtraError
from rulerank.explain.curves import FeatureCurve, FeatureCurves
from rulerank.explain.overview import ModelOverview
from rulerank.explain.versus import Versus
from rulerank.render.document import Block, Picture, Table, only, shown
from rulerank.render.figures import check_matplotlib, inline_svg, plain
from rulerank.rules import additive

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec


LINE, BAND, COUNT, AXIS = "#2f6fb3", "#2f6fb340", "#8a929c99", "#8a929c"
UP, DOWN, SHARE = "#1a7f4b", "#b3403a", "#8a929c66"
TITLE = "What each feature adds"
ABOUT_PAIRS = "What two features vote together, beside what each votes alone: blue raises the score, red lowers it."
COLUMNS = 3
WIDTH, HEIGHTS = 3.5, (2.7, 3.3)  # of a panel without counts and with them
PARTS = (5, 1)  # heights of curve and counts
ROOM = 0.05  # above and below what is drawn
KINDS = 8  # drawn of a feature that names kinds
POINTS = 60  # of a band around a sloping line
PAD = 0.02  # of the axis, on either side
LONG = 14  # letters of a kind's name
TICKS = 4  # of a heat map
LEAST = 0.005  # of the difference; smaller steps are drawn as one


def curves_figure(found: FeatureCurves, columns: int = COLUMNS) -> Figure:
    """Draw a panel for each curve, all on one scale: steps or lines with bands of two deviations, and counts below."""
    check_matplotlib()
    from matplotlib.figure import Figure

    n_columns = min(columns, len(found.curves))
    n_lines = math.ceil(len(found.curves) / n_columns)
    height = HEIGHTS[found.n_docs is not None]
    figure = Figure(figsize=(WIDTH * n_columns, height * n_lines), layout="constrained")
    grid = figure.add_gridspec(n_lines, n_columns, hspace=0.1)
    limits = score_range(found)
    for place, curve in enumerate(found.curves):
        upper = _draw_panel(figure, grid[place], curve, limits, found.scale)
        upper.tick_params(labelleft=place % n_columns == 0)
    figure.supylabel("adds to the score", fontsize=9)
    return figure


def panel_figure(curve: FeatureCurve, limits: tuple[float, float], scale: str | None = None) -> Figure:
    """Draw one curve by itself, between given limits; scale: what values are put on by query."""
    check_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, HEIGHTS[curve.counts is not None]), layout="constrained")
    _draw_panel(figure, figure.add_gridspec(1, 1)[0], curve, limits, scale)
    return figure


def score_range(found: FeatureCurves) -> tuple[float, float]:
    """Return the scale that all panels share: what is drawn lies on it, with some room."""
    ends = [0.0]
    for curve in found.curves:
        values = drawn_values(curve)
        values = np.append(values, math.nan) if has_missing(curve) else values
        unsure = curve.unsure(values)
        band = 0.0 if unsure is None else 2 * np.nan_to_num(unsure)
        ends += [float((curve.adds(values) - band).min()), float((curve.adds(values) + band).max())]
    low, high = min(ends), max(ends)
    room = ROOM * (high - low) or 1.0
    return low - room, high + room


def has_missing(curve: FeatureCurve) -> bool:
    """Tell whether a point for missing values is drawn: documents have some, or without documents, they have a vote."""
    return bool(curve.votes[-1]) if curve.counts is None else curve.counts.missing > 0


def about_curves(found: FeatureCurves) -> str:
    """Say what the curves show, and on which documents."""
    said = ["What a feature adds to the score, by its value; all panels have one scale."]
    if any(curve.slope_error is not None for curve in found.curves):
        said.append("Band: two standard errors of the weight to either side.")
    elif any(curve.spread is not None for curve in found.curves):
        said.append("Band: two deviations to either side, how far votes would lie apart were the data others.")
    if found.scale is not None:
        said.append("Axis: {}, {}.".format(*SCALES[found.scale]))
    if found.n_docs is None:
        said.append("No documents were given: votes are as the model has them, and how many have a value is not known.")
    else:
        docs = counted(found.n_docs, found.noun)
        said.append(
            f"Centred: the mean over {docs} is 0. Below, in grey, how many of them have which value; the few beyond an "
            "axis are counted in its outermost bars."
        )
    if found.with_others:
        said.append("Rules of several features are in it as their mean over these documents.")
    if any(curve.counts is not None and curve.counts.missing for curve in found.curves):
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
            inline_svg(panel_figure(curve, limits, found.scale), f"{key}-{place}")
            for place, curve in enumerate(found.curves)
        ]
    except MissingExtraError:
        return []
    return [Picture(TITLE, f'<div class="panels">{"".join(panels)}</div>', about_curves(found))]


def curves_table(found: FeatureCurves) -> Table:
    """Return where each curve is lowest and highest, as numbers."""
    rows = []
    for curve in found.curves:
        values = drawn_values(curve)
        adds = curve.adds(values)
        scale = "" if found.scale is None or curve.kinds is not None else f"{SCALES[found.scale][0]} "
        ends = [
            f"{shown(float(adds[at]))} at {scale}{_value(curve, values[at])}" for at in (adds.argmin(), adds.argmax())
        ]
        rows.append((curve.feature, *ends, "" if curve.counts is None else f"{curve.counts.missing:,}"))
    header = ("feature", "adds least", "adds most", "missing")
    return Table("From the least to the most", header, tuple(rows), 3, about_curves(found))


def drawn_values(curve: FeatureCurve) -> Array:
    """Return the values that a curve is drawn at: kinds, or where its steps begin and both ends."""
    if curve.kinds is not None:
        return drawn_kinds(curve).astype(np.float64)
    low, high = ends_of(curve)
    low, high = low - PAD * (high - low), high + PAD * (high - low)
    inner = curve.cuts[(curve.cuts > low) & (curve.cuts < high)]
    return np.concatenate([[low], inner, [high]])


def drawn_kinds(curve: FeatureCurve) -> Array:
    """Return the kinds that are drawn: the most frequent ones, or those that add most or least; the best first."""
    assert curve.kinds is not None
    codes = np.arange(len(curve.kinds))
    adds = curve.adds(codes)
    size = np.abs(adds) if curve.counts is None else curve.counts.counts[: codes.size]
    kept = np.argsort(-size, kind="stable")[:KINDS]
    return kept[np.argsort(-adds[kept], kind="stable")]


def ends_of(curve: FeatureCurve) -> tuple[float, float]:
    """Return where the axis of a curve begins and ends: nearly all values, or a bin's width beyond all cuts."""
    if curve.counts is not None:
        return float(curve.counts.edges[0]), float(curve.counts.edges[-1])
    cuts = curve.cuts
    if not len(cuts):
        return 0.0, 1.0
    width = float(np.median(np.diff(cuts))) if len(cuts) > 1 else abs(float(cuts[0])) or 1.0
    return float(cuts[0]) - width, float(cuts[-1]) + width


def _draw_panel(
    figure: Figure, spot: SubplotSpec, curve: FeatureCurve, limits: tuple[float, float], scale: str | None
) -> Axes:
    """Draw a curve, and its counts below where they are known; return the axis of the curve."""
    n_parts = 1 if curve.counts is None else 2
    inner = spot.subgridspec(n_parts, 1, height_ratios=PARTS[:n_parts], hspace=0)
    upper = figure.add_subplot(inner[0], ylim=limits)
    lower = figure.add_subplot(inner[1], sharex=upper) if n_parts > 1 else None
    _draw(upper, lower, curve)
    upper.set_title(plain(_title(curve)), fontsize=11)
    if scale is not None and curve.kinds is None:
        (upper if lower is None else lower).set_xlabel(SCALES[scale][1], fontsize=8)
    upper.axhline(0, color=AXIS, lw=0.8, ls=":")
    upper.tick_params(axis="y", labelsize=8)
    upper.spines[["top", "right"]].set_visible(False)
    return upper


def _draw(upper: Axes, lower: Axes | None, curve: FeatureCurve) -> None:
    foot = upper if lower is None else lower  # where values are written
    if curve.kinds is not None:
        _draw_kinds(upper, lower, curve)
        missing_at, width = len(foot.get_xticks()) + 0.1, 0.7
    else:
        low, high = ends_of(curve)
        _draw_steps(upper, curve)
        missing_at, width = high + (high - low) * 0.1, (high - low) * 0.04
        upper.set_xlim(low - (high - low) * PAD, high + (high - low) * PAD)
        if lower is not None and curve.counts is not None:
            edges = curve.counts.edges
            lower.bar(edges[:-1], curve.counts.counts, np.diff(edges), align="edge", color=COUNT, lw=0)
    if curve.date:
        ticks = np.linspace(*ends_of(curve), 3).round().tolist()
        foot.set_xticks(ticks, [_value(curve, tick) for tick in ticks])
    if has_missing(curve):
        _draw_missing(upper, lower, curve, missing_at, width)
    if lower is not None:
        most = max(1, lower.dataLim.y1)  # the highest bar
        lower.set_ylim(0, most)
        lower.set_yticks([most], [f"{most:,.0f}"], fontsize=7)
        lower.spines[["top", "right", "left"]].set_visible(False)
        lower.tick_params(axis="y", length=0)
        upper.tick_params(labelbottom=False)
    foot.tick_params(axis="x", labelsize=8)


def _draw_missing(upper: Axes, lower: Axes | None, curve: FeatureCurve, place: float, width: float) -> None:
    """Draw what missing values add as a point apart, and their number below it."""
    unsure = curve.unsure(np.array([math.nan]))
    error = None if unsure is None or np.isnan(unsure).any() else 2 * unsure
    upper.errorbar(
        [place], curve.adds(np.array([math.nan])), error, fmt="o", color=LINE, ms=4.5, elinewidth=4, ecolor=BAND
    )
    foot = upper if lower is None else lower
    texts = [text.get_text() for text in foot.get_xticklabels()]
    left, right = upper.get_xlim()
    room = place - (right - left) * 0.16
    ticks = [tick for tick in foot.get_xticks() if left <= tick <= (right if curve.kinds is not None else room)]
    texts = texts if curve.kinds is not None else [_value(curve, tick) for tick in ticks]
    foot.set_xticks([*ticks, place], [*texts, "missing"])
    upper.set_xlim(left, place + 1.8 * width)
    for axis in (upper, lower):
        if axis is not None:
            axis.axvline((right + place - width / 2) / 2, color=AXIS, lw=0.6)
    if lower is not None and curve.counts is not None:
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


def _draw_kinds(upper: Axes, lower: Axes | None, curve: FeatureCurve) -> None:
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
    (upper if lower is None else lower).set_xticks(places.tolist(), texts, rotation=30, ha="right", fontsize=8)
    upper.set_xlim(-0.6, codes.size - 0.4)
    if lower is not None and curve.counts is not None:
        lower.bar(places, curve.counts.counts[codes], 0.7, color=COUNT, lw=0)


def _title(curve: FeatureCurve) -> str:
    if curve.kinds is None or len(curve.kinds) <= KINDS:
        return curve.feature
    return f"{curve.feature} ({KINDS} of {len(curve.kinds)} kinds)"


def _value(curve: FeatureCurve, value: float) -> str:
    if curve.kinds is not None:
        return curve.kinds[int(value)]
    return as_date(round(value)) if curve.date else decimal(value)


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
        colour = AXIS if labels[place] == "everything else" else UP if stop > start else DOWN
        axis.barh(place, stop - start, left=start, height=0.6, color=colour)
        axis.plot(
            [stop, stop], [place - 0.3, place + 1.3 if place + 1 < len(steps) else place + 0.3], color=AXIS, lw=0.8
        )
        axis.annotate(
            f"{stop - start:+.3f}", (max(start, stop), place), (4, 0), textcoords="offset points", va="center"
        )
    axis.set_yticks(range(len(labels)), [plain(label) for label in labels], fontsize=9)
    axis.invert_yaxis()
    axis.margins(x=0.12)
    for score, name in ((low.score, low.document), (high.score, high.document)):
        axis.axvline(score, color=AXIS, lw=0.8, ls=":")
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


def pairs_figure(tables: additive.AdditiveTables, most: int = 6, scale: str | None = None) -> Figure:
    """Draw the votes of the pairs that vote most as heat maps, one colour scale for all."""
    chosen = _strongest(tables, 2, most)
    figure, panels = _panels(len(chosen), "there is no pair to draw: no table of the model has two features")
    largest = max(float(np.abs(table.votes[:-1, :-1]).max(initial=0.0)) for _, table in chosen) or 1.0
    image = None
    for axis, (_, table) in zip(panels, chosen, strict=False):
        votes = table.votes[:-1, :-1]  # without missing values
        image = axis.imshow(votes, origin="lower", aspect="auto", cmap="RdBu", vmin=-largest, vmax=largest)
        for cuts, ticks in ((table.cuts[0], axis.set_yticks), (table.cuts[1], axis.set_xticks)):
            places = _ticks(len(cuts))
            shown = shorten(cuts) if len(cuts) else []
            ticks([place + 0.5 for place in places], [shown[place] for place in places], fontsize=8)
        names = [on_scale(name, name, scale) for name in (tables.feature_names[f] for f in table.features)]
        axis.set_ylabel(names[0], fontsize=9)
        axis.set_xlabel(names[1], fontsize=9)
    if image is not None:
        figure.colorbar(image, ax=panels, label="vote", shrink=0.8)
    return figure


def pairs_picture(tables: additive.AdditiveTables | None, scale: str | None = None) -> list[Block]:
    """Return the heat maps for a page; none without pairs, or where Matplotlib is not installed."""
    if tables is None or not any(len(table.features) == 2 for table in tables.tables):
        return []
    try:
        return [Picture("The tables of pairs", inline_svg(pairs_figure(tables, scale=scale), "pairs"), ABOUT_PAIRS)]
    except MissingExtraError:
        return []


def _strongest(tables: additive.AdditiveTables, size: int, most: int) -> list[tuple[int, additive.Table]]:
    found = [(t, table) for t, table in enumerate(tables.tables) if len(table.features) == size]
    return sorted(found, key=lambda one: -float(one[1].votes.max() - one[1].votes.min()))[:most]


def _panels(n: int, nothing: str) -> tuple[Figure, list[Axes]]:
    check_matplotlib()
    from matplotlib.figure import Figure

    if not n:
        raise DataError(nothing)
    n_columns = min(COLUMNS, n)
    n_lines = math.ceil(n / n_columns)
    figure = Figure(figsize=(3.6 * n_columns, 2.9 * n_lines), layout="constrained")
    axes = list(figure.subplots(n_lines, n_columns, squeeze=False).flat)
    for axis in axes[n:]:
        axis.set_visible(False)
    return figure, axes[:n]


def _ticks(n_cuts: int) -> list[int]:
    return np.unique(np.linspace(0, n_cuts - 1, min(TICKS, n_cuts)).astype(np.int64)).tolist() if n_cuts else []
