"""Labels of LLMs beside those of people, on the documents of a pool."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from rulerank.dataset import UNLABELLED, Array, Dataset
from rulerank.errors import DataError
from rulerank.judging.grades import combine
from rulerank.judging.label_files import EachLabel, Given, check_scale, each_label, grades_by_row
from rulerank.judging.labels import PERSON
from rulerank.judging.pool import Pool

LLM = "llm"  # the kind of rater
HOW_TO_ADD = "`rulerank labels STORE --import FILE --rater NAME --kind llm` adds them to a store"


class BothLabels(NamedTuple):
    """Human grades and those of LLMs, one per document of a pool; -1: none."""

    human: Array
    llm: Array  # of several LLMs the mean, rounded
    by_llm: dict[str, Array]
    probability: Array | None  # of sampled documents, whose human grades alone are here; None: nothing was sampled


def read_both(pool: Pool, human: str, llm: str | None = None) -> BothLabels:
    """Read human labels and those of LLMs, from two files or stores, or from one; documents elsewhere are ignored.

    llm: without kinds of raters, all of its labels are those of an LLM; by default the same source.
    """
    each, name = each_label(human)
    other, other_name = (each, name) if llm is None else each_label(llm)
    check_scale([*each.labels, *other.labels], pool, name)
    people = [one for one in each.labels if each.kinds.get(one[3], PERSON) == PERSON]
    by_row: dict[int, dict[str, int]] = {}
    for query, doc, grade, rater in labels_of_llms(other, other_name, by_kind=llm is None):
        row = pool.find(query, doc)
        if row is not None and grade is not None:
            by_row.setdefault(row, {})[rater] = grade
    raters = sorted({rater for by in by_row.values() for rater in by})
    grades = {rater: {row: by[rater] for row, by in by_row.items() if rater in by} for rater in raters}
    given, chance = grades_by_row(pool, people, name, strict=False), None
    if each.chances:
        chance = np.zeros(len(pool))
        for (query, doc), value in each.chances.items():
            row = pool.find(query, doc)
            if row is not None:
                chance[row] = value
        given = {row: grade for row, grade in given.items() if chance[row] > 0}
    by_llm = {rater: _column(pool, of.items()) for rater, of in grades.items()}
    return BothLabels(_column(pool, given.items()), _column(pool, combine(by_row, "mean").items()), by_llm, chance)


def labels_of_llms(each: EachLabel, name: str, *, by_kind: bool) -> list[Given]:
    """Return the labels of raters of kind llm, or all of a file without kinds, unless they must have one."""
    found = [one for one in each.labels if each.kinds.get(one[3]) == LLM] if by_kind or each.kinds else each.labels
    if not found:
        raise DataError(f"{name}: no labels of a rater of kind {LLM}: name their file with --llm-labels; {HOW_TO_ADD}")
    return found


def pool_of_llm(source: str) -> Pool:
    """Return the documents that LLMs have graded, for rankings that come without data."""
    each, name = each_label(source)
    pairs = dict.fromkeys((query, doc) for query, doc, *_ in labels_of_llms(each, name, by_kind=False))
    queries, docs = (np.array(ids, dtype=object) for ids in zip(*pairs, strict=True))
    nothing = np.zeros((len(pairs), 1))
    return Pool(Dataset(nothing, np.full(len(pairs), UNLABELLED), queries, docs), name=name)


def _column(pool: Pool, grades: Iterable[tuple[int, int]]) -> Array:
    column = np.full(len(pool), UNLABELLED, dtype=np.int64)
    for row, grade in grades:
        column[row] = grade
    return column
