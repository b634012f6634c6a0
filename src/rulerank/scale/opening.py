"""From what a caller names to parts: a folder, a pattern, files, data sets."""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from rulerank.dataset import Dataset
from rulerank.errors import DataError, ReadError
from rulerank.io.columns import is_frame
from rulerank.io.formats import FORMATS, HEAD, detect, known_format
from rulerank.io.streams import format_suffix, is_many, note_input
from rulerank.io.tables import from_part, write_table
from rulerank.rankers.documents import read_documents
from rulerank.scale.part import Columns, DatasetPart, Part, TablePart

LEFT_OUT = (".md", ".json", ".sha256", ".crc")  # files that lie beside data
FEWEST_ROWS = 10_000  # of a part of a file: less is not worth a read of its own


def file_names(source: str | os.PathLike[str]) -> list[str]:
    """Return the files of a folder or a pattern, or the file itself, in the order of their names."""
    name = os.fspath(source)
    if os.path.isdir(name):
        found = sorted(str(path) for path in Path(name).rglob("*") if path.is_file() and not _beside(path, name))
        if not found:
            raise DataError(f"{name}: the folder holds no files of documents")
        return found
    if is_many(name):
        found = sorted(path for path in glob.glob(name, recursive=True) if os.path.isfile(path))
        if not found:
            raise DataError(f"{name}: no file has such a name")
        return found
    return [name]


def open_parts(
    parts: Any,
    columns: Columns,
    *,
    format: str | None = None,
    spool: str | None = None,
    max_values: int = 2**25,
) -> list[Part]:
    """Return parts in their order: files in that of their names, the rest as given.

    parts: a folder, a pattern such as "data/*.parquet", or a sequence of files, data sets and data frames.
    spool: the folder where text is kept as Parquet, so that it is read but once; None where text cannot be.
    max_values: a Parquet file with more numbers than this becomes several parts, cut between queries.
    """
    given = [parts] if isinstance(parts, str | os.PathLike | Dataset) or is_frame(parts) else [*parts]
    opened: list[Part] = []
    for number, one in enumerate(given, 1):
        if isinstance(one, str | os.PathLike):
            for name in file_names(one):
                opened += _open_file(name, columns, format, spool, len(opened), max_values)
        elif isinstance(one, Dataset):
            opened.append(DatasetPart(f"part {number}", one))
        elif is_frame(one):
            try:
                opened.append(DatasetPart(f"part {number}", from_part(one, **columns.named())))
            except DataError as error:
                raise DataError(f"part {number}: {error}") from None
        elif isinstance(one, Part):
            opened.append(one)
        else:
            raise DataError(f"part {number} must be a file, a Dataset or a data frame: got {type(one).__name__}")
    if not opened:
        raise DataError("expected at least one part: got none")
    return opened


def _open_file(
    name: str, columns: Columns, format: str | None, spool: str | None, number: int, max_values: int
) -> Sequence[Part]:
    found = known_format(format) if format else _format_of(name)
    packed = name.lower().endswith(".gz")
    if found == "parquet" and not packed:
        note_input(name, name)
        return cut_file(TablePart(name, name, columns), max_values)
    if spool is None:
        raise DataError(
            f"{name}: on a cluster parts are Parquet files, of which every machine reads what it needs; write it "
            "as one first (rulerank convert), or give a Dask data frame"
        )
    read = read_documents(name, format, columns.named(), graded=True)
    kept = os.path.join(spool, f"{number:06}.parquet")
    write_table(read.data, kept, format="parquet")
    return [TablePart(name, kept, Columns(features=None), zeros=read.is_letor)]


def cut_file(part: TablePart, max_values: int) -> list[TablePart]:
    """Return a Parquet file as one part, or as several where it is large and its queries lie side by side."""
    schema = part.schema()
    if part.columns.qid not in schema:
        return [part]  # whoever reads it says so
    try:
        n_rows = int(pl.scan_parquet(part.path, glob=False).select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise ReadError(part.name, None, f"cannot be read: {(str(error).splitlines() or ['damaged'])[0]}") from None
    most = max(FEWEST_ROWS, max_values // max(1, len(schema)))
    if n_rows <= most:
        return [part]
    runs = part.frame([part.columns.qid])[part.columns.qid]
    changes = np.flatnonzero(np.diff(runs.rle_id().to_numpy())) + 1
    if changes.size + 1 != runs.n_unique():
        return [part]  # queries lie scattered: only the whole file holds whole queries
    wanted = np.arange(most, n_rows, most)
    cuts = np.unique(np.concatenate([[0], changes[np.searchsorted(changes, wanted, "right") - 1], [n_rows]]))
    return [
        TablePart(f"{part.name} (rows {a:,} to {b - 1:,})", part.path, part.columns, (int(a), int(b - a)))
        for a, b in itertools.pairwise(cuts)
    ]


def _format_of(name: str) -> str:
    try:
        with open(name, "rb") as file:
            head = file.read(HEAD)
    except FileNotFoundError:
        raise ReadError(name, None, "there is no such file") from None
    except OSError as error:
        raise ReadError(name, None, f"cannot be read: {error}") from None
    if not head:
        raise ReadError(name, None, "the file is empty")
    return detect(name, head)


def _beside(path: Path, folder: str) -> bool:
    """Tell whether a file of a folder is none of its data: hidden, a mark of another tool, a page to be read."""
    hidden = any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    known = {suffix for format in FORMATS.values() for suffix in format.suffixes}
    return hidden or (path.suffix.lower() in LEFT_OUT and format_suffix(path) not in known)
