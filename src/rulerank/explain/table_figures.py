"""Tables, drawn: the votes of single features as curves with bands, those of pairs as heat maps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rulerank.core.intervals import shorten
from rulerank.dataset import Array
from rulerank.errors import DataError, MissingExtraError
from rulerank.render.document import Block, Picture
from rulerank.render.figures import check_matplotlib, inline_svg
from rulerank.rules.additive import AdditiveTables, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE, BAND, NONE = "#2f6fb3", "#2f6fb333", "#8a929c"
COLUMNS = 3
TICKS = 4
ABOUT_CURVES = "What each value of a feature votes, against the average document; band: two deviations of the folds."
ABOUT_PAIRS = "What two features vote together, beside what each votes alone: blue raises the score, red lowers it."


def curves_figure(tables: AdditiveTables, most: int = 9) -> Figure:
    """Draw the votes of the single features that vote most, by value, with a band of two deviations."""
    chosen = _strongest(tables, 1, most)
    figure, panels = _panels(len(chosen), "there is no curve to draw: no table of the model has one feature")
    for axis, (t, table) in zip(panels, chosen, strict=False):
        name = tables.feature_names[table.features[0]]
        _draw_curve(axis, table, tables, t)
        axis.set_title(name, fontsize=11)
        axis.axhline(0, color=NONE, lw=0.8, ls=":")
        axis.spines[["top", "right"]].set_visible(False)
    figure.supylabel("vote", fontsize=9)
    return figure


def pairs_figure(tables: AdditiveTables, most: int = 6) -> Figure:
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
        names = [tables.feature_names[f] for f in table.features]
        axis.set_ylabel(names[0], fontsize=9)
        axis.set_xlabel(names[1], fontsize=9)
    if image is not None:
        figure.colorbar(image, ax=panels, label="vote", shrink=0.8)
    return figure


def table_pictures(tables: AdditiveTables | None) -> tuple[Block, ...]:
    """Return curves and heat maps for a page; none without tables, or where Matplotlib is not installed."""
    if tables is None:
        return ()
    pictures: list[Block] = []
    for size, title, about, draw in (
        (1, "The tables of single features", ABOUT_CURVES, curves_figure),
        (2, "The tables of pairs", ABOUT_PAIRS, pairs_figure),
    ):
        if any(len(table.features) == size for table in tables.tables):
            try:
                pictures.append(Picture(title, inline_svg(draw(tables), f"tables-{size}"), about))
            except MissingExtraError:
                return ()
    return tuple(pictures)


def _strongest(tables: AdditiveTables, size: int, most: int) -> list[tuple[int, Table]]:
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


def _draw_curve(axis: Axes, table: Table, tables: AdditiveTables, t: int) -> None:
    votes, cuts = table.votes[:-1], table.cuts[0]
    spread = np.zeros_like(votes) if table.spread is None else 2 * table.spread[:-1]
    kinds = tables.categories.get(tables.feature_names[table.features[0]])
    if kinds is not None:
        order = np.argsort(-votes[:-1], kind="stable")[:10]
        axis.errorbar(range(order.size), votes[order], spread[order], fmt="o", color=LINE, ms=4)
        axis.set_xticks(
            range(order.size), [kinds[kind] for kind in order.tolist()], rotation=20, ha="right", fontsize=8
        )
        return
    edges = _edges(cuts)
    low, high = (np.append(end, end[-1]) for end in (votes - spread, votes + spread))
    axis.fill_between(edges, low, high, step="post", color=BAND, lw=0)
    axis.stairs(votes, edges, baseline=None, color=LINE, lw=1.4)
    missing = float(table.votes[-1])
    if missing:
        axis.axhline(missing, color=NONE, lw=0.8)
        axis.annotate(
            "missing", (0.99, missing), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=8
        )
    axis.tick_params(labelsize=8)


def _edges(cuts: Array) -> Array:
    """Return where bins begin and end; the outermost, which have no end, are drawn as wide as the middle of all."""
    if not len(cuts):
        return np.array([0.0, 1.0])
    width = float(np.median(np.diff(cuts))) if len(cuts) > 1 else abs(float(cuts[0])) or 1.0
    return np.concatenate([[cuts[0] - width], cuts, [cuts[-1] + width]])


def _ticks(n_cuts: int) -> list[int]:
    return np.unique(np.linspace(0, n_cuts - 1, min(TICKS, n_cuts)).astype(np.int64)).tolist() if n_cuts else []
