"""The tables of the sampling paper, with all their columns, for the data at hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from papers.sampled import AsChosen, Asked, AtRandom, FromTheTop
from rulerank._util.words import listed
from rulerank.dataset import Array
from rulerank.evaluation import evaluate
from rulerank.experiment.report import Row, Summary, how
from rulerank.render.document import DASH, Cell, Table, number_cell

SUPERVISED = ("RankBoost", "FRank", "Regression")  # of the paper's Tables 4 and 5
MEASURES = ("MAP", "NDCG@1", "NDCG@5", "NDCG@10")
ABOUT = (
    "The tables of the paper on active sampling. A sampler chooses documents of train one by one, knowing only the "
    "grades of those before, and stops by itself; what learns from them is measured on test."
)


def sampling_tables(summary: Summary) -> list[Table]:
    """Return Tables 1 to 5, as far as their systems were run."""
    asked = [row for row in summary.rows if isinstance(row.system.plan, Asked)]
    found = [_selections(summary, asked)] if asked else []
    found += [table for row in asked if (table := _svm(summary, row)) is not None]
    supervised = [row for name in SUPERVISED if (row := _named(summary, name)) is not None]
    return found + ([_beside_supervised(summary, asked, supervised)] if asked and supervised else [])


def _selections(summary: Summary, asked: Sequence[Row]) -> Table:
    """Return Tables 1 and 2: what the chosen labels are worth, and what was chosen."""
    place = summary.place("MAP")
    whole = _named(summary, "RE-GR")
    rows, features = [], []
    for row in asked:
        top, chance = _companion(summary, row, FromTheTop), _companion(summary, row, AtRandom)
        features += [str(cell.params["feature"]) for cell in top.cells] if top is not None else []
        n_chosen, n_all = _mean_labels(row), _mean_of([len(fold.train) for fold in summary.experiment.folds])
        rows.append(
            (
                Cell(row.name, about=row.system.about),
                number_cell(float(row.means[place])),
                _mean_cell(whole, place),
                _mean_cell(top, place),
                _random_cell(summary, chance),
                _gain_cell(row, [top, chance], place),
                Cell(f"{n_chosen:,.0f}", n_chosen),
                Cell(f"{n_all:,.0f}", n_all),
                _percent_cell(n_chosen / n_all, 2),
                _percent_cell(_relevant(summary, row)),
                _percent_cell(_mean_of([float((fold.train.y > 0).mean()) for fold in summary.experiment.folds])),
                _percent_cell(_relevant(summary, top)),
            )
        )
    header = (
        "chosen by", "MAP", "LRAR", "LBM25", "Random", "G %", "Sel", "Utot", "Sel %", "Rsel %", "R %", "R25 %",
    )  # fmt: skip
    by = listed(list(dict.fromkeys(features))) or "none"
    note = (
        f"Tables 1 and 2 of the paper, means over folds. {how(summary)} MAP: literal RE-GR on the chosen documents, in "
        "bins that need no grades; LRAR: on all of train, in supervised bins; LBM25: on as many that are highest by "
        f"one feature, the best one on vali unless --feature says which is BM25 ({by}); "
        f"{_about_random(summary, asked)} G %: gain over the better of the two. Sel of Utot documents of train were "
        "chosen. Relevant are Rsel % of the chosen, R % of all, R25 % of those highest by the feature."
    )
    return Table("Labels that a sampler chose", header, tuple(rows), note=note, key="sampling")


def _svm(summary: Summary, asked: Row) -> Table | None:
    """Return Table 3: another ranker on the same documents."""
    place = summary.place("MAP")
    own = _companion(summary, asked, AsChosen, svm=True)
    if own is None:
        return None
    top, chance = (_companion(summary, asked, kind, svm=True) for kind in (FromTheTop, AtRandom))
    row = (
        number_cell(float(asked.means[place])),
        number_cell(float(own.means[place])),
        _mean_cell(top, place),
        _random_cell(summary, chance),
        _gain_cell(own, [top, chance], place),
    )
    note = (
        f"Table 3 of the paper, MAP. {how(summary)} {asked.name}: literal RE-GR on the documents that it chose; SVMS: "
        "RankSVM on the same ones, its features scaled by query and C chosen on vali; SBM25: RankSVM on as many that "
        f"are highest by one feature; {_about_random(summary, [asked], svm=True)} G %: gain of SVMS over the better of "
        "the two."
    )
    header = (asked.name, "SVMS", "SBM25", "Random", "G %")
    return Table(f"RankSVM on the labels of {asked.name}", header, (row,), 0, note, key=f"sampling-svm-{asked.name}")


def _beside_supervised(summary: Summary, asked: Sequence[Row], supervised: Sequence[Row]) -> Table:
    """Return Tables 4 and 5: chosen labels beside rankers that had them all."""
    rows = []
    for measure in MEASURES:
        place = summary.place(measure)
        reached = [float(row.means[place]) for row in supervised]
        own = [
            number_cell(value, strong=_beats_most(value, reached)) for value in (float(r.means[place]) for r in asked)
        ]
        rows.append((Cell(measure), *own, *(number_cell(value) for value in reached)))
    labels = ", ".join(f"{row.name} {_mean_labels(row):,.0f}" for row in asked)
    everything = _mean_of([len(fold.train) for fold in summary.experiment.folds])
    note = (
        f"Tables 4 and 5 of the paper. {how(summary)} Labels of a fold: {labels}; the others had all "
        f"{everything:,.0f}. Bold: at least as good as more than half of them."
    )
    header = ("measure", *(row.name for row in asked), *(row.name for row in supervised))
    return Table("Beside rankers that had all labels", header, tuple(rows), note=note, key="sampling-supervised")


def _beats_most(value: float, others: Sequence[float]) -> bool:
    return 2 * sum(value >= other for other in others) > len(others)


def _companion(summary: Summary, asked: Row, kind: type[Any], *, svm: bool = False) -> Row | None:
    """Return the system that learns from as many documents as another one asked for, chosen in another way."""
    for row in summary.rows:
        plan = row.system.plan
        uses = getattr(row.system, "uses", ())
        if uses == (asked.name,) and isinstance(plan, kind) and plan.learner.needs_pairs == svm:
            return row
    return None


def _named(summary: Summary, name: str) -> Row | None:
    return next((row for row in summary.rows if row.name == name), None)


def _mean_cell(row: Row | None, place: int) -> Cell:
    return Cell(DASH) if row is None else number_cell(float(row.means[place]))


def _random_cell(summary: Summary, row: Row | None) -> Cell:
    """Write the mean MAP over random draws with the 95% confidence interval of that mean, as the paper does."""
    if row is None:
        return Cell(DASH)
    rules: dict[str, Any] = {"convention": summary.convention, "ties": summary.ties, "any_grades": True}
    by_fold = [
        [evaluate(fold.test, scores, measures="MAP", **rules).means["MAP"] for scores in np.atleast_2d(cell.test)]
        for fold, cell in zip(summary.experiment.folds, row.cells, strict=True)
    ]
    mean, half = mean_and_interval(np.mean(by_fold, axis=0))
    return Cell(f"{mean:.4f}" if math.isnan(half) else f"{mean:.4f} ± {half:.4f}", mean)


def mean_and_interval(values: Array) -> tuple[float, float]:
    """Return a mean, and half its 95% confidence interval by Student's t.

    >>> mean, half = mean_and_interval(np.array([0.25, 0.5, 0.75]))
    >>> round(mean, 3), round(half, 3)
    (0.5, 0.621)
    """
    if values.size < 2:
        return float(values.mean()), math.nan
    from scipy.special import stdtrit  # slow to load

    error = values.std(ddof=1) / math.sqrt(values.size)
    return float(values.mean()), float(error * stdtrit(values.size - 1, 0.975))


def _gain_cell(row: Row, others: Sequence[Row | None], place: int) -> Cell:
    known = [float(other.means[place]) for other in others if other is not None]
    if not known or not max(known):
        return Cell(DASH)
    gain = 100 * (float(row.means[place]) / max(known) - 1)
    return Cell(f"{gain:+.2f}", gain)


def _about_random(summary: Summary, asked: Sequence[Row], *, svm: bool = False) -> str:
    drawn = [row for one in asked if (row := _companion(summary, one, AtRandom, svm=svm)) is not None]
    n_draws = max((len(np.atleast_2d(row.cells[0].test)) for row in drawn), default=0)
    return f"Random: on as many at random, mean of {n_draws} draws with its 95% confidence interval."


def _relevant(summary: Summary, row: Row | None) -> float:
    """Return the share of relevant documents among those learned from, the mean over folds; NaN where not known."""
    if row is None or any(cell.chosen is None for cell in row.cells):
        return math.nan
    folds = zip(summary.experiment.folds, row.cells, strict=True)
    return _mean_of([float((fold.train.y[cell.chosen] > 0).mean()) for fold, cell in folds])


def _percent_cell(share: float, digits: int = 1) -> Cell:
    return Cell(DASH) if math.isnan(share) else Cell(f"{100 * share:.{digits}f}", share)


def _mean_labels(row: Row) -> float:
    return _mean_of([cell.n_labels for cell in row.cells])


def _mean_of(values: Sequence[float]) -> float:
    return float(np.mean(values))
