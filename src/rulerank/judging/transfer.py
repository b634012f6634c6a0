"""Export and import labels of a store (LETOR, qrels, Quepid's csv, csv, tsv, parquet), and their history."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rulerank._util.words import counted
from rulerank.dataset import UNLABELLED, Dataset
from rulerank.errors import DataError
from rulerank.io.files import format_suffix, read_bytes
from rulerank.io.formats import FORMATS, Conversion, write_any
from rulerank.io.frames import TABLE_FORMATS, write_frame
from rulerank.judging.grades import Counting
from rulerank.judging.label_files import COLUMNS, SAMPLED, read_each
from rulerank.judging.labels import PERSON, Decision, Label, Pair, check_combination, check_kind
from rulerank.judging.pool import Pool

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore


def export_labels(
    store: LabelStore,
    path: str | os.PathLike[str],
    pool: Pool | None = None,
    format: str | None = None,
    *,
    per_rater: bool = False,
    combine_by: str | None = None,
) -> Conversion:
    """Write the current labels to a file, in the given format or by the file's name.

    One row per document, with the features if the pool is given (LETOR needs them). Documents that cannot be judged or
    are undecided have no grade; qrels leave them out. Labels of non-human raters are left out.
    per_rater: one row per label instead, with qid, docid, grade (empty: cannot be judged), rater, kind of the rater,
        time and page.
    combine_by: how to combine several raters (`labels.COMBINATIONS`); by default the setting of the store. The admin's
        decisions come first.

    >>> import tempfile
    >>> from rulerank.judging.store import LabelStore
    >>> folder = tempfile.mkdtemp()
    >>> with LabelStore(folder + "/labels.db") as store:
    ...     labels = store.add_all([("q1", "d1", 2, "ann"), ("q1", "d1", 2, "bob"), ("q1", "d2", 0, "ann")])
    ...     print(export_labels(store, folder + "/labels.qrels"))
    ...     print(export_labels(store, folder + "/labels.csv"))
    2 rows, as qrels
    2 rows, as csv
    >>> print(open(folder + "/labels.qrels").read().strip())
    q1 0 d1 2
    q1 0 d2 0
    >>> print(open(folder + "/labels.csv").read().strip())
    qid,docid,grade
    q1,d1,2
    q1,d2,0
    """
    labels, counting = store.labels(), Counting.now(store)
    if not labels and not counting.decided:
        raise DataError(f"{store.name}: no labels to export yet")
    if per_rater:
        return _export_each(labels, counting.other_raters, path, format)
    if pool is None and (format == "letor" or (not format and format_suffix(path) in FORMATS["letor"].suffixes)):
        raise DataError(
            "LETOR needs features, which labels do not have: give the pool (pool=), or choose another format"
        )
    how = check_combination(combine_by or counting.settings.combine)
    agreed: dict[Pair, int | None] = dict.fromkeys((*counting.people(labels), *counting.decided))
    agreed |= counting.grades(labels, how)
    if not agreed:
        names = ", ".join(counting.other_raters)
        raise DataError(f"{store.name}: all labels are of non-human raters ({names}); --combine none exports them")
    pairs = [*agreed] if pool is None else [pool.pairs[row] for row in sorted(pool.rows_in(agreed))]
    if not pairs:
        raise DataError(f"{store.name}: none of its {counted(len(agreed), 'document')} is in the pool")
    y = np.array([UNLABELLED if agreed[pair] is None else agreed[pair] for pair in pairs], dtype=np.int16)
    if pool is None:
        queries, docs = (np.array(names, dtype=object) for names in zip(*pairs, strict=True))
        return write_any(Dataset(np.empty((len(pairs), 0)), y, queries, docs), path, format)
    rows = [pool.rows[pair] for pair in pairs]
    done = write_any(replace(pool.data[rows], y=y, base=None), path, format)
    n_elsewhere = len(agreed) - len(rows)
    note = f"labels of {counted(n_elsewhere, 'document')} not in the pool" if n_elsewhere else ""
    return replace(done, note=", ".join(filter(None, (done.note, note))))


def import_labels(
    store: LabelStore, path: str | os.PathLike[str], rater: str, format: str | None = None, *, kind: str | None = None
) -> int:
    """Import the labels of a file as this rater's, all or none; return how many are new or changed.

    Rows without a grade are ignored. In a table with a column `rater`, as `export_labels` writes it with per_rater,
    every label keeps its rater, a column `kind` has the kinds of raters, and an empty grade means "cannot be judged".
    kind: the kind of the rater, one of `labels.KINDS`, unless the file has one. Labels of non-human raters are not used
        unless the admin enables them. By default the kind in the store; new raters are human.
    """
    named = None if kind is None else check_kind(kind)
    each = read_each(*read_bytes(path), format, rater)
    given = each.labels
    kinds = ({} if named is None else dict.fromkeys((who for *_, who in given), named)) | each.kinds
    known = {(label.query, label.doc, label.rater): label.grade for label in store.labels()}
    missing = object()
    _set_kinds(store, {who: what for who, what in kinds.items() if what != store.other_raters().get(who, PERSON)})
    new = [row for row in given if known.get((row[0], row[1], row[3]), missing) != row[2]]
    sampled = {pair: f"{SAMPLED}{chance!r}" for pair, chance in each.chances.items()}  # `evaluate` needs to know
    return len(store.add_all(new, page="import", pages=sampled))


def _export_each(
    labels: list[Label], kinds: Mapping[str, str], path: str | os.PathLike[str], format: str | None
) -> Conversion:
    format = format or format_suffix(path).removeprefix(".")
    if format not in TABLE_FORMATS:
        raise DataError(
            f"one row per label needs a table format: choose from {', '.join(TABLE_FORMATS)}, got {format!r}"
        )
    rows = [
        (one.query, one.doc, one.grade, one.rater, kinds.get(one.rater, PERSON), one.time.isoformat(), one.page)
        for one in labels
    ]
    schema = {column: pl.Int16 if column == "grade" else pl.String for column in COLUMNS}
    write_frame(pl.DataFrame(rows, schema=schema, orient="row"), path, format=format)
    return Conversion(len(rows), target=format)


def _set_kinds(store: LabelStore, kinds: Mapping[str, str]) -> None:
    """Set the kinds of raters before their labels; a human rater with labels never becomes a non-human one."""
    people = {label.rater for label in store.labels()} - store.other_raters().keys()
    for rater, kind in kinds.items():
        if kind != PERSON and rater in people:
            raise DataError(f"{rater!r} is a human rater with labels: import these labels under another name (--rater)")
    for rater, kind in kinds.items():
        store.set_rater_kind(rater, kind, "the command line", page="import")


def write_history(store: LabelStore, path: str | os.PathLike[str]) -> None:
    """Write every label and decision ever given as csv, oldest first, also superseded and withdrawn ones."""
    facts = [*store.history_of(Label), *store.history_of(Decision)]
    rows = [{"what": type(one).__name__.lower()} | one.to_dict() for one in sorted(facts, key=lambda one: one.time)]
    names = ("what", *(field.name for field in fields(Label)))
    schema = {name: pl.Int64 if name in ("id", "grade", "superseded_by") else pl.String for name in names}
    write_frame(pl.DataFrame(rows, schema=schema), path, format="csv")
