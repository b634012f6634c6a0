"""The figures of an experiment: per fold and in the mean, with the significance of differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rulerank.dataset import Array, Fold
from rulerank.errors import DataError
from rulerank.evaluation import NDCG, Measure, P, evaluate
from rulerank.evaluation.measures import MAP, as_measures, convention_named
from rulerank.evaluation.significance import SAME, bootstrap_means, holm, randomisation_test, t_test
from rulerank.experiment.cells import Scores
from rulerank.experiment.run import Experiment
from rulerank.experiment.systems import System

DEPTH = 10
ALL_MEASURES = (MAP, *(NDCG @ k for k in range(1, DEPTH + 1)), *(P @ k for k in range(1, DEPTH + 1)))
N_ROUNDS = 10_000
ALPHA = 0.05


@dataclass(frozen=True, eq=False)
class Row:
    """One system by every measure."""

    system: System
    folds: Array  # (n_measures, n_folds): mean over each fold's test queries
    queries: Array  # (n_measures, n_queries): all test queries, fold after fold
    draws: Array  # (n_measures, n_draws): the mean over the folds of each random draw; one where nothing was drawn
    n_tied: int
    cells: tuple[Scores, ...]

    @property
    def name(self) -> str:
        return self.system.name

    @property
    def label(self) -> str:
        """The name in a report: a system that goes by a feature is called by it, if that is the same in all folds."""
        features = {str(cell.params.get("feature", "")) for cell in self.cells}
        [feature, *others] = features or {""}
        return self.name.replace("Top feature", feature) if feature and not others else self.name

    @property
    def means(self) -> Array:
        """The mean over the folds of each measure, as the papers take it."""
        return self.folds.mean(axis=1)

    @property
    def deviations(self) -> Array:
        """The standard deviation over the folds of each measure, NaN for one fold."""
        n_measures, n_folds = self.folds.shape
        return self.folds.std(axis=1, ddof=1) if n_folds > 1 else np.full(n_measures, np.nan)


@dataclass(frozen=True, slots=True)
class Difference:
    """A system against the one it is compared with, by one measure."""

    system: str
    measure: str
    difference: float  # mean over queries
    low: float  # 95% bootstrap interval over queries
    high: float
    p_queries: float  # paired t-test over queries
    p_folds: float  # paired t-test over folds
    p_randomisation: float  # sign flips over queries
    p_holm: float  # the same, corrected for the number of systems
    wins: int
    losses: int

    @property
    def mark(self) -> str:
        """An arrow where the corrected difference is significant.

        >>> Difference("a", "MAP", 0.02, 0.01, 0.03, 0.001, 0.04, 0.001, 0.01, 60, 40).mark
        '▲'
        """
        if self.p_holm >= ALPHA:
            return ""
        return "▲" if self.difference > 0 else "▼"


@dataclass(frozen=True, eq=False)
class Summary:
    """Every complete system by every measure, under one convention."""

    experiment: Experiment
    measures: tuple[Measure, ...]
    rows: tuple[Row, ...]
    against: str
    convention: str
    ties: str
    n_queries: int
    queries_of: tuple[slice, ...]  # where each fold's queries lie among all
    n_docs: int
    n_without_relevant: int
    n_rounds: int
    seed: int

    def row(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)

    def place(self, measure: str | Measure) -> int:
        """Return where a measure is among the measures, however it is written."""
        return self.measures.index(Measure.parse(str(measure)))

    def best(self, measure: str | Measure) -> Row:
        place = self.place(measure)
        return max(self.rows, key=lambda row: float(row.means[place]))

    def ties_with_best(self, measure: str | Measure, fold: int | None = None) -> set[str]:
        """Return the best system and those no worse by a paired t-test over queries: the papers' bold figures.

        fold: by that trial's queries alone, as the papers' tables of trials have it.
        """
        place = self.place(measure)
        where = slice(None) if fold is None else self.queries_of[fold]
        values = np.array([row.means[place] if fold is None else row.folds[place, fold] for row in self.rows])
        best = self.rows[int(values.argmax())]
        behind = np.array([best.queries[place, where] - row.queries[place, where] for row in self.rows])
        p = t_test(behind) if behind.shape[1] > 1 else np.where(values >= values.max(), 1.0, 0.0)
        return {row.name for row, value in zip(self.rows, p, strict=True) if value >= ALPHA}

    def differences(self, measure: str | Measure) -> list[Difference]:
        """Compare every system with the chosen one by one measure."""
        place, base = self.place(measure), self.row(self.against)
        others = [row for row in self.rows if row.name != self.against]
        if not others or self.n_queries < 2:
            return []
        by_query = np.array([row.queries[place] - base.queries[place] for row in others])
        by_fold = np.array([row.folds[place] - base.folds[place] for row in others])
        drawn = bootstrap_means(by_query, self.n_rounds, self.seed)
        low, high = np.quantile(drawn, [ALPHA / 2, 1 - ALPHA / 2], axis=0)
        p_random = randomisation_test(by_query, self.n_rounds, self.seed)
        columns = {
            "difference": by_query.mean(axis=1),
            "low": low,
            "high": high,
            "p_queries": t_test(by_query),
            "p_folds": t_test(by_fold) if by_fold.shape[1] > 1 else np.full(len(others), np.nan),
            "p_randomisation": p_random,
            "p_holm": holm(p_random),
        }
        return [
            Difference(
                system=row.name,
                measure=str(measure),
                wins=int((by_query[number] > SAME).sum()),
                losses=int((by_query[number] < -SAME).sum()),
                **{name: float(values[number]) for name, values in columns.items()},
            )
            for number, row in enumerate(others)
        ]


def check_rules(
    folds: Sequence[Fold],
    systems: Sequence[System],
    measures: Sequence[str | Measure],
    convention: str,
    ties: str | None,
    against: str | None,
) -> None:
    """Complain before the work, not after it, about what `summarise` would refuse."""
    for fold in folds:
        docid = None if fold.test.docid is None else ["a"]
        evaluate([1], [0.0], [0], measures, convention=convention, ties=ties, docid=docid, any_grades=True)
    names = [system.name for system in systems]
    if against is not None and against not in names:
        raise DataError(f"cannot compare with {against!r}, which is not run; choose from {', '.join(names)}")


def summarise(
    experiment: Experiment,
    measures: Sequence[str | Measure] = (),
    *,
    convention: str = "standard",
    ties: str | None = None,
    against: str | None = None,
    n_rounds: int = N_ROUNDS,
    seed: int = 0,
) -> Summary:
    """Evaluate the complete systems by MAP, NDCG@1-10, P@1-10 and the measures given.

    against: the system that others are compared with; RE-GR, or else the first one.
    """
    complete = experiment.complete
    if not complete:
        (name, _), failure = next(iter(experiment.failures.items()))
        raise DataError(f"no system finished on all folds; {name}: {failure.reason}")
    names = [system.name for system in complete]
    chosen = against or ("RE-GR" if "RE-GR" in names else names[0])
    if chosen not in names:
        raise DataError(f"cannot compare with {chosen!r}, which has no scores; choose from {', '.join(names)}")
    asked = tuple(dict.fromkeys([*ALL_MEASURES, *(as_measures(measures) if measures else ())]))
    tie_rule = ties or convention_named(convention).ties
    n_empty: dict[str, int] = {}
    rows = []
    for system in complete:
        cells = tuple(experiment.cells[system.name, number] for number in range(len(experiment.folds)))
        values, drawn = [], []
        n_tied = 0.0
        for fold, cell in zip(experiment.folds, cells, strict=True):
            draws = [
                evaluate(fold.test, scores, measures=asked, convention=convention, ties=tie_rule,
                         retrieved=returned(scores), any_grades=True)
                for scores in np.atleast_2d(cell.test)
            ]  # fmt: skip
            values.append(np.mean([draw.values for draw in draws], axis=0))
            drawn.append([draw.values.mean(axis=1) for draw in draws])
            n_tied += float(np.mean([draw.n_tied for draw in draws]))
            n_empty[fold.name] = draws[0].n_without_relevant
        by_fold = np.array([value.mean(axis=1) for value in values]).T
        alike = len({len(of_fold) for of_fold in drawn}) == 1
        by_draw = np.mean(drawn, axis=0).T if alike else by_fold.mean(axis=1, keepdims=True)
        rows.append(Row(system, by_fold, np.concatenate(values, axis=1), by_draw, round(n_tied), cells))
    ends = np.cumsum([value.shape[1] for value in values])
    n_docs = sum(len(fold.test) for fold in experiment.folds)
    return Summary(
        experiment=experiment,
        measures=asked,
        rows=tuple(rows),
        against=chosen,
        convention=convention,
        ties=tie_rule,
        n_queries=int(ends[-1]),
        queries_of=tuple(slice(int(end) - value.shape[1], int(end)) for end, value in zip(ends, values, strict=True)),
        n_docs=n_docs,
        n_without_relevant=sum(n_empty.values()),
        n_rounds=n_rounds,
        seed=seed,
    )


def returned(scores: Array) -> Array | None:
    """Tell which documents a run returned, those with a score; None for all.

    >>> returned(np.array([0.5, np.nan])).tolist(), returned(np.array([0.5]))
    ([True, False], None)
    """
    known = ~np.isnan(scores)
    return None if known.all() else known
