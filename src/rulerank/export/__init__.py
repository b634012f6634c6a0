"""Models as other systems read them.

`TARGETS` says which file of this folder writes for which system. Such a file has a function
`export(form, names) -> Export`. `form.py` turns a ranker into a sum, or says why it is none; `trees.py` turns tables
into trees; `check.py` compares what a system answered.
"""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from rulerank._util.words import counted
from rulerank.errors import DataError

__all__ = ["TARGETS", "Export", "export_model"]

TARGETS = {  # name: file
    "xgboost": "xgboost",
    "lightgbm": "lightgbm",
    "onnx": "onnx",
    "opensearch-ltr": "ltr_plugin",
    "elasticsearch-ltr": "ltr_plugin",
    "elasticsearch": "elasticsearch",
    "solr-ltr": "solr",
    "vespa": "vespa",
    "sql": "sql",
    "python": "python",
}
MAPS_NAMES = ("sql", "python")  # what is written for them takes the names of categories; the others take codes
SHOWN_NAMES = 20  # of a category, in a note


class Names(NamedTuple):
    """What things are called in the other system."""

    target: str
    model: str
    feature_set: str


@dataclass(frozen=True, repr=False)
class Export:
    """A model in the format of another system."""

    request: str  # what to do with the document, such as POST /_ltr/...
    document: dict[str, Any] | str | bytes
    features: tuple[str, ...] = ()  # what the system must give to the model, by name and in order
    notes: tuple[str, ...] = ()  # what to know before trusting it
    categories: dict[str, Any] = field(default_factory=dict)  # feature: its names, in the order of their codes from 0,
    # and the codes of other names and of missing values; empty where the document maps names by itself

    def __repr__(self) -> str:
        return f"Export({self.request!r}, {len(self.to_bytes()):,} bytes, {counted(len(self.notes), 'note')})"

    def to_json(self) -> str:
        """Return a document of names and values as JSON, numbers with all their digits."""
        if not isinstance(self.document, dict):
            raise DataError("this document is not a JSON object; use `document`")
        return json.dumps(self.document, indent=2)

    def to_bytes(self) -> bytes:
        """Return the document as it goes into a file."""
        if isinstance(self.document, bytes):
            return self.document
        text = self.document if isinstance(self.document, str) else json.dumps(self.document)
        return (text if text.endswith("\n") else f"{text}\n").encode()


def export_model(ranker: Any, to: str, *, model_name: str = "rulerank", feature_set: str = "rulerank") -> Export:
    """Export a ranker to another system, with the same scores.

    to: one of `TARGETS`. A search engine must have a feature set (Solr: a feature store) with features of these names,
        which give what the model was trained on: `features` lists them, `notes` explains missing values and
        categories.

    >>> from rulerank.rankers.linear.query_intercepts import QueryIntercepts
    >>> ranker = QueryIntercepts().fit([[0, 1], [1, 0], [1, 1], [0, 0], [1, 1]], [0, 0, 1, 1, 0])
    >>> made = export_model(ranker, "solr-ltr", model_name="mine", feature_set="title")
    >>> made.request
    'PUT /solr/COLLECTION/schema/model-store'
    >>> made.document["store"], made.document["features"]
    ('title', [{'name': 'f1'}, {'name': 'f2'}])
    """
    from rulerank.export.form import form_of

    if to not in TARGETS:
        raise DataError(f"unknown target {to!r}; choose from {', '.join(TARGETS)}")
    for option, name in (("model_name", model_name), ("feature_set", feature_set)):
        if not name.strip():
            raise DataError(f"{option} must not be empty")
    form = form_of(ranker)
    made: Export = importlib.import_module(f"rulerank.export.{TARGETS[to]}").export(
        form, Names(to, model_name, feature_set)
    )
    codes = {} if to in MAPS_NAMES else form.codes()
    notes = [*made.notes, *(_about_codes(name, own) for name, own in codes.items())]
    notes += [f"{name!r} is a date: give days since 1970-01-01" for name in getattr(ranker, "dates_", ())]
    return replace(made, features=form.feature_names, notes=tuple(notes), categories=codes)


def _about_codes(feature: str, codes: dict[str, Any]) -> str:
    """Say what a system that takes numbers must be given for a category."""
    names = codes["names"]
    shown = ", ".join(f"{name!r} is {code}" for code, name in enumerate(names[:SHOWN_NAMES]))
    more = (
        f", ... ({len(names):,} names, all of them in `categories` of the export)" if len(names) > SHOWN_NAMES else ""
    )
    missing = "a missing value is left out" if codes["missing"] is None else f"a missing value {codes['missing']}"
    return f"{feature!r} is a category: give its code: {shown}{more}; any other name is {codes['other']}, {missing}"
