"""The only place that opens an output: a path, an open file or `-`; written so that a failure loses nothing."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from pathlib import Path
from typing import IO, cast

from rulerank.errors import DataError
from rulerank.io.streams import COMPRESSIONS, Source


def write_bytes(target: Source, content: bytes) -> None:
    """Write content to a path, compressed as its suffix says, or as it is to an open file or to `-`.

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
    if target == "-":
        _write_open_file(getattr(sys.stdout, "buffer", sys.stdout), content)
        return
    suffix = Path(target).suffix.lower()
    packed = COMPRESSIONS[suffix].compress(content) if suffix in COMPRESSIONS else content
    try:
        _replace(Path(os.path.realpath(target)), packed)  # through a link, not over it
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot write {os.fspath(target)}: {reason}") from None


def write_text(target: Source, text: str) -> None:
    """Write text as UTF-8, as `write_bytes` does."""
    write_bytes(target, text.encode())


def check_directory_of(target: str | os.PathLike[str]) -> Path:
    """Return a file's path, before hours of work end in a name that nothing can be written to."""
    path = Path(target)
    if path.is_dir() or not path.parent.is_dir():
        raise DataError(f"cannot write {path}: it is a directory, or its directory does not exist")
    return path


def _write_open_file(stream: IO[bytes] | IO[str], content: bytes) -> None:
    try:
        try:
            cast(IO[bytes], stream).write(content)
        except TypeError:  # a text file refuses bytes and has written nothing yet
            cast(IO[str], stream).write(content.decode("utf-8"))
        stream.flush()
    except (AttributeError, TypeError, ValueError) as error:
        raise DataError(f"expected a path or a file open for writing: {error}") from None


def _replace(path: Path, content: bytes) -> None:
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
