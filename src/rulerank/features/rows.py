"""Which pairs of a query and a document to compute features of."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rulerank.core.words import counted
from rulerank.dataset import MAX_GRADE, UNLABELLED, Array
from rulerank.errors import DataError
from rulerank.io.judgements import Pairs
from rulerank.io.trec import Qrels


@dataclass(frozen=True, eq=False)
class Rows:
    """Pairs by number, those of a query together, with their grades and what an engine said."""

    docs: Array  # int64
    queries: Array  # int64
    grades: Array  # int16, -1 = not judged
    engine: Mapping[str, Array] = field(default_factory=dict)


def rows_to_compute(
    qids: Array,
    doc_numbers: Mapping[str, int],
    best: Callable[[], list[Array]] | None,
    qrels: Qrels | None,
    pairs: Pairs | None,
) -> Rows:
    """Return the listed pairs, or the candidates of every query and then the judged documents that are not among them.

    Queries and documents that are not there are left out, with a warning that says how many.
    """
    query_numbers = {one: number for number, one in enumerate(qids.tolist())}
    grades = _grades(qrels, query_numbers, doc_numbers)
    if pairs is not None:
        docs, queries, kept = _known(pairs.qid, pairs.docid, query_numbers, doc_numbers, "pairs")
        order = np.argsort(queries, kind="stable")
        engine = {f"engine_{name}": getattr(pairs, name) for name in ("rank", "score")}
        engine = {name: column[kept][order] for name, column in engine.items() if column is not None}
        docs, queries = docs[order], queries[order]
    else:
        engine = {}
        found = best() if best is not None else [np.empty(0, dtype=np.int64)] * len(qids)
        found = _with_judged(found, grades)
        docs = np.concatenate(found) if found else np.empty(0, dtype=np.int64)
        queries = np.repeat(np.arange(len(found)), [len(own) for own in found])
    y = np.array(
        [grades.get(pair, UNLABELLED) for pair in zip(queries.tolist(), docs.tolist(), strict=True)], dtype=np.int16
    )
    n_empty = len(qids) - len(np.unique(queries))
    if not docs.size:
        raise DataError("no query has a candidate: no word of the queries is in the documents, or no pair is known")
    if n_empty:
        some = ", ".join(repr(one) for one in np.delete(qids, np.unique(queries))[:3])
        warnings.warn(f"{counted(n_empty, 'query', 'queries')} without any document left out: {some} ...", stacklevel=3)
    return Rows(docs, queries, y, engine)


def _grades(
    qrels: Qrels | None, query_numbers: Mapping[str, int], doc_numbers: Mapping[str, int]
) -> dict[tuple[int, int], int]:
    if qrels is None:
        return {}
    docs, queries, kept = _known(qrels.qid, qrels.docid, query_numbers, doc_numbers, "judgements")
    grades = np.maximum(qrels.grade[kept], 0)  # TREC's grades below 0 are not relevant, as the measures have it
    if grades.size and grades.max() > MAX_GRADE:
        raise DataError(f"grades must be at most {MAX_GRADE}: got {grades.max()}")
    return dict(zip(zip(queries.tolist(), docs.tolist(), strict=True), grades.tolist(), strict=True))


def _known(
    qid: Array, docid: Array, query_numbers: Mapping[str, int], doc_numbers: Mapping[str, int], what: str
) -> tuple[Array, Array, Array]:
    docs = np.array([doc_numbers.get(one, -1) for one in docid.tolist()], dtype=np.int64)
    queries = np.array([query_numbers.get(one, -1) for one in qid.tolist()], dtype=np.int64)
    for numbers, ids, kind in ((queries, qid, "queries"), (docs, docid, "documents")):
        n_lost = int((numbers < 0).sum())
        if n_lost:
            first = ids[np.argmax(numbers < 0)]
            warnings.warn(
                f"{n_lost:,} of {len(ids):,} {what} left out: they are of {kind} that are not there, "
                f"such as {first!r:.60}",
                stacklevel=4,
            )
    kept = (docs >= 0) & (queries >= 0)
    return docs[kept], queries[kept], kept


def _with_judged(found: Sequence[Array], grades: Mapping[tuple[int, int], int]) -> list[Array]:
    judged: dict[int, list[int]] = {}
    for query, doc in grades:
        judged.setdefault(query, []).append(doc)
    joined = []
    for query, own in enumerate(found):
        seen = set(own.tolist())
        more = [doc for doc in judged.get(query, ()) if doc not in seen]
        joined.append(np.concatenate((own, np.array(more, dtype=np.int64))) if more else own)
    return joined
