"""Model files: what a ranker learned, as numbers and names. Nothing in them is ever executed.

    magic          8 bytes   b"RULERANK"
    version        uint32    of this layout; a reader refuses newer ones
    manifest size  uint32
    file size      uint64
    manifest       JSON: {"library", "class", "arrays": [{"dtype", "shape"}, ...], "state"}
    arrays         one after the other, as they lie in memory
    sha256         of all that precedes

All numbers are little-endian. Any later version keeps the first four fields and the checksum, so that an older reader
can tell a newer file from a damaged one. In the state, {"$array": 2} stands for the third array, and
{"$ranker": {"class", "state"}} for a ranker inside another.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from rulerank import __version__
from rulerank._util.words import by_new_names, old_names
from rulerank.dataset import Array
from rulerank.errors import DataError, MissingExtraError, ModelFileError, OutdatedModelError, ReadError, RulerankError
from rulerank.io.files import MODEL_MAGIC, check_output, is_model, opened, write_bytes
from rulerank.methods import INSTEAD, METHODS
from rulerank.rankers.base import Ranker

VERSION = 1
HEADER = struct.Struct("<8sIIQ")
N_CHECKSUM = 32
DTYPES = ("|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f2", "<f4", "<f8")
AGAIN = "save the model again, or copy the file again"
ARRAY = "$array"
RANKER = "$ranker"
# what content that `save` never wrote can lead to, in a file that is whole
NONSENSE = (
    RulerankError, ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError,
)  # fmt: skip
# may be infinite or not determined
NOT_SCORED = ("intercepts", "standard_errors", "trust", "loss", "gradient_norm", "position_effects")
# what else is saved beside rankers: class and module
OTHERS = {"TextFeatures": "text.text_features", "Reranker": "serve.reranker"}
MAPPED = 2**24  # bytes from which vectors, the only arrays of 16-bit floats, stay in the file and are read from there
N_VERSION = 12  # hexadecimal digits of the checksum, by which a model is called


def save(ranker: Any, path: str | os.PathLike[str]) -> None:
    """Write a ranker, TextFeatures or a Reranker to a file; one that is there is replaced when the new one is complete.

    The same model gives the same bytes.
    """
    check_target(path)
    content = b"".join(_parts(ranker))
    write_bytes(Path(path), content + hashlib.sha256(content).digest())


def version_of(ranker: Any) -> str:
    """Return the version of a model: the first digits of its file's checksum."""
    checksum = hashlib.sha256()
    for part in _parts(ranker):
        checksum.update(part)
    return checksum.hexdigest()[:N_VERSION]


def _parts(ranker: Any) -> list[bytes | memoryview]:
    """Return a model file up to its checksum, arrays as they lie in memory."""
    arrays: list[Array] = []
    saved = described(ranker)
    state = _pack(saved["state"], arrays, "state")
    declared = [{"dtype": array.dtype.str, "shape": array.shape} for array in arrays]
    about = {"library": __version__, "class": saved["class"], "arrays": declared, "state": state}
    manifest = json.dumps(about).encode()
    size = HEADER.size + len(manifest) + sum(array.nbytes for array in arrays) + N_CHECKSUM
    head = HEADER.pack(MODEL_MAGIC, VERSION, len(manifest), size)
    return [head, manifest, *(array.reshape(-1).view(np.uint8).data for array in arrays)]


def described(ranker: Any) -> dict[str, Any]:
    """Return the class and the state of what a file holds, or a part of it."""
    if type(ranker) is not _class_named(type(ranker).__name__):
        raise DataError(f"a model file holds one of {', '.join(_names())}: got {type(ranker).__name__}")
    return {"class": type(ranker).__name__, "state": ranker.to_state()}


def rebuilt(saved: dict[str, Any]) -> Any:
    """Return what `described` described, bit for bit, after checking what no class checks by itself."""
    found, state = _class_named(saved["class"]), saved["state"]
    if found is None:
        raise _unknown(saved["class"])
    if not issubclass(found, Ranker):  # checks what it takes
        return found.from_state(by_new_names(state))
    _check_features(state)
    ranker = found.from_state(state)
    _check_finite(state["learned"], "learned")
    return ranker


def check_target(path: str | os.PathLike[str]) -> None:
    """Refuse a path that no model can be written to: before training, not after."""
    target = Path(path)
    if target.suffix.lower() == ".gz":
        raise DataError(f"a model file is not compressed: name it model.rulerank, not {os.fspath(path)}")
    if target.is_dir() or not target.parent.is_dir():
        what = "it is a directory" if target.is_dir() else f"there is no directory {target.parent}"
        raise DataError(f"cannot write {os.fspath(path)}: {what}")


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Tell whether there is a model in a file, by its first bytes."""
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return is_model(file.read(16))


def check_overwrite(out: str, sources: Sequence[str]) -> None:
    """Refuse to write a model over what it is trained on, or over any other file that is no model."""
    check_output(out, sources)
    if Path(out).is_file() and Path(out).stat().st_size and not is_model_file(out):
        raise DataError(f"{out} exists and is not a model; choose another name or remove it")


def load_beside_data(path: str, source: str, *, command: str = "rank") -> Ranker:
    """Read the model that a command takes after its data, and notice when the two were swapped."""
    if is_model_file(source) and not is_model_file(path):
        raise DataError(f"the data come first, then the model: rulerank {command} {path} {source}")
    return load_ranker(path)


def load_ranker(path: str | os.PathLike[str]) -> Ranker:
    """Read a fitted ranker, that of a Reranker too, or say what else the file holds."""
    found = load(path)
    if not isinstance(found, Ranker):
        found = getattr(found, "ranker", found)
    if not isinstance(found, Ranker):
        raise ModelFileError(
            f"{os.fspath(path)}: expected a ranker, which `rulerank train` writes: it holds {found!r:.80}"
        )
    return found


def load(path: str | os.PathLike[str]) -> Any:
    """Load a ranker, TextFeatures or a Reranker from a file; its results are bit-identical to the saved object's.

    >>> import tempfile
    >>> import rulerank as rr
    >>> ranker = rr.GlobalRules(discretizer=None).fit([[0, 0], [0, 1], [1, 1]], [0, 1, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ranker.save(f"{folder}/model.rulerank")
    ...     again = load(f"{folder}/model.rulerank")
    >>> again.predict([[1, 0]]) == ranker.predict([[1, 0]])
    array([ True])
    """
    return load_version(path)[0]


def load_version(path: str | os.PathLike[str]) -> tuple[Any, str]:
    """Read what `load` reads, and by what it is called (`version_of`), from the same bytes."""
    try:
        return _read(Path(path))
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from error.__cause__


def _unknown(name: object, written: str = "") -> ModelFileError:
    """Say that a class is not there, or not any more."""
    instead = INSTEAD.get(str(name))
    if instead is not None:
        return ModelFileError(f"holds a {name}, which is no longer part of rulerank; train {instead} instead")
    known = ", ".join(_names())
    return ModelFileError(f"holds a {name!r}, which rulerank {__version__} does not know (it knows {known}){written}")


def _read(path: Path) -> tuple[Any, str]:
    manifest, content, start = _open(path)
    found = _class_named(manifest.get("class"))
    if found is None:
        raise _unknown(manifest.get("class"), f"; the file was written by rulerank {manifest.get('library')}")
    try:
        arrays = _arrays(manifest["arrays"], content, start, path)
        made = rebuilt({"class": manifest["class"], "state": _unpack(manifest["state"], arrays)})
    except (MissingExtraError, OutdatedModelError):
        raise
    except NONSENSE as error:
        raise ModelFileError(f"does not describe a {found.__name__}: {error}; {AGAIN}") from error
    return made, content[-N_CHECKSUM:].hex()[:N_VERSION]


def _open(path: Path) -> tuple[dict[str, Any], bytes, int]:
    """Return the manifest, the whole content and where its arrays start, after checking the file from outside in."""
    try:
        with opened(path) as file:
            content = file.read(HEADER.size)
            if content.startswith(MODEL_MAGIC):
                content += file.read()
    except ReadError as error:
        raise ModelFileError(error.message) from None
    if not content.startswith(MODEL_MAGIC):
        began = f"it begins with {content[:12]!r}" if content else "it is empty"
        raise ModelFileError(f"is not a rulerank model: {began}; name a file that `rulerank train` or `save` wrote")
    size = HEADER.unpack_from(content)[3] if len(content) >= HEADER.size else HEADER.size + N_CHECKSUM
    if len(content) < size:
        raise ModelFileError(f"is cut off: {len(content):,} of its {size:,} bytes are there; copy the file again")
    end = len(content) - N_CHECKSUM
    if len(content) > size or hashlib.sha256(memoryview(content)[:end]).digest() != content[end:]:
        raise ModelFileError(f"is damaged: its checksum does not match its content; {AGAIN}")
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


def _arrays(declared: list[dict[str, Any]], content: bytes, start: int, path: Path) -> list[Array]:
    """Return writable copies of the arrays; together they must fill the file to its checksum.

    Large vectors are memory-mapped: processes that serve the same file share them.
    """
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
        if dtype == "<f2" and n_bytes >= max(1, MAPPED):
            arrays.append(np.asarray(np.memmap(path, dtype, "r", start, tuple(shape))))
        else:
            flat = np.frombuffer(content, dtype=dtype, count=count, offset=start)
            arrays.append(flat.reshape(shape).astype(dtype, order="C", copy=True))
        start += n_bytes
    if start != end:
        raise ModelFileError(f"{end - start:,} bytes belong to no array")
    return arrays


def _check_features(state: dict[str, Any]) -> None:
    """Refuse a state whose parts do not agree on the features."""
    names = state["feature_names"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len({*names}) < len(names):
        raise ModelFileError("its feature names are not a list of different names")
    for part in _dicts(state):
        for name, n_more in (("n_bins", 0), ("offsets", 1)):
            array = part.get(name, np.empty(len(names) + n_more))
            if not isinstance(array, np.ndarray) or array.shape != (len(names) + n_more,):
                raise ModelFileError(f"it has {len(names)} feature names, but {name} of another number of features")


def _check_finite(value: Any, where: str) -> None:
    """Refuse numbers that would make scores infinite or NaN; what stands beside the scores may be either."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name not in NOT_SCORED and name != "params":
                _check_finite(one, f"{where}.{name}")
    elif isinstance(value, list):
        for number, one in enumerate(value):
            _check_finite(one, f"{where}[{number}]")
    elif isinstance(value, float | np.ndarray) and not np.isfinite(value).all():
        raise ModelFileError(f"{where} holds NaN or infinity, where every number must be finite")


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every dictionary of what was learned; parameters are checked by the classes that have them."""
    if isinstance(value, dict):
        yield value
        for key, one in value.items():
            if key != "params":
                yield from _dicts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _dicts(one)


def _pack(value: Any, arrays: list[Array], where: str) -> Any:
    """Return the value as JSON has it, with its arrays moved to the list."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        if array.dtype.str in DTYPES:
            arrays.append(array.reshape(value.shape))
            return {ARRAY: len(arrays) - 1}
    if isinstance(value, Ranker):
        return {RANKER: _pack(described(value), arrays, where)}
    if isinstance(value, list | tuple):
        return [_pack(one, arrays, f"{where}[{i}]") for i, one in enumerate(value)]
    if isinstance(value, dict) and not {ARRAY, RANKER} & value.keys() and all(isinstance(key, str) for key in value):
        return {key: _pack(one, arrays, f"{where}.{key}") for key, one in value.items()}
    kind = f"array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
    raise DataError(f"a model file holds numbers, text, lists and arrays of numbers: {where} is a {kind}")


def _unpack(value: Any, arrays: list[Array]) -> Any:
    if isinstance(value, list):
        return [_unpack(one, arrays) for one in value]
    if not isinstance(value, dict):
        return value
    if ARRAY in value:
        number = value[ARRAY]
        if type(number) is not int or not 0 <= number < len(arrays):
            raise ModelFileError(f"there is no array {number!r}, only {len(arrays)} arrays")
        return arrays[number]
    if RANKER in value:
        inner = rebuilt(_unpack(value[RANKER], arrays))
        if not isinstance(inner, Ranker):
            raise ModelFileError(f"expected a ranker inside another: got {type(inner).__name__}")
        return inner
    return {key: _unpack(one, arrays) for key, one in value.items()}


def _class_named(name: object) -> Any:
    """Return a class that a file may name, or None: nothing else is ever loaded for it."""
    if not isinstance(name, str):
        return None
    name = old_names("classes of models").get(name, name)
    if name in OTHERS:
        return getattr(import_module(f"rulerank.{OTHERS[name]}"), name)
    method = next((method for method in METHODS.values() if method.class_name == name), None)
    return None if method is None else method.ranker_class()


def _names() -> list[str]:
    return [*(method.class_name for method in METHODS.values()), *OTHERS]
