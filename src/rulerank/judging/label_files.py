"""Files of labels: read the grades of human and non-human raters, write samples to judge."""

from __future__ import annotations

import io
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from rulerank._util.words import counted
from rulerank.dataset import UNLABELLED, Array, Dataset
from rulerank.errors import DataError, ReadError
from rulerank.io.columns import ids, require_docids
from rulerank.io.files import NamedBytes, Origin, read_bytes
from rulerank.io.formats import HEAD, detect, read_data_file, write_any
from rulerank.io.frames import TABLE_FORMATS, read_frame
from rulerank.io.trec import Qrels, write_qrels
from rulerank.judging.grades import Counting, median_grade
from rulerank.judging.guidelines import HIGHEST
from rulerank.judging.labels import KINDS, PERSON, Pair
from rulerank.judging.pool import Pool
from rulerank.recall_base import CountedRows, RecallBase, check_unjudged, counted_rows, usual_unjudged

COLUMNS = ("qid", "docid", "grade", "rater", "kind", "time", "page")  # of a table with one row per rater
FORMATS = {"csv": ".csv", "qrels": ".qrels", "letor": ".txt"}  # and their endings
SQLITE = b"SQLite format 3\0"  # first bytes of a label store
PROBABILITY = "probability"  # column of `rulerank sample --for-comparison`
SAMPLED = "sampled with probability "  # page of such a label in a store
HOW_TO_COUNT = "--raters {} uses them, with separate intercepts"


RARE = 0.05  # share of the labels up to which a grade may be a typing error
Given = tuple[str, str, int | None, str]  # query, doc, grade (None: cannot be judged), rater


class GivenLabels(NamedTuple):
    """The labels of a file that are used, by row of a pool, in the order of the file."""

    people: dict[int, int]  # row -> grade
    others: dict[str, dict[int, int]]  # non-human rater -> row -> grade, of the requested raters
    n_left_out: int = 0  # labels of the other non-human raters
    queries: frozenset[str] = frozenset()  # with labels, also of documents outside the pool

    def labelled(self, pool: Dataset) -> Dataset:
        """Return the graded documents; one that human and non-human raters graded is repeated."""
        pairs = [pair for grades in (self.people, *self.others.values()) for pair in sorted(grades.items())]
        rows, grades = (np.array(column) for column in zip(*pairs, strict=True))
        return replace(pool[rows], y=grades, base=None)


class EachLabel(NamedTuple):
    """Every label of a table, with its rater."""

    labels: list[Given]
    kinds: dict[str, str]  # of raters, if the table has them
    chances: Mapping[Pair, float] = MappingProxyType({})  # of documents sampled to compare two rankings


def read_labels(pool: Pool, source: str, *, strict: bool) -> dict[int, int]:
    """Return the human raters' grades of a file, by row of the pool, in the order of the file.

    A document with several different grades gets the median, or no grade if the median falls between two grades; a
    warning counts both. A label store (.db, or a URL) combines labels by its settings. Labels of non-human raters, by a
    column `kind` next to `rater`, are left out with a warning.
    strict: a document that is not in the pool is an error; if False, it is ignored.
    """
    return read_given(pool, source, strict=strict).people


def read_given(pool: Pool, source: str, *, strict: bool, raters: Collection[str] = (), let_in: str = "") -> GivenLabels:
    """Return the labels of a file: of human raters as `read_labels` does, and of these non-human raters.

    let_in: how to use other non-human raters, with {} for their names; for the warning about left-out labels.
    """
    if Path(source).is_file() and not Path(source).stat().st_size and not raters:
        return GivenLabels({}, {})  # an empty sample
    each, name = each_label(source)
    check_scale(each.labels, pool, name)
    kinds = {rater: kind for rater, kind in each.kinds.items() if kind != PERSON}
    _check_non_human(raters, {rater for *_, rater in each.labels}, each.kinds, name)
    apart = kinds.keys() | set(raters)
    people = grades_by_row(pool, (one for one in each.labels if one[3] not in apart), name, strict=strict)
    others = {
        rater: grades_by_row(pool, (one for one in each.labels if one[3] == rater), name, strict=strict)
        for rater in dict.fromkeys(raters)
    }
    n_left_out = _tell_left_out(each, {who: kinds[who] for who in kinds if who not in raters}, name, let_in)
    named = frozenset(query for query, _, grade, rater in each.labels if grade is not None and rater not in apart)
    return GivenLabels(people, {rater: grades for rater, grades in others.items() if grades}, n_left_out, named)


def each_label(source: str) -> tuple[EachLabel, str]:
    """Return the labels of a store or a file, and its name."""
    if is_store(source):
        return _of_store(source), source
    content, name = read_bytes(source)
    return read_each(content, name), name


def _of_store(source: str) -> EachLabel:
    """Return the combined grades of a store, and the labels of its non-human raters."""
    from rulerank.judging.store import LabelStore

    if "://" not in source and not Path(source).exists():
        raise DataError(f"{source}: label store not found")
    with LabelStore(source) as store:
        labels, counting = store.labels(), Counting.now(store)
    given: list[Given] = [(*pair, grade, "") for pair, grade in counting.grades(labels).items()]
    given += [(one.query, one.doc, one.grade, one.rater) for one in labels if one.rater in counting.other_raters]
    pages = [((one.query, one.doc), one.page) for one in labels if one.rater not in counting.other_raters]
    return EachLabel(given, dict(counting.other_raters), _chances(pages))


def _chances(pages: Iterable[tuple[Pair, str | None]]) -> dict[Pair, float]:
    """Return how likely documents were sampled, from the pages of their labels."""
    found = ((pair, (page or "").removeprefix(SAMPLED)) for pair, page in pages if (page or "").startswith(SAMPLED))
    return {pair: float(text) for pair, text in found}


def labels_to_learn_from(pool: Pool, source: str, raters: Collection[str] = ()) -> GivenLabels:
    """Return the training labels of a file, at least one; raters: non-human raters to use."""
    given = read_given(pool, source, strict=True, raters=raters, let_in=HOW_TO_COUNT)
    if not given.people and not given.others:
        whose = "grade of a human rater" if given.n_left_out else "grade"
        raise DataError(f"{source}: no document has a {whose} to learn from")
    return given


def counted_grades(
    pool: Pool, given: GivenLabels | None, unjudged: object = None
) -> tuple[dict[int, int], CountedRows]:
    """Return the grades to use by row, and what is left out, by the rule for unjudged documents.

    given: the labels of a file; None: the pool's own grades.
    unjudged: "0", "skip", or None for the default for such grades.
    """
    base, y = pool.data.base, np.full(len(pool), UNLABELLED, dtype=np.int16)
    grades = pool.own_grades if given is None else given.people
    y[[*grades]] = [*grades.values()]
    way = check_unjudged(unjudged)
    if given is not None:
        asked = np.isin(pool.data.qid.astype(str), [*map(str, given.queries)])
        way = usual_unjudged(np.array([*grades.values()]), int((asked & (y < 0)).sum())) if way is None else way
        extra = np.zeros(len(pool), dtype=bool) if base is None else base.extra
        base = RecallBase(y >= 0, extra, np.where(asked, "0:0", "").astype(object))
    found = counted_rows(y, pool.query_numbers, base, way)
    return dict(zip(found.rows.tolist(), found.y.tolist(), strict=True)), found


def read_each(content: bytes, name: str, format: str | None = None, rater: str = "") -> EachLabel:
    """Return every label of a file; rater: used if it is not a table with a column `rater`.

    With that column, an empty grade means "cannot be judged"; without it, such rows are ignored.
    """
    format = format or detect(name, content[:HEAD])
    data = read_data_file(NamedBytes(content, name), format, graded=True, wanted=(), repeats=True).data
    if len(data) and data.docid is None:
        raise ReadError(name, None, "expected labels with document ids: got none")
    docs = [] if data.docid is None else data.docid.tolist()
    grades = [None if grade == UNLABELLED else grade for grade in data.y.tolist()]
    chances: dict[Pair, float] = {}
    if format in TABLE_FORMATS and (b"rater" in content or PROBABILITY.encode() in content):
        frame, mistake = read_frame(NamedBytes(content, name), text=(*COLUMNS, PROBABILITY), format=format)
        pairs = [*zip(data.qid.tolist(), docs, strict=True)]
        if "page" in frame.columns:
            chances = _chances(zip(pairs, frame["page"].to_list(), strict=True))
        if PROBABILITY in frame.columns:
            chances |= {pair: _chance(frame, row, mistake) for row, pair in enumerate(pairs)}
        if "rater" in frame.columns:
            raters = ids(frame["rater"], mistake).tolist()
            kinds: dict[str, str] = {}
            for row, kind in enumerate(ids(frame["kind"], mistake).tolist() if "kind" in frame.columns else ()):
                if kind not in KINDS:
                    raise mistake(row, f"the kind of a rater must be one of {', '.join(KINDS)}: got {kind!r:.60}")
                if kinds.setdefault(raters[row], kind) != kind:
                    before = kinds[raters[row]]
                    raise mistake(row, f"rater {raters[row]!r:.60} is {kind} here and {before} before: use one kind")
            return EachLabel([*zip(data.qid.tolist(), docs, grades, raters, strict=True)], kinds, chances)
    triples = zip(data.qid.tolist(), docs, grades, strict=True)
    return EachLabel([(query, doc, grade, rater) for query, doc, grade in triples if grade is not None], {}, chances)


def _chance(frame: pl.DataFrame, row: int, mistake: Origin) -> float:
    text = frame[PROBABILITY][row]
    try:
        value = float(text)
    except (TypeError, ValueError):
        value = 0.0
    if not 0 < value <= 1:
        raise mistake(row, f"expected a {PROBABILITY} above 0 and at most 1, as the sample has it: got {text!r:.60}")
    return value


def check_scale(labels: Sequence[Given], pool: Pool, name: str) -> None:
    """Refuse a grade that is far outside the scale of the others: rare, above 9 and more than twice the next."""
    counts = Counter(grade for _, _, grade, _ in labels if grade is not None)
    highest = max(counts, default=0)
    below = max([grade for grade in counts if grade != highest] + [*pool.own_grades.values()], default=highest)
    if highest > HIGHEST and highest > 2 * below + 1 and counts[highest] <= max(1, RARE * counts.total()):
        query, doc = next((query, doc) for query, doc, grade, _ in labels if grade == highest)
        raise ReadError(
            name,
            None,
            f"expected grades of one scale, with {below} as the next highest, got {highest} for document "
            f"{doc!r:.60} of query {query!r:.60}: correct it or, if it is intended, number the grades without a gap",
        )


def grades_by_row(pool: Pool, given: Iterable[Given], name: str, *, strict: bool) -> dict[int, int]:
    found: dict[int, list[int]] = {}
    for query, doc, grade, _ in given:
        row = pool.find(query, doc)
        if row is None and strict:
            where = (
                pool.name
                if pool.log is None
                else f"{pool.name}, which has only documents that were shown: use the whole pool"
            )
            raise ReadError(name, None, f"document {doc!r} of query {query!r} is not in {where}")
        if row is not None and grade is not None:
            found.setdefault(row, []).append(grade)
    agreed = {row: median_grade(grades) for row, grades in found.items()}
    differ = [row for row, grades in found.items() if len(set(grades)) > 1]
    if differ:
        open_ones = [row for row in differ if agreed[row] is None]
        query, doc = pool.pairs[(open_ones or differ)[0]]
        such = f"{counted(len(differ), 'document')} with different grades, such as {doc!r} of query {query!r}"
        left_out = f"; left out {len(open_ones)} whose median falls between two grades: one more label each settles it"
        warnings.warn(f"{name}: {such}: using the median{left_out if open_ones else ''}", stacklevel=4)
    return {row: grade for row, grade in agreed.items() if grade is not None}


def _check_non_human(asked: Collection[str], raters: Collection[str], kinds: dict[str, str], name: str) -> None:
    """Refuse a non-human rater without labels in the file, or a human one."""
    known = sorted(rater for rater in raters if kinds.get(rater) != PERSON)
    for rater in asked:
        if rater not in known:
            there = ", ".join(known) or "none (the columns rater and kind define them)"
            raise DataError(f"{name} has no labels of a non-human rater {rater!r:.60}; its non-human raters: {there}")


def _tell_left_out(each: EachLabel, kinds: dict[str, str], name: str, let_in: str) -> int:
    """Warn about left-out labels, and return their number."""
    counts = {who: sum(rater == who and grade is not None for *_, grade, rater in each.labels) for who in kinds}
    counts = {who: count for who, count in counts.items() if count}
    if counts:
        labels = ", ".join(f"{counted(count, 'label')} of {who} ({kinds[who]})" for who, count in counts.items())
        how = f"; {let_in.format(' --raters '.join(map(quote, counts)))}" if let_in else ""
        warnings.warn(f"{name}: left out labels of non-human raters: {labels}{how}", stacklevel=4)
    return sum(counts.values())


def label_format(target: str) -> str:
    """Return the format of a file name; csv by default.

    >>> label_format("labels.qrels"), label_format("-")
    ('qrels', 'csv')
    """
    return next((name for name, ending in FORMATS.items() if target.endswith(ending)), "csv")


def label_bytes(pool: Pool, rows: Array, grades: Array, format: str, chances: Array | None = None) -> bytes:
    """Return documents and their grades as a file; -1: not judged yet.

    If such documents have no ids, csv gets a column `comment` with their display names.
    chances: how likely each document was sampled, for a column `probability` of csv.
    """
    chosen = replace(pool.data[rows], y=grades, base=None)
    to_judge = bool((chosen.y == UNLABELLED).any())
    if format == "qrels" and to_judge:
        return _qrels_to_judge(chosen)
    if format != "letor":
        names = np.array([pool.names[row] for row in rows], dtype=object)
        nameless = format == "csv" and to_judge and (names != chosen.docid).any()
        columns = np.empty((len(rows), 0)) if chances is None else chances[:, None]
        names_of = () if chances is None else (PROBABILITY,)
        bare: dict[str, Any] = {"X": columns, "feature_names": names_of, "categories": {}}
        chosen = replace(chosen, **bare, texts={"comment": names} if nameless else {})
    out = io.BytesIO()
    if len(rows) or format == "csv":
        write_any(chosen, out, format)
    return out.getvalue()


def _qrels_to_judge(chosen: Dataset) -> bytes:
    """Return qrels without the last column, the grade, which raters add."""
    out = io.BytesIO()
    write_qrels(Qrels(chosen.qid, require_docids(chosen), np.zeros(len(chosen), dtype=np.int64)), out)
    return b"".join(line.rpartition(b" ")[0] + b"\n" for line in out.getvalue().splitlines())


def is_store(target: str) -> bool:
    """Return whether a name means a label store: a URL, a name that ends in .db, or an SQLite file.

    >>> is_store("labels.db"), is_store("postgresql://host/labels"), is_store("labels.csv")
    (True, True, False)
    """
    if target.endswith(".db") or "://" in target:
        return True
    if not Path(target).is_file():
        return False
    with Path(target).open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE
