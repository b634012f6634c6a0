"""Read the folds of a cross-validation as LETOR lays them out: Fold1/train.txt, Fold1/vali.txt, Fold1/test.txt, ..."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from rulerank.core.words import listed
from rulerank.dataset import Dataset, Fold
from rulerank.errors import DataError, ReadError
from rulerank.io.formats import read_found
from rulerank.io.letor import read_letor, widen

PARTS = {"train": "trainingset", "vali": "validationset", "test": "testset"}  # and the name LETOR 2 has for each
FOLD_NAME = re.compile(r"fold[-_ ]?(\d+)", re.IGNORECASE)


def read_folds(directory: str | os.PathLike[str]) -> list[Fold]:
    """Read Fold1, Fold2, ... of a directory in the order of their numbers, or the directory itself as one fold.

    A fold has train, vali and test, or trainingset, validationset and testset: upper or lower case, with or without
    .txt, plain or as .gz. Its three parts get the same features, as many as the widest of them has.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     for part in ("train", "vali", "test"):
    ...         _ = Path(directory, f"{part}.txt").write_text("1 qid:1 1:0.5\\n")
    ...     [fold] = read_folds(directory)
    >>> fold.train
    Dataset(1 row, 1 query, 1 feature, grades 1: 1)
    """
    root = Path(directory)
    matches = [(path, FOLD_NAME.fullmatch(path.name)) for path in _entries(root) if path.is_dir()]
    numbers = {path: int(match[1]) for path, match in matches if match}
    if len({*numbers.values()}) < len(numbers):
        raise ReadError(str(root), None, f"expected each fold once, got {listed([path.name for path in numbers])}")
    return [_read_fold(path) for path in sorted(numbers, key=lambda path: numbers[path])] or [_read_fold(root)]


def _read_fold(folder: Path) -> Fold:
    files, parts = [path for path in _entries(folder) if path.is_file()], {}
    for part, other in PARTS.items():
        found = [path for path in files if path.name.lower().removesuffix(".gz").removesuffix(".txt") in (part, other)]
        if len(found) != 1:
            there = listed([path.name for path in found or _entries(folder)], most=8) or "an empty directory"
            what = f"expected folders Fold1, Fold2, ... or one file {part}.txt or {other}.txt (.gz), got {there}"
            raise ReadError(str(folder), None, what)
        parts[part] = read_letor(found[0])
    n_features = max(data.X.shape[1] for data in parts.values())
    return Fold(folder.resolve().name, **{part: widen(data, n_features) for part, data in parts.items()})


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise ReadError(str(folder), None, f"expected a directory with folds: {error.strerror}") from None


def read_graded(source: str | os.PathLike[str], format: str | None = None, **columns: Any) -> Dataset:
    """Read the graded documents of one file, which must have features; columns as in `read_any`."""
    data, name, _ = read_found(source, format, graded=True, **columns)
    if not data.X.shape[1]:
        raise DataError(f"{name} has no features: expected LETOR text, or a table with columns of numbers")
    return data.labelled()
