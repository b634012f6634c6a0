"""Read the folds of a cross-validation as LETOR lays them out: Fold1/train.txt, Fold1/vali.txt, Fold1/test.txt, ..."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from rulerank.dataset import Dataset, Fold
from rulerank.errors import DataError, ReadError
from rulerank.io.formats import read_found
from rulerank.io.letor import read_letor, widen

PARTS = {"train": "trainingset", "vali": "validationset", "test": "testset"}  # and the name LETOR 2 has for each
FOLD_NAME = re.compile(r"fold[-_ ]?(\d+)", re.IGNORECASE)
LISTED = 8  # names of files shown in a message


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
    if not root.is_dir():
        came = "a file" if root.exists() else "nothing of that name"
        raise ReadError(str(root), None, f"expected a directory with folds, got {came}")
    numbered: dict[int, Path] = {}
    for path in _entries(root):
        match = FOLD_NAME.fullmatch(path.name)
        if match and path.is_dir():
            other = numbered.setdefault(int(match[1]), path)
            if other != path:
                raise ReadError(str(root), None, f"expected each fold once, got both {other.name} and {path.name}")
    if numbered:
        return [_read_fold(numbered[number]) for number in sorted(numbered)]
    if not any(_candidates(root, part) for part in PARTS):
        raise ReadError(
            str(root),
            None,
            f"expected Fold1, Fold2, ... or {', '.join(PARTS)} (.txt, .txt.gz ...), got {_listing(root)}",
        )
    return [_read_fold(root)]


def _read_fold(folder: Path) -> Fold:
    paths = {part: _find(folder, part) for part in PARTS}
    parts = {part: read_letor(path) for part, path in paths.items()}
    n_features = max(data.X.shape[1] for data in parts.values())
    return Fold(folder.resolve().name, **{part: widen(data, n_features) for part, data in parts.items()})


def _find(folder: Path, part: str) -> Path:
    found = _candidates(folder, part)
    if not found:
        raise ReadError(str(folder), None, f"expected {part}.txt or {PARTS[part]}.txt, got {_listing(folder)}")
    if len(found) > 1:
        names = " and ".join(path.name for path in found)
        raise ReadError(str(folder), None, f"expected one file for {part}, got {names}; remove or rename the others")
    return found[0]


def _candidates(folder: Path, part: str) -> list[Path]:
    names = {stem + suffix for stem in (part, PARTS[part]) for suffix in ("", ".txt")}
    return [path for path in _entries(folder) if _plain_name(path) in names and path.is_file()]


def _plain_name(path: Path) -> str:
    return path.name.lower().removesuffix(".gz")


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise ReadError(str(folder), None, f"cannot be listed: {error.strerror}") from None


def _listing(folder: Path) -> str:
    names = [path.name for path in _entries(folder)]
    more = [f"and {len(names) - LISTED} more"] if len(names) > LISTED else []
    return ", ".join(names[:LISTED] + more) or "an empty directory"


def read_graded(source: str | os.PathLike[str], format: str | None = None, **columns: Any) -> Dataset:
    """Read the graded documents of one file, which must have features; columns as in `read_any`."""
    data, name, _ = read_found(source, format, graded=True, **columns)
    if not data.X.shape[1]:
        raise DataError(f"{name} has no features: expected LETOR text, or a table with columns of numbers")
    return data.labelled()
