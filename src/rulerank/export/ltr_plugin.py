"""A model for the learning-to-rank plugins of OpenSearch and of Elasticsearch, which share an origin.

Trees go in as `model/xgboost+json`: a float32 value goes left when it is less than the threshold, a missing one (NaN,
since OpenSearch 3.3) right in every version, which is where our trees tell missing values from the last bin. The
plugins add in float32, tree after tree.
"""

from __future__ import annotations

import json
from urllib.parse import quote

from rulerank.export import Export, Names
from rulerank.export.form import Form, first_features
from rulerank.export.trees import LARGEST32, float32_at_least, nested, short32

PLUGINS = {"opensearch-ltr": "OpenSearch LTR", "elasticsearch-ltr": "Elasticsearch LTR"}


def export(form: Form, names: Names) -> Export:
    """Return the request that puts the model beside its feature set."""
    weights = form.linear("a search engine")
    if weights is not None:
        own = dict(zip(form.feature_names, weights.tolist(), strict=True))
        model = {"type": "model/linear", "definition": json.dumps(own)}
    else:
        trees = [nested(tree, form.feature_names, float32_at_least, short32) for tree in form.with_base]
        model = {"type": "model/xgboost+json", "definition": json.dumps(trees)}
    request = f"POST /_ltr/_featureset/{quote(names.feature_set, safe='')}/_createmodel"
    return Export(request, {"model": {"name": names.model, "model": model}}, notes=_notes(form, names))


def _notes(form: Form, names: Names) -> tuple[str, ...]:
    target = names.target
    notes = [
        first_features("feature set", f"POST /_ltr/_featureset/{quote(names.feature_set, safe='')}", form),
        f"{PLUGINS[target]} adds in float32: scores equal predict to about seven digits",
    ]
    votes = form.missing_votes()
    if votes:
        shown = ", ".join(votes[:5]) + (", ..." if len(votes) > 5 else "")
        since = " before version 3.3, and with missing_as_zero" if target == "opensearch-ltr" else ""
        notes.append(
            f"{PLUGINS[target]} puts 0 in the place of a missing value{since}, and for {len(votes)} features the model "
            f"votes otherwise: {shown}; train with 0 where the engine has none, or give those features a default that "
            f"no document has ({LARGEST32:.8g} counts as missing)"
        )
    return tuple(notes)
