"""Pairs of features whose rules say more together than the two say apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import chdtri

from rulerank.dataset import Array
from rulerank.rules.engine import Engine
from rulerank.rules.tables import UNIT

CHANCE = 0.001  # pairs without any interaction that pass for one


@dataclass(frozen=True, slots=True)
class Interaction:
    """Two features whose cells are not the sum of what each feature says alone."""

    features: tuple[str, str]
    strength: float  # deviation of the cells from the sum, in grades, over all training rows; chance taken off
    cell: tuple[str, str]  # the items where it shows most
    excess: float  # mean grade there above what the two say apart
    n_rows: int  # training rows there


def interactions(engine: Engine, item_text: Any, names: tuple[str, ...], most: int = 10) -> tuple[Interaction, ...]:
    """Return the strongest interactions of the training rows, or none if pairs are not counted or not kept."""
    if engine.counts is None or len(engine.layout.sets) < 2:
        return ()
    found = []
    block, n_bins = engine.layout.sets[1], engine.layout.n_bins
    shares = engine.training.n_by_grade / engine.training.n_by_grade.sum()
    levels = np.arange(shares.size)
    noise = float(shares @ levels**2 - (shares @ levels) ** 2)
    expected = engine.counts.expected
    for place, (a, b) in enumerate(block.features.tolist()):
        own = slice(int(block.offsets[place]), int(block.offsets[place + 1]))
        by_grade = engine.counts.grades[own]
        rows = by_grade.sum(axis=1)
        usual = expected[own] * UNIT if len(expected) else rows * engine.training.mean_grade
        lift = np.divide(by_grade @ levels - usual, rows, out=np.zeros(len(rows)), where=rows > 0)
        residual, n_free = beyond_sum(lift.reshape(n_bins[a], n_bins[b]), rows.reshape(n_bins[a], n_bins[b]))
        squares = float((rows.reshape(residual.shape) * residual**2).sum())
        if n_free > 0 and squares > noise * chdtri(n_free, CHANCE):
            weight = np.sqrt(rows).reshape(residual.shape) * np.abs(residual)
            i, j = np.unravel_index(int(weight.argmax()), residual.shape)
            found.append(
                Interaction(
                    (names[a], names[b]),
                    math.sqrt((squares - noise * n_free) / rows.sum()),
                    (item_text(a, int(i)), item_text(b, int(j))),
                    float(residual[i, j]),
                    int(rows.reshape(residual.shape)[i, j]),
                )
            )
    return tuple(sorted(found, key=lambda one: -one.strength)[:most])


def beyond_sum(lift: Array, rows: Array) -> tuple[Array, int]:
    """Return what the sum of row and column effects, fitted to all rows, leaves of each cell; and the cells left free.

    >>> residual, n_free = beyond_sum(np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([[1, 1], [1, 1]]))
    >>> residual.round(2).tolist(), n_free
    ([[0.25, -0.25], [-0.25, 0.25]], 1)
    """
    i, j = np.nonzero(rows)
    design = np.zeros((i.size, sum(lift.shape)))
    design[np.arange(i.size), i] = 1.0
    design[np.arange(i.size), lift.shape[0] + j] = 1.0
    weight = np.sqrt(rows[i, j])
    fitted, _, rank, _ = np.linalg.lstsq(design * weight[:, None], lift[i, j] * weight, rcond=None)
    residual = np.zeros(lift.shape)
    residual[i, j] = lift[i, j] - design @ fitted
    return residual, i.size - int(rank)
