"""Which pairs of features get a table of their own."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from rulerank.dataset import Array
from rulerank.rankers.fitted.fit import Stage, boosted, out_of_fold_pulls
from rulerank.rankers.fitted.row_views import BinnedRows
from rulerank.rankers.fitted.screening import agreement
from rulerank.rankers.fitted.settings import L2, Settings
from rulerank.rankers.fitted.terms import lay_out
from rulerank.rankers.fitted.training_folds import TrainingFolds

SCREEN_ROWS = 200_000  # rows that pairs are looked for on
SCREEN_FEATURES = 150  # all pairs of more would take long: the ones with the strongest tables are looked at


def with_pairs(
    stage: Stage,
    view: BinnedRows,
    folds: TrainingFolds,
    monotone: Array,
    settings: Settings,
    max_pairs: int,
    n_jobs: int | None,
) -> Stage:
    """Choose at most `max_pairs` pairs and boost their tables beside those of the features."""
    pairs = chosen_pairs(stage, folds, pair_candidates(stage), settings, max_pairs, n_jobs) if max_pairs else []
    if not pairs:
        return stage
    terms = lay_out(view.bins, view.axes, monotone, pairs, settings.pair_bins)
    return boosted(stage, terms, folds, settings, n_jobs)


def chosen_pairs(
    stage: Stage, folds: TrainingFolds, candidates: Array, settings: Settings, most: int, n_jobs: int | None
) -> list[tuple[int, int]]:
    """Return the pairs of features, of those given (n_pairs, 2), on which two halves of the queries agree best."""
    if not len(candidates):
        return []
    terms = stage.terms
    n_queries = int(np.searchsorted(folds.bounds, SCREEN_ROWS, side="right")) - 1
    n_queries = max(1, min(folds.n_queries, n_queries))
    n_rows = int(folds.bounds[n_queries])
    pulls = out_of_fold_pulls(stage, folds)[:n_rows]
    odd = (folds.queries[:n_rows] % 2).astype(np.uint8)
    coarse = np.empty((len(terms.singles), n_rows), dtype=np.uint8)
    n_bins = np.empty(len(terms.singles), dtype=np.int64)
    for f, bins in enumerate(terms.singles):
        axis = terms.axes[f][0]
        found, places = axis.coarser(np.bincount(bins, minlength=axis.n_bins), settings.screen_bins)
        coarse[f], n_bins[f] = places.astype(np.uint8)[bins[:n_rows]], found.n_bins
    scores = agreement(coarse, n_bins, candidates, pulls, odd, L2, n_jobs)
    best = np.argsort(-scores, kind="stable")[:most]
    return [(int(candidates[s, 0]), int(candidates[s, 1])) for s in best if scores[s] > 0]


def pair_candidates(stage: Stage) -> Array:
    """Return all pairs of features that have more than one bin, or of the strongest when there are very many."""
    sizes = np.zeros(len(stage.terms.singles))
    for f, axis in enumerate(stage.terms.axes[: sizes.size]):
        if axis[0].n_bins > 2:
            votes = stage.terms.votes_of(stage.votes.mean(axis=0), f)
            counts = np.bincount(stage.terms.singles[f], minlength=votes.size)
            mean = float(votes @ counts) / counts.sum()
            sizes[f] = 1e-12 + float(np.square(votes - mean) @ counts)
    used = np.sort(np.argsort(-sizes, kind="stable")[:SCREEN_FEATURES])
    return np.array(list(combinations(used[sizes[used] > 0].tolist(), 2)), dtype=np.int64).reshape(-1, 2)
