"""Files of labels: write those chosen, append one answer at a time; `given_labels.py` reads them."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from rulerank.dataset import UNLABELLED, Array, Dataset
from rulerank.errors import DataError
from rulerank.io.convert import write_any
from rulerank.io.formats import HEAD, detect
from rulerank.io.streams import COMPRESSIONS
from rulerank.io.trec import Qrels, require_docids, write_qrels
from rulerank.judging.labels import Claim, Glance, Label, State
from rulerank.judging.pool import Pool
from rulerank.judging.team import Decision, Settings

FORMATS = {"csv": ".csv", "qrels": ".qrels", "quepid": None, "letor": ".txt"}  # and the ending that means it
WITH_HEADER = ("csv", "quepid")
APPENDED = (
    b"qid,docid,grade",
    b"qid,docid,grade,comment",
)  # headers of csv to append to
PERSON = "you"  # whose labels a file holds: nobody signs them


def label_format(named: str | None, target: str) -> str:
    """Return the format that was named, or that the file's name ends in; csv when it does not say.

    >>> label_format(None, "labels.qrels"), label_format(None, "-"), label_format("Quepid", "labels.csv")
    ('qrels', 'csv', 'quepid')
    """
    if named is None:
        return next((name for name, ending in FORMATS.items() if ending and target.endswith(ending)), "csv")
    if named.lower() not in FORMATS:
        raise DataError(f"unknown format {named!r}; choose from {', '.join(FORMATS)}")
    return named.lower()


def check_appendable(target: str, resume: str | None) -> None:
    """Refuse to ask a person for labels that have nowhere to go, or that would mix with others."""
    if target == "-":
        raise DataError("--ask keeps every answer in a file: name one, such as -o labels.csv")
    path = Path(target)
    if resume is not None and path != Path(resume):
        raise DataError(f"--ask appends to the file that --resume names, {resume}: leave out -o")
    if resume is None and path.exists() and path.stat().st_size:
        raise DataError(f"{target} is there already: --resume {target} goes on after its labels; or name another file")
    if path.suffix.lower() in COMPRESSIONS:
        raise DataError(f"--ask appends one line at a time: name a file that is not compressed, unlike {target}")
    if path.is_dir() or not path.parent.is_dir():
        raise DataError(f"cannot write {target}: it is a directory, or its directory does not exist")


def appended_format(path: Path) -> str | None:
    """Return the format of a file of labels that a line can be appended to; None: it is new or empty."""
    if not path.is_file() or not path.stat().st_size:
        return None
    with path.open("rb") as file:
        head = file.read(HEAD)
    found = detect(path, head)
    header = _header(head)
    if found not in FORMATS:
        raise DataError(f"--ask appends to {', '.join(FORMATS)}: {path} is {found}; convert it first")
    if found == "csv" and header not in APPENDED:
        came = header[:80].decode(errors="backslashreplace")
        raise DataError(f"--ask appends to csv with the columns qid,docid,grade: {path} has {came}")
    return found


def label_bytes(pool: Pool, rows: Array, grades: Array, format: str) -> bytes:
    """Return documents and their grades as a file; -1 stands for a grade that is still to be given.

    Where such documents have no ids, csv has a column `comment` with what people call them.
    """
    chosen = replace(pool.data[rows], y=grades, base=None)
    to_judge = bool((chosen.y == UNLABELLED).any())
    if format == "qrels" and to_judge:
        return _qrels_to_judge(chosen)
    if format != "letor":
        names = np.array([pool.names[row] for row in rows], dtype=object)
        nameless = format == "csv" and to_judge and (names != chosen.docid).any()
        bare: dict[str, Any] = {"X": np.empty((len(rows), 0)), "feature_names": (), "categories": {}, "texts": {}}
        chosen = replace(chosen, **bare, comment=names if nameless else None)
    out = io.BytesIO()
    if len(rows) or format in WITH_HEADER:
        write_any(chosen, out, format)
    return out.getvalue()


def _qrels_to_judge(chosen: Dataset) -> bytes:
    """Return qrels whose last column, the grade, is left to the judge."""
    out = io.BytesIO()
    write_qrels(Qrels(chosen.qid, require_docids(chosen), np.zeros(len(chosen), dtype=np.int64)), out)
    return b"".join(line.rpartition(b" ")[0] + b"\n" for line in out.getvalue().splitlines())


class LabelFile:
    """A file that one person's every answer is appended to at once, so that nothing is lost when the work ends early.

    It keeps labels for the labelling loop as a `LabelStore` does, all of them those of one rater. `undo` goes back
    to the first answer since the file was opened, never into what it held before; skips are forgotten on closing.
    """

    def __init__(self, pool: Pool, path: str, format: str, before: dict[int, int] | None = None) -> None:
        """Open a file; before: the grades by row that it, or another one, holds already."""
        self.pool = pool
        self.name = path
        self.format = format
        self._given: list[Label] = []
        self._n_ids = self._n_withdrawn = 0
        self._skipped: dict[tuple[str, str], None] = {}
        for row, grade in (before or {}).items():
            self._note(*pool.pairs[row], grade, PERSON)
        self._n_before = len(self._given)
        self._file: Any = Path(path).open("ab")  # noqa: SIM115  # until close
        if not _locked(self._file):
            self._file.close()
            raise DataError(f"{path}: another session of --ask writes to this file; end it, or name another file")
        self._ends: list[int] = []  # where the file ended before each answer
        self._has_comments = False
        if self._file.tell():
            with Path(path).open("rb") as so_far:
                self._has_comments = _header(so_far.read(HEAD)) == APPENDED[1]
                so_far.seek(-1, os.SEEK_END)
                if so_far.read() != b"\n":  # the last line was written by hand
                    self._write(b"\n")

    @property
    def identity(self) -> str:
        """What tells this file from others."""
        return os.path.abspath(self.name)

    def add(
        self,
        query: str,
        doc: str,
        grade: int | None,
        rater: str,
        *,
        judgement: str | None = None,
        once: bool = False,
        page: str | None = None,
    ) -> Label:
        """Append one label; whoever answers sits at this machine, so that nothing comes twice."""
        if grade is None:
            raise DataError("a file of labels has no word for a document that cannot be judged: skip it")
        row = self.pool.row(query, doc)
        end = self._file.tell()
        text = label_bytes(self.pool, np.array([row]), np.array([grade]), self.format)
        if end and self.format in WITH_HEADER:
            text = text.partition(b"\n")[2]
        if self._has_comments:
            text = text.rstrip(b"\n") + b",\n"
        self._write(text)
        self._ends.append(end)
        self._skipped.pop((query, doc), None)
        return self._note(query, doc, grade, rater)

    def undo(self, rater: str, *, judgement: str | None = None, page: str | None = None) -> Label | None:
        """Take the last label out of the file; None: there is none since it was opened."""
        if not self._ends:
            return None
        self._file.truncate(self._ends.pop())
        self._file.seek(0, os.SEEK_END)
        self._write(b"")
        self._n_withdrawn += 1
        return replace(self._given.pop(), withdrawn=datetime.now(UTC))

    def labels(self, rater: str | None = None, *, after: int = 0) -> list[Label]:
        """Return the labels in the order they were given, of each document the last."""
        current = {(label.query, label.doc): label for label in self._given}
        return sorted((label for label in current.values() if label.id > after), key=lambda label: label.id)

    def given_now(self) -> list[Label]:
        """Return the labels that were given since the file was opened."""
        return self._given[self._n_before :]

    def state(self) -> State:
        """Return what tells whether labels have changed since it was last asked."""
        return State(self._n_ids, self._n_withdrawn)

    def glance(self, rater: str) -> Glance:
        """Return what there is to know before the next document is shown."""
        claims: list[Claim] = []
        return Glance(self.state(), claims, self.skipped(rater))

    def claim(self, query: str, doc: str, rater: str, *, raters: int = 1, seconds: float = 900) -> bool:
        """Grant every document: nobody else asks."""
        return True

    def skip(self, query: str, doc: str, rater: str, *, judgement: str | None = None) -> None:
        """Note that a document is passed over."""
        self._skipped[query, doc] = None

    def skipped(self, rater: str) -> list[tuple[str, str]]:
        """Return what was passed over."""
        return [*self._skipped]

    def history(self) -> list[Label]:
        """Return every label in the order they were given."""
        return [*self._given]

    def note_check(self, last_label: int, method: str, today: str) -> None:
        """Keep nothing: a file of labels has no room for it."""

    def last_check(self) -> None:
        """Return that there is none."""

    # one person is no team

    def decisions(self) -> list[Decision]:
        """Return that nothing was decided."""
        return []

    def judges(self) -> dict[str, str]:
        """Return that there are no other judges."""
        return {}

    def settings(self) -> Settings:
        """Return the usual settings."""
        return Settings()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _note(self, query: str, doc: str, grade: int, rater: str) -> Label:
        self._n_ids += 1
        self._given.append(Label(self._n_ids, query, doc, grade, rater, datetime.now(UTC)))
        return self._given[-1]

    def _write(self, text: bytes) -> None:
        self._file.write(text)
        self._file.flush()
        os.fsync(self._file.fileno())


def _header(head: bytes) -> bytes:
    return head.partition(b"\n")[0].removeprefix(b"\xef\xbb\xbf").strip()


def _locked(file: Any) -> bool:
    """Keep a file to this process until it is closed, or tell that another one has it: undo would cut its labels."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        pass
    return True
