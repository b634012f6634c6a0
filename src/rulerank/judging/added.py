"""Documents and queries that are added while people judge: files beside the pool's own, read with it from then on."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rulerank.core.words import counted, listed
from rulerank.dataset import UNLABELLED, Array, Dataset
from rulerank.errors import DataError
from rulerank.io.convert import NamedBytes
from rulerank.io.outputs import write_bytes
from rulerank.judging.pool import Pool, read_pool

NUMBERED = re.compile(r"\d{4,}")  # 0001: the first file that was added


class Growth(NamedTuple):
    """What an added file brought."""

    docs: int
    queries: int  # that the pool did not have
    pool_size: int  # documents now


class PoolFile:
    """The file that a pool is read from, and those that were added to it since, in its folder FILE.added.

    options: what `read_pool` takes, for all of them.
    A file is looked through together with all documents there are before it is kept: it is added as a whole or not at
    all. Documents that are there keep their rows.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/pool.csv"
    >>> _ = Path(path).write_text("qid,docid,title,bm25\\n7,a,Fresh milk,0.5\\n7,b,Cheese,0.1\\n")
    >>> file = PoolFile(path)
    >>> file.add(file.read(), b"qid,docid,title,bm25\\n8,a,Tea,0.2\\n", "more.csv")[1]
    Growth(docs=1, queries=1, pool_size=3)
    >>> PoolFile(path).read()
    Pool(3 documents, 2 queries, 1 feature, texts: title)
    """

    def __init__(self, path: str | os.PathLike[str], **options: Any) -> None:
        self.path = os.fspath(path)
        self.folder = Path(self.path + ".added")
        self._options = options

    def read(self) -> Pool:
        """Return all documents, those that were added last."""
        pool = read_pool(self.path, **self._options)
        for name in self.added():
            pool = self.grown(pool, name)
        return pool

    def added(self) -> tuple[str, ...]:
        """Return the names of the files that were added, in the order they came."""
        try:
            found = os.listdir(self.folder)
        except (FileNotFoundError, NotADirectoryError):
            return ()
        return tuple(sorted((name for name in found if NUMBERED.fullmatch(name)), key=int))

    def grown(self, pool: Pool, name: str) -> Pool:
        """Return a pool with the documents of one of the files that were added."""
        return grow(pool, read_pool(self.folder / name, **self._options))

    def add(self, pool: Pool, content: bytes, name: str, known: Sequence[str] = ()) -> tuple[Pool, Growth]:
        """Keep a file beside the pool's for good, and return the pool with its documents.

        known: the files whose documents the pool has; a FileExistsError says that there are more by now.
        """
        # by its first bytes, as it will be read from now on: of its name only messages speak
        more = read_pool(NamedBytes(content, f"{name} (added)"), **self._options)
        bigger = grow(pool, more)
        number = 1 + (int(known[-1]) if known else 0)
        try:
            if not self.folder.is_dir():
                self.folder.mkdir()
            whole = self.folder / f".{secrets.token_hex(8)}.part"
            write_bytes(whole, content)
            try:
                os.link(whole, self.folder / f"{number:04d}")  # which is taken once, whoever is quicker
            finally:
                whole.unlink()
            _keep_entry(self.folder)
        except OSError as error:
            if isinstance(error, FileExistsError) and self.folder.is_dir():
                raise
            raise DataError(f"cannot keep {name} in {self.folder}: {error.strerror or error}") from None
        return bigger, Growth(len(more), len(set(more.queries) - set(pool.queries)), len(bigger))


def grow(pool: Pool, more: Pool) -> Pool:
    """Return a pool with more documents behind its own, or say why they do not belong together."""
    ours, theirs = pool.data.feature_names, more.data.feature_names
    if set(ours) != set(theirs):
        lacks, has = [n for n in ours if n not in theirs], [n for n in theirs if n not in ours]
        said = [f"it lacks {listed(lacks)}, or has no numbers there"] * bool(lacks) + [
            f"it has {listed(has)} too"
        ] * bool(has)
        raise DataError(
            f"{more.name}: added documents need the {counted(len(ours), 'feature')} of the pool, {listed(list(ours))}: "
            f"{', and '.join(said)}"
        )
    for row, pair in enumerate(more.pairs):
        if pair in pool.rows:
            raise DataError(
                f"{more.name}: document {pair[1]!r} of query {pair[0]!r}, in row {row + 1}, is in the pool already: "
                "leave it out"
            )
    columns = [theirs.index(name) for name in ours]
    behind = replace(more.data, X=more.data.X[:, columns], feature_names=ours, y=_grades(more))
    try:
        data = Dataset.concat([replace(pool.data, y=_grades(pool)), behind])
    except DataError as error:
        raise DataError(f"{more.name}: {error}") from None
    texts, fields = (_joined(pool, more, shown) for shown in ("texts", "fields"))
    names = [*pool.names, *_names(more, len(pool))]
    return Pool(data, texts, fields=fields, name=pool.name, names=names, log=pool.log)


def _grades(pool: Pool) -> Array:
    y = np.full(len(pool), UNLABELLED)
    y[[*pool.own_grades]] = [*pool.own_grades.values()]
    return y


def _joined(pool: Pool, more: Pool, shown: str) -> dict[str, list[Any]]:
    """Return the columns of either, one behind the other; None where one lacks it."""
    ours, theirs = getattr(pool, shown), getattr(more, shown)
    nothing = [None] * len(pool), [None] * len(more)
    return {name: [*ours.get(name, nothing[0]), *theirs.get(name, nothing[1])] for name in ours | theirs}


def _names(more: Pool, n_before: int) -> list[str]:
    """Return what people call documents: those without ids by their rows, counted on from the pool's."""
    return [
        name if name == key else f"row {n_before + row + 1}"
        for row, (name, (_, key)) in enumerate(zip(more.names, more.pairs, strict=True))
    ]


def _keep_entry(folder: Path) -> None:
    """Make sure that the folder's new name survives a crash, where folders can be opened."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
