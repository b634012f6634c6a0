"""Counts after some rows have come or gone: only what those rows' queries count is counted again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from rulerank.dataset import Array
from rulerank.rules.engine import Engine, picked
from rulerank.rules.layout import FeatureSets, Layout
from rulerank.rules.tables import Counts, Rows
from rulerank.rules.votes import Training

ALONE = 2_000_000  # steps that one thread takes sooner than it hands over half of them
AnyEngine = TypeVar("AnyEngine", bound=Engine)


def with_changed_rows(
    engine: AnyEngine,
    layout: Layout,
    training: Training,
    *,
    before: Rows | None,
    after: Rows | None,
    everything: Callable[[], Rows],
) -> AnyEngine:
    """Return what the engine would be had it learned from the changed rows, given its new layout and training.

    before, after: all rows of the queries that have changed, as they were and as they are; None: there were none.
    everything: gives all rows, asked for only where feature sets must be counted that were not before.
    """
    counts = engine.all_counts()
    if before is not None:
        n_jobs = threads_for(before.n_rows * engine.layout.n_sets, engine.n_jobs)
        counts = counts - engine.count(before, engine.layout, engine.scheme, n_jobs)
    moved, fresh = carried_over(counts, engine.layout, layout)
    if after is not None:
        n_jobs = threads_for(after.n_rows * layout.n_sets, engine.n_jobs)
        moved = moved + engine.count(after, layout, engine.scheme, n_jobs)
    if any(mask.any() for mask in fresh):
        rows, n_fresh = everything(), sum(int(mask.sum()) for mask in fresh)
        n_jobs = threads_for(rows.n_rows * n_fresh, engine.n_jobs)
        counter = engine.counter(rows, layout.n_bins, engine.scheme, n_jobs)
        for block, mask in zip(layout.sets, fresh, strict=True):
            sizes = np.diff(block.offsets)[mask]
            if sizes.size:
                counted = counter.count(FeatureSets(block.features[mask], _starts(sizes)))
                put(counted, ranges(block.offsets[:-1][mask], sizes), moved)
    return type(engine).from_counts(layout, engine.scheme, training, moved, n_jobs=engine.n_jobs)


def threads_for(n_steps: int, n_jobs: int | None) -> int | None:
    """Return the number of threads for so many rows times feature sets: one where they are few."""
    return 1 if n_steps < ALONE else n_jobs


def carried_over(counts: Counts, old: Layout, new: Layout) -> tuple[Counts, list[Array]]:
    """Return the counts of one layout in another, zeros where it had none, and which sets of each size are new.

    >>> counts = Counts(np.arange(8, dtype=np.int32).reshape(4, 2), np.arange(4))
    >>> moved, fresh = carried_over(counts, Layout.over([2, 2], 1), Layout.over([3, 2], 1))
    >>> moved.grades[:, 0].tolist(), [mask.tolist() for mask in fresh]
    ([0, 0, 0, 4, 6], [[True, False]])
    """
    used = old.sets[0].features[:, 0] if old.sets else np.zeros(0, dtype=np.int32)
    same = np.zeros(new.n_bins.size, dtype=np.bool_)
    same[used] = old.n_bins[used] == new.n_bins[used]
    cells, fresh = [np.zeros(0, dtype=np.int64)], []
    for size, block in enumerate(new.sets):
        known = np.asarray(same[block.features].all(axis=1))
        source = np.full(int(block.offsets[-1] - block.offsets[0]), -1, dtype=np.int64)
        if known.any():  # in both layouts these sets come in the same order
            kept = old.sets[size]
            there = np.isin(kept.features, new.sets[0].features).all(axis=1) & same[kept.features].all(axis=1)
            sizes = np.diff(block.offsets)[known]
            places = ranges(block.offsets[:-1][known] - block.offsets[0], sizes)
            source[places] = ranges(kept.offsets[:-1][there], sizes)
        cells.append(source)
        fresh.append(~known)
    return picked(counts, np.concatenate(cells)), fresh


def put(counts: Counts, cells: Array, out: Counts) -> None:
    """Write the counts of some cells into those of all."""
    for source, target in zip(vars(counts).values(), vars(out).values(), strict=True):
        if len(target):
            target[cells] = source


def ranges(firsts: Array, sizes: Array) -> Array:
    """Return the numbers of ranges one after the other.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    starts = _starts(sizes)
    found: Array = np.arange(starts[-1]) + np.repeat(firsts - starts[:-1], sizes)
    return found


def _starts(sizes: Array) -> Array:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
