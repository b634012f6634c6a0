"""The papers' figures beside ours: means, trials and times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from papers.reference import Published, published
from rulerank.experiment.report import Summary, named, summarise
from rulerank.render.document import DASH, Cell, Section, Table, number_cell

SHOWN = ("MAP", "NDCG@10", "P@10")
ABOUT_PUBLISHED = (
    "The papers' figures are theirs, ours stand beside them. Fitting the bins of the rules to whole files, test grades "
    "included, brings literal RE-GR close to the papers' folds (a mean MAP of .452 on OHSUMED), which suggests, "
    "without proving it, how the figure of RE-GR came about; it explains none of the gains that they report for RE-SR, "
    "RE-QR and DC3A. Here bins see training documents only. In LETOR 3.0's OHSUMED the order of the file itself is a "
    "good ranking: where documents tie, the official rule keeps that order, and the last column does not."
)


def published_section(summary: Summary, collection: str) -> Section:
    """Return the papers' means and trials beside ours, ours by the rules of the LETOR scripts as theirs were."""
    letor = summarise(summary.experiment, convention="letor3", against=summary.against)
    neutral = summarise(summary.experiment, convention="letor3", ties="expected", against=summary.against)
    parts = (
        published_table(letor, neutral, published(), collection),
        published_folds_table(letor, published(), collection),
    )
    return Section("Beside the papers", tuple(part for part in parts if part.rows), ABOUT_PUBLISHED, "published")


def with_published_times(table: Any, collection: str) -> Any:
    """Return the table of times with one more column, the papers'."""
    theirs = {
        figure.system: f"{figure.value:g} s" + ("/query" if figure.measure == "seconds per query" else "")
        for figure in published()
        if figure.measure.startswith("seconds") and figure.collection == collection
    }
    if not theirs:
        return table
    systems = (row[0].text if isinstance(row[0], Cell) else "" for row in table.rows)
    rows = tuple((*row, Cell(theirs.get(name, DASH))) for name, row in zip(systems, table.rows, strict=True))
    return replace(table, header=(*table.header, "in the paper"), rows=rows, words=("in the paper",))


def published_table(ours: Summary, neutral: Summary, figures: Sequence[Published], collection: str) -> Table:
    """Return published means beside ours, by the rules of the LETOR scripts and with neutral ties."""
    rows = []
    for figure in sorted(figures, key=lambda one: (one.collection != collection, measure_order(one.measure))):
        if figure.fold != "mean" or figure.measure not in SHOWN or not same_texts(figure.collection, collection):
            continue
        if figure.system not in {row.name for row in ours.rows}:
            continue
        place = ours.place(figure.measure)
        mean = float(ours.row(figure.system).means[place])
        # features of another version of the collection: their figure stands there, but a difference says nothing
        gap = number_cell(mean - figure.value, signed=True) if figure.collection == collection else Cell(DASH)
        rows.append(
            (
                named(ours.row(figure.system)),
                Cell(figure.measure),
                Cell(figure.collection.split(", ")[-1]),
                number_cell(figure.value, 3),
                number_cell(mean),
                gap,
                number_cell(float(neutral.row(figure.system).means[place])),
                Cell(figure.source),
            )
        )
    header = (
        "system",
        "measure",
        "published on",
        "published",
        "ours",
        "ours - theirs",
        "ours, ties expected",
        "source",
    )
    note = (
        f"Means of five folds; ours on {collection}. Column ours: convention {ours.convention}, ties {ours.ties}, as "
        "the official scripts that the published figures came from; ties expected: the exact mean over all orders of "
        f"tied documents, convention {neutral.convention}. A figure of another version of LETOR, which has other "
        "features, is not subtracted."
    )
    return Table("Beside the published figures", header, tuple(rows), 3, note, key="published", words=("source",))


def published_folds_table(ours: Summary, figures: Sequence[Published], collection: str) -> Table:
    """Return the papers' MAP fold by fold with ours below each; no rows for other folds than their five."""
    rows: list[tuple[Cell, ...]] = []
    place = ours.place("MAP")
    for row in ours.rows:
        found = [f for f in figures if (f.system, f.measure, f.collection) == (row.name, "MAP", collection)]
        source = next((f.source for f in found if f.fold == "1"), None)  # a paper that tells the folds
        theirs = {f.fold: f for f in found if f.source == source}
        if len(theirs) < 6 or row.folds.shape[1] != 5:
            continue
        folds = [number_cell(theirs[str(fold)].value, 3) for fold in range(1, 6)]
        own = [number_cell(float(value), 3) for value in row.folds[place]]
        rows.append((named(row), Cell("published"), *folds, number_cell(theirs["mean"].value, 3)))
        rows.append((named(row), Cell("ours"), *own, number_cell(float(row.means[place]), 3)))
    header = ("system", "whose", "1", "2", "3", "4", "5", "mean")
    note = f"MAP on {collection}, trial by trial; ours by convention {ours.convention}, ties {ours.ties}."
    return Table("Trial by trial", header, tuple(rows), 2, note, key="published-folds")


def same_texts(one: str, other: str) -> bool:
    """Tell whether two collections hold the same documents and queries, whatever their features.

    >>> same_texts("TD2003, LETOR 2.0", "TD2003, LETOR 3.0"), same_texts("TD2003, LETOR 3.0", "TD2004, LETOR 3.0")
    (True, False)
    """
    return one.split(", ")[0] == other.split(", ")[0]


def measure_order(measure: str) -> tuple[str, int]:
    name, _, cutoff = measure.partition("@")
    return {"MAP": "0", "NDCG": "1", "P": "2"}.get(name, "3"), int(cutoff or 0)
