"""The first look at parts: what they have in common, how much they hold, and whether queries are whole.

It reads grades and query ids only, of every part, so that what is wrong in the last part is said before long work.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b

import numpy as np

from rulerank.dataset import Array, has_contrast, no_contrast
from rulerank.errors import DataError, ReadError
from rulerank.io.tables import BASE_COLUMNS, SHOWN_COLUMNS
from rulerank.scale.part import DatasetPart, Part, Shape, TablePart, check_features, counted_rows, lacks
from rulerank.scale.streamed import Runner


@dataclass(frozen=True, eq=False)
class Survey:
    """What one part holds, or all of them."""

    n_rows: int
    n_queries: int
    n_left_out: int
    highest: int  # grade
    contrast: bool  # whether any query has documents of two grades
    sizes: tuple[int, ...]  # rows of each part
    hashes: Array  # uint64, of the query ids

    def check_contrast(self, purpose: str) -> None:
        """Refuse parts in which every query has one grade, as `check_contrast` does in memory."""
        if not self.contrast:
            raise no_contrast("each query has one grade only", purpose)


def survey_part(shape: Shape, part: Part) -> Survey:
    """Look at one part."""
    check_part(shape, part)
    keys = part.keys()
    if not keys.grades.size:
        raise DataError(f"{part.name}: the part is empty: it has no rows; leave it out")
    rows = counted_rows(part.name, keys.grades, shape)
    used = np.arange(keys.grades.size) if rows is None else rows
    n_queries = len(keys.query_ids) if rows is None else np.unique(keys.queries[rows]).size
    contrast = has_contrast(keys.grades[used], keys.queries[used])
    n_left_out, highest = keys.grades.size - used.size, int(keys.grades.max())
    return Survey(used.size, n_queries, n_left_out, highest, contrast, (used.size,), hashed(keys.query_ids))


def look_at_all(parts: Sequence[Part], shape: Shape, runner: Runner) -> Survey:
    """Look at every part, and refuse parts that share a query."""
    found: list[Survey] = runner.listed(partial(survey_part, shape), parts, "looking at queries")
    hashes = np.concatenate([one.hashes for one in found])
    numbers = np.repeat(np.arange(len(found)), [one.hashes.size for one in found])
    order = np.lexsort((numbers, hashes))
    hashes, numbers = hashes[order], numbers[order]
    same = np.flatnonzero(hashes[1:] == hashes[:-1])[:1000]
    check_whole(sorted({(int(numbers[i]), int(numbers[i + 1])) for i in same}), parts, runner)
    return Survey(
        sum(one.n_rows for one in found),
        sum(one.n_queries for one in found),
        sum(one.n_left_out for one in found),
        max(one.highest for one in found),
        any(one.contrast for one in found),
        tuple(one.n_rows for one in found),
        hashes,
    )


def check_part(shape: Shape, part: Part) -> None:
    """Refuse a part whose columns are not those of the first, or that carries clicks where it is learned from."""
    if not shape.own_kinds:
        check_no_clicks(part)
    if isinstance(part, TablePart):
        schema = part.schema()
        if part.columns.grade not in schema:
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
                "queries; sort the rows by query before they are cut into parts (a Dask frame: shuffle(on='qid')), or "
                "name queries that are different differently"
            )


def _ids_of(part: Part) -> dict[str, None]:
    return dict.fromkeys(str(one) for one in part.keys().query_ids)


def _looked_at(part: Part) -> tuple[tuple[str, ...], Mapping[str, tuple[str, ...]]]:
    check_no_clicks(part)
    if isinstance(part, TablePart) and any(column in part.schema() for column in BASE_COLUMNS):
        warnings.warn(
            f"{part.name}: {' and '.join(BASE_COLUMNS)} are not used in parts: documents that are candidates only "
            "because they are judged count too (in Python, `TextFeatures.dataset(judged_extra=False)` leaves them out)",
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
