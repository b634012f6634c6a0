"""The one way to name a document, with an id or without: a name for people, and a key that labels find it by.

Where a file has document ids, the id is both. Where it has none, people are told the row, counted from 1, since that is
what they can look up in their file: `row 12`. Labels last longer than the order of a file, so that files and stores of
labels hold a key instead, made of the document's features: it is found wherever its row moves, and is lost, rather than
given to another document, when its features change.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError

STEP = 1 << 16  # rows looked at together, so that a large file is not held twice
ROW_NAME = re.compile(r"row ?([1-9][0-9]{0,15})")  # the first version wrote row12 into files of labels


def repeated_rows(qid: Array, docid: Array) -> tuple[int, int] | None:
    """Return the first two rows of one document in one query, by the second; None: every document is there once.

    Documents without an id ("") are all different.

    >>> repeated_rows(np.array(["a", "b", "b", "b"]), np.array(["d", "d", "e", "d"]))
    (1, 3)
    """
    rows = np.flatnonzero(docid != "")
    twice = first_repeat(list(zip(qid[rows].tolist(), docid[rows].tolist(), strict=True)))
    return None if twice is None else (int(rows[twice[0]]), int(rows[twice[1]]))


def first_repeat(keys: Sequence[Hashable]) -> tuple[int, int] | None:
    """Return the places of the first key that is there again, the first time and the second; None: all differ.

    >>> first_repeat(["a", "b", "c", "b", "a"])
    (1, 3)
    """
    if np.unique(np.fromiter(map(hash, keys), dtype=np.int64, count=len(keys))).size == len(keys):
        return None  # keys that are equal have equal hashes: nearly always this is enough
    first: dict[Hashable, int] = {}
    for row, key in enumerate(keys):
        before = first.setdefault(key, row)
        if before != row:
            return before, row
    return None


def said_twice(qid: str, docid: str, first: str) -> str:
    """Say that a document is there twice, and what to do.

    >>> said_twice("q1", "d7", "line 2")
    "document 'd7' of query 'q1' is there twice, first in line 2: keep one of them, or give them different ids"
    """
    what = f"document {docid!r:.60} of query {qid!r:.60} is there twice, first in {first}"
    return f"{what}: keep one of them, or give them different ids"


def named_row(name: str) -> int | None:
    """Return the row, counted from 0, that `doc_name` calls so in data without ids; None: this names no row.

    >>> named_row("row 2"), named_row("row2"), named_row("b")
    (1, 1, None)
    """
    found = ROW_NAME.fullmatch(name)
    return None if found is None else int(found[1]) - 1


def doc_keys(data: Dataset) -> Array:
    """Return what labels, and runs that are judged by them, call each document: its id, or a digest of its features.

    The features must be all that the file has: those that some model takes from it give other digests.

    >>> doc_keys(Dataset([[0.5], [0.1]], [0, 1], ["q", "q"], docid=[7, 8])).tolist()
    ['7', '8']
    >>> doc_keys(Dataset([[0.5], [0.5], [0.5]], [0, 1, 1], ["q", "q", "p"])).tolist()
    ['d99e58435243', 'd99e58435243-2', 'd99e58435243']
    """
    if data.docid is None:
        return _digests(data.X, [str(query) for query in data.qid])
    return np.array([str(docid) for docid in data.docid], dtype=object)


def with_keys(data: Dataset) -> Dataset:
    """Return the same documents, each with its key as its id."""
    return replace(data, docid=doc_keys(data))


def _digests(X: Array, queries: Sequence[str]) -> Array:
    """Name documents by a digest of their features; those with the same ones in one query are numbered."""
    seen: Counter[tuple[str, str]] = Counter()
    names = np.empty(len(X), dtype=object)
    for start in range(0, len(X), STEP):
        part = X[start : start + STEP]
        part = np.where(np.isnan(part), np.float32(np.nan), part + np.float32(0))  # one NaN, one zero
        for row, values in enumerate(np.ascontiguousarray(part, dtype="<f4"), start):
            digest = hashlib.sha256(values.tobytes()).hexdigest()[:12]
            seen[queries[row], digest] += 1
            n_seen = seen[queries[row], digest]
            names[row] = digest if n_seen == 1 else f"{digest}-{n_seen}"
    return names


def first_rows(data: Dataset) -> list[int]:
    """Return the first row of each document; rows with the same ids and other features are not the same document."""
    keys = zip(data.qid.tolist(), doc_keys(data).tolist(), map(bytes, data.X), strict=True)
    first: dict[tuple[object, str, bytes], int] = {}
    for row, key in enumerate(keys):
        first.setdefault(key, row)
    return [*first.values()]


def require_docids(data: Dataset) -> Array:
    """Return the document ids, or say that there are none."""
    if data.docid is None:
        raise DataError("expected an id for every document: the data has none; TREC and Quepid files name documents")
    empty = np.flatnonzero(data.docid == "")
    if empty.size:
        raise DataError(
            f"expected an id for every document: row {empty[0]} has none; TREC and Quepid files name documents"
        )
    return data.docid
