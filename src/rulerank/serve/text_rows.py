"""Documents that are texts as rows that a ranker scores: candidates of the index, ids, and dicts of fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rulerank.core.checks import is_whole
from rulerank.core.parameters import shown
from rulerank.core.words import listed
from rulerank.dataset import Dataset
from rulerank.errors import DataError
from rulerank.features.text_features import TextFeatures
from rulerank.serve.feature_rows import FEATURES, ID, FeatureRows, feature_matrix, ids_in, numbered

ENGINE = ("engine_rank", "engine_score")  # features that no text has: an engine's answer brings them along


def brought_along(names: Sequence[str], features: TextFeatures) -> tuple[str, ...]:
    """Return the features of a ranker that documents must bring beside their texts."""
    return tuple(name for name in names if name in ENGINE and name not in features.feature_names_)


def rows_of_texts(
    features: TextFeatures,
    query: str,
    docs: list[Any] | None,
    brought: tuple[str, ...],
    *,
    candidates: int,
    vectors: Mapping[str, Sequence[float]] | None,
) -> FeatureRows:
    """Return the features of a query and its documents: ids, dicts of fields, or the index's own for None.

    Dicts that name no field are documents of the index, by their ids. brought: see `brought_along`.
    """
    if docs is None and not is_whole(candidates, 1):
        raise DataError(f"candidates must be a whole number from 1: got {shown(candidates)}")
    if docs == []:
        return FeatureRows(None, ())
    dicts = docs if docs and isinstance(docs[0], Mapping) else None
    if brought and dicts is None:
        raise DataError(
            f"the ranker reads {listed(brought)}, which documents must bring: give docs as dicts, such as "
            f'{{"id": .., "{brought[0]}": ..}} for documents of the index'
        )
    asked = docs
    in_index = dicts is not None and _named_only(dicts, features)
    if dicts is not None and in_index:
        asked = [str(doc[ID]) for doc in dicts]
    data = features.for_query(query, asked, top=candidates, vectors=vectors)
    if dicts is None:
        return FeatureRows(data, numbered(data.docid, len(data)))
    if brought:
        data = _with_columns(data, brought, dicts)
    if in_index:
        read = {name: texts for name, texts in data.texts.items() if name != "query_text"}
        dicts = [{name: texts[row] for name, texts in read.items()} | dict(doc) for row, doc in enumerate(dicts)]
    return FeatureRows(data, ids_in(dicts), dicts)


def as_docs(docs: Any) -> list[Any]:
    """Return ids, whole numbers among them as text, or dicts of fields."""
    if isinstance(docs, str | bytes | Mapping) or not hasattr(docs, "__iter__"):
        raise DataError(f"docs must be a list of ids or of dicts of fields: got one {type(docs).__name__}")
    if hasattr(docs, "columns"):  # a data frame, of Polars or pandas
        docs = docs.to_dicts() if hasattr(docs, "to_dicts") else docs.to_dict("records")
    given = [str(doc) if is_whole(doc, 0) else doc for doc in docs]
    for place, doc in enumerate(given):
        if not isinstance(doc, str | Mapping) or isinstance(doc, str) != isinstance(given[0], str):
            raise DataError(
                f"docs must be ids, or dicts of fields, all of one kind: number {place} is a {type(doc).__name__}, "
                f"the first a {type(given[0]).__name__}"
            )
    return given


def bring_features(docs: list[Any], features: TextFeatures) -> bool:
    """Tell whether documents bring all their features along, {"id": .., "features": {..}}, instead of texts."""
    if any(field.name == FEATURES for field in features.fields_):
        return False
    n_ready = sum(isinstance(doc, Mapping) and isinstance(doc.get(FEATURES), Mapping) for doc in docs)
    if 0 < n_ready < len(docs):
        raise DataError(f"docs must all bring {FEATURES}, or none of them: {n_ready} of {len(docs)} do")
    return n_ready > 0


def _named_only(dicts: Sequence[Mapping[str, Any]], features: TextFeatures) -> bool:
    """Tell whether dicts have ids and not a single field."""
    fields = {field.name for field in features.fields_}
    return all(doc.get(ID) is not None and fields.isdisjoint(doc) for doc in dicts)


def _with_columns(data: Dataset, names: tuple[str, ...], dicts: Sequence[Mapping[str, Any]]) -> Dataset:
    more = feature_matrix(dicts, names, {})
    return replace(data, X=np.column_stack((data.X, more)), feature_names=(*data.feature_names, *names))
