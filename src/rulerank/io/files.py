"""The only place that opens files: a path, an open file or `-`, plain or gzip, to read or to write.

A command must not write over what it has read: `inputs_watched` remembers its inputs. A script may. An existing file
stays whole until all of the new one is written, and nothing is ever written over a label store.
"""

from __future__ import annotations

import glob
import gzip
import io
import json
import os
import secrets
import shutil
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from rulerank.errors import DataError, ReadError, RulerankError, located

if TYPE_CHECKING:
    from rulerank._util.parameters import Array  # loads NumPy, which help does without


GZIP = b"\x1f\x8b"  # how such a file begins
MODEL_MAGIC = b"RULERANK"  # a model file begins with it and a version, whose bytes are no text
UNPACK_LIMIT = 4 * 2**30  # bytes that a compressed file may become: a small one can unpack to more than fits in memory
PART = 1 << 20  # bytes read at a time

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
    lines: Sequence[int] | Array | Callable[[], Sequence[int]] | None = None  # found when there is something to say

    def __call__(self, row: int | None, message: str) -> ReadError | DataError:
        """Return the error that names the file and the row's line."""
        line = None if row is None else self.line(row)
        if row is not None and line is None:
            message = f"row {row}: {message}"
        return DataError(message) if self.name is None else ReadError(self.name, line, message)

    def named(self) -> AbstractContextManager[None]:
        """Name the file in an error about data."""
        return located("", self.name)

    def line(self, row: int) -> int | None:
        """Return the line of a row, where there are lines."""
        lines = self.lines() if callable(self.lines) else self.lines
        return None if lines is None else int(lines[row])

    def row(self, row: int) -> str:
        """Return how people call a row: `line 3`, or `row 3` in what has no lines."""
        return f"row {row}" if self.lines is None else f"line {self.line(row)}"


def read_bytes(source: Source) -> tuple[bytes, str]:
    """Return the whole decompressed content and the name to use in messages.

    gzip is known by its first bytes, so that a pipe works too. A model file, easily given by
    mistake, is refused.

    >>> read_bytes(io.StringIO("2 qid:1 1:0.5"))
    (b'2 qid:1 1:0.5', '<stream>')
    """
    if isinstance(source, str | os.PathLike) and source != "-":
        name = os.fspath(source)
        with opened(source) as file:
            content: Any = file.read()
    else:
        stream = getattr(sys.stdin, "buffer", sys.stdin) if source == "-" else source
        known = "<stdin>" if source == "-" else getattr(stream, "name", None)
        name = known if isinstance(known, str) else "<stream>"
        with suppress(AttributeError, OSError, ValueError):  # closed, or not a file of the system
            if source == "-":
                note_input(sys.stdin.fileno(), "stdin")
        with _failures(name, "expected a path or a file open for reading"):
            content = cast(Any, stream).read()
    if not isinstance(content, bytes):
        if not isinstance(content, str):
            raise ReadError(name, None, f"expected bytes or text, got {type(content).__name__}")
        content = content.encode("utf-8", "surrogatepass")  # readers report bad UTF-8 with its line
    if content.startswith(GZIP):
        with _failures(name), gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            content = packed.read(UNPACK_LIMIT + 1)
        if len(content) > UNPACK_LIMIT:
            raise ReadError(name, None, f"unpacks to more than {UNPACK_LIMIT:,} bytes, the limit")
    if is_model(content):
        raise ReadError(name, None, "this is a rulerank model, not data; use `rulerank rank` (in Python rulerank.load)")
    return content, name


def read_parts(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Yield the decompressed content of a file in parts: it need not fit in memory. Errors are as of `read_bytes`.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".gz") as file:
    ...     _ = file.write(gzip.compress(b"2 qid:1 1:0.5"))
    ...     file.flush()
    ...     list(read_parts(file.name))
    [b'2 qid:1 1:0.5']
    """
    with opened(path) as file:
        start = file.read(len(GZIP))
        file.seek(0)
        plain = gzip.GzipFile(fileobj=file) if start == GZIP else file
        while part := plain.read(PART):
            yield part


def decoded(content: bytes, name: str) -> str:
    """Return UTF-8 text without its byte order mark, or name the line that is none."""
    try:
        return content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ReadError(name, line, f"expected UTF-8 text, got the byte 0x{content[error.start]:02x}") from None


def json_object(text: str, name: str, line: int) -> dict[str, Any]:
    """Return the object of a line of JSON lines, or name the line that is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReadError(name, line, f"expected one JSON object per line: {error}") from None
    if not isinstance(value, dict):
        raise ReadError(name, line, f"expected one JSON object per line, got {text.strip()[:60]!r}")
    return value


def is_model(content: bytes) -> bool:
    """Whether these are the first bytes of a model file.

    >>> is_model(b"RULERANK\\1\\0\\0\\0"), is_model(b"RULERANK_score,qid")
    (True, False)
    """
    return content.startswith(MODEL_MAGIC) and b"\0" in content[len(MODEL_MAGIC) : len(MODEL_MAGIC) + 4]


def format_suffix(path: str | os.PathLike[str]) -> str:
    """Return the lower-case suffix that names the format, under .gz.

    >>> format_suffix("run.CSV.gz"), format_suffix("train.txt"), format_suffix("-")
    ('.csv', '.txt', '')
    """
    return Path(os.fspath(path).lower().removesuffix(".gz")).suffix


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file to read its bytes, record it as an input, and turn failures into ReadErrors."""
    name = os.fspath(path)
    with _failures(name), Path(path).open("rb") as file:
        note_input(file.fileno(), name)
        yield file


@contextmanager
def inputs_watched() -> Iterator[None]:
    """Record the files that are read from now on, so that no output overwrites them."""
    global _read
    before, _read = _read, {}
    try:
        yield
    finally:
        _read = before


def note_input(file: int | str | os.PathLike[str], name: str) -> None:
    """Record a file, by its path or open descriptor, as an input."""
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
    """Return what makes a file the same one under all its names; None for anything but a regular file."""
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def is_many(source: str) -> bool:
    """Return whether a name means many files: a folder, or a pattern.

    >>> is_many("data/*.parquet"), is_many("train.txt")
    (True, False)
    """
    return os.path.isdir(source) or (any(sign in source for sign in "*?[") and not os.path.exists(source))


def file_names(source: str | os.PathLike[str], keep: Callable[[Path], bool], nothing: str) -> list[str]:
    """Return the file itself, or those of a pattern, or of a folder those to keep, in the order of their names.

    nothing: what to say of a folder without any.
    """
    name = os.fspath(source)
    if not is_many(name):
        return [name]
    is_folder = os.path.isdir(name)
    paths = filter(keep, Path(name).rglob("*")) if is_folder else map(Path, glob.glob(name, recursive=True))
    found = sorted(str(path) for path in paths if path.is_file())
    if not found:
        raise ReadError(name, None, nothing if is_folder else "no file matches this name")
    return found


@contextmanager
def _failures(name: str, otherwise: str = "cannot be read") -> Iterator[None]:
    try:
        yield
    except RulerankError:
        raise
    except FileNotFoundError:
        raise ReadError(name, None, "there is no such file") from None
    except IsADirectoryError:
        raise ReadError(name, None, "expected a file, got a directory") from None
    except EOFError:
        raise ReadError(name, None, "the gzip data is cut off before its end; copy the file again") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ReadError(name, None, f"the gzip data is damaged: {error}") from None
    except (AttributeError, OSError, ValueError) as error:  # ValueError: a NUL in the path, or text in another encoding
        raise ReadError(name, None, f"{otherwise}: {getattr(error, 'strerror', None) or error}") from None


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
        raise DataError(f"{name} is a label store, which is never overwritten; write to another file")


def check_directory_of(target: str | os.PathLike[str], sources: Iterable[str | os.PathLike[str] | None] = ()) -> Path:
    """Return a file's path, or raise an error if it cannot be written to: before long work, not after."""
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
            raise BlockingIOError("the output does not accept more data: the rest would be lost")
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
