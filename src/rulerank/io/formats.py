"""Formats of files: which file has which, reading any, converting any to any, and the folds of a cross-validation.

One table of formats says how each is read and written. A file's name or its first bytes tell its format. What a format
cannot hold is an error or is printed.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from rulerank._util.words import counted, listed
from rulerank.dataset import Array, Dataset, Fold
from rulerank.errors import DataError, ReadError, located
from rulerank.io.columns import ids, is_frame, require_docids
from rulerank.io.engine_logs import read_logs
from rulerank.io.files import NamedBytes, Source, check_output, format_suffix, read_bytes
from rulerank.io.frames import DOCUMENTS, QUEPID, TABLE_FORMATS, read_frame, write_frame
from rulerank.io.letor import read_letor, widen, write_letor
from rulerank.io.tables import read_table, to_frame, write_table
from rulerank.io.trec import Qrels, Run, qrels_from_data, read_qrels, read_run, write_qrels, write_run

HEAD = 1 << 16  # bytes that are enough to tell a format
NUMBER = r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?"
SNIFFED = {  # what the first line looks like, its words with one space between them
    "letor": re.compile(rf"\S+ qid:.*|{NUMBER}( [0-9]+:[^ :]+)+( #.*)?"),  # without qid: LightGBM's
    "run": re.compile(rf"(\S+ ){{4}}{NUMBER} \S+"),
    "qrels": re.compile(rf"(\S+ ){{3}}{NUMBER}"),
}
UNSURE = (".txt", ".dat")  # LETOR by custom, but TREC files are often named so too
FRAME = "a data frame"
NO_DOCUMENTS = "a run holds scores, and neither grades nor features"
ANSWERS = (b'"hits"', b'"response"', b'"docs"', b'"responses"')  # in the answer of an engine


@dataclass(frozen=True)
class Format:
    """How one kind of file is read and written, how its name ends, and what of a data set it does not carry."""

    read: Callable[..., Any]
    write: Callable[..., None]
    suffixes: tuple[str, ...] = ()
    loses: tuple[str, ...] = ()


def _write_quepid(data: Dataset, target: Source) -> None:
    require_docids(data)
    frame = to_frame(data).select("qid", "docid", "grade")
    frame.columns = [*QUEPID]
    write_frame(frame, target, format="csv")


def _only_read(data: Dataset, target: Source) -> None:
    raise DataError("logs can only be read: choose another format")


NOT_IN_LETOR = ("feature names", "texts", "names of categories", "clicks", "recall base")
GRADES_ONLY = ("features", "texts", "clicks", "recall base")
FORMATS = {
    "letor": Format(read_letor, write_letor, (".letor", ".svm", *UNSURE), NOT_IN_LETOR),
    **{
        name: Format(partial(read_table, format=name), partial(write_table, format=name), (f".{name}",))
        for name in TABLE_FORMATS
    },
    "run": Format(read_run, write_run, (".run",)),
    "qrels": Format(read_qrels, write_qrels, (".qrels",), GRADES_ONLY),
    "quepid": Format(partial(read_table, format="csv"), _write_quepid, (), GRADES_ONLY),
    "logs": Format(read_logs, _only_read),  # answers of a search engine, with features
}


def detect(path: str | os.PathLike[str], head: bytes) -> str:
    """Return the format of a file by its name, or by its first bytes when the name leaves it open.

    >>> detect("train.txt", b"2 qid:1 1:0.5"), detect("robust.txt", b"301 0 FBIS3-10082 1"), detect("-", b"qid,grade")
    ('letor', 'qrels', 'csv')
    """
    suffix = format_suffix(path)
    known = next((name for name, format in FORMATS.items() if suffix in format.suffixes), None)
    found = (sniff(head) or known) if known is None or suffix in UNSURE else known
    if found is not None:
        return found
    is_json = suffix in (".json", ".jsonl", ".ndjson") or head.lstrip()[:1] in (b"{", b"[")
    if is_json and any(word in head for word in ANSWERS):
        return "logs"
    unknown = f"cannot tell the format; name it: {', '.join(FORMATS)} (command line: --from)"
    raise ReadError(os.fspath(path), None, DOCUMENTS if is_json else unknown)


def sniff(head: bytes) -> str | None:
    """Return the format that the first bytes look like, if any.

    >>> sniff(b"2 qid:1 1:0.5"), sniff(b"301 Q0 FBIS3-10082 1 9.5 bm25"), sniff(b"hello")
    ('letor', 'run', None)
    """
    if head.startswith(b"PAR1"):
        return "parquet"
    text = head.decode("utf-8-sig", errors="replace")
    line = next((line for line in text.split("\n") if line.strip() and not line.startswith("#")), "")
    words = " ".join(line.split())
    found = next((name for name, pattern in SNIFFED.items() if pattern.fullmatch(words)), None)
    if found or words[:1] in ("{", "["):
        return found
    return "csv" if "," in line else "tsv" if "\t" in line else None


def output_format(target: Source, format: str | None = None) -> str:
    """Return the format to write: the one that is named, or that the target's name ends in.

    >>> output_format("run.csv.gz"), output_format("-", "qrels")
    ('csv', 'qrels')
    """
    if format:
        return known_format(format)
    suffix = format_suffix(target) if isinstance(target, str | os.PathLike) else ""
    for name, known in FORMATS.items():
        if suffix in known.suffixes:
            return name
    choices = ", ".join(FORMATS)
    raise DataError(
        f"cannot determine the output format from the name {str(target)!r}; name one: {choices} (command line: --to)"
    )


def known_format(format: str) -> str:
    """Return the name of a format, or say which there are."""
    if format not in FORMATS:
        raise DataError(f"unknown format {format!r}; choose from {', '.join(FORMATS)}")
    return format


@dataclass(frozen=True)
class Conversion:
    """The result of a conversion: rows written, rows left out, and what the format cannot store.

    >>> print(Conversion(8, 2, "features", source="letor", target="qrels"))
    8 rows, letor to qrels; 2 rows without a grade left out; not stored: features
    """

    rows: int
    left_out: int = 0
    note: str = ""
    source: str = field(default="", compare=False, repr=False)  # the formats, once they are known
    target: str = field(default="", compare=False, repr=False)

    def __str__(self) -> str:
        said = f"{counted(self.rows, 'row')}, " + (f"{self.source} to " if self.source else "as ") + self.target
        said += f"; {counted(self.left_out, 'row')} without a grade left out" if self.left_out else ""
        return said + (f"; not stored: {self.note}" if self.note else "")


class DataFile(NamedTuple):
    """Documents, the name of their file and the format it was found to have."""

    data: Dataset
    name: str
    format: str

    def with_features(self, names: Sequence[str]) -> Dataset:
        """Return the documents with these features in this order, or say which are missing.

        A LETOR file leaves features out where they are 0, at the end too.
        """
        data, n_features = self.data, self.data.X.shape[1]
        if self.format == "letor" and n_features < len(names):
            wide = widen(data, len(names))
            if wide.feature_names == tuple(names):  # and not the names of a table, which no LETOR file has
                data = wide
                warnings.warn(
                    f"{self.name} has {counted(n_features, 'feature')} and {len(names)} are needed: "
                    f"the last {len(names) - n_features} are taken as 0",
                    stacklevel=2,
                )
        with located(self.name):
            return replace(data, X=columns_of(data, tuple(names)), feature_names=tuple(names))


def columns_of(data: Dataset, names: tuple[str, ...]) -> Array:
    """Return the features of these names, in this order."""
    return data.X if data.feature_names == names else data.X[:, places_of(names, data.feature_names)]


def places_of(names: tuple[str, ...], there: tuple[str, ...]) -> list[int]:
    """Return the places of names among those that are there, or say which are missing."""
    place = {name: i for i, name in enumerate(there)}
    missing = [name for name in names if name not in place]
    if missing:
        shown = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
        raise DataError(
            f"the data lacks {len(missing)} of the {len(names)} features the model was trained on: {shown}; "
            f"it has {counted(len(place), 'feature')}"
        )
    return [place[name] for name in names]


def read_any(source: Any, format: str | None = None, **columns: Any) -> Dataset:
    """Read documents in any format that holds them; `columns` name a table's, as in `read_table`.

    >>> import io
    >>> read_any(io.BytesIO(b"q1 0 doc-7 2"))
    Dataset(1 row, 1 query, 0 features, grades 2: 1)
    """
    return read_data_file(source, format, **columns).data


def read_data_file(
    source: Any,
    format: str | None = None,
    *,
    graded: bool = False,
    wanted: Collection[str] | None = None,
    repeats: bool = False,
    **columns: Any,
) -> DataFile:
    """Read documents as `read_any` does; with `graded`, a table must have the column of the grade.

    wanted: the features that will be taken by name, as in `read_table`.
    repeats: whether a document may be there several times in one query, as with labels of several raters.

    >>> import io
    >>> read_data_file(io.BytesIO(b"2 qid:1 1:0.5"))
    DataFile(data=Dataset(1 row, 1 query, 1 feature, grades 2: 1), name='<stream>', format='letor')
    """
    options = {"graded": graded, "wanted": wanted, "repeats": repeats}
    value, name, found = _read(source, format, columns, options)
    if isinstance(value, Run):
        raise ReadError(name, None, f"{NO_DOCUMENTS}; evaluate it with qrels (--qrels, in Python read_run)")
    if isinstance(value, Dataset):
        return DataFile(value, name, found)
    n_negative = int((value.grade < 0).sum())
    if n_negative:
        counts = f"{n_negative:,} of {len(value):,}"
        warnings.warn(f"{name}: grades below 0 (judged, not relevant) are read as 0: {counts}", stacklevel=3)
    with located("", name):
        return DataFile(_as_data(value), name, found)


def read_documents(source: str, columns: dict[str, Any], **options: Any) -> DataFile:
    """Read a file of documents with features; - is stdin. options: those of `read_data_file`."""
    file = read_data_file(source, **options, **columns)
    if not file.data.X.shape[1]:
        raise DataError(f"{file.name} has no features: expected LETOR text, or a table with columns of numbers")
    return file


def read_together(sources: Sequence[str], columns: dict[str, Any]) -> Dataset:
    """Read several files of graded documents as one; its features are the first's, or the widest's if all are LETOR."""
    files = [read_documents(source, columns, graded=True) for source in sources]
    names = [file.data.feature_names for file in files]
    chosen = max(names, key=len) if all(file.format == "letor" for file in files) else names[0]
    data = Dataset.concat([file.with_features(chosen) for file in files])
    for file in files[1:]:
        more = [name for name in file.data.feature_names if name not in chosen]
        if more:
            warnings.warn(
                f"{file.name}: features that {files[0].name} lacks are left out: {listed(more)}", stacklevel=2
            )
    return data


def read_scored(source: Any, format: str | None = None) -> Run:
    """Read a ranking with ids: a TREC run, or a table with the columns qid, docid and score.

    >>> import io
    >>> read_scored(io.BytesIO(b"qid,docid,score\\nq1,d7,0.5\\n"))
    Run(1 row, 1 query)
    """
    return _read_scored(source, format, {})[0]


def write_any(data: Dataset, target: Source, format: str | None = None) -> Conversion:
    """Write a data set in the format that is named, or that the target's name ends in.

    >>> import io
    >>> print(write_any(Dataset([[0.5]], y=[2], qid=["q"], docid=["d"]), io.BytesIO(), "qrels"))
    1 row, as qrels; not stored: features
    """
    format = output_format(target, format)
    return replace(_write(data, target, format), target=format)


def convert(
    source: Any, target: Source, source_format: str | None = None, target_format: str | None = None, **columns: Any
) -> Conversion:
    """Convert a file to another format; `columns` name those of a source that is a table, as in `read_table`.

    Qrels and Quepid's csv have grades only, and qrels no rows without a grade. A run has scores: it becomes a
    table with a column `score`, and a table with that column becomes a run.

    >>> import io
    >>> out = io.BytesIO()
    >>> convert(io.BytesIO(b"2 qid:1 1:0.5 # doc-7"), out, target_format="csv")
    Conversion(rows=1, left_out=0, note='')
    >>> print(out.getvalue().decode())
    qid,docid,grade,f1
    1,doc-7,2,0.5
    """
    target_format = output_format(target, target_format)
    if isinstance(target, str | os.PathLike):
        check_output(target, [source] if isinstance(source, str | os.PathLike) else [])
    if target_format == "run":
        run, found, note = _read_scored(source, source_format, columns)
        write_run(run, target)
        done = Conversion(len(run), note=note)
    else:
        value, _, found = _read(source, source_format, columns, {})
        done = _write(value, target, target_format)
    return replace(done, source=found, target=target_format)


def _open(source: Source, format: str | None) -> tuple[NamedBytes, str]:
    content, name = read_bytes(source)
    return NamedBytes(content, name), known_format(format) if format else detect(name, content[:HEAD])


def _read(
    source: Any, format: str | None, columns: dict[str, Any], options: dict[str, Any]
) -> tuple[Dataset | Run | Qrels, str, str]:
    """Return what a file or frame holds, its name and its format."""
    if is_frame(source):
        return read_table(source, **options, **columns), FRAME, FRAME
    stream, found = _open(source, format)
    if found == "logs":
        return read_logs(stream, key=columns.get("docid", "id")), stream.name, found
    _check_columns(columns, found, stream.name)
    if found == "letor":
        options = {"repeats": options.get("repeats", False)}
    elif found in ("run", "qrels"):
        options = {}
    return FORMATS[found].read(stream, **options, **columns), stream.name, found


def _read_scored(source: Any, format: str | None, columns: dict[str, str]) -> tuple[Run, str, str]:
    """Read a run, or a table that has the columns of one; return also its format and the columns a run cannot carry."""
    foreign = [role for role in columns if role not in ("qid", "docid")]
    if foreign:
        raise DataError(f"{NO_DOCUMENTS}: leave out {foreign[0]}= (on the command line --{foreign[0]})")
    qid, docid = columns.get("qid", "qid"), columns.get("docid", "docid")
    stream, found = (source, FRAME) if is_frame(source) else _open(source, format)
    if found == "run":
        _check_columns(columns, found, stream.name)
        return read_run(stream), found, ""
    if found not in (FRAME, *TABLE_FORMATS):
        raise ReadError(stream.name, None, f"a run needs scores, and {found} files have none; rank the documents first")
    text = {qid, docid, "tag"}
    frame, origin = read_frame(stream, text=text, numeric=["score"], number=pl.Float64, format=found)
    for column in (qid, docid, "score"):
        if column not in frame.columns:
            raise origin(None, f"a run needs a column {column!r}; the columns are {listed(frame.columns)}")
    if not frame["score"].dtype.is_numeric():
        raise origin(None, f"column 'score' must hold numbers: it holds {frame['score'].dtype}")
    scores = frame["score"].cast(pl.Float64).to_numpy()
    bad = np.flatnonzero(~np.isfinite(scores))
    if bad.size:
        raise origin(int(bad[0]), f"expected a finite number in column 'score', got {frame['score'][int(bad[0])]}")
    tag = ids(frame["tag"], origin) if "tag" in frame.columns else np.full(len(frame), "rulerank", dtype=object)
    with origin.named():
        run = Run(ids(frame[qid], origin), ids(frame[docid], origin), scores, tag)
    return run, found, ", ".join(column for column in frame.columns if column not in text | {"score"})


def _check_columns(columns: dict[str, Any], format: str, name: str) -> None:
    if columns and format not in TABLE_FORMATS:
        raise ReadError(name, None, f"only tables have named columns ({', '.join(columns)}): this is {format}")


def _write(value: Dataset | Run | Qrels, target: Source, format: str) -> Conversion:
    if isinstance(value, Run):
        if format not in TABLE_FORMATS:
            raise DataError(f"a run cannot become {format}: {NO_DOCUMENTS}")
        columns = {"qid": value.qid, "docid": value.docid, "score": value.score, "tag": value.tag}
        write_frame(pl.DataFrame({name: cells.tolist() for name, cells in columns.items()}), target, format=format)
        return Conversion(len(value))
    if format == "run":
        raise DataError("a run needs a score for every document; rank the documents first")
    if isinstance(value, Qrels):
        FORMATS[format].write(value if format == "qrels" else _as_data(value), target)
        n_negative = 0 if format == "qrels" else int((value.grade < 0).sum())
        return Conversion(len(value), note=f"grades below 0 ({n_negative:,}), written as 0" if n_negative else "")
    has = {
        "features": value.X.shape[1] > 0,
        "texts": bool(value.texts),
        "names of categories": bool(value.categories),
        "clicks": value.impressions is not None,
        "recall base": value.base is not None,
        "feature names": value.feature_names != tuple(f"f{i + 1}" for i in range(value.X.shape[1])),
    }
    note = ", ".join(kind for kind in FORMATS[format].loses if has[kind])
    written = qrels_from_data(value) if format == "qrels" else value
    FORMATS[format].write(written, target)
    return Conversion(len(written), len(value) - len(written), note)


def _as_data(qrels: Qrels) -> Dataset:
    return Dataset(np.empty((len(qrels), 0)), np.maximum(qrels.grade, 0), qrels.qid, qrels.docid)


PARTS = {"train": "trainingset", "vali": "validationset", "test": "testset"}  # and the name LETOR 2 has for each
FOLD_NAME = re.compile(r"fold[-_ ]?(\d+)", re.IGNORECASE)


def read_folds(directory: str | os.PathLike[str]) -> list[Fold]:
    """Read Fold1, Fold2, ... of a directory in the order of their numbers, or the directory itself as one fold.

    A fold has train, vali and test, or trainingset, validationset and testset: upper or lower case, with or without
    .txt, plain or as .gz. Its three parts get the same features, as many as the widest of them has.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     for part in ("train", "vali", "test"):
    ...         _ = Path(directory, f"{part}.txt").write_text("1 qid:1 1:0.5\\n")
    ...     [fold] = read_folds(directory)
    >>> fold.train
    Dataset(1 row, 1 query, 1 feature, grades 1: 1)
    """
    root = Path(directory)
    matches = [(path, FOLD_NAME.fullmatch(path.name)) for path in _entries(root) if path.is_dir()]
    numbers = {path: int(match[1]) for path, match in matches if match}
    if len({*numbers.values()}) < len(numbers):
        raise ReadError(str(root), None, f"expected each fold once, got {listed([path.name for path in numbers])}")
    return [_read_fold(path) for path in sorted(numbers, key=lambda path: numbers[path])] or [_read_fold(root)]


def _read_fold(folder: Path) -> Fold:
    files, parts = [path for path in _entries(folder) if path.is_file()], {}
    for part, other in PARTS.items():
        found = [path for path in files if path.name.lower().removesuffix(".gz").removesuffix(".txt") in (part, other)]
        if len(found) != 1:
            there = listed([path.name for path in found or _entries(folder)], most=8) or "an empty directory"
            what = f"expected folders Fold1, Fold2, ... or one file {part}.txt or {other}.txt (.gz), got {there}"
            raise ReadError(str(folder), None, what)
        parts[part] = read_letor(found[0])
    n_features = max(data.X.shape[1] for data in parts.values())
    return Fold(folder.resolve().name, **{part: widen(data, n_features) for part, data in parts.items()})


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise ReadError(str(folder), None, f"expected a directory with folds: {error.strerror}") from None
