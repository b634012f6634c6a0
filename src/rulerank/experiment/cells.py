"""One file per system and fold: what is finished stays finished, whatever happens to the process.

A cell's name holds a fingerprint of all that its scores depend on: the fold's data, the system's parameters, the cells
it builds on, the measure it is tuned by, and the library's code that scores may depend on. Change one, and only its
cells run again.
"""

from __future__ import annotations

import hashlib
import inspect
import io
import json
import re
import sys
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import rulerank
from rulerank import __version__
from rulerank.dataset import Array, Dataset, Fold
from rulerank.errors import DataError
from rulerank.io.outputs import write_bytes
from rulerank.training.trials import Trial

FORMAT = 1
KEY_DIGITS = 16
# code that no score depends on
NO_SCORES = ("cli", "experiment/report", "experiment/figures", "explain", "export", "judging", "render")


@dataclass(frozen=True, eq=False, slots=True)
class Scores:
    """What a system made of one fold."""

    # one score per document, NaN where a run did not return it; (n_draws, n_docs) when figures are means over draws
    vali: Array
    test: Array
    params: dict[str, Any]  # chosen on vali; empty when there was nothing to choose
    tried: tuple[Trial, ...]
    n_labels: int  # grades of train that were used
    # seconds of one core, whatever else the machine does at the same time
    fit_seconds: float  # of the chosen setting
    tune_seconds: float  # of all settings, on train and vali
    predict_seconds: float  # all test documents
    chosen: Array | None = None  # rows of train whose grades were used, (n_draws, n) where drawn; None: all, or none


@dataclass(frozen=True, slots=True)
class Failure:
    """A cell that has no scores, and why."""

    reason: str
    skipped: bool = False  # an optional package is missing: no fault of the system


def fold_digest(fold: Fold) -> str:
    """Return a fingerprint of everything in a fold that a system can see."""
    digest = hashlib.sha256()
    for part in (fold.train, fold.vali, fold.test):
        _digest_data(digest, part)
    return digest.hexdigest()


def cell_key(name: str, description: dict[str, Any], data: str, used: dict[str, str], measure: str) -> str:
    """Return the fingerprint of a cell.

    >>> cell_key("RE-GR", {"votes": "mean"}, "ab12", {}, "MAP") == cell_key("RE-GR", {}, "ab12", {}, "MAP")
    False
    """
    content = [FORMAT, __version__, code_digest(), name, plain(description), data, used, measure]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:KEY_DIGITS]


@cache
def code_digest(package: Path = Path(rulerank.__file__).parent) -> str:
    """Return a fingerprint of the source files that scores may depend on: a version alone changes too seldom."""
    digest = hashlib.sha256()
    apart = tuple(f"{folder}/" for folder in NO_SCORES)
    for name, file in sorted((file.relative_to(package).as_posix(), file) for file in package.rglob("*.py")):
        if not name.startswith(apart):
            content = file.read_bytes()
            digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def described(ranker: Any) -> dict[str, Any]:
    """Return a ranker's class and parameters, those of its members too, as plain values; of foreign ones the code."""
    params = ranker.get_params(deep=False) if hasattr(ranker, "get_params") else vars(ranker)
    made = {type(ranker).__name__: {name: plain(value) for name, value in params.items() if name != "n_jobs"}}
    if type(ranker).__module__.startswith("rulerank."):
        return made
    return made | {"code": code_of(type(ranker)), "version": version_of(type(ranker))}


def version_of(kind: type) -> str:
    """Return the version of the package that a class comes from; "" where it has none."""
    package = sys.modules.get(kind.__module__.partition(".")[0])
    return str(getattr(package, "__version__", ""))


def code_of(kind: type) -> str:
    """Return a fingerprint of a class that is not ours, which may be edited between runs; "" if it has no source."""
    try:
        return hashlib.sha256(inspect.getsource(kind).encode()).hexdigest()
    except (OSError, TypeError):
        return ""


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it, rankers as what describes them."""
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    if hasattr(value, "get_params") and not isinstance(value, type):
        return described(value)
    if isinstance(value, np.generic):
        return value.item()
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return repr(value)
    return value


class CellStore:
    """The finished cells in a directory, or only in memory when there is none."""

    def __init__(self, directory: Path | None) -> None:
        self.directory = directory
        self._kept: dict[Path, Scores] = {}
        if directory is not None:
            try:
                directory.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise DataError(f"cannot write to {directory}: {error.strerror}") from None

    def load(self, system: str, fold: str, key: str, n_vali: int, n_test: int) -> Scores | None:
        """Return a finished cell, or None when it is not there, not whole, or not of these documents."""
        path = self._path(system, fold, key)
        if self.directory is None:
            return self._kept.get(path)
        try:
            scores = unpack(path.read_bytes())
        except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile, zlib.error):
            return None
        return scores if (scores.vali.shape[-1:], scores.test.shape[-1:]) == ((n_vali,), (n_test,)) else None

    def save(self, system: str, fold: str, key: str, scores: Scores) -> None:
        """Keep a cell; a cell of the same system and fold made from something else goes."""
        path = self._path(system, fold, key)
        if self.directory is None:
            self._kept[path] = scores
            return
        write_bytes(path, pack(scores))
        stem = path.name.removesuffix(f"{key}.npz")
        for old in self.directory.glob(f"{glob_literal(stem)}*.npz"):
            if old != path and re.fullmatch(rf"{re.escape(stem)}[0-9a-f]{{{KEY_DIGITS}}}\.npz", old.name):
                old.unlink(missing_ok=True)

    def _path(self, system: str, fold: str, key: str) -> Path:
        return (self.directory or Path()) / f"{file_name(system)}-{file_name(fold)}-{key}.npz"


def pack(scores: Scores) -> bytes:
    """Return a cell as the bytes of an npz file without pickled objects."""
    about = {name: value for name, value in asdict(scores).items() if name not in ("vali", "test", "chosen")}
    out = io.BytesIO()
    text = np.frombuffer(json.dumps(plain(about)).encode(), dtype=np.uint8)
    more: dict[str, Any] = {} if scores.chosen is None else {"chosen": scores.chosen.astype(np.int64)}
    np.savez_compressed(out, vali=scores.vali, test=scores.test, about=text, **more)
    return out.getvalue()


def unpack(content: bytes) -> Scores:
    """Return the cell that `pack` wrote."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        about = json.loads(arrays["about"].tobytes().decode())
        about["tried"] = tuple(Trial(**trial | {"folds": tuple(trial["folds"])}) for trial in about["tried"])
        chosen = arrays.get("chosen")
        return Scores(vali=_floats(arrays["vali"]), test=_floats(arrays["test"]), chosen=chosen, **about)


def file_name(text: str) -> str:
    """Return text as part of a file's name; what no file may be called becomes a number.

    >>> file_name("RE-GR+"), file_name("Yule's Q"), file_name("../x")
    ('RE-GR+', 'Yule_27s_20Q', '_2e_2e_2fx')
    """
    return re.sub(r"[^\w+-]|_", lambda match: "".join(f"_{byte:02x}" for byte in match[0].encode()), text, flags=re.A)


def glob_literal(text: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", text)


def _floats(values: Array) -> Array:
    if values.dtype != np.float64:
        raise ValueError(f"expected float64 scores: got {values.dtype}")
    return values


def _digest_data(digest: Any, data: Dataset) -> None:
    digest.update(json.dumps([len(data), *data.feature_names]).encode())
    digest.update(np.ascontiguousarray(data.X).tobytes())
    digest.update(data.y.astype(np.int64).tobytes())
    digest.update("\0".join(map(str, data.qid.tolist())).encode())
    if data.base is not None:  # what parameters are chosen by depends on it
        digest.update(data.base.judged.tobytes() + "\0".join(data.base.grades.tolist()).encode())
