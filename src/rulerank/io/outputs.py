"""The only place that opens an output: a path, an open file or `-`; written so that nothing is lost.

An existing file stays whole until all of the new one is written. What a command has read is never what it writes, and a
label store is never written over by anything. All bytes are written, or there is an error.
"""

from __future__ import annotations

import gzip
import os
import secrets
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO, cast

from rulerank.errors import DataError
from rulerank.io.streams import Source, identity, input_like

STORE_MAGIC = b"SQLite format 3\0"
BESIDE_A_STORE = ("-wal", "-shm", "-journal")  # files that hold a part of a store's labels


def write_bytes(target: Source, content: bytes) -> None:
    """Write content to a path, as gzip where it ends in .gz, or as it is to an open file or to `-`.

    A path is written beside itself and renamed at the end: until then an existing file stays whole.

    >>> import io
    >>> out = io.StringIO()
    >>> write_bytes(out, b"2 qid:1 1:0.5")
    >>> out.getvalue()
    '2 qid:1 1:0.5'
    """
    if not isinstance(target, str | os.PathLike):
        _write_open_file(target, content)
        return
    check_output(target)
    if target == "-":
        _write_open_file(getattr(sys.stdout, "buffer", sys.stdout), content)
        return
    packs = os.fspath(target).lower().endswith(".gz")
    try:
        _replace(Path(os.path.realpath(target)), gzip.compress(content, mtime=0) if packs else content)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot write {os.fspath(target)}: {reason}") from None


def write_text(target: Source, text: str) -> None:
    """Write text as UTF-8, as `write_bytes` does."""
    write_bytes(target, text.encode())


def check_output(target: str | os.PathLike[str], sources: Iterable[str | os.PathLike[str] | None] = ()) -> None:
    """Refuse an output that is an input, by whatever path, link or case, or a label store.

    Every output is looked at once more when it is opened; call this before long work, with what will be read for it.
    """
    name = os.fspath(target)
    opened = _stdout_descriptor() if name == "-" else name
    if opened is None:
        return
    found = identity(opened)
    same = (source for source in sources if source is not None and found and identity(source) == found)
    read = input_like(opened) or next((os.fspath(source) for source in same), None)
    if read is not None:
        what = "stdout goes to" if name == "-" else f"{name} is" if name == read else f"{name} is the same file as"
        raise DataError(f"{what} {'an input' if name == read else read}, which would be lost; write to another file")
    if name != "-" and _is_store(Path(os.path.realpath(name))):
        raise DataError(f"{name} is a label store, which is never written over; write to another file")


def check_directory_of(target: str | os.PathLike[str], sources: Iterable[str | os.PathLike[str] | None] = ()) -> Path:
    """Return a file's path, before hours of work end in a name that nothing can be written to."""
    path = Path(target)
    if path.is_dir() or not path.parent.is_dir():
        raise DataError(f"cannot write {path}: it is a directory, or its directory does not exist")
    check_output(path, sources)
    return path


def write_all(stream: IO[bytes], content: bytes) -> None:
    """Write every byte to an open file: one without a buffer may take fewer at a time, and only says how many."""
    left = memoryview(content)
    while left:
        n_written = stream.write(left)
        if n_written is None:
            raise BlockingIOError("the output takes no more bytes now, and would lose the rest")
        left = left[n_written:]


def _stdout_descriptor() -> int | None:
    try:
        return sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):  # closed, or not a file of the system
        return None


def _is_store(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            if file.read(len(STORE_MAGIC)) == STORE_MAGIC:
                return True
    except (OSError, ValueError):  # what cannot be read may still be written to, or says itself why not
        return False
    ending = next((ending for ending in BESIDE_A_STORE if path.name.endswith(ending)), None)
    return ending is not None and _is_store(path.with_name(path.name.removesuffix(ending)))


def _write_open_file(stream: IO[bytes] | IO[str], content: bytes) -> None:
    try:
        try:
            write_all(cast(IO[bytes], stream), content)
        except TypeError:  # a text file refuses bytes and has written nothing yet
            cast(IO[str], stream).write(content.decode("utf-8"))
        stream.flush()
    except (AttributeError, TypeError, ValueError) as error:
        raise DataError(f"expected a path or a file open for writing: {error}") from None


def _replace(path: Path, content: bytes) -> None:
    """Write beside a file, and rename; the path is that behind a link."""
    if path.exists() and not path.is_file():  # a pipe or a device; a directory says so itself
        path.write_bytes(content)
        return
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
