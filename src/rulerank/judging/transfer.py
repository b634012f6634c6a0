"""Labels from a store into files and back (LETOR, qrels, Quepid's csv, csv, tsv, parquet), and their history."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from rulerank.core.words import counted
from rulerank.dataset import UNLABELLED, Dataset
from rulerank.errors import DataError
from rulerank.io.formats import FORMATS, Converted, write_any
from rulerank.io.streams import format_suffix, read_bytes
from rulerank.io.tables import TABLE_FORMATS, write_frame
from rulerank.judging.grades import Counting
from rulerank.judging.label_files import COLUMNS, read_each
from rulerank.judging.labels import PERSON, Decision, JudgeKind, Label, Order, Setting, check_combination, check_kind
from rulerank.judging.pool import Pool

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore

Content = tuple[str | None, str | None, int | None, str]  # qid, docid, grade, value


def export_labels(
    store: LabelStore,
    path: str | os.PathLike[str],
    pool: Pool | None = None,
    format: str | None = None,
    *,
    per_rater: bool = False,
    combine_by: str | None = None,
) -> Converted:
    """Write the current labels to a file, in the format that is named or that the file's name ends in.

    One row per document, with the features when the pool is given, which LETOR needs, and the comment how the grade
    came about. A document that nobody could judge has no grade, and qrels leave it out. Labels of judges who are no
    people are left out.
    per_rater: one row per label instead, a table of qid, docid, grade (empty: cannot be judged), rater, what the rater
        is, time and page.
    combine_by: how the grades of a document judged by several become one (`labels.COMBINATIONS`); by default as the
        lead has set it. What the lead has decided counts first.

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
    qid,docid,grade,comment
    q1,d1,2,median of 2
    q1,d2,0,1 rater
    """
    labels, counting = store.labels(), Counting.now(store)
    if not labels and not counting.decided:
        raise DataError(f"{store.name}: there are no labels to export yet")
    if per_rater:
        return _export_each(labels, counting.judges, path, format)
    by_name = format or next((name for name, one in FORMATS.items() if format_suffix(path) in one.suffixes), "")
    if pool is None and by_name == "letor":
        raise DataError(
            "LETOR lines hold features, which labels have not: give the pool too (--pool), or choose another format"
        )
    how = check_combination(combine_by or counting.settings.combine)
    given, grades = counting.people(labels), counting.grades(labels, how)
    agreed = dict.fromkeys(given) | dict.fromkeys(counting.decided) | grades
    if not agreed:
        names = ", ".join(counting.judges)
        raise DataError(f"{store.name}: no label is a person's, only of {names}; --combine none writes them")
    pairs = [*agreed] if pool is None else [pool.pairs[row] for row in sorted(pool.rows_in(agreed))]
    if not pairs:
        raise DataError(f"{store.name}: none of its {counted(len(agreed), 'document')} is in the pool")
    y = np.array([UNLABELLED if agreed[pair] is None else agreed[pair] for pair in pairs], dtype=np.int16)
    comment = None
    if by_name in (*TABLE_FORMATS, "letor"):  # which have room for it
        said = [_comment(given.get(pair, {}), how, agreed[pair], decided=pair in counting.decided) for pair in pairs]
        comment = np.array(said, dtype=object)
    if pool is None:
        queries, docs = (np.array(names, dtype=object) for names in zip(*pairs, strict=True))
        return write_any(Dataset(np.empty((len(pairs), 0)), y, queries, docs, comment=comment), path, format)
    rows = [pool.rows[pair] for pair in pairs]
    done = write_any(replace(pool.data[rows], y=y, comment=comment, base=None), path, format)
    n_elsewhere = len(agreed) - len(rows)
    note = f"labels of {counted(n_elsewhere, 'document')} not in the pool" if n_elsewhere else ""
    return replace(done, note=", ".join(filter(None, (done.note, note))))


def import_labels(
    store: LabelStore,
    path: str | os.PathLike[str],
    rater: str,
    format: str | None = None,
    *,
    kind: str | None = None,
) -> int:
    """Take the labels of a file into a store as this rater's, all or none; return how many are new or differ.

    Rows without a grade are passed over. In a table with a column `rater`, as `export_labels` with per_rater writes it,
    every label goes to the rater who gave it, a column `kind` says what raters are, and no grade means that the
    document cannot be judged.
    kind: what the rater is, one of `team.KINDS`, where the file does not say it; labels of any but a person count
        nowhere unless the lead says so, and that is told. By default what the store has, and a new rater is a person.
    """
    named = None if kind is None else check_kind(kind)
    each = read_each(*read_bytes(path), format, rater)
    given = each.labels
    kinds = ({} if named is None else dict.fromkeys((who for *_, who in given), named)) | each.kinds
    known = {(label.query, label.doc, label.rater): label.grade for label in store.labels()}
    missing = object()
    _name_judges(store, {who: what for who, what in kinds.items() if what != store.judges().get(who, PERSON)})
    new = [row for row in given if known.get((row[0], row[1], row[3]), missing) != row[2]]
    added = store.add_all(new, page="import")
    _tell_judges(store, [who for *_, who in given])
    return len(added)


def _export_each(
    labels: list[Label], judges: Mapping[str, str], path: str | os.PathLike[str], format: str | None
) -> Converted:
    format = format or format_suffix(path).removeprefix(".")
    if format not in TABLE_FORMATS:
        raise DataError(f"only a table has one row per rater: choose from {', '.join(TABLE_FORMATS)}, got {format!r}")
    rows = [
        (one.query, one.doc, one.grade, one.rater, judges.get(one.rater, PERSON), one.time.isoformat(), one.page)
        for one in labels
    ]
    schema = {column: pl.Int16 if column == "grade" else pl.String for column in COLUMNS}
    write_frame(pl.DataFrame(rows, schema=schema, orient="row"), path, format=format)
    return Converted(len(rows), target=format)


def _name_judges(store: LabelStore, kinds: Mapping[str, str]) -> None:
    """Say what raters are, before their labels come; a person who has judged never becomes a judge by an import."""
    people = {label.rater for label in store.labels()} - store.judges().keys()
    for rater, kind in kinds.items():
        if kind != PERSON and rater in people:
            raise DataError(f"{rater!r} has judged as a person: take these labels in under another name (--rater)")
    for rater, kind in kinds.items():
        store.name_judge(rater, kind, "the command line", page="import")


def _tell_judges(store: LabelStore, raters: list[str]) -> None:
    """Say whose labels do not count in training, and how to let them."""
    judges, training = store.judges(), store.settings().training_judges
    apart = {who: raters.count(who) for who in dict.fromkeys(raters) if who in judges and who not in training}
    if apart:
        said = ", ".join(f"{counted(count, 'label')} of {who} ({judges[who]})" for who, count in apart.items())
        warnings.warn(
            f"{said} are no people's: they count in training only with --raters, or as the lead's page says",
            stacklevel=3,
        )


def _comment(given: Mapping[str, int | None], how: str, grade: int | None, *, decided: bool) -> str:
    """Say how a document's grade came about."""
    n_raters = sum(grade is not None for grade in given.values())
    if decided:
        return f"decided by the lead, {counted(n_raters, 'rater')}"
    if not n_raters:
        return "cannot be judged"
    if grade is None:
        return f"undecided: the median of {n_raters} falls between two grades"
    return f"{how} of {n_raters}" if n_raters > 1 else "1 rater"


class Event(NamedTuple):
    """One thing that somebody did."""

    time: str  # ISO 8601, UTC
    who: str
    what: str  # label, undo label, skip, decision, undo decision, order, undo order, judge, setting
    qid: str | None
    docid: str | None
    grade: int | None
    value: str  # what was said, if it is no grade: the documents in order, what a judge is, a setting
    page: str | None  # where; None: it is not known
    id: int | None  # of the label, decision, order, judge or setting; a skip has none


def audit(store: LabelStore) -> list[Event]:
    """Return all that was ever done in a store, in the order of time.

    A skip is there until its rater grades the document, and it has no page; claims are not kept.

    >>> import tempfile
    >>> from rulerank.judging.store import LabelStore
    >>> with LabelStore(tempfile.mkdtemp() + "/labels.db") as store:
    ...     label = store.add("milk", "d1", 3, "ann", page="list")
    ...     undone = store.undo("ann", page="document")
    ...     for event in audit(store):
    ...         print(event.who, event.what, event.qid, event.docid, event.grade, event.page)
    ann label milk d1 3 list
    ann undo label milk d1 3 document
    """
    facts: list[tuple[str, Any, Content]] = [
        *(("label", one, _graded(one)) for one in store.history()),
        *(("decision", one, _graded(one)) for one in store.history_of(Decision)),
        *(("order", one, (one.query, None, None, " > ".join(one.docs))) for one in store.history_of(Order)),
        *(("judge", one, (None, None, None, f"{one.judge} is {one.kind}")) for one in store.history_of(JudgeKind)),
        *(
            ("setting", one, (None, None, None, f"{one.name} = {json.dumps(one.value)}"))
            for one in store.history_of(Setting)
        ),
    ]
    events: list[tuple[datetime, str, str, Content, str | None, int | None]] = [
        (one.time, one.rater, "skip", (one.query, one.doc, None, ""), None, None) for one in store.skips()
    ]
    for kind, one, content in facts:
        events.append((one.time, one.rater, kind, content, one.page, one.id))
        if one.withdrawn is not None:
            who = getattr(one, "withdrawn_by", None) or one.rater
            events.append((one.withdrawn, who, f"undo {kind}", content, one.withdrawn_page, one.id))
    return [
        Event(time.isoformat(), who, what, *content, page, number)
        for time, who, what, content, page, number in sorted(events, key=lambda event: event[0])
    ]


def write_audit(store: LabelStore, path: str | os.PathLike[str]) -> None:
    """Write the audit as csv."""
    schema = {name: pl.Int64 if name in ("id", "grade") else pl.String for name in Event._fields}
    write_frame(pl.DataFrame(audit(store), schema=schema, orient="row"), path, format="csv")


def _graded(one: Label | Decision) -> Content:
    return one.query, one.doc, one.grade, "" if one.grade is not None else "cannot be judged"
