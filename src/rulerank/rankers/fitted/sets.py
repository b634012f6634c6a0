"""Which pairs and triples of features have a table of their own, and how far that leads."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from rulerank.dataset import Array
from rulerank.evaluation.significance import clearly_less
from rulerank.rankers.fitted.fit import Stage, boosted, out_of_fold_pulls
from rulerank.rankers.fitted.row_views import BinnedRows
from rulerank.rankers.fitted.screening import agreement
from rulerank.rankers.fitted.settings import L2, Settings
from rulerank.rankers.fitted.terms import lay_out
from rulerank.rankers.fitted.training_folds import TrainingFolds

SCREEN_ROWS = 200_000  # rows that pairs are looked for on
SCREEN_FEATURES = 150  # all pairs of more would take long: the ones with the strongest tables are looked at
TRIPLES = 5  # pairs for each triple: a few of them are enough, and can still be read


def with_pairs(
    stage: Stage,
    view: BinnedRows,
    folds: TrainingFolds,
    monotone: Array,
    settings: Settings,
    *,
    max_pairs: int,
    max_size: int,
    n_jobs: int | None,
) -> Stage:
    """Choose pairs, and triples of them, and go on with their tables beside those of the features."""
    if max_size == 1 or not max_pairs:
        return stage
    pairs = chosen_sets(stage, folds, pair_candidates(stage), settings, max_pairs, n_jobs)
    if not pairs:
        return stage
    higher = [(pair, settings.pair_bins) for pair in pairs]
    stage = boosted(stage, lay_out(view.bins, view.axes, monotone, higher), folds, settings, n_jobs)
    if max_size == 2:
        return stage
    most = math.ceil(max_pairs / TRIPLES)
    triples = chosen_sets(stage, folds, triple_candidates(pairs), settings, most, n_jobs)
    if not triples:
        return stage
    higher += [(triple, settings.triple_bins) for triple in triples]
    deeper = boosted(stage, lay_out(view.bins, view.axes, monotone, higher), folds, settings, n_jobs)
    return deeper if clearly_less(deeper.losses, stage.losses) else stage


def chosen_sets(
    stage: Stage, folds: TrainingFolds, candidates: Array, settings: Settings, most: int, n_jobs: int | None
) -> list[tuple[int, ...]]:
    """Return the sets of features, of those given (n_sets, 2 or 3), on which two halves of the queries agree best."""
    if not len(candidates) or most == 0:
        return []
    terms = stage.terms
    n_queries = int(np.searchsorted(folds.bounds, SCREEN_ROWS, side="right")) - 1
    n_queries = max(1, min(folds.n_queries, n_queries))
    n_rows = int(folds.bounds[n_queries])
    pulls = out_of_fold_pulls(stage, folds)[:n_rows]
    odd = (folds.queries[:n_rows] % 2).astype(np.uint8)
    coarse = np.empty((len(terms.singles), n_rows), dtype=np.uint8)
    n_bins = np.empty(len(terms.singles), dtype=np.int64)
    k = settings.screen_bins if candidates.shape[1] == 2 else settings.screen_bins // 2 + 1
    for f, bins in enumerate(terms.singles):
        axis = terms.axes[f][0]
        found, places = axis.coarser(np.bincount(bins, minlength=axis.n_bins), k)
        coarse[f], n_bins[f] = places.astype(np.uint8)[bins[:n_rows]], found.n_bins
    scores = agreement(coarse, n_bins, candidates, pulls, odd, L2, n_jobs)
    best = np.argsort(-scores, kind="stable")[:most]
    return [tuple(candidates[s].tolist()) for s in best if scores[s] > 0]


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


def triple_candidates(pairs: list[tuple[int, ...]]) -> Array:
    """Return the triples of which at least two pairs were chosen.

    >>> triple_candidates([(0, 1), (1, 2), (3, 4)]).tolist()
    [[0, 1, 2]]
    """
    found = {tuple(sorted({*one, *two})) for one, two in combinations(pairs, 2)}
    return np.array(sorted(one for one in found if len(one) == 3), dtype=np.int64).reshape(-1, 3)
