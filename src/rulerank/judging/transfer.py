"""Labels from a store into files and back (LETOR, qrels, Quepid's csv, csv, tsv, parquet), and their history."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import TypeVar

import numpy as np
import polars as pl

from rulerank.core.words import counted
from rulerank.dataset import UNLABELLED, Array, Dataset
from rulerank.errors import DataError
from rulerank.io.convert import Converted, NamedBytes, read_found, write_any
from rulerank.io.formats import FORMATS, HEAD, detect
from rulerank.io.streams import format_suffix, read_bytes
from rulerank.io.tables import TABLE_FORMATS, write_frame
from rulerank.io.trec import require_docids
from rulerank.judging.combine import check_combination
from rulerank.judging.given_labels import COLUMNS, read_each
from rulerank.judging.labels import Label, Plain, Skip
from rulerank.judging.pool import Pool
from rulerank.judging.store import LabelStore
from rulerank.judging.team import PERSON, Counting, Decision, Fact, Pair, Setting, check_kind


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
    combine_by: how the grades of a document judged by several become one, as `judging.combine` has it; by default as
        the lead has set it. What the lead has decided counts first.

    >>> import tempfile
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
    by_name = format_suffix(path) in FORMATS["letor"].suffixes
    if pool is None and (format == "letor" or (format is None and by_name)):
        raise DataError(
            "LETOR lines hold features, which labels have not: give the pool too (--pool), or choose another format"
        )
    how = check_combination(combine_by or counting.settings.combine)
    given, grades = counting.people(labels), counting.grades(labels, how)
    agreed = dict.fromkeys(given) | dict.fromkeys(counting.decided) | grades
    if not agreed:
        names = ", ".join(counting.judges)
        raise DataError(f"{store.name}: all labels are of judges who are no people ({names}); --per-rater writes them")
    said = {
        pair: _comment(given.get(pair, {}), how, grade, decided=pair in counting.decided)
        for pair, grade in agreed.items()
    }
    if pool is None:
        queries, docs = (np.array(names, dtype=object) for names in zip(*agreed, strict=True))
        pairs = [*agreed]
        comment = _comments(said, pairs, path, format)
        data = Dataset(np.empty((len(pairs), 0)), _grades(agreed, pairs), queries, docs, comment=comment)
        return write_any(data, path, format)
    rows = sorted(pool.rows[pair] for pair in agreed if pair in pool.rows)
    if not rows:
        raise DataError(f"{store.name}: none of its {counted(len(agreed), 'document')} is in the pool")
    pairs = [pool.pairs[row] for row in rows]
    comment = _comments(said, pairs, path, format)
    data = replace(pool.data[rows], y=_grades(agreed, pairs), comment=comment, base=None)
    done = write_any(data, path, format)
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
    by: str = "the command line",
) -> int:
    """Take the labels of a file into a store as this rater's, all or none; return how many are new or differ.

    Rows without a grade are passed over. In a table with a column `rater`, as `export_labels` with per_rater writes it,
    every label goes to the rater who gave it, a column `kind` says what raters are, and no grade means that the
    document cannot be judged.
    kind: what the rater is, one of `team.KINDS`, where the file does not say it; labels of any but a person count
        nowhere unless the lead says so, and that is told. By default what the store has, and a new rater is a person.
    by: who takes them in, for the history.
    """
    content, name = read_bytes(path)
    format = format or detect(name, content[:HEAD])
    named = None if kind is None else check_kind(kind)
    each = read_each(content, name, format)
    if each is None:
        data = read_found(NamedBytes(content, name), format, graded=True, repeats=True).data
        triples = zip(data.qid.tolist(), require_docids(data).tolist(), data.y.tolist(), strict=True)
        given = [(query, doc, grade, rater) for query, doc, grade in triples if grade != UNLABELLED]
    else:
        given = each.labels
    kinds = {} if named is None else dict.fromkeys((who for *_, who in given), named)
    kinds |= {} if each is None else each.kinds
    known = {(label.query, label.doc, label.rater): label.grade for label in store.labels()}
    missing = object()
    _name_judges(store, {who: what for who, what in kinds.items() if what != store.judges().get(who, PERSON)}, by)
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


def _name_judges(store: LabelStore, kinds: Mapping[str, str], by: str) -> None:
    """Say what raters are, before their labels come; a person who has judged never becomes a judge by an import."""
    people = {label.rater for label in store.labels()} - store.judges().keys()
    for rater, kind in kinds.items():
        if kind != PERSON and rater in people:
            raise DataError(f"{rater!r} has judged as a person: take these labels in under another name (--rater)")
    for rater, kind in kinds.items():
        store.name_judge(rater, kind, by, page="import")


def _tell_judges(store: LabelStore, raters: list[str]) -> None:
    """Say whose labels do not count in training, and how to let them."""
    judges, training = store.judges(), store.settings().training_judges
    apart = {who: raters.count(who) for who in dict.fromkeys(raters) if who in judges and who not in training}
    if apart:
        said = ", ".join(f"{counted(count, 'label')} of {who} ({judges[who]})" for who, count in apart.items())
        names = ",".join((*training, *apart))
        warnings.warn(
            f"{said} are no people's: they count in training only after --set training_judges={names}", stacklevel=3
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


def _comments(
    said: Mapping[Pair, str], pairs: list[Pair], path: str | os.PathLike[str], format: str | None
) -> Array | None:
    """Return what is said of documents, for a file that has room for it."""
    name = format or next((name for name, one in FORMATS.items() if format_suffix(path) in one.suffixes), "")
    return np.array([said[pair] for pair in pairs], dtype=object) if name in (*TABLE_FORMATS, "letor") else None


def _grades(agreed: dict[tuple[str, str], int | None], pairs: list[tuple[str, str]]) -> Array:
    return np.array([UNLABELLED if (grade := agreed[pair]) is None else grade for pair in pairs], dtype=np.int16)


AnyFact = TypeVar("AnyFact", bound=Fact)
CANNOT = "cannot be judged"


@dataclass(frozen=True, slots=True)
class Event(Plain):
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
    >>> with LabelStore(tempfile.mkdtemp() + "/labels.db") as store:
    ...     label = store.add("milk", "d1", 3, "ann", page="list")
    ...     undone = store.undo("ann", page="document")
    ...     for event in audit(store):
    ...         print(event.who, event.what, event.qid, event.docid, event.grade, event.page)
    ann label milk d1 3 list
    ann undo label milk d1 3 document
    """
    events = [
        *_of_labels(store.history()),
        *_of_skips(store.skips()),
        *_of_facts(store.decision_history(), "decision", _graded),
        *_of_facts(store.order_history(), "order", lambda one: (one.query, None, None, " > ".join(one.docs))),
        *_of_facts(store.judge_history(), "judge", lambda one: (None, None, None, f"{one.judge} is {one.kind}")),
        *_of_facts(store.setting_history(), "setting", lambda one: (None, None, None, _setting(one))),
    ]
    return [event for _, event in sorted(events, key=lambda one: one[0])]


def write_audit(store: LabelStore, path: str | os.PathLike[str], format: str | None = None) -> int:
    """Write the audit as a table (csv, tsv, parquet) and return how many events there are."""
    format = format or format_suffix(path).removeprefix(".")
    if format not in TABLE_FORMATS:
        raise DataError(f"the history is a table: choose from {', '.join(TABLE_FORMATS)}, got {format!r}")
    events = audit(store)
    schema = {field.name: pl.Int64 if field.name in ("id", "grade") else pl.String for field in fields(Event)}
    write_frame(pl.DataFrame([event.to_dict() for event in events], schema=schema), path, format=format)
    return len(events)


Timed = tuple[datetime, Event]
Said = tuple[str | None, str | None, int | None, str]  # qid, docid, grade, value


def _of_labels(history: Iterable[Label]) -> Iterator[Timed]:
    for one in history:
        said = _graded(one)
        yield one.time, Event(one.time.isoformat(), one.rater, "label", *said, one.page, one.id)
        if one.withdrawn is not None:
            page = one.withdrawn_page
            yield one.withdrawn, Event(one.withdrawn.isoformat(), one.rater, "undo label", *said, page, one.id)


def _of_skips(skips: Iterable[Skip]) -> Iterator[Timed]:
    for one in skips:
        yield one.time, Event(one.time.isoformat(), one.rater, "skip", one.query, one.doc, None, "", None, None)


def _of_facts(history: Iterable[AnyFact], kind: str, said: Callable[[AnyFact], Said]) -> Iterator[Timed]:
    for one in history:
        yield one.time, Event(one.time.isoformat(), one.rater, kind, *said(one), one.page, one.id)
        if one.withdrawn is not None:
            who, page = one.withdrawn_by or one.rater, one.withdrawn_page
            yield one.withdrawn, Event(one.withdrawn.isoformat(), who, f"undo {kind}", *said(one), page, one.id)


def _graded(one: Label | Decision) -> Said:
    return one.query, one.doc, one.grade, "" if one.grade is not None else CANNOT


def _setting(one: Setting) -> str:
    return f"{one.name} = {json.dumps(one.value)}"
