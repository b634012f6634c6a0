"""A reranker that follows a model file: a new file is read beside the old model, and takes over as one reference."""

from __future__ import annotations

import logging
import os
import threading
import time
from os import PathLike
from pathlib import Path
from typing import Any, Self

from rulerank.core.parameters import check_number
from rulerank.errors import DataError, ModelFileError, RulerankError
from rulerank.features.text_features import TextFeatures
from rulerank.model_file import load, load_version
from rulerank.rankers.base import Ranker
from rulerank.serve.reranker import Reranker

N_TAIL = 32  # bytes of the checksum at the end of a model file: a file of the same size and time has another

log = logging.getLogger("rulerank.serve")


class WatchedReranker:
    """A reranker whose model is that of a file; `Reranker.watch` makes it.

    It has all that a `Reranker` has. Every call ranks with one model from beginning to end; `current()` holds one for
    several calls. Whoever calls looks at the file, at most every so many seconds; a new one is read in a thread of its
    own, so that nobody waits. A new file that cannot be used leaves the model in place: the log says so once, `problem`
    until a good file comes.

    >>> import tempfile, rulerank as rr
    >>> world = rr.make_ranking(n_queries=20, n_features=2, seed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rr.Reranker(rr.GlobalRules().fit(world)).save(f"{folder}/model.rulerank")
    ...     watched = rr.Reranker.watch(f"{folder}/model.rulerank")
    ...     before = watched.rank("milk", [[0.1, 0.2]]).version
    ...     rr.Reranker(rr.QueryIntercepts().fit(world)).save(f"{folder}/model.rulerank")
    ...     after = watched.refresh().rank("milk", [[0.1, 0.2]]).version
    >>> before != after
    True
    """

    def __init__(
        self,
        path: str | PathLike[str],
        features: TextFeatures | None = None,
        today: str | int | None = None,
        *,
        features_only: bool = False,  # leave out the texts that the file may hold
        every: float = 0.2,
    ) -> None:
        check_number("every", every, 0, 86_400, "the seconds between two looks at the file")
        self.path = Path(path)
        self.every = float(every)
        self._given = features, today, features_only
        self._lock = threading.Lock()  # held by the one who looks and reads
        self._looked = time.monotonic()
        self._seen = seen(self.path)  # before it is read: a change in between is found at the next look
        self._problem: str | None = None
        self._model = self._read()  # the one reference that is swapped

    def current(self) -> Reranker:
        """Return the model of now, after a look at the file if it is time for one."""
        if time.monotonic() - self._looked >= self.every and self._lock.acquire(blocking=False):
            try:
                self._looked = time.monotonic()
                if seen(self.path) != self._seen:
                    threading.Thread(target=self.refresh, name="rulerank-model", daemon=True).start()
            except RuntimeError as error:  # no thread can be started, as when Python is shutting down
                log.warning("the new model is not read: %s", error)
            finally:
                self._lock.release()
        return self._model

    def refresh(self) -> Self:
        """Look at the file now; one that is new is read and put in place as a whole, or the log says once why not."""
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
            except Exception as error:  # such as memory that is not enough: the old model must go on
                self._problem = f"{self.path}: {type(error).__name__}: {error}"
                log.exception("the new model is not used: %s", self._problem)
            else:
                log.info("model %s takes over from %s", self._model.version, before)
        return self

    @property
    def problem(self) -> str | None:
        """Why the file as it is now is not in use, None when all is well."""
        self.current()
        return self._problem

    def __getattr__(self, name: str) -> Any:
        """Return anything else of the model of now: `rank`, `explain`, `version`, `ranker`, `features`, ..."""
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
        """Return the model of the file, complete and warm."""
        found, version = load_version(self.path)
        features, today, features_only = self._given
        if isinstance(found, Reranker):
            features = None if features_only else features or found.features
            today = found.today.option if today is None and found.today is not None else today
            found = found.ranker
        if not isinstance(found, Ranker):
            raise ModelFileError(f"{self.path}: expected a Reranker or a ranker: it holds {found!r:.80}")
        return Reranker(found, features, today).warm().called(version)


def seen(path: Path) -> tuple[int, int, int, int, bytes] | None:
    """Return what tells one state of a file from another, without reading it; None: there is none."""
    try:
        if not path.is_file():  # a pipe would let us wait
            return None
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            file.seek(max(0, found.st_size - N_TAIL))
            return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size, file.read(N_TAIL)
    except (OSError, ValueError):
        return None


def open_model(
    path: str, texts: str | None = None, *, features_only: bool = False, today: str | None = None
) -> WatchedReranker:
    """Return the model of a file, ready to be served.

    path: a saved ranker or Reranker; texts: what `rulerank features --keep` wrote.
    features_only: documents come with ready features, whatever the file holds beside its ranker.
    """
    features = None if texts is None else load(texts)
    if features is not None and features_only:
        raise DataError("--texts and --features-only exclude each other: documents are texts, or come with features")
    if not isinstance(features, TextFeatures | None):
        raise DataError(f"{texts}: expected what `rulerank features --keep` wrote: got {features!r:.80}")
    reranker = WatchedReranker(path, features, today, features_only=features_only)
    if reranker.features is None and not features_only:
        raise DataError(
            f"{path} holds a ranker without texts: say --texts FILE (what `rulerank features --keep` wrote), or "
            "--features-only when documents come with their features"
        )
    return reranker
