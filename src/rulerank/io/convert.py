"""Read and write any format, and go from each to each; what a format cannot carry is an error or is said."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from rulerank.core.words import counted, listed
from rulerank.dataset import Dataset
from rulerank.errors import DataError, ReadError
from rulerank.io.formats import FORMATS, HEAD, detect, known_format, output_format
from rulerank.io.outputs import check_output
from rulerank.io.streams import Source, read_bytes
from rulerank.io.table_columns import ids
from rulerank.io.tables import TABLE_FORMATS, is_frame, read_frame, read_table, write_frame
from rulerank.io.trec import Qrels, Run, qrels_from_data, read_run, write_qrels, write_run


@dataclass(frozen=True)
class Converted:
    """What a conversion did: the rows it wrote, those it could not, and what else the format does not carry.

    >>> print(Converted(8, 2, "features", source="letor", target="qrels"))
    8 rows, letor to qrels; 2 rows without a grade left out; not carried: features
    """

    rows: int
    left_out: int = 0
    note: str = ""
    source: str = field(default="", compare=False, repr=False)  # the formats, once they are known
    target: str = field(default="", compare=False, repr=False)

    def __str__(self) -> str:
        formats = f"{self.source} to {self.target}" if self.source else f"as {self.target}"
        parts = [f"{counted(self.rows, 'row')}, {formats}"]
        if self.left_out:
            parts.append(f"{counted(self.left_out, 'row')} without a grade left out")
        if self.note:
            parts.append(f"not carried: {self.note}")
        return "; ".join(parts)


def read_any(source: Any, format: str | None = None, **columns: Any) -> Dataset:
    """Read documents in any format that holds them; `columns` name a table's, as in `read_table`.

    >>> read_any(io.BytesIO(b"q1 0 doc-7 2"))
    Dataset(1 row, 1 query, 0 features, grades 2: 1)
    """
    return read_found(source, format, **columns).data


class Found(NamedTuple):
    """Documents, the name of their file and the format it was found to have."""

    data: Dataset
    name: str
    format: str


def read_found(
    source: Any,
    format: str | None = None,
    *,
    graded: bool = False,
    wanted: Collection[str] | None = None,
    repeats: bool = False,
    **columns: Any,
) -> Found:
    """Read documents as `read_any` does; with `graded`, a table must have the column of the grade.

    wanted: the features that will be taken by name, as in `read_table`.
    repeats: whether a document may be there several times in one query, as with labels of several raters.

    >>> read_found(io.BytesIO(b"2 qid:1 1:0.5"))
    Found(data=Dataset(1 row, 1 query, 1 feature, grades 2: 1), name='<stream>', format='letor')
    """
    value, name, found = _read(source, format, columns, graded=graded, wanted=wanted, repeats=repeats)
    if isinstance(value, Run):
        raise ReadError(name, None, f"{NO_DOCUMENTS}; it is judged beside qrels (--qrels, in Python read_run)")
    data = _read_judgements(value, name) if isinstance(value, Qrels) else value
    return Found(data, name, found)


def write_any(data: Dataset, target: Source, format: str | None = None) -> Converted:
    """Write a data set in the format that is named, or that the target's name ends in.

    >>> print(write_any(Dataset([[0.5]], y=[2], qid=["q"], docid=["d"]), io.BytesIO(), "qrels"))
    1 row, as qrels; not carried: features
    """
    format = output_format(target, format)
    return replace(_write(data, target, format), target=format)


def convert(
    source: Any, target: Source, source_format: str | None = None, target_format: str | None = None, **columns: Any
) -> Converted:
    """Convert a file to another format; `columns` name those of a source that is a table, as in `read_table`.

    Qrels and Quepid's csv carry grades only, and qrels no rows without a grade. A run carries scores: it becomes a
    table with a column `score`, and a table with that column becomes a run.

    >>> out = io.BytesIO()
    >>> convert(io.BytesIO(b"2 qid:1 1:0.5 # doc-7"), out, target_format="csv")
    Converted(rows=1, left_out=0, note='')
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
        done = Converted(len(run), note=note)
    else:
        value, _, found = _read(source, source_format, columns)
        done = _write(value, target, target_format)
    return replace(done, source=found, target=target_format)


FRAME = "a data frame"
NO_DOCUMENTS = "a run holds scores, and neither grades nor features"


class NamedBytes(io.BytesIO):
    """Content that is read already, under the name it had."""

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = name


def _open(source: Source, format: str | None) -> tuple[NamedBytes, str]:
    content, name = read_bytes(source)
    return NamedBytes(content, name), known_format(format) if format else detect(name, content[:HEAD])


def _read(
    source: Any,
    format: str | None,
    columns: dict[str, Any],
    *,
    graded: bool = False,
    wanted: Collection[str] | None = None,
    repeats: bool = False,
) -> tuple[Dataset | Run | Qrels, str, str]:
    """Return what a file or frame holds, its name and its format."""
    if is_frame(source):
        return read_table(source, graded=graded, wanted=wanted, repeats=repeats, **columns), FRAME, FRAME
    stream, found = _open(source, format)
    if columns and found == "quepid" and not format:
        found = "csv"  # whoever names columns takes it as a table
    _check_columns(columns, found, stream.name)
    if found in TABLE_FORMATS:
        columns = columns | {"graded": graded, "wanted": wanted}
    if found in (*TABLE_FORMATS, "letor"):
        columns = columns | {"repeats": repeats}
    return FORMATS[found].read(stream, **columns), stream.name, found


def _check_columns(columns: dict[str, Any], format: str, name: str) -> None:
    if columns and format not in TABLE_FORMATS:
        raise ReadError(name, None, f"only tables have named columns ({', '.join(columns)}): this is {format}")


def _write(value: Dataset | Run | Qrels, target: Source, format: str) -> Converted:
    if isinstance(value, Run):
        if format not in TABLE_FORMATS:
            raise DataError(f"a run cannot become {format}: {NO_DOCUMENTS}")
        columns = {"qid": value.qid, "docid": value.docid, "score": value.score, "tag": value.tag}
        write_frame(pl.DataFrame({name: cells.tolist() for name, cells in columns.items()}), target, format=format)
        return Converted(len(value))
    if format == "run":
        raise DataError("a run needs a score for every document; rank the documents first")
    if isinstance(value, Qrels):
        return _write_judgements(value, target, format)
    if format == "qrels":
        qrels = qrels_from_data(value)
        write_qrels(qrels, target)
        return Converted(
            len(qrels),
            len(value) - len(qrels),
            _not_carried(value, "features", "comments", "texts", "clicks", "recall base"),
        )
    FORMATS[format].write(value, target)
    lost = {
        "letor": ("feature names", "texts", "names of categories", "clicks", "recall base"),
        "quepid": ("features", "comments", "texts", "clicks", "recall base"),
    }
    return Converted(len(value), note=_not_carried(value, *lost.get(format, ())))


def _write_judgements(qrels: Qrels, target: Source, format: str) -> Converted:
    FORMATS[format].write(qrels if format == "qrels" else _as_data(qrels), target)
    n_negative = 0 if format == "qrels" else int((qrels.grade < 0).sum())
    return Converted(len(qrels), note=f"grades below 0 ({n_negative:,}), written as 0" if n_negative else "")


def read_scored(source: Any, format: str | None = None) -> Run:
    """Read a ranking with ids: a TREC run, or a table with the columns qid, docid and score.

    >>> read_scored(io.BytesIO(b"qid,docid,score\\nq1,d7,0.5\\n"))
    Run(1 row, 1 query)
    """
    return _read_scored(source, format, {})[0]


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
        raise ReadError(stream.name, None, f"a run needs scores, and {found} files hold none; rank the documents first")
    text, number = {qid, docid, "tag"}, pl.Float64
    frame, mistake = read_frame(stream, text=text, numeric=["score"], number=number, format=found)
    for column in (qid, docid, "score"):
        if column not in frame.columns:
            raise mistake(None, f"a run needs a column {column!r}; the columns are {listed(frame.columns)}")
    if not frame["score"].dtype.is_numeric():
        raise mistake(None, f"column 'score' must hold numbers: it holds {frame['score'].dtype}")
    scores = frame["score"].cast(number).to_numpy()
    bad = np.flatnonzero(~np.isfinite(scores))
    if bad.size:
        raise mistake(int(bad[0]), f"expected a finite number in column 'score', got {frame['score'][int(bad[0])]}")
    tag = ids(frame["tag"], mistake) if "tag" in frame.columns else np.full(len(frame), "rulerank", dtype=object)
    try:
        run = Run(ids(frame[qid], mistake), ids(frame[docid], mistake), scores, tag)
    except DataError as error:
        raise mistake(None, str(error)) from None
    return run, found, ", ".join(column for column in frame.columns if column not in text | {"score"})


def _read_judgements(qrels: Qrels, name: str) -> Dataset:
    n_negative = int((qrels.grade < 0).sum())
    if n_negative:
        counts = f"{n_negative:,} of {len(qrels):,}"
        warnings.warn(f"{name}: grades below 0 (judged, not relevant) are read as 0: {counts}", stacklevel=3)
    try:
        return _as_data(qrels)
    except DataError as error:
        raise ReadError(name, None, str(error)) from None


def _as_data(qrels: Qrels) -> Dataset:
    return Dataset(np.empty((len(qrels), 0)), np.maximum(qrels.grade, 0), qrels.qid, qrels.docid)


def _not_carried(data: Dataset, *kinds: str) -> str:
    has = {
        "features": data.X.shape[1] > 0,
        "comments": data.comment is not None,
        "texts": bool(data.texts),
        "names of categories": bool(data.categories),
        "clicks": data.shown is not None,
        "recall base": data.base is not None,
        "feature names": data.feature_names != tuple(f"f{i + 1}" for i in range(data.X.shape[1])),
    }
    return ", ".join(kind for kind in kinds if has[kind])
