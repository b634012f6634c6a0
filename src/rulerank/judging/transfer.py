"""Labels from a store into files and back: LETOR, qrels, Quepid's csv, csv, tsv and parquet."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import replace

import numpy as np
import polars as pl

from rulerank.core.words import counted
from rulerank.dataset import UNLABELLED, Array, Dataset
from rulerank.errors import DataError
from rulerank.io.convert import Converted, NamedBytes, read_found, write_any
from rulerank.io.formats import FORMATS, HEAD, detect
from rulerank.io.streams import format_suffix, read_bytes
from rulerank.io.table_columns import ids
from rulerank.io.tables import TABLE_FORMATS, from_frame, read_frame, write_frame
from rulerank.io.trec import require_docids
from rulerank.judging.combine import combine
from rulerank.judging.labels import Label
from rulerank.judging.pool import Pool
from rulerank.judging.store import LabelStore

COLUMNS = ("qid", "docid", "grade", "rater", "time")  # of a table with one row per rater


def export_labels(
    store: LabelStore,
    path: str | os.PathLike[str],
    pool: Pool | None = None,
    format: str | None = None,
    *,
    per_rater: bool = False,
    combine_by: str = "median",
) -> Converted:
    """Write the current labels to a file, in the format that is named or that the file's name ends in.

    One row per document, with the features when the pool is given, which LETOR needs. A document that nobody could
    judge has no grade, and qrels leave it out.
    per_rater: one row per label instead, a table of qid, docid, grade (empty: cannot be judged), rater and time.
    combine_by: how the grades of a document judged by several become one, as `judging.combine` has it.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with LabelStore(folder + "/labels.db") as store:
    ...     labels = store.add_all([("q1", "d1", 2, "ann"), ("q1", "d1", 3, "bob"), ("q1", "d2", 0, "ann")])
    ...     print(export_labels(store, folder + "/labels.qrels"))
    2 rows, as qrels
    >>> print(open(folder + "/labels.qrels").read().strip())
    q1 0 d1 2
    q1 0 d2 0
    """
    labels = store.labels()
    if not labels:
        raise DataError(f"{store.name}: there are no labels to export yet")
    if per_rater:
        return _export_each(labels, path, format)
    by_name = format_suffix(path) in FORMATS["letor"].suffixes
    if pool is None and (format == "letor" or (format is None and by_name)):
        raise DataError(
            "LETOR lines hold features, which labels have not: give the pool too (--pool), or choose another format"
        )
    given: dict[tuple[str, str], dict[str, int | None]] = defaultdict(dict)
    for label in labels:
        given[label.query, label.doc][label.rater] = label.grade
    agreed = dict.fromkeys(given) | combine(given, combine_by)
    if pool is None:
        queries, docs = (np.array(names, dtype=object) for names in zip(*agreed, strict=True))
        data = Dataset(np.empty((len(agreed), 0)), _grades(agreed, list(agreed)), queries, docs)
        return write_any(data, path, format)
    rows = sorted(pool.rows[pair] for pair in agreed if pair in pool.rows)
    if not rows:
        raise DataError(f"{store.name}: none of its {counted(len(agreed), 'document')} is in the pool")
    data = replace(pool.data[rows], y=_grades(agreed, [pool.pairs[row] for row in rows]))
    done = write_any(data, path, format)
    n_elsewhere = len(agreed) - len(rows)
    note = f"labels of {counted(n_elsewhere, 'document')} not in the pool" if n_elsewhere else ""
    return replace(done, note=", ".join(filter(None, (done.note, note))))


def import_labels(store: LabelStore, path: str | os.PathLike[str], rater: str, format: str | None = None) -> int:
    """Take the labels of a file into a store as this rater's, all or none; return how many are new or differ.

    Rows without a grade are passed over. In a table with a column `rater`, as `export_labels` with per_rater writes it,
    every label goes to the rater who gave it, and no grade means that the document cannot be judged.
    """
    content, name = read_bytes(path)
    format = format or detect(name, content[:HEAD])
    given = _read_each(content, name, format) if format in TABLE_FORMATS else None
    if given is None:
        data = read_found(NamedBytes(content, name), format, graded=True).data
        triples = zip(data.qid.tolist(), require_docids(data).tolist(), data.y.tolist(), strict=True)
        given = [(query, doc, grade, rater) for query, doc, grade in triples if grade != UNLABELLED]
    known = {(label.query, label.doc, label.rater): label.grade for label in store.labels()}
    missing = object()
    new = [row for row in given if known.get((row[0], row[1], row[3]), missing) != row[2]]
    return len(store.add_all(new, page="import"))


def _export_each(labels: list[Label], path: str | os.PathLike[str], format: str | None) -> Converted:
    format = format or format_suffix(path).removeprefix(".")
    if format not in TABLE_FORMATS:
        raise DataError(f"only a table has one row per rater: choose from {', '.join(TABLE_FORMATS)}, got {format!r}")
    rows = [(label.query, label.doc, label.grade, label.rater, label.time.isoformat()) for label in labels]
    schema = {column: pl.Int16 if column == "grade" else pl.String for column in COLUMNS}
    write_frame(pl.DataFrame(rows, schema=schema, orient="row"), path, format=format)
    return Converted(len(rows), target=format)


def _read_each(content: bytes, name: str, format: str) -> list[tuple[str, str, int | None, str]] | None:
    frame, mistake = read_frame(NamedBytes(content, name), text=COLUMNS, format=format)
    if "rater" not in frame.columns:
        return None
    data = from_frame(frame.select(column for column in COLUMNS[:3] if column in frame.columns))
    raters = ids(frame["rater"], mistake)
    quads = zip(data.qid.tolist(), require_docids(data).tolist(), data.y.tolist(), raters.tolist(), strict=True)
    return [(query, doc, None if grade == UNLABELLED else grade, rater) for query, doc, grade, rater in quads]


def _grades(agreed: dict[tuple[str, str], int | None], pairs: list[tuple[str, str]]) -> Array:
    return np.array([UNLABELLED if (grade := agreed[pair]) is None else grade for pair in pairs], dtype=np.int16)
