"""The files that a command has read: none of them may be what it writes.

In a script, reading a file and writing it again is the author's own affair; the command line watches.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

Identity = tuple[int, int]  # the device and the number of a file on it: the same by every path, link and case

_read: dict[Identity, str] | None = None  # what was read since somebody watches, by the name it was read under


@contextmanager
def inputs_watched() -> Iterator[None]:
    """Remember what is read from now on, so that nothing is written over it."""
    global _read
    before, _read = _read, {}
    try:
        yield
    finally:
        _read = before


def note_input(file: int | str | os.PathLike[str], name: str) -> None:
    """Say that a file, by its path or its open descriptor, is read."""
    found = identity(file)
    if _read is not None and found is not None:
        _read.setdefault(found, name)


def input_like(file: int | str | os.PathLike[str]) -> str | None:
    """Return the name under which this very file was read, or None.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file, inputs_watched():
    ...     note_input(file.name, "pool.csv")
    ...     input_like(file.fileno()), input_like(__file__)
    ('pool.csv', None)
    """
    found = identity(file)
    return None if _read is None or found is None else _read.get(found)


def identity(file: int | str | os.PathLike[str]) -> Identity | None:
    """Return what makes a file the same one under all its names; None for what is no regular file."""
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
