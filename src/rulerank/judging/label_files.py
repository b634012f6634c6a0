"""Files of labels: read those given so far, write those chosen, append one answer at a time."""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rulerank.dataset import UNLABELLED, Array, Dataset
from rulerank.errors import DataError, ReadError

FORMATS = {"csv": ".csv", "qrels": ".qrels", "quepid": None, "letor": ".txt"}  # and the ending that means it
WITH_HEADER = ("csv", "quepid")


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


def appended_format(path: Path) -> str:
    """Return the format of a file of labels, after making sure that a line can be appended to it."""
    from rulerank.io.formats import HEAD, detect

    with path.open("rb") as file:
        head = file.read(HEAD)
    found = detect(path, head)
    header = head.partition(b"\n")[0].removeprefix(b"\xef\xbb\xbf").strip()
    if found not in FORMATS:
        raise DataError(f"--ask appends to {', '.join(FORMATS)}: {path} is {found}; convert it first")
    if found == "csv" and header != b"qid,docid,grade":
        came = header[:80].decode(errors="backslashreplace")
        raise DataError(f"--ask appends to csv with the columns qid,docid,grade: {path} has {came}")
    return found


@dataclass(frozen=True)
class Pool:
    """Documents to choose from, each with a name: its query and its document id."""

    name: str
    data: Dataset  # docid is always there
    place: dict[tuple[str, str], int]  # the row of each pair of query and document, by every name it has

    @staticmethod
    def of(data: Dataset, name: str) -> Pool:
        """Name the documents; those of a file without document ids by their row, row1 for the first.

        Labels of those may also name them as `rulerank judge` does, by a digest of their features.
        """
        from rulerank.io.doc_names import digest_names

        place: dict[tuple[str, str], int] = {}
        queries = [str(query) for query in data.qid]
        if data.docid is None:
            place = {pair: row for row, pair in enumerate(zip(queries, digest_names(data.X, queries), strict=True))}
            data = replace(data, docid=np.array([f"row{n + 1}" for n in range(len(data))], dtype=object))
        assert data.docid is not None
        for row, pair in enumerate(zip(queries, map(str, data.docid), strict=True)):
            first = place.setdefault(pair, row)
            if first != row:
                raise DataError(
                    f"{name}: document {pair[1]!r} of query {pair[0]!r} is there twice, in rows {first + 1} and "
                    f"{row + 1}: labels could not tell them apart"
                )
        return Pool(name, data, place)

    def read_labels(self, source: str, *, strict: bool) -> dict[int, int]:
        """Return the grade of each row that a file has one for, in the order of the file.

        strict: a document that is not in the pool is a mistake; otherwise it is passed over.
        """
        from rulerank.io.convert import read_found

        if Path(source).is_file() and not Path(source).stat().st_size:
            return {}  # of a session that ended before its first answer
        labels, name, _ = read_found(source, graded=True)
        if not len(labels):
            return {}
        if labels.docid is None:
            raise ReadError(name, None, "expected labels with document ids; there are none to find the documents by")
        found = {}
        for qid, docid, grade in zip(labels.qid, labels.docid, labels.y.tolist(), strict=True):
            row = self.place.get((str(qid), str(docid)))
            if row is None and strict:
                raise ReadError(name, None, f"document {str(docid)!r} of query {str(qid)!r} is not in {self.name}")
            if row is not None and grade != UNLABELLED:
                found[row] = grade
        return found

    def with_grades(self, grades: dict[int, int] | None) -> Pool:
        """Return the documents that have a grade: of these by row, or their own when there are none."""
        data = (self.data if grades is None else self.graded(grades)).labelled()
        if not len(data):
            raise DataError(f"no document of {self.name} has a grade, so there is nothing to simulate with")
        if len(data) < len(self.data):
            left_out = f"{len(self.data) - len(data):,} of {len(self.data):,}"
            print(f"{left_out} documents have no grade and are not chosen from", file=sys.stderr)
        return Pool.of(data, self.name)

    def graded(self, grades: dict[int, int]) -> Dataset:
        """Return all documents with these grades by row, and no others."""
        y = np.full(len(self.data), UNLABELLED)
        y[[*grades]] = [*grades.values()]
        return replace(self.data, y=y)

    def as_bytes(self, rows: Array, grades: Array, format: str) -> bytes:
        """Return documents and their grades as a file; -1 stands for a grade that is still to be given."""
        from rulerank.io.convert import write_any

        chosen = replace(self.data[rows], y=grades)
        if format == "qrels" and (chosen.y == UNLABELLED).any():
            return self._to_judge(chosen)
        if format != "letor":
            chosen = replace(chosen, X=np.empty((len(rows), 0)), feature_names=(), comment=None)
        out = io.BytesIO()
        if len(rows) or format in WITH_HEADER:
            write_any(chosen, out, format)
        return out.getvalue()

    def described(self, rows: Array, grades: Array) -> list[dict[str, object]]:
        """Return documents and their grades for JSON; a grade that is still to be given is null."""
        chosen = self.data[rows]
        assert chosen.docid is not None
        return [
            {"qid": str(qid), "docid": str(docid), "grade": None if grade == UNLABELLED else grade}
            for qid, docid, grade in zip(chosen.qid, chosen.docid, grades.tolist(), strict=True)
        ]

    def _to_judge(self, chosen: Dataset) -> bytes:
        """Return qrels whose last column, the grade, is left to the judge."""
        from rulerank.io.trec import Qrels, require_docids, write_qrels

        out = io.BytesIO()
        write_qrels(Qrels(chosen.qid, require_docids(chosen), np.zeros(len(chosen), dtype=np.int64)), out)
        return b"".join(line.rpartition(b" ")[0] + b"\n" for line in out.getvalue().splitlines())


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


class LabelFile:
    """A file that every answer is appended to at once, so that nothing is lost when the session ends early."""

    def __init__(self, pool: Pool, path: str, format: str) -> None:
        self.pool = pool
        self.path = Path(path)
        self.format = format
        self._file: Any = self.path.open("ab")
        if not _locked(self._file):
            self._file.close()
            raise DataError(f"{path}: another session of --ask writes to this file; end it, or name another file")
        self._ends: list[int] = []  # where the file ended before each answer of this session
        if self._file.tell():
            with self.path.open("rb") as so_far:
                so_far.seek(-1, os.SEEK_END)
                if so_far.read() != b"\n":  # the last line was written by hand
                    self._write(b"\n")

    def add(self, row: int, grade: int) -> None:
        """Append one label."""
        self._ends.append(self._file.tell())
        text = self.pool.as_bytes(np.array([row]), np.array([grade]), self.format)
        if self._ends[-1] and self.format in WITH_HEADER:
            text = text.partition(b"\n")[2]
        self._write(text)

    def undo(self) -> None:
        """Take the last label of this session out of the file."""
        self._file.truncate(self._ends.pop())
        self._file.seek(0, os.SEEK_END)
        self._write(b"")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, text: bytes) -> None:
        self._file.write(text)
        self._file.flush()
        os.fsync(self._file.fileno())
