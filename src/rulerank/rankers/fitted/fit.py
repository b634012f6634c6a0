"""What the folds learn stage by stage: a straight line, then rounds on whatever tables there are."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.rankers.fitted.bins import Axis
from rulerank.rankers.fitted.gradient import add_pulls
from rulerank.rankers.fitted.linear_start import linear_votes
from rulerank.rankers.fitted.rounds import add_votes, boost, count_cells
from rulerank.rankers.fitted.settings import L2, LINEAR_L2, LINEAR_ROWS, Settings
from rulerank.rankers.fitted.terms import Terms, lay_out
from rulerank.rankers.fitted.training_folds import TrainingFolds

SETTLED = 20  # steps of intercepts
NOTHING_LEFT = 0.01  # of the loss of equal scores: what is left once features tell all but everything


@dataclass(eq=False)
class Stage:
    """What the folds have come to: votes of all tables, (n_folds, n_cells), and what they left unexplained."""

    terms: Terms
    votes: Array
    losses: Array  # float64 (n_queries,) of each query, by the fold that held it out
    n_rounds: list[int] = field(default_factory=list)  # of each fold, up to its best


def linear_stage(
    bins: Array, axes: list[Axis], centres: list[Array], folds: TrainingFolds, monotone: Array, n_jobs: int | None
) -> Stage:
    """Learn a straight line in each fold, in which a bin has the value of its centre."""
    terms = lay_out(bins, axes, monotone)
    queries = folds.queries
    votes = np.zeros((folds.n_folds, terms.n_cells))

    def work(first: int, last: int) -> None:
        for fold in range(first, last):
            rows = _rows_of(folds, fold)
            weights = folds.weights[rows] if folds.weights.size else folds.weights
            own, _ = linear_votes(
                centres,
                bins[:, rows],
                folds.grades[rows],
                queries[rows],
                weights,
                LINEAR_L2,
                monotone,
            )
            votes[fold] = np.concatenate(own)

    in_blocks(work, folds.n_folds, n_jobs)
    stage = Stage(terms, votes, np.zeros(folds.n_queries))
    stage.losses[:] = folds.losses(out_of_fold_scores(stage, folds))
    return stage


def straight_line(
    bins: Array, axes: list[Axis], centres: list[Array], folds: TrainingFolds, monotone: Array
) -> tuple[Terms, Array, Array]:
    """Learn one straight line from all rows; return the tables, their votes and the votes' standard errors."""
    votes, errors = linear_votes(centres, bins, folds.grades, folds.queries, folds.weights, LINEAR_L2, monotone)
    return lay_out(bins, axes, monotone), np.concatenate(votes), np.concatenate(errors)


def boosted(stage: Stage, terms: Terms, folds: TrainingFolds, settings: Settings, n_jobs: int | None) -> Stage:
    """Take rounds in each fold from where a stage ended; the tables of `terms` begin with those of the stage."""
    votes = np.zeros((folds.n_folds, terms.n_cells))
    votes[:, : stage.votes.shape[1]] = stage.votes
    losses = np.zeros(folds.n_queries)
    enough = NOTHING_LEFT * folds.losses(np.zeros(folds.grades.size))
    n_rounds = [0] * folds.n_folds

    def work(first: int, last: int) -> None:
        for fold in range(first, last):
            counts = np.zeros(terms.n_cells)
            learned = folds.bounds[folds.learned(fold)]
            for t, cells in enumerate((*terms.singles, *terms.higher)):
                for a, b in (learned[:2], learned[2:]):
                    count_cells(cells, folds.weights, a, b, counts[terms.offsets[t] : terms.offsets[t + 1]])
            scores = np.zeros(folds.grades.size)
            add_votes(terms.singles, terms.higher, terms.offsets, votes[fold], scores)
            own = np.zeros(folds.n_queries)
            n_rounds[fold] = boost(
                terms.singles,
                terms.higher,
                terms.shapes,
                terms.kinds,
                terms.offsets,
                votes[fold],
                counts,
                scores,
                folds.grades,
                folds.weights,
                folds.bounds,
                folds.start_intercepts(),
                folds.windows(fold, settings.window_rows),
                folds.held_out(fold),
                own,
                settings.n_leaves,
                settings.rate,
                L2,
                settings.min_rows,
                settings.patience,
                settings.tolerance,
                float(enough[slice(*folds.held_out(fold))].sum()),
                settings.most_rounds,
            )
            held = slice(*folds.held_out(fold))
            losses[held] = own[held]

    in_blocks(work, folds.n_folds, n_jobs)
    before = stage.n_rounds or [0] * folds.n_folds
    return Stage(terms, votes, losses, [a + b for a, b in zip(before, n_rounds, strict=True)])


def out_of_fold_scores(stage: Stage, folds: TrainingFolds) -> Array:
    """Return the score of each row by the fold that has not learned from it."""
    terms, scores = stage.terms, np.zeros(folds.grades.size)
    for fold in range(folds.n_folds):
        rows = slice(*folds.bounds[folds.held_out(fold)])
        add_votes(terms.singles[:, rows], terms.higher[:, rows], terms.offsets, stage.votes[fold], scores[rows])
    return scores


def out_of_fold_pulls(stage: Stage, folds: TrainingFolds) -> Array:
    """Return the derivatives of the loss, (n_rows, 2), each row's by the fold that has not learned from it."""
    pulls, intercepts = np.zeros((folds.grades.size, 2)), folds.start_intercepts()
    scores = out_of_fold_scores(stage, folds)
    for _ in range(SETTLED):
        add_pulls(scores, folds.grades, folds.weights, folds.bounds, 0, folds.n_queries, intercepts, pulls)
    return pulls


def _rows_of(folds: TrainingFolds, fold: int) -> Array:
    """Return the rows that a fold's straight line is learned from: all, or as many whole queries as are enough."""
    _, a, b, _ = folds.learned(fold).tolist()
    rows = np.concatenate([np.arange(folds.bounds[a]), np.arange(folds.bounds[b], folds.grades.size)])
    if rows.size <= LINEAR_ROWS:
        return rows
    last = folds.queries[rows[LINEAR_ROWS]]
    return rows[: int(np.searchsorted(rows, folds.bounds[last]))]
