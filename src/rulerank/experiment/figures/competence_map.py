"""The competence map: which training queries judge which documents well, one panel per grade."""

from __future__ import annotations

import math
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError
from rulerank.rankers.query_rules import QueryRules
from rulerank.render.svg import check_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg")
PALETTE = "magma_r"  # light where a query is competent
PANEL_INCHES = 4.2
MAX_PIXELS = 2000  # documents or queries beyond this are averaged, as no picture shows more


def draw_competence_map(ranker: QueryRules, data: Dataset, path: str | PathLike[str]) -> None:
    """Write the competence map of a fitted ranker on graded documents to a .png or .svg file."""
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise DataError(f"a figure is written as {' or '.join(FORMATS)}: got {target.name!r}")
    if target.is_dir() or not target.parent.is_dir():
        raise DataError(f"cannot write {target}: it is a directory, or its directory does not exist")
    # nothing that changes from run to run goes into the file
    metadata = {"Date": None} if target.suffix.lower() == ".svg" else {"Software": None}
    competence_map(ranker, data).savefig(target, dpi=160, metadata=metadata)


def competence_map(ranker: QueryRules, data: Dataset) -> Figure:
    """Draw |rank(q, d) - grade| for every training query q and graded document d.

    Documents run from left to right and queries from top to bottom, each with the best first; all grades count alike
    when queries are compared.
    """
    if not isinstance(ranker, QueryRules):
        raise DataError(
            f"a competence map shows the queries of a QueryRules model (RE-QR): got {type(ranker).__name__}"
        )
    data = data.labelled()
    if not len(data):
        raise DataError("a competence map needs documents with grades: none of these has one")
    check_matplotlib()
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    deltas = np.abs(ranker.rank_by_query(data) - data.y[:, None])
    panels = competence_panels(deltas, data.y)
    n_queries = ranker.queries_.size
    limit = max(1.0, float(np.ceil(np.nanmax(deltas, initial=0.0))))
    palette = colormaps[PALETTE].with_extremes(bad="#b8bcc4")
    n_columns = min(3, len(panels))
    n_lines = math.ceil(len(panels) / n_columns)
    size = (PANEL_INCHES * n_columns + 1.2, PANEL_INCHES * n_lines + 0.8)
    figure = Figure(figsize=size, layout="constrained")
    figure.suptitle(f"How close {n_queries:,} training queries come to the grades of {len(data):,} documents")
    axes = figure.subplots(n_lines, n_columns, squeeze=False, sharey=True)
    image: Any = None
    for axis, (grade, panel) in zip(axes.flat, panels.items(), strict=False):
        n_docs = int((data.y == grade).sum())
        image = axis.imshow(
            shrink_to(panel, MAX_PIXELS).T,
            aspect="auto",
            cmap=palette,
            vmin=0,
            vmax=limit,
            extent=(0.5, n_docs + 0.5, n_queries + 0.5, 0.5),
            interpolation="nearest",
        )
        axis.set_title(f"grade {grade}: {n_docs:,} document{'s' if n_docs > 1 else ''}", fontsize=11)
        axis.set_xlabel("documents, best judged first")
        for one in (axis.xaxis, axis.yaxis):
            one.get_major_locator().set_params(integer=True)
        axis.tick_params(length=3, labelsize=9)
        for spine in axis.spines.values():
            spine.set_visible(False)
    for axis in axes[:, 0]:
        axis.set_ylabel("training queries, most competent first")
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    bar = figure.colorbar(image, ax=axes, shrink=0.85, pad=0.02, aspect=30)
    bar.set_label("|rank(q, d) \N{MINUS SIGN} grade|, light where competent")
    bar.outline.set_visible(False)
    if np.isnan(deltas).any():
        figure.text(0.995, 0.005, "grey: the query abstains", ha="right", va="bottom", fontsize=8, color="#666a70")
    return figure


def competence_panels(deltas: Array, grades: Array) -> dict[int, Array]:
    """Return Delta (n_docs, n_queries) of each grade's documents, the best judged and the most competent first.

    >>> deltas = np.array([[0.5, 0.25], [0.75, 0.5], [1.0, 0.0]])
    >>> {grade: panel.tolist() for grade, panel in competence_panels(deltas, np.array([1, 1, 0])).items()}
    {0: [[0.0, 1.0]], 1: [[0.25, 0.5], [0.5, 0.75]]}
    """
    worst = np.nan_to_num(deltas, nan=float(np.nanmax(deltas, initial=0.0)))  # who abstains is no help either
    found = np.unique(grades).tolist()
    queries = np.argsort(sum(worst[grades == grade].mean(axis=0) for grade in found), kind="stable")
    panels = {}
    for grade in found:
        rows = np.flatnonzero(grades == grade)
        rows = rows[np.argsort(worst[rows].mean(axis=1), kind="stable")]
        panels[grade] = deltas[np.ix_(rows, queries)]
    return panels


def shrink_to(panel: Array, most: int) -> Array:
    """Average neighbouring rows, and columns, until there are at most so many of each.

    >>> shrink_to(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), 2).tolist()
    [[2.0, 3.0], [5.0, 6.0]]
    """
    for axis in (0, 1):
        step = math.ceil(panel.shape[axis] / most)
        if step > 1:
            starts = np.arange(0, panel.shape[axis], step)
            known = np.add.reduceat(~np.isnan(panel), starts, axis=axis)
            total = np.add.reduceat(np.nan_to_num(panel), starts, axis=axis)
            panel = np.divide(total, known, out=np.full(total.shape, np.nan), where=known > 0)
    return panel
