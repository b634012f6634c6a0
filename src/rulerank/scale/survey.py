"""The first look at parts: what they have in common, how many rows and queries they hold, and whether queries are whole.

It reads grades and query ids only, of every part, so that what is wrong in the last part is said before long work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np

from rulerank.core.words import counted
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.scale.part import Part, Shape, TablePart, check_features, counted_rows

ENOUGH = 1000  # rows that tell which columns are features


@dataclass(frozen=True, eq=False)
class Survey:
    """What the parts hold; those of two groups of parts add up."""

    n_rows: int
    n_queries: int
    n_left_out: int
    highest: int  # grade
    hashes: tuple[Array, ...]  # uint64, of the query ids of each part
    numbers: tuple[int, ...]  # of the parts

    def __add__(self, other: Survey) -> Survey:
        return Survey(
            self.n_rows + other.n_rows,
            self.n_queries + other.n_queries,
            self.n_left_out + other.n_left_out,
            max(self.highest, other.highest),
            self.hashes + other.hashes,
            self.numbers + other.numbers,
        )

    def twice(self) -> list[tuple[int, int]]:
        """Return pairs of parts that seem to share a query."""
        hashes = np.concatenate(self.hashes)
        parts = np.repeat(self.numbers, [len(own) for own in self.hashes])
        order = np.lexsort((parts, hashes))
        hashes, parts = hashes[order], parts[order]
        same = np.flatnonzero(hashes[1:] == hashes[:-1])
        return sorted({(int(parts[i]), int(parts[i + 1])) for i in same[:1000]})

    def slim(self) -> Survey:
        """Return the figures without what grows with the queries."""
        return replace(self, hashes=(), numbers=())


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
    return Survey(
        n_rows,
        len(used),
        keys.grades.size - n_rows,
        int(keys.grades.max()),
        (hashed(keys.query_ids),),
        (number,),
    )


def check_part(shape: Shape, part: Part) -> None:
    """Refuse a part whose columns are not those of the first."""
    if isinstance(part, TablePart):
        schema = part.schema()
        if not part.zeros:
            check_features(part.name, shape.feature_names, [*schema])
        part.values_types(shape)
    else:
        part.values(shape, shape.feature_names)


def hashed(query_ids: Array) -> Array:
    """Return a number for each query id, the same on every machine."""
    found = [int.from_bytes(blake2b(str(one).encode(), digest_size=8).digest(), "little") for one in query_ids]
    return np.array(found, dtype=np.uint64)


def check_whole(survey: Survey, parts: Sequence[Part]) -> None:
    """Refuse parts that share a query."""
    for first, second in survey.twice():
        ids = {str(one) for one in parts[first].keys().query_ids}
        shared = [str(one) for one in parts[second].keys().query_ids if str(one) in ids]
        if shared:  # and not two ids with the same hash
            raise DataError(
                f"{parts[first].name} and {parts[second].name} both have rows of "
                f"{'query' if len(shared) == 1 else counted(len(shared), 'query', 'queries') + ', such as'} {shared[0]!r}: "
                "parts must hold whole queries; ask for regroup (command line: --regroup) to have rows of a query "
                "brought together, or give parts other names if these are different queries"
            )


def shape_of(parts: Sequence[Part], *, normalize: str | None, labelled_only: bool) -> Shape:
    """Return the features of the parts: those of the first, or of the widest where all are LETOR text."""
    names, categories = parts[0].look()
    if all(isinstance(part, TablePart) and part.zeros for part in parts):
        widest = max((part.look()[0] for part in parts), key=len)
        names = widest
    if not names:
        raise DataError(f"{parts[0].name} has no features: expected LETOR text, or a table with columns of numbers")
    return Shape(tuple(names), dict(categories), True, normalize, labelled_only)
