"""Files of labels: write those chosen, append a person's answers; `given_labels.py` reads them."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from rulerank.dataset import UNLABELLED, Array, Dataset
from rulerank.errors import DataError
from rulerank.io.convert import write_any
from rulerank.io.formats import HEAD, detect
from rulerank.io.streams import COMPRESSIONS
from rulerank.io.trec import Qrels, require_docids, write_qrels
from rulerank.judging.pool import Pool

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore

FORMATS = {"csv": ".csv", "qrels": ".qrels", "quepid": None, "letor": ".txt"}  # and the ending that means it
WITH_HEADER = ("csv", "quepid")
APPENDED = (
    b"qid,docid,grade",
    b"qid,docid,grade,comment",
)  # headers of csv to append to
PERSON = "you"  # who answers in the terminal
EARLIER = "the file"  # whose labels are those that a file held before


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
    if is_store(target):
        return
    path = Path(target)
    if resume is not None and path != Path(resume):
        raise DataError(f"--ask appends to the file that --resume names, {resume}: leave out -o")
    if resume is None and path.exists() and path.stat().st_size:
        raise DataError(f"{target} is there already: --resume {target} goes on after its labels; or name another file")
    if path.suffix.lower() in COMPRESSIONS:
        raise DataError(f"--ask appends lines: name a file that is not compressed, unlike {target}")
    if path.is_dir() or not path.parent.is_dir():
        raise DataError(f"cannot write {target}: it is a directory, or its directory does not exist")
    appended_format(path)


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


def is_store(target: str) -> bool:
    """Tell whether a name means a label store, a file that ends in .db or a URL, and no file of labels.

    >>> is_store("labels.db"), is_store("postgresql://host/labels"), is_store("labels.csv")
    (True, True, False)
    """
    return target.endswith(".db") or "://" in target


@contextmanager
def keep_answers(
    pool: Pool, target: str, before: dict[int, int] | None = None, format: str | None = None
) -> Iterator[LabelStore]:
    """Open a label store for the answers of one person, `PERSON`.

    It is the target itself; or, for a file of labels, one beside it, FILE.db: the answers are appended to the file at
    the end, and a session that was cut short goes on with what it had.
    before: the grades by row that the file holds already, which `undo` leaves alone.
    """
    from rulerank.judging.store import LabelStore

    if is_store(target):
        with LabelStore(target) as store:
            yield store
        return
    format = appended_format(Path(target)) or label_format(format, target)
    with _opened(target) as file:
        with LabelStore(f"{target}.db") as store:
            known = {(label.query, label.doc) for label in store.labels()}
            earlier = [(*pool.pairs[row], grade, EARLIER) for row, grade in (before or {}).items()]
            store.add_all([one for one in earlier if one[:2] not in known])
            yield store
            given = [one for one in store.labels(PERSON) if one.grade is not None and (one.query, one.doc) in pool.rows]
            _append(file, pool, [pool.row(one.query, one.doc) for one in given], [one.grade for one in given], format)
        Path(f"{target}.db").unlink()


def append_labels(pool: Pool, target: str, grades: dict[int, int]) -> None:
    """Append grades by row to a file of labels, which is made when it is not there."""
    format = appended_format(Path(target)) or label_format(None, target)
    with _opened(target) as file:
        _append(file, pool, [*grades], [*grades.values()], format)


@contextmanager
def _opened(target: str) -> Iterator[BinaryIO]:
    with Path(target).open("ab") as file:
        if not _locked(file):
            raise DataError(f"{target}: another session of --ask writes to this file; end it, or name another file")
        yield file


def _append(file: BinaryIO, pool: Pool, rows: Sequence[int], grades: Sequence[int | None], format: str) -> None:
    if not rows:
        return
    text = label_bytes(pool, np.array(rows), np.array(grades), format)
    before = Path(file.name).read_bytes()
    if before and format in WITH_HEADER:
        text = text.partition(b"\n")[2]
    if before and _header(before) == APPENDED[1]:
        text = text.replace(b"\n", b",\n")  # no comment
    if before and not before.endswith(b"\n"):  # the last line was written by hand
        text = b"\n" + text
    file.write(text)
    file.flush()
    os.fsync(file.fileno())


def _header(head: bytes) -> bytes:
    return head.partition(b"\n")[0].removeprefix(b"\xef\xbb\xbf").strip()


def _locked(file: BinaryIO) -> bool:
    """Keep a file to this process until it is closed, or tell that another one has it."""
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
