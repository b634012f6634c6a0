"""The file around a model: a header, a manifest as JSON, arrays, and a checksum over all of it.

    magic          8 bytes   b"RULERANK"
    version        uint32    of this layout; a reader refuses newer ones
    manifest size  uint32
    file size      uint64
    manifest       JSON: {"library", "class", "arrays": [{"dtype", "shape"}, ...], "state"}
    arrays         one after the other, as they lie in memory
    sha256         of all that precedes

All numbers are little-endian. Any later version keeps the first four fields and the checksum, so that an older reader
can tell a newer file from a damaged one. What the state means is known to `model_file.py`.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np

from rulerank import __version__
from rulerank.dataset import Array
from rulerank.errors import ModelFileError
from rulerank.io.streams import COMPRESSIONS, note_input

MAGIC = b"RULERANK"
VERSION = 1
HEADER = struct.Struct("<8sIIQ")
N_CHECKSUM = 32
DTYPES = ("|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f4", "<f8")
AGAIN = "save the model again, or copy the file anew"


def container_of(about: dict[str, Any], state: Any, arrays: list[Array]) -> list[bytes | memoryview]:
    """Return a file up to its checksum, arrays as they lie in memory."""
    declared = [{"dtype": array.dtype.str, "shape": array.shape} for array in arrays]
    manifest = json.dumps(about | {"arrays": declared, "state": state}).encode()
    size = HEADER.size + len(manifest) + sum(array.nbytes for array in arrays) + N_CHECKSUM
    head = HEADER.pack(MAGIC, VERSION, len(manifest), size)
    return [head, manifest, *(array.reshape(-1).view(np.uint8).data for array in arrays)]


def open_container(path: Path) -> tuple[dict[str, Any], bytes, int]:
    """Return the manifest, the whole content and where its arrays start, after checking the file from outside in."""
    try:
        with path.open("rb") as file:
            note_input(file.fileno(), os.fspath(path))
            content = file.read(HEADER.size)
            if content.startswith(MAGIC):
                content += file.read()
    except FileNotFoundError:
        raise ModelFileError("there is no such file") from None
    except IsADirectoryError:
        raise ModelFileError("expected a model file, got a directory") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise ModelFileError(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not content.startswith(MAGIC):
        raise ModelFileError(
            f"is not a rulerank model: {_kind(content)}; name a file that `rulerank train` or `save` wrote"
        )
    size = HEADER.unpack_from(content)[3] if len(content) >= HEADER.size else HEADER.size + N_CHECKSUM
    if len(content) < size:
        raise ModelFileError(f"is cut off: {len(content):,} of its {size:,} bytes are there; copy the file anew")
    end = len(content) - N_CHECKSUM
    if len(content) > size or hashlib.sha256(memoryview(content)[:end]).digest() != content[end:]:
        raise ModelFileError(f"is damaged: its checksum does not fit its content; {AGAIN}")
    _, version, manifest_size, _ = HEADER.unpack_from(content)
    if version != VERSION:
        raise ModelFileError(
            f"has format version {version}, and rulerank {__version__} reads version {VERSION}; "
            "install a newer rulerank, or save the model with this one"
        )
    try:
        manifest = json.loads(content[HEADER.size : HEADER.size + manifest_size])
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its manifest is not JSON: {error}; {AGAIN}") from None
    if not isinstance(manifest, dict):
        raise ModelFileError(f"its manifest is not a JSON object; {AGAIN}")
    return manifest, content, HEADER.size + manifest_size


def arrays_of(declared: list[dict[str, Any]], content: bytes, start: int) -> list[Array]:
    """Return writable copies of the arrays; together they must fill the file to its checksum."""
    arrays = []
    end = len(content) - N_CHECKSUM
    for number, one in enumerate(declared):
        dtype, shape = one["dtype"], one["shape"]
        if dtype not in DTYPES:
            raise ModelFileError(f"array {number} has the type {dtype!r}, not one of {', '.join(DTYPES)}")
        if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in shape):
            raise ModelFileError(f"array {number} has the shape {shape!r}")
        count = math.prod(shape)
        n_bytes = count * np.dtype(dtype).itemsize
        if n_bytes > end - start:
            raise ModelFileError(f"array {number} would take {n_bytes:,} bytes of the {end - start:,} that are left")
        flat = np.frombuffer(content, dtype=dtype, count=count, offset=start)
        arrays.append(flat.reshape(shape).astype(dtype, order="C", copy=True))
        start += n_bytes
    if start != end:
        raise ModelFileError(f"{end - start:,} bytes belong to no array")
    return arrays


def _kind(header: bytes) -> str:
    if not header:
        return "the file is empty"
    known = {b"PK": "a zip archive", b"\x80": "a pickle, which is never opened", b"PAR1": "a Parquet file"}
    known |= {kind.magic: f"{kind.name} data" for kind in COMPRESSIONS.values()}
    return next(
        (f"it looks like {name}" for magic, name in known.items() if header.startswith(magic)),
        f"it begins with {header[:12]!r}",
    )
