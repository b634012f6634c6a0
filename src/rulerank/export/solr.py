"""A model for Apache Solr's learning-to-rank module: MultipleAdditiveTreesModel, or LinearModel.

A float32 value goes left when it is at most the threshold, to which Solr adds 1e-6 in float32 first. So we look for the
threshold that lands on the float32 just below a cut. Solr has no missing values: features have defaults. NaN goes
right.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rulerank.export import Export, Names
from rulerank.export.form import Form, first_features
from rulerank.export.trees import LARGEST32, Leaf, Tree, float32_at_least

SLACK = np.float32(1e-6)


def export(form: Form, names: Names) -> Export:
    """Return the model as Solr's model store takes it."""
    weights = form.linear("a search engine")
    head = {
        "store": names.feature_set,
        "name": names.model,
        "features": [{"name": name} for name in form.feature_names],
    }
    first = first_features("features", "PUT /solr/COLLECTION/schema/feature-store", form)
    if weights is not None:
        own = dict(zip(form.feature_names, weights.tolist(), strict=True))
        document = {"class": "org.apache.solr.ltr.model.LinearModel", **head, "params": {"weights": own}}
        notes: tuple[str, ...] = (first,)
    else:
        moved: set[tuple[int, float]] = set()
        trees = [{"weight": "1", "root": _node(tree, form.feature_names, moved)} for tree in form.with_base]
        document = {"class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel", **head, "params": {"trees": trees}}
        notes = (first, *_notes(form, moved))
    return Export("PUT /solr/COLLECTION/schema/model-store", document, notes=notes)


def _node(tree: Tree, feature_names: tuple[str, ...], moved: set[tuple[int, float]]) -> dict[str, Any]:
    if isinstance(tree, Leaf):
        return {"value": str(np.float32(tree.value))}
    if tree.cut == math.inf:
        threshold = np.float32(LARGEST32)
    else:
        below = np.nextafter(np.float32(float32_at_least(tree.cut)), np.float32(-np.inf))
        threshold, compared = threshold_for(below)
        if compared != below:
            moved.add((tree.feature, tree.cut))
    return {
        "feature": feature_names[tree.feature],
        "threshold": str(threshold),
        "left": _node(tree.left, feature_names, moved),
        "right": _node(tree.right, feature_names, moved),
    }


def threshold_for(wanted: np.float32) -> tuple[np.float32, np.float32]:
    """Return the threshold to write, and what Solr compares with: 1e-6 more, the wanted float32 or the nearest below.

    >>> float(threshold_for(np.float32(0.5))[1])
    0.5
    """
    low = high = np.float32(wanted - SLACK)
    tried = [low]
    with np.errstate(over="ignore"):
        for _ in range(4):
            low, high = np.nextafter(low, np.float32(-np.inf)), np.nextafter(high, np.float32(np.inf))
            tried += [low, high]
        pairs = [(one, np.float32(one + SLACK)) for one in tried if np.isfinite(one)]
    return max((pair for pair in pairs if pair[1] <= wanted), key=lambda pair: pair[1])


def _notes(form: Form, moved: set[tuple[int, float]]) -> tuple[str, ...]:
    notes = ["Solr adds in float32: scores equal predict to about seven digits"]
    if moved:
        feature, cut = min(moved)
        notes.append(
            f"{len(moved)} cuts lie so near 0 that Solr, which adds 1e-6 to thresholds, places them up to 1e-13 lower, "
            f"such as {form.feature_names[feature]} at {cut:.3g}: multiply such features by 1,000 and train again"
        )
    votes = form.missing_votes()
    if votes:
        shown = ", ".join(votes[:5]) + (", ..." if len(votes) > 5 else "")
        notes.append(
            f"Solr knows no missing values, features have a default (0), and for {len(votes)} features the model votes "
            f"otherwise for a missing value than for 0: {shown}; train with 0 where Solr has none"
        )
    return tuple(notes)
