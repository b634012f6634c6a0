"""A reranker that reloads its model file when it is replaced."""

from __future__ import annotations

import logging
import os
import threading
import time
from os import PathLike
from pathlib import Path
from typing import Any, Self

from rulerank._util.parameters import check_number
from rulerank.errors import DataError, ModelFileError, RulerankError
from rulerank.model_file import load, load_version
from rulerank.rankers.base import Ranker
from rulerank.serve.reranker import Reranker
from rulerank.text.text_features import TextFeatures

N_TAIL = 32  # bytes of the checksum at the end of a model file

log = logging.getLogger("rulerank.serve")


class WatchedReranker:
    """A reranker whose model comes from a file; created by `Reranker.watch`.

    It has the methods of `Reranker`. Every call uses one model throughout; `current()` holds one for several calls.
    Calls check the file at most every `every` seconds; a new file is loaded in a separate thread, so that no call
    waits. If a new file cannot be used, the old model stays: a warning is logged once, and `problem` has the reason.

    >>> import tempfile, rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=20, n_features=2, seed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rr.Reranker(rr.GlobalRules().fit(data)).save(f"{folder}/model.rulerank")
    ...     watched = rr.Reranker.watch(f"{folder}/model.rulerank")
    ...     before = watched.version
    ...     rr.Reranker(rr.QueryIntercepts().fit(data)).save(f"{folder}/model.rulerank")
    ...     after = watched.refresh().version
    >>> before != after
    True
    """

    def __init__(
        self,
        path: str | PathLike[str],
        features: TextFeatures | None = None,
        baseline: Any = None,
        *,
        features_only: bool = False,  # ignore text features in the file
        every: float = 0.2,
    ) -> None:
        check_number("every", every, 0, 86_400, "the seconds between two checks of the file")
        self.path = Path(path)
        self.every = float(every)
        self._given = features, baseline, features_only
        self._lock = threading.Lock()  # held while checking and loading
        self._looked = time.monotonic()
        self._seen = seen(self.path)  # before loading, so that no change is missed
        self._problem: str | None = None
        self._model = self._read()  # the one reference that is swapped

    def current(self) -> Reranker:
        """Return the current model; checks the file if it is time."""
        if time.monotonic() - self._looked >= self.every and self._lock.acquire(blocking=False):
            try:
                self._looked = time.monotonic()
                if seen(self.path) != self._seen:
                    threading.Thread(target=self.refresh, name="rulerank-model", daemon=True).start()
            finally:
                self._lock.release()
        return self._model

    def refresh(self) -> Self:
        """Check the file now, and load it if it is new; a failure is logged once."""
        with self._lock:
            self._looked, found = time.monotonic(), seen(self.path)
            if found == self._seen:
                return self
            self._seen, before = found, self._model.version
            try:
                self._model, self._problem = self._read(), None
            except RulerankError as error:
                self._problem = f"{error}; still ranking with model {before}"
                log.warning("the new model is not used: %s", self._problem)
            except Exception as error:  # such as out of memory: keep the old model
                self._problem = f"{self.path}: {type(error).__name__}: {error}"
                log.exception("the new model is not used: %s", self._problem)
            else:
                log.info("model %s replaces %s", self._model.version, before)
        return self

    @property
    def problem(self) -> str | None:
        """Why the current file is not in use; None if there is no problem."""
        self.current()
        return self._problem

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the current model: `rank`, `explain`, `version`, `ranker`, `features`, ..."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.current(), name)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())

    def __repr__(self) -> str:
        return f"WatchedReranker({os.fspath(self.path)!r}, {self._model!r})"

    def _read(self) -> Reranker:
        """Load the model of the file and warm it up."""
        found, version = load_version(self.path)
        features, baseline, features_only = self._given
        if isinstance(found, Reranker):
            features = None if features_only else features or found.features
            baseline = found.baseline.option if baseline is None and found.baseline is not None else baseline
            found = found.ranker
        if not isinstance(found, Ranker):
            raise ModelFileError(f"{self.path}: expected a Reranker or a ranker: got {found!r:.80}")
        return Reranker(found, features, baseline).warm().called(version)


def seen(path: Path) -> tuple[int, int, int, int, bytes] | None:
    """Return a fingerprint of a file without reading all of it; None if there is no file."""
    try:
        if not path.is_file():  # a pipe would block
            return None
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            file.seek(max(0, found.st_size - N_TAIL))
            return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size, file.read(N_TAIL)
    except (OSError, ValueError):
        return None


def open_model(
    path: str, texts: str | None = None, *, features_only: bool = False, baseline: str | None = None
) -> WatchedReranker:
    """Load a model for serving.

    path: a saved ranker or Reranker; texts: the index from `rulerank features --keep`.
    features_only: requests send features; ignores text features in the file.
    """
    if texts is not None and features_only:
        raise DataError("--texts and --features-only exclude each other: documents are texts, or have features")
    features = None if texts is None else load_texts(texts)
    reranker = WatchedReranker(path, features, baseline, features_only=features_only)
    if reranker.features is None and not features_only:
        raise DataError(
            f"{path} has a ranker without texts: add --texts FILE (from `rulerank features --keep FILE`), or "
            "--features-only if requests send features"
        )
    return reranker


def load_texts(path: str) -> TextFeatures:
    """Load the index that `rulerank features --keep` wrote."""
    expected = "expected the index from `rulerank features DOCS QUERIES -o POOL --keep FILE`"
    try:
        features = load(path)
    except ModelFileError as error:
        raise ModelFileError(f"{error}; {expected}") from None
    if not isinstance(features, TextFeatures):
        raise DataError(f"{path}: {expected}: got {features!r:.80}")
    return features
