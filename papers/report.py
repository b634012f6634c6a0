"""The report of `rulerank compare`, with the sections and pictures that only the papers need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from papers.competence_figures import average_scores, competence_domains, competence_map
from papers.curves import DrawnPicture, curves_picture, picture
from papers.published import published_section, with_published_times
from papers.sampled import FromTheTop
from papers.sampling_tables import ABOUT, sampling_tables
from rulerank.errors import TooLargeError
from rulerank.experiment.report import BOLD, Summary, how, make_report, named, write_files
from rulerank.experiment.run import Experiment
from rulerank.fusion.competence import Competence
from rulerank.io.files import write_bytes
from rulerank.rankers.query_rules import QueryRules
from rulerank.render.document import Cell, Page, Picture, Section, Table

DRAWN = ("html", "figures")  # formats that need pictures
FIGURES = "figures"  # the folder
CUTOFFS = (2, 4, 6, 8, 10)  # of the intercepts paper's tables
MAP_DPI = 80  # one pixel is then about one document
ABOUT_CURVES = "Figures 1 and 3 of the paper on query-level rules: its rankers as published, and the best baseline."
ABOUT_COMPETENCE = (
    "DC3A takes the metric whose score comes closest to the grade for documents like this one, QC3A for queries like "
    "this one. The metrics have different scales, four of the seven near 1, so that this tells the grade rather than "
    "who is competent: over the ten test folds of OHSUMED 3.0 and MQ2008, DC3A takes only confidence and strength, and "
    "QC3A strength for all documents in eight."
)


def papers_report(
    experiment: Experiment, *, title: str, collection: str | None = None, draw: bool = True
) -> tuple[Page, Summary]:
    """Return the report with the papers' own sections, and the figures it is made of.

    collection: whose published figures are shown, as `reference.choose_reference` returns it.
    """
    page, summary = make_report(called_by_feature(experiment), title=title)
    own = {block.key: block for block in page.blocks if isinstance(block, Section)}
    shown = paper_systems(summary)
    if draw and len(shown) > 1:
        curves = curves_picture(
            summary, "curves-papers", "Precision and NDCG, the papers' systems", ABOUT_CURVES, shown
        )
        own["results"] = replace(own["results"], parts=(*own["results"].parts, curves))
    own["folds"] = replace(own["folds"], parts=(*own["folds"].parts, *deviations_tables(summary)))
    run = own.pop("run")
    if {"DC3A", "QC3A"} & {row.name for row in summary.rows}:
        run = replace(run, about=f"{ABOUT_COMPETENCE} {run.about}".strip())
    sections = [*own.values()]
    if collection is not None:
        sections.append(published_section(summary, collection))
        run = replace(run, parts=(*run.parts[:-1], with_published_times(run.parts[-1], collection)))
    sections += [
        Section("Competence", tuple(competence_pictures(summary) if draw else ()), key="competence"),
        Section("Chosen labels", tuple(sampling_tables(summary)), ABOUT, "sampling"),
        run,
    ]
    blocks = tuple(section for section in sections if section.parts)
    return replace(page, blocks=blocks), summary


def write_papers(page: Page, summary: Summary, out: Path, formats: Sequence[str]) -> list[Path]:
    """Write the files of the report, and the pictures beside it."""
    files = write_files(page, summary, out, [name for name in formats if name != "figures"])
    contents: dict[str, bytes] = {}
    if "figures" in formats:
        parts = [part for block in page.blocks if isinstance(block, Section) for part in block.parts]
        drawn = [part for part in parts if isinstance(part, DrawnPicture)]
        contents = {f"{FIGURES}/{one.key}{end}": one.draw(end) for one in drawn for end in (".pdf", ".svg")}
    for file, content in contents.items():
        (out / file).parent.mkdir(parents=True, exist_ok=True)
        write_bytes(out / file, content)
    return [*files, *(out / file for file in contents)]


def deviations_tables(summary: Summary) -> list[Table]:
    """Return mean and deviation over the folds of NDCG, P and MAP at the cutoffs of the intercepts paper's tables."""
    if len(summary.experiment.folds) < 2:
        return []
    ndcg, precision = [*(f"NDCG@{k}" for k in CUTOFFS), "MAP"], [f"P@{k}" for k in CUTOFFS]
    note = f"Mean over folds ± standard deviation of the folds' means. {how(summary)} {BOLD}"
    tables = []
    for title, key, measures in (("NDCG and MAP", "ndcg", ndcg), ("Precision", "p", precision)):
        strong = {measure: summary.ties_with_best(measure) for measure in measures}
        rows = []
        for row in summary.rows:
            values = {measure: row.folds[summary.place(measure)] for measure in measures}
            figures = (
                Cell(f"{own.mean():.3f} ± {own.std(ddof=1):.3f}", float(own.mean()), row.name in strong[measure])
                for measure, own in values.items()
            )
            rows.append((named(row), *figures))
        name, header = f"{title}, mean ± deviation", ("system", *measures)
        tables.append(Table(name, header, tuple(rows), note=note, key=f"deviations-{key}"))
    return tables


def called_by_feature(experiment: Experiment) -> Experiment:
    """Call systems that learn from the top of a feature by it, where it is the same in all folds."""
    names: dict[str, str] = {}
    for system in experiment.systems:
        found = {cell.params.get("feature") for (name, _), cell in experiment.cells.items() if name == system.name}
        if len(found) == 1 and isinstance(system.plan, FromTheTop):
            names[system.name] = system.name.replace("Top feature", str(found.pop()))
    return replace(
        experiment,
        systems=tuple(replace(system, name=names.get(system.name, system.name)) for system in experiment.systems),
        cells={(names.get(name, name), fold): cell for (name, fold), cell in experiment.cells.items()},
    )


def competence_pictures(summary: Summary) -> list[Picture]:
    """Draw who is competent for which test documents of the first fold: RE-QR's queries, DC3A's metrics."""
    fold = summary.experiment.folds[0]
    names = {row.name for row in summary.rows}
    pictures = []
    try:
        if "RE-QR" in names:
            queries = QueryRules(literal=True).fit(fold.train)
            about = (
                f"Every training query of {fold.name} (from top to bottom) judges every test document (from left to "
                "right), one panel per grade; light where its estimate is close to the grade."
            )
            drawn = competence_map(queries, fold.test)
            pictures.append(picture("competence-map", "Which queries are competent (RE-QR)", about, drawn, MAP_DPI))
        if "DC3A" in names:
            metrics = Competence(literal=True).fit(fold.train)
            about = (
                f"Left: how close each metric comes to the grade of each test document of {fold.name}; right: how much "
                "DC3A listens to it. Where choosing works, light is where light is."
            )
            drawn = competence_domains(metrics, fold.test)
            pictures.append(picture("domains", "Which metrics are competent (DC3A)", about, drawn, MAP_DPI))
            about = f"Mean score by grade on the test documents of {fold.name}; the broken line is the grade itself."
            pictures.append(picture("scores", "What each metric says", about, average_scores(metrics, fold.test)))
    except TooLargeError:
        pass  # every query's judgement of every document may not fit in memory; the report goes without the picture
    return pictures


def paper_systems(summary: Summary) -> list[str]:
    """Return the rule rankers to the letter, and the best of the baselines of the papers."""
    place = summary.place("MAP")
    names = [row.name for row in summary.rows if row.name in ("RE-GR", "RE-SR", "RE-QR")]
    baselines = [row for row in summary.rows if row.system.group == "baselines"]
    return names + ([max(baselines, key=lambda row: float(row.means[place])).name] if names and baselines else [])
