"""The first look at parts: what they have in common, how much they hold, and whether queries are whole.

It reads grades and query ids only, of every part, so that what is wrong in the last part is said before long work.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b

import numpy as np

from rulerank.dataset import Array, has_contrast, no_contrast
from rulerank.errors import DataError, ReadError
from rulerank.io.base_columns import BASE_COLUMNS
from rulerank.io.shown_columns import SHOWN_COLUMNS
from rulerank.scale.part import DatasetPart, Part, Shape, check_features, counted_rows, lacks
from rulerank.scale.streamed import Runner
from rulerank.scale.table_part import TablePart

ENOUGH = 1000  # rows that tell which columns are features


@dataclass(frozen=True, eq=False)
class Survey:
    """What the parts hold; those of two groups of parts add up."""

    n_rows: int
    n_queries: int
    n_left_out: int
    highest: int  # grade
    contrast: bool  # whether any query has documents of two grades
    hashes: tuple[Array, ...]  # uint64, of the query ids of each part
    numbers: tuple[int, ...]  # of the parts
    sizes: tuple[int, ...]  # rows of each part

    def __add__(self, other: Survey) -> Survey:
        return Survey(
            self.n_rows + other.n_rows,
            self.n_queries + other.n_queries,
            self.n_left_out + other.n_left_out,
            max(self.highest, other.highest),
            self.contrast or other.contrast,
            self.hashes + other.hashes,
            self.numbers + other.numbers,
            self.sizes + other.sizes,
        )

    def twice(self) -> list[tuple[int, int]]:
        """Return pairs of parts that seem to share a query."""
        hashes = np.concatenate(self.hashes)
        parts = np.repeat(self.numbers, [len(own) for own in self.hashes])
        order = np.lexsort((parts, hashes))
        hashes, parts = hashes[order], parts[order]
        same = np.flatnonzero(hashes[1:] == hashes[:-1])
        return sorted({(int(parts[i]), int(parts[i + 1])) for i in same[:1000]})

    def check_contrast(self, purpose: str) -> None:
        """Refuse parts in which every query has one grade, as `check_contrast` does in memory."""
        if not self.contrast:
            raise no_contrast("each query has one grade only", purpose)

    def slim(self) -> Survey:
        """Return the figures without what grows with the queries."""
        sizes = tuple(size for _, size in sorted(zip(self.numbers, self.sizes, strict=True)))
        return replace(self, hashes=(), numbers=(), sizes=sizes)


def survey_part(shape: Shape, numbered: tuple[int, Part]) -> Survey:
    """Look at one part."""
    number, part = numbered
    check_part(shape, part)
    keys = part.keys()
    if not keys.grades.size:
        raise DataError(f"{part.name}: the part is empty: it has no rows; leave it out")
    rows = counted_rows(part.name, keys.grades, shape)
    used = keys.query_ids if rows is None else keys.query_ids[np.unique(keys.queries[rows])]
    n_rows = keys.grades.size if rows is None else rows.size
    used_rows = slice(None) if rows is None else rows
    return Survey(
        n_rows,
        len(used),
        keys.grades.size - n_rows,
        int(keys.grades.max()),
        has_contrast(keys.grades[used_rows], keys.queries[used_rows]),
        (hashed(keys.query_ids),),
        (number,),
        (n_rows,),
    )


def check_part(shape: Shape, part: Part) -> None:
    """Refuse a part whose columns are not those of the first, or that carries clicks where it is learned from."""
    if not shape.own_kinds:
        check_no_clicks(part)
    if isinstance(part, TablePart):
        schema = part.schema()
        if shape.graded and part.columns.grade not in schema:
            raise ReadError(part.name, None, lacks(part.columns.grade, part.columns, schema))
        if not part.zeros:
            check_features(part.name, shape.feature_names, [*schema])
        if not shape.own_kinds:
            part.values_types(shape)
    elif not shape.own_kinds:
        part.values(shape, shape.feature_names)


def hashed(query_ids: Array) -> Array:
    """Return a number for each query id, the same on every machine."""
    found = [int.from_bytes(blake2b(str(one).encode(), digest_size=8).digest(), "little") for one in query_ids]
    return np.array(found, dtype=np.uint64)


def check_whole(twice: Sequence[tuple[int, int]], parts: Sequence[Part], runner: Runner) -> None:
    """Refuse parts that share a query."""
    for first, second in twice:
        one, other = runner.listed(_ids_of, [parts[first], parts[second]], "looking at queries")
        shared = [query for query in other if query in one]
        if shared:  # and not two ids with the same hash
            which = f"query {shared[0]!r}" if len(shared) == 1 else f"{len(shared):,} queries, such as {shared[0]!r}"
            raise DataError(
                f"{parts[first].name} and {parts[second].name} both have rows of {which}: parts must hold whole "
                "queries; ask for regroup=True (command line: --regroup) to have the rows of a query brought together, "
                "or name queries that are different differently"
            )


def _ids_of(part: Part) -> dict[str, None]:
    return dict.fromkeys(str(one) for one in part.keys().query_ids)


def look_at_all(parts: Sequence[Part], shape: Shape, runner: Runner) -> tuple[list[tuple[int, int]], Survey]:
    """Return which parts seem to share queries, and the figures."""
    return runner.total(partial(survey_part, shape), [*enumerate(parts)], "looking at queries", _twice_and_slim)


def _twice_and_slim(survey: Survey) -> tuple[list[tuple[int, int]], Survey]:
    return survey.twice(), survey.slim()


def _looked_at(part: Part) -> tuple[tuple[str, ...], Mapping[str, tuple[str, ...]]]:
    check_no_clicks(part)
    if isinstance(part, TablePart) and any(column in part.schema() for column in BASE_COLUMNS):
        warnings.warn(
            f"{part.name}: {' and '.join(BASE_COLUMNS)} are not used in parts: documents that are candidates only "
            "because they are judged count too (`rulerank features --judged-extra no` does not write them)",
            stacklevel=2,
        )
    return part.look()


def check_no_clicks(part: Part) -> None:
    """Refuse to learn from a part that carries clicks: what positions do is found from all rows at once."""
    if isinstance(part, DatasetPart) and part.data.shown is not None:
        raise with_clicks(part.name)
    if isinstance(part, TablePart):
        check_no_click_columns(part.name, part.schema())


def check_no_click_columns(name: str, columns: Collection[str]) -> None:
    """Refuse to learn from columns that hold clicks."""
    if any(column in columns for column in SHOWN_COLUMNS):
        raise with_clicks(name)


def with_clicks(name: str) -> DataError:
    """Say that clicks are not learned from in parts, and what to do."""
    return DataError(
        f"{name} carries clicks, which are learned from in memory only: put them into one table, as `rulerank clicks` "
        "does with all files of a log, and learn from that: rulerank train TABLE, in Python rr.read_table and fit"
    )


def shape_of(parts: Sequence[Part], runner: Runner, *, labelled_only: bool) -> Shape:
    """Return the features of the parts: those of the first, or of the widest where all are LETOR text."""
    names, categories = runner.listed(_looked_at, parts[:1], "looking at columns")[0]
    if all(isinstance(part, TablePart) and part.zeros for part in parts):
        names = max((part.look()[0] for part in parts), key=len)
    if not names:
        raise DataError(f"{parts[0].name} has no features: expected LETOR text, or a table with columns of numbers")
    return Shape(tuple(names), dict(categories), labelled_only=labelled_only)
