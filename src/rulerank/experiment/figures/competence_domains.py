"""Domains of competence: which member comes close to which documents' grades, which is chosen, what each says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulerank.aggregate.competence import Competence
from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError
from rulerank.experiment.figures.competence_map import MAX_PIXELS, PALETTE, shrink_to
from rulerank.render.svg import check_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def competence_domains(ranker: Competence, data: Dataset) -> Figure:
    """Draw |score - grade| of each member on graded documents, and beside it how much each is heard for them.

    Documents run from left to right: by grade, and within a grade those that are judged best first. Where choosing
    works, the light regions on the left are those on the right.
    """
    data = _graded(ranker, data)
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
    left.set_yticks(range(len(ranker.names_)), ranker.names_)
    return figure


def average_scores(ranker: Competence, data: Dataset) -> Figure:
    """Draw the mean score that each member gives to the documents of each grade; the truth is the diagonal."""
    data = _graded(ranker, data)
    from matplotlib.figure import Figure

    grades, means = mean_by_grade(ranker.member_scores(data), data.y)
    figure = Figure(figsize=(6, 4.5), layout="constrained")
    axis = figure.subplots()
    axis.plot(grades, grades, color="#b8bcc4", linestyle="--", label="the grade itself")
    for name, column in zip(ranker.names_, means.T, strict=True):
        axis.plot(grades, column, marker="o", label=name)
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


def _graded(ranker: Competence, data: Dataset) -> Dataset:
    if not isinstance(ranker, Competence) or not ranker.literal:
        raise DataError(
            "domains of competence are drawn for a fitted Competence(..., literal=True), whose members' scores stand "
            f"for grades: got {type(ranker).__name__}"
        )
    check_matplotlib()
    data = data.labelled()
    if not len(data):
        raise DataError("domains of competence need documents with grades: none of these has one")
    return data
