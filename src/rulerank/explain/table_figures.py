"""Tables of pairs, drawn as heat maps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rulerank.core.intervals import on_scale, shorten
from rulerank.errors import DataError, MissingExtraError
from rulerank.render.document import Block, Picture
from rulerank.render.figures import check_matplotlib, inline_svg
from rulerank.rules.additive import AdditiveTables, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 3
TICKS = 4
ABOUT_PAIRS = "What two features vote together, beside what each votes alone: blue raises the score, red lowers it."


def pairs_figure(tables: AdditiveTables, most: int = 6, scale: str | None = None) -> Figure:
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


def pairs_picture(tables: AdditiveTables | None, scale: str | None = None) -> list[Block]:
    """Return the heat maps for a page; none without pairs, or where Matplotlib is not installed."""
    if tables is None or not any(len(table.features) == 2 for table in tables.tables):
        return []
    try:
        return [Picture("The tables of pairs", inline_svg(pairs_figure(tables, scale=scale), "pairs"), ABOUT_PAIRS)]
    except MissingExtraError:
        return []


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


def _ticks(n_cuts: int) -> list[int]:
    return np.unique(np.linspace(0, n_cuts - 1, min(TICKS, n_cuts)).astype(np.int64)).tolist() if n_cuts else []
