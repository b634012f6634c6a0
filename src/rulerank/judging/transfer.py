"""Export and import labels of a store (LETOR, qrels, Quepid's csv, csv, tsv, parquet), and their history."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

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
from rulerank.judging.labels import PERSON, Decision, Label, Order, RaterKind, Setting, check_combination, check_kind
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
) -> Conversion:
    """Write the current labels to a file, in the given format or by the file's name.

    One row per document, with the features if the pool is given (LETOR needs them), and a comment on the origin of the
    grade. Documents that cannot be judged have no grade; qrels leave them out. Labels of non-human raters are left out.
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
    qid,docid,grade,comment
    q1,d1,2,median of 2
    q1,d2,0,1 rater
    """
    labels, counting = store.labels(), Counting.now(store)
    if not labels and not counting.decided:
        raise DataError(f"{store.name}: no labels to export yet")
    if per_rater:
        return _export_each(labels, counting.other_raters, path, format)
    by_name = format or next((name for name, one in FORMATS.items() if format_suffix(path) in one.suffixes), "")
    if pool is None and by_name == "letor":
        raise DataError(
            "LETOR needs features, which labels do not have: give the pool (pool=), or choose another format"
        )
    how = check_combination(combine_by or counting.settings.combine)
    given, grades = counting.people(labels), counting.grades(labels, how)
    agreed = dict.fromkeys(given) | dict.fromkeys(counting.decided) | grades
    if not agreed:
        names = ", ".join(counting.other_raters)
        raise DataError(f"{store.name}: all labels are of non-human raters ({names}); --combine none exports them")
    pairs = [*agreed] if pool is None else [pool.pairs[row] for row in sorted(pool.rows_in(agreed))]
    if not pairs:
        raise DataError(f"{store.name}: none of its {counted(len(agreed), 'document')} is in the pool")
    y = np.array([UNLABELLED if agreed[pair] is None else agreed[pair] for pair in pairs], dtype=np.int16)
    comment = {}
    if by_name in TABLE_FORMATS:
        said = [_comment(given.get(pair, {}), how, agreed[pair], decided=pair in counting.decided) for pair in pairs]
        comment = {"comment": np.array(said, dtype=object)}
    if pool is None:
        queries, docs = (np.array(names, dtype=object) for names in zip(*pairs, strict=True))
        return write_any(Dataset(np.empty((len(pairs), 0)), y, queries, docs, texts=comment), path, format)
    rows = [pool.rows[pair] for pair in pairs]
    chosen = pool.data[rows]
    done = write_any(replace(chosen, y=y, texts={**chosen.texts, **comment}, base=None), path, format)
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
        unless the admin enables them, with a warning. By default the kind in the store; new raters are human.
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
    added = store.add_all(new, page="import", pages=sampled)
    _warn_unused(store, [who for *_, who in given])
    return len(added)


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


def _warn_unused(store: LabelStore, raters: list[str]) -> None:
    """Warn about imported labels that training does not use."""
    others, training = store.other_raters(), store.settings().training_raters
    apart = {who: raters.count(who) for who in dict.fromkeys(raters) if who in others and who not in training}
    if apart:
        labels = ", ".join(f"{counted(count, 'label')} of {who} ({others[who]})" for who, count in apart.items())
        warnings.warn(
            f"{labels}: training uses labels of non-human raters only with --raters, or if set on the admin page",
            stacklevel=3,
        )


def _comment(given: Mapping[str, int | None], how: str, grade: int | None, *, decided: bool) -> str:
    """Return the origin of a document's grade."""
    n_raters = sum(grade is not None for grade in given.values())
    if decided:
        return f"decided by the admin, {counted(n_raters, 'rater')}"
    if not n_raters:
        return "cannot be judged"
    if grade is None:
        return f"undecided: the median of {n_raters} falls between two grades"
    return f"{how} of {n_raters}" if n_raters > 1 else "1 rater"


class Event(NamedTuple):
    """One entry of the history."""

    time: str  # ISO 8601, UTC
    who: str
    what: str  # label, undo label, skip, decision, undo undo order, rater kind, setting
    qid: str | None
    docid: str | None
    grade: int | None
    value: str  # other content: an order of documents, the kind of a rater, a setting
    page: str | None  # where; None: unknown
    id: int | None  # of the label, decision, order, kind of rater or setting; skips have none


def audit(store: LabelStore) -> list[Event]:
    """Return the whole history of a store, oldest first.

    A skip disappears when its rater grades the document, and it has no page; claims are not recorded.

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
    contents: dict[str, tuple[type[Any], Callable[[Any], Content]]] = {
        "label": (Label, _graded),
        "decision": (Decision, _graded),
        "order": (Order, lambda one: (one.query, None, None, " > ".join(one.docs))),
        "rater kind": (RaterKind, lambda one: (None, None, None, f"{one.name} is {one.kind}")),
        "setting": (Setting, lambda one: (None, None, None, f"{one.name} = {json.dumps(one.value)}")),
    }
    skips = store.skips()
    events = [Event(one.time.isoformat(), one.rater, "skip", one.query, one.doc, None, "", None, None) for one in skips]
    for what, (kind, content) in contents.items():
        for one in store.history_of(kind):
            events.append(Event(one.time.isoformat(), one.rater, what, *content(one), one.page, one.id))
            if one.withdrawn is not None:
                who, when = getattr(one, "withdrawn_by", None) or one.rater, one.withdrawn.isoformat()
                events.append(Event(when, who, f"undo {what}", *content(one), one.withdrawn_page, one.id))
    return sorted(events, key=lambda event: datetime.fromisoformat(event.time))


def write_audit(store: LabelStore, path: str | os.PathLike[str]) -> None:
    """Write the history as csv."""
    schema = {name: pl.Int64 if name in ("id", "grade") else pl.String for name in Event._fields}
    write_frame(pl.DataFrame(audit(store), schema=schema, orient="row"), path, format="csv")


def _graded(one: Label | Decision) -> Content:
    return one.query, one.doc, one.grade, "" if one.grade is not None else "cannot be judged"
