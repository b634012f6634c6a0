"""Files that the lead takes away: labels in every format, the model, a report, and everything that was ever said."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from rulerank.errors import DataError
from rulerank.judging.audit import write_audit
from rulerank.judging.combine import COMBINATIONS
from rulerank.judging.report import label_report
from rulerank.judging.store import LabelStore
from rulerank.judging.transfer import export_labels
from rulerank.judging.web.api import Api


class Download(NamedTuple):
    """A file: what it is, for the page, its type, and how it is made."""

    name: str
    about: str
    kind: str
    make: Callable[[], bytes]


class Downloads:
    """Everything that can be taken away, by the name of its file."""

    def __init__(self, api: Api) -> None:
        self._api, self._judging = api, api.judging
        combined = [
            ("labels.csv", "a table of documents, grades and features", None),
            ("labels.parquet", "the same, for programs", None),
            ("labels.txt", "LETOR text with the features", "letor"),
            ("labels.qrels", "TREC qrels", None),
            ("labels-quepid.csv", "for Quepid", "quepid"),
        ]
        each = [
            ("labels-per-rater.csv", "every label by itself: who, when, which grade"),
            ("labels-per-rater.parquet", "the same, for programs"),
        ]
        self.labels = [self._labels(name, about, format) for name, about, format in combined]
        self.per_rater = [self._labels(name, about, None, per_rater=True) for name, about in each]
        self.others = [
            Download(
                "history.csv",
                "who said what, when and on which page: labels, undone ones too, skips, decisions, judges and settings",
                "text/csv",
                self._history,
            ),
            Download("report.html", "the overview as one page, to send around", "text/html", self._report),
        ]
        self.model = Download(
            self._api.model_path.name, "the model that was saved last", "application/octet-stream", self._model
        )

    def named(self, name: str) -> Download | None:
        """Return the download of a name."""
        every = (*self.labels, *self.per_rater, *self.others, self.model)
        return next((download for download in every if download.name == name), None)

    @property
    def has_model(self) -> bool:
        return self._api.model_path.is_file()

    def _labels(self, name: str, about: str, format: str | None, *, per_rater: bool = False) -> Download:
        def make() -> bytes:
            store, pool = self._judging.store, self._judging.pool
            assert isinstance(store, LabelStore)
            how = store.settings().combine
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, name)
                export_labels(store, path, None if per_rater else pool, format, per_rater=per_rater, combine_by=how)
                return path.read_bytes()

        kinds = {".csv": "text/csv", ".parquet": "application/vnd.apache.parquet"}
        return Download(name, about, kinds.get(Path(name).suffix, "text/plain"), make)

    def _history(self) -> bytes:
        store = self._judging.store
        assert isinstance(store, LabelStore)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "history.csv")
            write_audit(store, path)
            return path.read_bytes()

    def _report(self) -> bytes:
        how = COMBINATIONS[self._judging.store.settings().combine]
        return label_report(self._judging.overview(), Path(self._judging.pool.name).name, how).encode()

    def _model(self) -> bytes:
        if not self.has_model:
            raise DataError("no model was saved yet: train one first, on the overview")
        return self._api.model_path.read_bytes()
