"""Read what a caller names: a path, an open file or `-`, plain or compressed."""

from __future__ import annotations

import gzip
import lzma
import os
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rulerank.errors import ReadError

MODEL_MAGIC = b"RULERANK"  # a model file begins with it and a version, whose bytes are no text

Source = str | os.PathLike[str] | IO[bytes] | IO[str]


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


def is_model(content: bytes) -> bool:
    """Whether these are the first bytes of a model file.

    >>> is_model(b"RULERANK\\1\\0\\0\\0"), is_model(b"RULERANK_score,qid")
    (True, False)
    """
    return content.startswith(MODEL_MAGIC) and b"\0" in content[len(MODEL_MAGIC) : len(MODEL_MAGIC) + 4]


def _read_source(source: Source) -> tuple[bytes, str]:
    if not isinstance(source, str | os.PathLike):
        return _read_open_file(source)
    if source == "-":
        content, _ = _read_open_file(getattr(sys.stdin, "buffer", sys.stdin))
        return content, "<stdin>"
    name = os.fspath(source)
    try:
        content = Path(source).read_bytes()
    except FileNotFoundError:
        raise ReadError(name, None, "there is no such file") from None
    except IsADirectoryError:
        raise ReadError(name, None, "expected a file, got a directory") from None
    except PermissionError:
        raise ReadError(name, None, "no permission to read this file") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise ReadError(name, None, f"cannot be read: {error}") from None
    return _decompress(content, name, Path(source).suffix.lower()), name


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
    decompress: Callable[[bytes], bytes]


def _unxz(content: bytes) -> bytes:
    """As lzma.decompress, which passes over what follows the first stream when it is damaged."""
    parts = []
    while content:
        stream = lzma.LZMADecompressor(format=lzma.FORMAT_XZ)
        parts.append(stream.decompress(content))
        if not stream.eof:
            raise EOFError
        content = stream.unused_data.lstrip(b"\0")  # streams may be padded
    return b"".join(parts)


def _zst(content: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


def _unzst(content: bytes) -> bytes:
    import zstandard

    parts = []
    while content:
        frame = zstandard.ZstdDecompressor().decompressobj()
        try:
            parts.append(frame.decompress(content))
        except zstandard.ZstdError as error:
            raise ValueError(error) from None
        if not frame.eof:
            raise EOFError
        content = frame.unused_data
    return b"".join(parts)


COMPRESSIONS = {
    ".gz": Compression("gzip", b"\x1f\x8b", lambda content: gzip.compress(content, mtime=0), gzip.decompress),
    ".xz": Compression("xz", b"\xfd7zXZ\0", lzma.compress, _unxz),
    ".zst": Compression("zstd", b"\x28\xb5\x2f\xfd", _zst, _unzst),
}


def _decompress(content: bytes, name: str, suffix: str = "") -> bytes:
    promised = COMPRESSIONS.get(suffix)
    if promised and not content.startswith(promised.magic):
        came = "an empty file" if not content else "something else"
        raise ReadError(name, None, f"expected {promised.name} data because the name ends in {suffix}, got {came}")
    found = next((kind for kind in COMPRESSIONS.values() if content.startswith(kind.magic)), None)
    if found is None:
        return content
    try:
        return found.decompress(content)
    except EOFError:
        raise ReadError(name, None, f"the {found.name} data is cut off before its end; copy the file again") from None
    except (OSError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise ReadError(name, None, f"the {found.name} data is damaged: {error}") from None


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
