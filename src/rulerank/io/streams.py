"""Read what a caller names: a path, an open file or `-`, plain or compressed; and know what was read.

Nothing that a command has read may be what it writes: `inputs_watched` remembers it. In a script, reading a file and
writing it again is the author's own affair.
"""

from __future__ import annotations

import gzip
import io
import lzma
import math
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from rulerank.errors import DataError, ReadError, RulerankError

if TYPE_CHECKING:
    from rulerank.core.arrays import Array

MODEL_MAGIC = b"RULERANK"  # a model file begins with it and a version, whose bytes are no text

UNPACK_LIMIT = 4 * 2**30  # bytes that a compressed file may become; the largest LETOR sets are below it
LIMIT_VARIABLE = "RULERANK_UNPACK_LIMIT"
PART = 1 << 20  # bytes unpacked at a time
ZST_STEP = 1 << 10  # packed bytes at a time: each may become 32 kB

Source = str | os.PathLike[str] | IO[bytes] | IO[str]
Identity = tuple[int, int]  # the device and the number of a file on it: the same by every path, link and case

_read: dict[Identity, str] | None = None  # what was read since somebody watches, by the name it was read under


class NamedBytes(io.BytesIO):
    """Content that is read already, under the name it had."""

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = name


@dataclass(frozen=True)
class Origin:
    """Where rows come from: the file (None: a data frame) and the line of each row, where it has lines.

    >>> Origin("films.csv", [2, 4])(1, "expected a number, got 'x'")
    ReadError("films.csv:4: expected a number, got 'x'")
    >>> Origin()(1, "expected a number, got 'x'")
    DataError("row 1: expected a number, got 'x'")
    """

    name: str | None = None
    lines: Sequence[int] | Array | None = None

    def __call__(self, row: int | None, message: str) -> ReadError | DataError:
        """Return the error that names the file and the row's line."""
        line = None if row is None or self.lines is None else int(self.lines[row])
        if row is not None and line is None:
            message = f"row {row}: {message}"
        return DataError(message) if self.name is None else ReadError(self.name, line, message)

    def row(self, row: int) -> str:
        """Return how people call a row: `line 3`, or `row 3` in what has no lines."""
        return f"row {row}" if self.lines is None else f"line {self.lines[row]}"


def read_bytes(source: Source) -> tuple[bytes, str]:
    """Return the whole decompressed content and the name to use in messages.

    Compressed content is known by its first bytes, so that a pipe works too; a name that promises .gz, .xz or .zst
    must hold it. A model file is refused: it is the one file that is at hand wherever data are.

    >>> import io
    >>> read_bytes(io.StringIO("2 qid:1 1:0.5"))
    (b'2 qid:1 1:0.5', '<stream>')
    """
    content, name = _read_source(source)
    if is_model(content):
        raise ReadError(name, None, "this is a rulerank model, not data; use `rulerank rank` (in Python rulerank.load)")
    return content, name


def decoded(content: bytes, name: str) -> str:
    """Return UTF-8 text without its byte order mark, or name the line that is none."""
    try:
        return content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ReadError(name, line, f"expected UTF-8 text, got the byte 0x{content[error.start]:02x}") from None


def is_model(content: bytes) -> bool:
    """Whether these are the first bytes of a model file.

    >>> is_model(b"RULERANK\\1\\0\\0\\0"), is_model(b"RULERANK_score,qid")
    (True, False)
    """
    return content.startswith(MODEL_MAGIC) and b"\0" in content[len(MODEL_MAGIC) : len(MODEL_MAGIC) + 4]


def read_parts(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Yield the decompressed content of a file in parts, none empty: it need not fit in memory.

    Errors are as of `read_bytes`.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".gz") as file:
    ...     _ = file.write(gzip.compress(b"2 qid:1 1:0.5"))
    ...     file.flush()
    ...     list(read_parts(file.name))
    [b'2 qid:1 1:0.5']
    """
    name = os.fspath(path)
    with _opened(path) as file:
        kind = _compression(file.read(MAGIC), name, Path(path).suffix.lower())
        file.seek(0)
        if kind is None:
            while part := file.read(PART):
                yield part
            return
        with _undamaged(kind, name):
            yield from filter(None, kind.unpack(file))  # what is unpacked may still be nothing


def _read_source(source: Source) -> tuple[bytes, str]:
    if not isinstance(source, str | os.PathLike):
        return _read_open_file(source)
    if source == "-":
        _note_stdin()
        content, _ = _read_open_file(getattr(sys.stdin, "buffer", sys.stdin))
        return content, "<stdin>"
    name = os.fspath(source)
    with _opened(source) as file:
        content = file.read()
    return _decompress(content, name, Path(source).suffix.lower()), name


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    name = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            note_input(file.fileno(), name)
            yield file
    except RulerankError:
        raise
    except FileNotFoundError:
        raise ReadError(name, None, "there is no such file") from None
    except IsADirectoryError:
        raise ReadError(name, None, "expected a file, got a directory") from None
    except PermissionError:
        raise ReadError(name, None, "no permission to read this file") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise ReadError(name, None, f"cannot be read: {error}") from None


def _note_stdin() -> None:
    with suppress(AttributeError, OSError, ValueError):  # closed, or not a file of the system
        note_input(sys.stdin.fileno(), "stdin")


def format_suffix(path: str | os.PathLike[str]) -> str:
    """Return the lower-case suffix that names the format, under the one that names the compression.

    >>> format_suffix("run.CSV.gz"), format_suffix("train.txt"), format_suffix("-")
    ('.csv', '.txt', '')
    """
    inner = Path(path)
    if inner.suffix.lower() in COMPRESSIONS:
        inner = inner.with_suffix("")
    return inner.suffix.lower()


@dataclass(frozen=True, slots=True)
class Compression:
    """One way to compress: what its files begin with, and both directions."""

    name: str
    magic: bytes
    compress: Callable[[bytes], bytes]
    unpack: Callable[[IO[bytes]], Iterator[bytes]]  # part by part, so that nobody unpacks more than is wanted


def _ungzip(packed: IO[bytes]) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=packed) as file:
        while part := file.read(PART):
            yield part


def _unxz(packed: IO[bytes]) -> Iterator[bytes]:
    """As lzma.open, which passes over what follows the first stream when it is damaged."""
    given = packed.read(PART)
    while given:
        stream = lzma.LZMADecompressor(format=lzma.FORMAT_XZ)
        while not stream.eof:
            if stream.needs_input and not (given := given or packed.read(PART)):
                raise EOFError
            yield stream.decompress(given, PART)
            given = b""
        given = stream.unused_data.lstrip(b"\0")  # streams may be padded
        while not given and (more := packed.read(PART)):
            given = more.lstrip(b"\0")


def _zst(content: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


def _unzst(packed: IO[bytes]) -> Iterator[bytes]:
    import zstandard

    given = packed.read(ZST_STEP)
    while given:
        frame = zstandard.ZstdDecompressor().decompressobj()
        while not frame.eof:
            if not (given := given or packed.read(ZST_STEP)):
                raise EOFError
            try:
                yield frame.decompress(given)
            except zstandard.ZstdError as error:
                raise ValueError(error) from None
            given = b""
        given = frame.unused_data or packed.read(ZST_STEP)


COMPRESSIONS = {
    ".gz": Compression("gzip", b"\x1f\x8b", lambda content: gzip.compress(content, mtime=0), _ungzip),
    ".xz": Compression("xz", b"\xfd7zXZ\0", lzma.compress, _unxz),
    ".zst": Compression("zstd", b"\x28\xb5\x2f\xfd", _zst, _unzst),
}


MAGIC = max(len(kind.magic) for kind in COMPRESSIONS.values())


def _decompress(content: bytes, name: str, suffix: str = "") -> bytes:
    kind = _compression(content, name, suffix)
    if kind is None:
        return content
    with _undamaged(kind, name):
        return _bounded(kind.unpack(io.BytesIO(content)), name)


def _compression(content: bytes, name: str, suffix: str) -> Compression | None:
    """Return how content is compressed by its first bytes; a name that promises it must hold it."""
    promised = COMPRESSIONS.get(suffix)
    if promised and not content.startswith(promised.magic):
        came = "an empty file" if not content else "something else"
        raise ReadError(name, None, f"expected {promised.name} data because the name ends in {suffix}, got {came}")
    return next((kind for kind in COMPRESSIONS.values() if content.startswith(kind.magic)), None)


@contextmanager
def _undamaged(kind: Compression, name: str) -> Iterator[None]:
    try:
        yield
    except RulerankError:
        raise
    except EOFError:
        raise ReadError(name, None, f"the {kind.name} data is cut off before its end; copy the file again") from None
    except (OSError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise ReadError(name, None, f"the {kind.name} data is damaged: {error}") from None


def _bounded(parts: Iterator[bytes], name: str) -> bytes:
    """Join the parts, unless they are too many: a small file can unpack to more than any machine holds."""
    limit, size = unpack_limit(), 0
    kept = []
    for part in parts:
        size += len(part)
        if size > limit:
            raise ReadError(
                name,
                None,
                f"unpacks to more than {limit:,} bytes, the most that is read; if the file is meant to be so large, "
                f"set {LIMIT_VARIABLE} to a larger number of bytes, or to none",
            )
        kept.append(part)
    return b"".join(kept)


def unpack_limit() -> float:
    """Return how many bytes a compressed file may unpack to, which an environment variable raises.

    >>> unpack_limit() / 2**30
    4.0
    """
    text = os.environ.get(LIMIT_VARIABLE, "").strip().lower()
    if not text:
        return UNPACK_LIMIT
    if text == "none":
        return math.inf
    if not (text.isascii() and text.isdecimal()):
        raise DataError(f"{LIMIT_VARIABLE} must be a number of bytes, or none: got {text!r}")
    return int(text)


def _read_open_file(stream: IO[bytes] | IO[str]) -> tuple[bytes, str]:
    name = getattr(stream, "name", None)
    name = name if isinstance(name, str) else "<stream>"
    try:
        content = stream.read()
    except UnicodeDecodeError as error:
        raise ReadError(name, None, f"expected {error.encoding} text, got {error.reason}") from None
    except (AttributeError, OSError, ValueError) as error:
        raise ReadError(name, None, f"expected a path or a file open for reading: {error}") from None
    if isinstance(content, str):
        return content.encode("utf-8", "surrogatepass"), name  # readers report bad UTF-8 with its line
    if not isinstance(content, bytes):
        raise ReadError(name, None, f"expected bytes or text, got {type(content).__name__}")
    return _decompress(content, name), name


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


def is_many(source: str) -> bool:
    """Tell whether a name stands for many files: a folder, or a pattern.

    >>> is_many("data/*.parquet"), is_many("train.txt")
    (True, False)
    """
    return os.path.isdir(source) or (any(sign in source for sign in "*?[") and not os.path.exists(source))
