"""Who said what, when and on which page: everything a label store has ever been told, in the order of time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TypeVar

import polars as pl

from rulerank.errors import DataError
from rulerank.io.streams import format_suffix
from rulerank.io.tables import TABLE_FORMATS, write_frame
from rulerank.judging.labels import Label, Plain, Skip
from rulerank.judging.store import LabelStore
from rulerank.judging.team import Decision, Fact, Setting

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
