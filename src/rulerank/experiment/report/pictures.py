"""The pictures of a report; those of competence are drawn from the first fold, whose models are fitted once more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from rulerank.aggregate.competence import Competence
from rulerank.core.words import joined
from rulerank.errors import TooLargeError
from rulerank.experiment.label_curve.result import LabelCurve
from rulerank.experiment.summary import DEPTH, Difference, Summary
from rulerank.experiment.systems import GROUPS
from rulerank.rankers.query_rules import QueryRules
from rulerank.render.document import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAP_DPI = 80  # one pixel is then about one document
MOST_CURVES = 10  # as many as look different


def differences_picture(summary: Summary, measure: str, found: Sequence[Difference]) -> Picture:
    from rulerank.experiment.figures.comparison import Span, difference_plot

    spans = [Span(d.system, d.difference, d.low, d.high, d.mark) for d in found]
    about = (
        f"Dot: mean difference of {measure} to {summary.against}; line: 95% bootstrap interval over queries; green or "
        "red: significantly above or below after Holm's correction."
    )
    return picture(
        "differences", f"{measure} against {summary.against}", about, difference_plot(spans, summary.against, measure)
    )


def curves_pictures(summary: Summary) -> list[Picture]:
    """Draw the systems of the papers' Figures 1 and 3, and beside them the best of every group."""
    papers, best = paper_systems(summary), best_systems(summary)
    about_papers = (
        "Figures 1 and 3 of the paper on query-level rules: its rule rankers to the letter, and the best baseline."
    )
    about_best = "Of each group the system with the best MAP."
    drawn = []
    if len(papers) > 1:
        drawn.append(curves_picture(summary, "curves", "Precision and NDCG, the papers' systems", about_papers, papers))
    if set(best) != set(papers):
        key = "curves-best" if drawn else "curves"
        drawn.append(curves_picture(summary, key, "Precision and NDCG, the best of each group", about_best, best))
    return drawn


def curves_picture(summary: Summary, key: str, title: str, about: str, shown: Sequence[str]) -> Picture:
    from rulerank.experiment.figures.comparison import rank_curves

    curves = {
        measure: {
            name: [float(summary.row(name).means[summary.place(f"{measure}@{k}")]) for k in range(1, DEPTH + 1)]
            for name in shown
        }
        for measure in ("P", "NDCG")
    }
    rules = f"Mean over folds, convention {summary.convention}, ties {summary.ties}."
    return picture(key, title, f"{about} {rules} Shown: {joined(shown)}.", rank_curves(curves))


def paper_systems(summary: Summary) -> list[str]:
    """Return the rule rankers to the letter, and the best of the baselines of the papers."""
    place = summary.place("MAP")
    names = [row.name for row in summary.rows if row.name in ("RE-GR", "RE-SR", "RE-QR")]
    baselines = [row for row in summary.rows if row.system.group == "baselines"]
    return names + ([max(baselines, key=lambda row: float(row.means[place])).name] if names and baselines else [])


def best_systems(summary: Summary) -> list[str]:
    """Return the best system of every group, and all of your own."""
    place = summary.place("MAP")
    names = []
    for group in dict.fromkeys([*GROUPS, *(row.system.group for row in summary.rows)]):
        rows = [row for row in summary.rows if row.system.group == group]
        if group == "yours":
            names += [row.name for row in rows]
        elif rows:
            names.append(max(rows, key=lambda row: float(row.means[place])).name)
    return names[:MOST_CURVES]


def competence_pictures(summary: Summary) -> list[Picture]:
    """Draw who is competent for which test documents of the first fold: RE-QR's queries, DC3A's metrics."""
    from rulerank.experiment.figures.competence import average_scores, competence_domains, competence_map

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


def labels_picture(curve: LabelCurve) -> Picture:
    from rulerank.experiment.figures.label_curve import label_curve_figure

    about = (
        f"{curve.measure} on the test queries, mean of {curve.n_folds} folds, after learning from so many labels of a "
        f"pool of {curve.n_pool:,.0f}; the band holds 95% of {curve.n_draws} random choices."
    )
    return picture("label-curve", "Quality against labels", about, label_curve_figure(curve))


def picture(key: str, title: str, about: str, figure: Figure, dpi: int = 110) -> Picture:
    from rulerank.render.figures import figure_bytes, inline_svg

    if figure.get_suptitle():
        figure.suptitle("")  # the page has the title as text
    name = re.sub(r"\W", "-", key)
    svg, width = inline_svg(figure, name, dpi), float(figure.get_figwidth())
    return Picture(title, svg, about, name, partial(figure_bytes, figure), width)
