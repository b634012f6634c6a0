"""One file per system and fold: what is finished stays finished, whatever happens to the process.

A cell's name holds a fingerprint of all that its scores depend on: the fold's data, the system's parameters, the
measure it is tuned by, and the library's code that scores may depend on. Change one, and only its cells run again.
"""

from __future__ import annotations

import hashlib
import inspect
import io
import json
import sys
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import joblib
import numpy as np

import rulerank
from rulerank import __version__
from rulerank.dataset import Array, Dataset, Fold
from rulerank.errors import DataError
from rulerank.io.outputs import write_bytes
from rulerank.training.selection import Trial

FORMAT = 2
# code that no score depends on
NO_SCORES = ("cli/", "experiment/report", "experiment/figures", "explain/", "export/", "judging/", "render/")


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

    def columns(data: Dataset) -> list[Any]:
        base = None if data.base is None else (data.base.judged, data.base.grades)
        return [data.feature_names, np.ascontiguousarray(data.X), data.y, data.qid.astype(str), data.docid, base]

    return str(joblib.hash([columns(part) for part in (fold.train, fold.vali, fold.test)]))


def cell_key(name: str, description: dict[str, Any], data: str, measure: str) -> str:
    """Return the fingerprint of a cell.

    >>> cell_key("RE-GR", {"votes": "mean"}, "ab12", "MAP") == cell_key("RE-GR", {}, "ab12", "MAP")
    False
    """
    content = [FORMAT, __version__, code_digest(), name, plain(description), data, measure]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


@cache
def code_digest(package: Path = Path(rulerank.__file__).parent) -> str:
    """Return a fingerprint of the source files that scores may depend on: a version alone changes too seldom."""
    files = sorted((file.relative_to(package).as_posix(), file) for file in package.rglob("*.py"))
    return str(joblib.hash([(name, file.read_bytes()) for name, file in files if not name.startswith(NO_SCORES)]))


def described(ranker: Any) -> dict[str, Any]:
    """Return a ranker's class and parameters, those of its members too, as plain values; of foreign ones the code."""
    kind = type(ranker)
    params = ranker.get_params(deep=False) if hasattr(ranker, "get_params") else vars(ranker)
    made = {kind.__name__: {name: plain(value) for name, value in params.items() if name != "n_jobs"}}
    if kind.__module__.startswith("rulerank."):
        return made
    version = getattr(sys.modules.get(kind.__module__.partition(".")[0]), "__version__", "")
    return made | {"code": code_of(kind), "version": str(version)}


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
    """The finished cells in a directory; nothing is kept when there is none."""

    def __init__(self, directory: Path | None) -> None:
        self.directory = directory
        if directory is not None:
            try:
                directory.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise DataError(f"cannot write to {directory}: {error.strerror}") from None

    def load(self, system: str, fold: str, key: str, n_vali: int, n_test: int) -> Scores | None:
        """Return a finished cell, or None when it is not there, not whole, or not of these documents."""
        if self.directory is None:
            return None
        try:
            scores = unpack((self.directory / file_name(system, fold, key)).read_bytes())
        except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile, zlib.error):
            return None
        return scores if (scores.vali.shape[-1:], scores.test.shape[-1:]) == ((n_vali,), (n_test,)) else None

    def save(self, system: str, fold: str, key: str, scores: Scores) -> None:
        """Keep a cell; a cell of the same system and fold made from something else goes."""
        if self.directory is None:
            return
        path = self.directory / file_name(system, fold, key)
        write_bytes(path, pack(scores))
        for old in self.directory.glob(file_name(system, fold, "*")):
            if old != path:
                old.unlink(missing_ok=True)


def file_name(system: str, fold: str, key: str) -> str:
    """Return what a cell's file is called.

    >>> file_name("RE-GR+", "Fold1", "ab12"), file_name("Yule's Q", "../x", "*")
    ('RE-GR+@Fold1@ab12.npz', 'Yule%27s%20Q@..%2Fx@*.npz')
    """
    return f"{quote(system, safe='+')}@{quote(fold, safe='+')}@{key}.npz"


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
        vali, test = arrays["vali"], arrays["test"]
        if not vali.dtype == test.dtype == np.float64:
            raise ValueError(f"expected float64 scores: got {vali.dtype} and {test.dtype}")
        return Scores(vali=vali, test=test, chosen=arrays.get("chosen"), **about)
