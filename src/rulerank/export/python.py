"""A model as one Python file that needs nothing but Python: `score(features)` reproduces predict."""

from __future__ import annotations

import math

from rulerank.export import Export, Names
from rulerank.export.form import Form

HEAD = '''"""{kind} by rulerank: score(features) gives what predict gives. Needs nothing but Python."""

from bisect import bisect_right
from math import isnan, nan

FEATURES = {names!r}
CODES = {codes!r}  # of the names of categories; any other name has the code after the last
BASE = {base!r}


def value_of(features, name):
    """Return a feature as a number, NaN where it is missing: absent, None or NaN; a category is given by its name."""
    value = features.get(name)
    if value is None or value != value:
        return nan
    if name not in CODES:
        return float(value)
    if not isinstance(value, str):
        raise TypeError(f"{{name!r}} is a category, not a number: give its name, got {{value!r}}")
    return CODES[name].get(value, nan if value == "" else len(CODES[name]))

'''
TABLES = '''
CUTS = [{cuts}]
# (places of its axes in AXES, their strides), votes by cell
AXES = {axes!r}  # (feature, cuts)
TABLES = [
{tables}
]


def score(features):
    """Return the score of a document, given as a mapping from feature names to values."""
    bins = []
    for feature, cuts in AXES:
        value = value_of(features, FEATURES[feature])
        bins.append(len(CUTS[cuts]) + 1 if isnan(value) else bisect_right(CUTS[cuts], value))
    total = BASE
    for axes, strides, votes in TABLES:
        total += votes[sum(bins[axis] * stride for axis, stride in zip(axes, strides))]
    return total
'''
LINEAR = '''
WEIGHTS = {weights!r}
FILL = {fill!r}  # what stands for a missing value; None: nothing does


def score(features):
    """Return the score of a document, given as a mapping from feature names to values."""
    total = BASE
    for place, (name, weight) in enumerate(zip(FEATURES, WEIGHTS)):
        value = value_of(features, name)
        if isnan(value) and FILL is not None:
            value = FILL[place]
        total += value * weight
    return total
'''


def export(form: Form, names: Names) -> Export:
    """Return the file."""
    weights = form.linear("Python", fills=True)
    if weights is not None:
        fill = form.tables.fill
        body = LINEAR.format(weights=weights.tolist(), fill=None if fill is None else fill.tolist())
    else:
        form = form.on_grid()
        body = _tables(form)
    codes = {name: {kind: code for code, kind in enumerate(kinds)} for name, kinds in form.categories.items()}
    text = HEAD.format(kind=form.kind, names=list(form.feature_names), codes=codes, base=form.tables.base) + body
    return Export("import the file and call score({'feature': value, ...})", text)


def _tables(form: Form) -> str:
    lists: dict[tuple[float, ...], int] = {}
    axes: dict[tuple[int, int], int] = {}
    rows = []
    for table in form.tables.tables:
        own = []
        for feature, cuts in zip(table.features, table.cuts, strict=True):
            place = lists.setdefault(tuple(cuts.tolist()), len(lists))
            own.append(axes.setdefault((feature, place), len(axes)))
        shape = table.votes.shape
        strides = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
        rows.append(f"    ({tuple(own)!r}, {strides!r}, {table.votes.ravel().tolist()!r}),")
    cuts_text = "".join(f"\n    {[*one]!r}," for one in lists) + ("\n" if lists else "")
    return TABLES.format(cuts=cuts_text, axes=list(axes), tables="\n".join(rows))
