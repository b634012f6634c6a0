"""Files of documents, read with the features of a model or of each other: matched by name, as `predict` does."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rulerank.core.words import counted
from rulerank.dataset import Dataset
from rulerank.errors import DataError
from rulerank.io.formats import read_found
from rulerank.io.letor import widen
from rulerank.rankers.rows import columns_of


@dataclass(frozen=True)
class DocumentFile:
    """What a file holds; a LETOR file leaves features out where they are 0, at the end too."""

    name: str
    data: Dataset
    is_letor: bool

    def with_features(self, names: Sequence[str]) -> Dataset:
        """Return the documents with these features in this order, or say which are missing."""
        data, n_features = self.data, self.data.X.shape[1]
        if self.is_letor and n_features < len(names):
            wide = widen(data, len(names))
            if wide.feature_names == tuple(names):  # and not the names of a table, which no LETOR file has
                data = wide
                warnings.warn(
                    f"{self.name} has {counted(n_features, 'feature')} and {len(names)} are needed: "
                    f"the last {len(names) - n_features} are taken as 0",
                    stacklevel=2,
                )
        try:
            return replace(data, X=columns_of(data, tuple(names)), feature_names=tuple(names))
        except DataError as error:
            raise DataError(f"{self.name}: {error}") from None


def read_documents(
    source: str,
    format: str | None,
    columns: dict[str, Any],
    *,
    graded: bool = False,
    wanted: Collection[str] | None = None,
) -> DocumentFile:
    """Read a file in any format that holds documents; - is stdin. With `graded`, a table must have grades.

    wanted: the features of the model that will score them; what else a table has was said when it was trained.
    """
    data, name, found = read_found(source, format, graded=graded, wanted=wanted, **columns)
    if not data.X.shape[1]:
        raise DataError(f"{name} has no features: expected LETOR text, or a table with columns of numbers")
    return DocumentFile(name, data, found == "letor")


def read_together(sources: Sequence[str], format: str | None, columns: dict[str, Any]) -> Dataset:
    """Read several files of graded documents as one; its features are the first's, or the widest's if all are LETOR."""
    found = [read_documents(source, format, columns, graded=True) for source in sources]
    names = found[0].data.feature_names
    if all(file.is_letor for file in found):
        names = max((file.data.feature_names for file in found), key=len)
    return Dataset.concat([file.with_features(names) for file in found])
