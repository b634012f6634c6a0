"""Read the documents of a command, with the features of a model or of other documents."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rulerank.dataset import Dataset
from rulerank.errors import DataError
from rulerank.io.convert import HEAD, detect, read_any
from rulerank.io.streams import read_bytes


@dataclass(frozen=True)
class Documents:
    """What a file holds; a LETOR file leaves features out where they are 0, at the end too."""

    name: str
    data: Dataset
    is_letor: bool

    def with_features(self, names: Sequence[str]) -> Dataset:
        """Return the documents with these features in this order, or say which are missing."""
        data = self.data
        n_missing = len(names) - data.X.shape[1]
        if self.is_letor and n_missing > 0:
            data = replace(data, X=np.pad(data.X, ((0, 0), (0, n_missing))), feature_names=())
        place = {name: i for i, name in enumerate(data.feature_names)}
        missing = [name for name in names if name not in place]
        if missing:
            shown = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
            raise DataError(f"{self.name} lacks {len(missing)} of the {len(names)} features needed: {shown}")
        if data.feature_names == tuple(names):
            return data
        return replace(data, X=data.X[:, [place[name] for name in names]], feature_names=tuple(names))


class _NamedBytes(io.BytesIO):
    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = name


def read_documents(source: str, format: str | None, columns: dict[str, Any]) -> Documents:
    """Read a file in any format that holds documents; - is stdin."""
    content, name = read_bytes(source)
    data = read_any(_NamedBytes(content, name), format, **columns)
    if not data.X.shape[1]:
        raise DataError(f"{name} has no features: expected LETOR text, or a table with columns of numbers")
    return Documents(name, data, (format or detect(name, content[:HEAD])) == "letor")


def read_together(sources: Sequence[str], format: str | None, columns: dict[str, Any]) -> Dataset:
    """Read several files with the same features as one; those of the first, or of the widest when all are LETOR."""
    found = [read_documents(source, format, columns) for source in sources]
    names = found[0].data.feature_names
    if all(documents.is_letor for documents in found):
        names = max((documents.data.feature_names for documents in found), key=len)
    return Dataset.concat([documents.with_features(names) for documents in found])
