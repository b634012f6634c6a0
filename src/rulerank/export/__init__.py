"""Models as other systems read them.

`TARGETS` says which file of this folder writes for which system. Such a file has a function
`export(ranker, to, model_name, feature_set) -> Export`, which refuses what it cannot write exactly. It is loaded when
it is asked for.
"""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass
from typing import Any

from rulerank.errors import DataError

__all__ = ["TARGETS", "Export", "export_model"]

TARGETS = {"opensearch-ltr": "linear", "elasticsearch-ltr": "linear", "solr-ltr": "linear"}  # name -> file


@dataclass(frozen=True)
class Export:
    """A model as another system takes it."""

    request: str  # how to send the document, such as POST /_ltr/...
    document: dict[str, Any]

    def to_json(self) -> str:
        """Return the document, weights with all their digits."""
        return json.dumps(self.document, indent=2)


def export_model(ranker: Any, to: str, *, model_name: str = "rulerank", feature_set: str = "rulerank") -> Export:
    """Return the document that makes a search engine score as the ranker does.

    The engine must have a feature set (Solr: a feature store) with features of the model's names and values.

    >>> from rulerank.rankers.linear.query_intercepts import QueryIntercepts
    >>> ranker = QueryIntercepts().fit([[0, 1], [1, 0], [1, 1], [0, 0], [1, 1]], [0, 0, 1, 1, 0])
    >>> made = export_model(ranker, "solr-ltr", model_name="mine", feature_set="title")
    >>> made.request
    'PUT /solr/COLLECTION/schema/model-store'
    >>> made.document["store"], made.document["features"]
    ('title', [{'name': 'f1'}, {'name': 'f2'}])
    """
    if to not in TARGETS:
        raise DataError(f"unknown search engine {to!r}; choose from {', '.join(TARGETS)}")
    for option, name in (("model_name", model_name), ("feature_set", feature_set)):
        if not name.strip():
            raise DataError(f"{option} must not be empty")
    made: Export = importlib.import_module(f"rulerank.export.{TARGETS[to]}").export(ranker, to, model_name, feature_set)
    return made
