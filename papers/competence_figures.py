"""Who is competent for which documents: the map of training queries (RE-QR), and the domains of members (DC3A)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError
from rulerank.fusion.competence import Competence
from rulerank.rankers.base import Ranker
from rulerank.rankers.query_rules import QueryRules
from rulerank.render.figures import check_matplotlib, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PALETTE = "magma_r"  # light where a query is competent
PANEL_INCHES = 4.2
MAX_PIXELS = 2000  # documents or queries beyond this are averaged, as no picture shows more


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


def competence_domains(ranker: Ranker, data: Dataset) -> Figure:
    """Draw |score - grade| of each member on graded documents, and beside it how much each is heard for them.

    Documents run from left to right: by grade, and within a grade those that are judged best first. Where choosing
    works, the light regions on the left are those on the right.
    """
    ranker, data = _graded(ranker, data)
    from matplotlib.figure import Figure

    distance = np.abs(ranker.member_scores(data) - data.y[:, None])
    order = np.lexsort((distance.min(axis=1), data.y))
    figure = Figure(figsize=(11, 1.4 + 0.45 * len(ranker.names_)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    panels = [
        (left, distance, "|score \N{MINUS SIGN} grade|, light where competent", PALETTE),
        (right, ranker.weights(data), "p(member | document), light where chosen", PALETTE.removesuffix("_r")),
    ]
    for axis, values, label, palette in panels:
        image = axis.imshow(
            shrink_to(values[order].T, MAX_PIXELS), aspect="auto", cmap=palette, interpolation="nearest",
            extent=(0.5, len(data) + 0.5, len(ranker.names_) - 0.5, -0.5),
        )  # fmt: skip
        axis.set_xlabel("documents by grade: " + ", ".join(map(str, np.unique(data.y))))
        for n_below in np.cumsum(np.bincount(data.y))[:-1]:
            axis.axvline(n_below + 0.5, color="#4aa3df", linewidth=1)
        figure.colorbar(image, ax=axis, label=label).outline.set_visible(False)
    left.set_yticks(range(len(ranker.names_)), [plain(name) for name in ranker.names_])
    return figure


def average_scores(ranker: Ranker, data: Dataset) -> Figure:
    """Draw the mean score that each member gives to the documents of each grade; the truth is the diagonal."""
    ranker, data = _graded(ranker, data)
    from matplotlib.figure import Figure

    grades, means = mean_by_grade(ranker.member_scores(data), data.y)
    figure = Figure(figsize=(6, 4.5), layout="constrained")
    axis = figure.subplots()
    axis.plot(grades, grades, color="#b8bcc4", linestyle="--", label="the grade itself")
    for name, column in zip(ranker.names_, means.T, strict=True):
        axis.plot(grades, column, marker="o", label=plain(name))
    axis.set_xticks(grades)
    axis.set_xlabel("grade")
    axis.set_ylabel("mean score")
    axis.legend(frameon=False, fontsize=8)
    return figure


def mean_by_grade(scores: Array, grades: Array) -> tuple[Array, Array]:
    """Return the grades there are, and the mean of each column over the rows of each.

    >>> mean_by_grade(np.array([[1.0], [2.0], [4.0]]), np.array([0, 2, 2]))[1].tolist()
    [[1.0], [3.0]]
    """
    found = np.unique(grades)
    return found, np.stack([scores[grades == grade].mean(axis=0) for grade in found])


def _graded(ranker: Ranker, data: Dataset) -> tuple[Competence, Dataset]:
    if not isinstance(ranker, Competence) or not ranker.params_["literal"]:
        raise DataError(
            "domains of competence are drawn for a fitted Competence(..., literal=True), whose members' scores stand "
            f"for grades: got {type(ranker).__name__}"
        )
    check_matplotlib()
    data = data.labelled()
    if not len(data):
        raise DataError("domains of competence need documents with grades: none of these has one")
    return ranker, data
