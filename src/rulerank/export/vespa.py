"""A model for Vespa: trees as XGBoost dumps them, for `xgboost("model.json")`, or a ranking expression.

Vespa compares and adds in doubles: `feature < cut`, or `!(feature >= cut)` where missing values go left.
"""

from __future__ import annotations

import json
import re

from rulerank.export import Export, Names
from rulerank.export.form import Form
from rulerank.export.trees import nested

RANK_FEATURE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\([A-Za-z0-9_]+(,[A-Za-z0-9_]+)*\))?(\.[A-Za-z0-9_]+)*")


def export(form: Form, names: Names) -> Export:
    """Return the file that goes into `models/` of the application package, or an expression."""
    weights = form.linear("Vespa")
    columns = [vespa_name(name) for name in form.feature_names]
    notes = []
    renamed = [f"{old!r} is {new}" for old, new in zip(form.feature_names, columns, strict=True) if old != new]
    if renamed:
        notes.append(f"names that are not rank features were changed: {', '.join(renamed[:5])}")
    if weights is not None:
        terms = [f"{weight!r} * {name}" for name, weight in zip(columns, weights.tolist(), strict=True)]
        request = f"save as {names.model}.expression; in the rank profile, expression: file:{names.model}.expression"
        return Export(request, " + ".join(terms), notes=tuple(notes))
    form = form.on_grid()
    text = json.dumps([nested(tree, columns, float, float, missing_left=True) for tree in form.with_base])
    notes.append("Vespa gives 0 for an attribute without a value unless the field says otherwise; NaN is missing")
    request = f'save as models/{names.model}.json; in the rank profile, expression: xgboost("{names.model}.json")'
    return Export(request, text, notes=tuple(notes))


def vespa_name(name: str) -> str:
    """Return a name that can stand in a ranking expression: of a rank feature, or of a function.

    >>> vespa_name("bm25(title)"), vespa_name("title length"), vespa_name("1st")
    ('bm25(title)', 'title_length', 'f_1st')
    """
    if RANK_FEATURE.fullmatch(name):
        return name
    clean = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")
    return clean if re.match(r"[A-Za-z_]", clean) else f"f_{clean}"
