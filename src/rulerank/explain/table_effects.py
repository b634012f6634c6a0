"""What a sum of tables makes of features: curves that can be read, pairs, and what would change a score."""

from __future__ import annotations

import math

import numpy as np

from rulerank.ballots import TableForm
from rulerank.core.intervals import in_words, on_scale, written_cuts
from rulerank.dataset import Array
from rulerank.explain.changes import Change
from rulerank.explain.effects import BinEffect, Interaction, point_of

POINTS = 10  # of a curve: neighbouring bins are shown as one


def table_curve(form: TableForm, X: Array, feature: int, n_scored: int) -> tuple[BinEffect, ...]:
    """Score documents with one feature at the middle value of each of some intervals, missing last."""
    found = form.finest(feature)
    if found is None:
        return ()
    name, kinds = form.names[feature], form.tables.categories.get(form.names[feature])
    cuts = form.tables.tables[found[0]].cuts[found[1]]
    values = X[:, feature].astype(np.float64)
    known = values[~np.isnan(values)]
    if kinds is None:
        cuts = _fewer(cuts, known)
        shown = written_cuts(cuts, dates=name in form.dates and form.scale is None)
    bins = np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(cuts, values, side="right"))
    places = np.linspace(0, len(X) - 1, min(n_scored, len(X))).astype(np.int64)
    counts = np.bincount(bins, minlength=len(cuts) + 2)
    here = np.flatnonzero(counts)
    if kinds is not None:  # the most frequent ones
        here = np.sort(np.argsort(-counts, kind="stable")[: min(POINTS, here.size)])
    points = []
    for bin in here.tolist():
        changed = X[places].copy()
        changed[:, feature] = np.median(values[bins == bin]) if bin <= len(cuts) else np.nan
        text = (
            form.item_text(*found, bin) if kinds is not None else on_scale(in_words(name, bin, shown), name, form.scale)
        )
        points.append(point_of(text, float((bins == bin).mean()), form.score(changed)))
    return tuple(points)


def _fewer(cuts: Array, values: Array) -> Array:
    """Return some of the cuts, such that about equally many values lie between them."""
    if len(cuts) < POINTS or not values.size:
        return cuts
    below = np.searchsorted(np.sort(values), cuts) / values.size
    wanted = np.arange(1, POINTS) / POINTS
    kept = np.unique([int(np.abs(below - share).argmin()) for share in wanted])
    return cuts[kept]


def table_interactions(form: TableForm, X: Array, most: int = 10) -> tuple[Interaction, ...]:
    """Return the tables of pairs that move the scores of documents most, and the cell of each where it shows most."""
    found = []
    for t, table in enumerate(form.tables.tables):
        if len(table.features) != 2:
            continue
        bins = [
            np.where(np.isnan(X[:, f]), len(cuts) + 1, np.searchsorted(cuts, X[:, f], side="right"))
            for f, cuts in zip(table.features, table.cuts, strict=True)
        ]
        counts = np.zeros(table.votes.shape)
        np.add.at(counts, tuple(bins), 1)
        i, j = np.unravel_index(int((np.sqrt(counts) * np.abs(table.votes)).argmax()), counts.shape)
        a, b = (form.names[f] for f in table.features)
        found.append(
            Interaction(
                (a, b),
                math.sqrt(float((counts * table.votes**2).sum()) / max(1.0, float(counts.sum()))),
                (form.item_text(t, 0, int(i)), form.item_text(t, 1, int(j))),
                float(table.votes[i, j]),
                int(counts[i, j]),
            )
        )
    return tuple(sorted(found, key=lambda one: -one.strength)[:most])


def table_changes(form: TableForm, values: Array, above: float) -> tuple[Change, ...]:
    """Try every bin of every feature; a value is never asked to go missing."""
    own = float(form.score(values[None, :])[0])
    if own > above:
        return ()
    changes: list[tuple[tuple[float, float], Change]] = []
    for feature, name in enumerate(form.names):
        found = form.finest(feature)
        if found is None:
            continue
        kinds = form.tables.categories.get(name)
        cuts = form.tables.tables[found[0]].cuts[found[1]]
        now = len(cuts) + 1 if np.isnan(values[feature]) else int(np.searchsorted(cuts, values[feature], side="right"))
        bins = np.array([bin for bin in range(len(cuts) + (kinds is None)) if bin != now], dtype=np.int64)
        if not bins.size:
            continue
        tried = np.repeat(values[None, :].astype(np.float64), bins.size, axis=0)
        tried[:, feature] = [_value_in(bin, now, cuts, kinds is not None) for bin in bins.tolist()]
        scores = form.score(tried)
        if not (scores > above).any():
            continue
        loose = kinds is not None or now > len(cuts)  # no distance is known
        away = np.ones(bins.size) if loose else np.abs(bins - now)
        best = min(np.flatnonzero(scores > above).tolist(), key=lambda i: (away[i], -scores[i]))
        move = math.nan if loose else float(tried[best, feature] - values[feature])
        scale = float(cuts[-1] - cuts[0]) if len(cuts) > 1 else 1.0
        texts = [form.item_text(*found, bin) for bin in (now, int(bins[best]))]
        change = Change(name, texts[0], texts[1], int(away[best]), move, float(scores[best]))
        changes.append(((float(away[best]), math.inf if loose else abs(move) / scale), change))
    return tuple(change for _, change in sorted(changes, key=lambda pair: pair[0]))


def _value_in(bin: int, now: int, cuts: Array, codes: bool) -> float:
    """Return a value that lies in a bin, the nearest to where the document is."""
    if codes:
        return float(bin)
    if not len(cuts):  # missing is all that it tells apart
        return 0.0
    upward = bin > now or bin == len(cuts)
    return float(cuts[bin - 1]) if upward else float(np.nextafter(cuts[bin], -np.inf))
