"""One grade of a document from those of several raters: median, mean, majority, or by how reliable each rater is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from statistics import median
from typing import TypeVar

from rulerank.errors import DataError
from rulerank.judging.labels import agreed_grade
from rulerank.judging.rater_model import RaterModel

Doc = TypeVar("Doc")
Grades = Mapping[str, int | None]  # by rater; None: cannot be judged


def combine(
    docs: Mapping[Doc, Grades], how: str = "median", decided: Mapping[Doc, int | None] | None = None
) -> dict[Doc, int]:
    """Return the grade of every document that somebody could grade and on which the raters' median is a grade.

    docs: the grades of each document by rater.
    how: "median", and no grade where it falls between two, as of 0 and 1; "mean", rounded to the nearest grade, a half
        down; "majority", of equally frequent grades the one nearest to the median; "reliability", the most probable
        grade by how often each rater seems to be right; "dawid-skene", the same with a table of grades for each rater
        (`RaterModel`).
    decided: what the lead has said of some documents, which counts whatever raters say (None: cannot be judged); models
        of raters learn from it.

    >>> docs = {"a": {"ann": 0, "bob": 3, "eve": 3}, "b": {"ann": 1, "bob": None}, "c": {"bob": None}}
    >>> combine(docs), combine(docs, "mean"), combine(docs, "majority")
    ({'a': 3, 'b': 1}, {'a': 2, 'b': 1}, {'a': 3, 'b': 1})
    >>> combine({"d": {"ann": 0, "bob": 1}}), combine({"d": {"ann": 0, "bob": 1}}, decided={"d": 1})
    ({}, {'d': 1})
    >>> combine(docs, decided={"a": 1, "b": None})
    {'a': 1}
    """
    check_combination(how)
    decided = decided or {}
    given = {doc: {rater: grade for rater, grade in by.items() if grade is not None} for doc, by in docs.items()}
    given = {doc: by for doc, by in given.items() if by}
    if how in MODELS and given:
        known = {doc: grade for doc, grade in decided.items() if grade is not None}
        found: Mapping[Doc, int | None] = MODELS[how](given, known).grades(given)
    else:
        found = {doc: ONE_BY_ONE[how](sorted(by.values())) for doc, by in given.items()}
    return settled(found, decided)


def settled(found: Mapping[Doc, int | None], decided: Mapping[Doc, int | None]) -> dict[Doc, int]:
    """Return grades with the lead's in place of others, and without documents that have none.

    >>> settled({"a": 0, "b": 1}, {"b": 3, "a": None})
    {'b': 3}
    """
    either = dict(found) | dict(decided)
    return {doc: grade for doc, grade in either.items() if grade is not None}


def check_combination(how: object) -> str:
    """Return the name of a way to combine labels, if there is such a way."""
    if how not in COMBINATIONS:
        raise DataError(f"labels are combined by {', '.join(COMBINATIONS)}: got {how!r:.60}")
    return str(how)


def _mean(grades: list[int]) -> int:
    total, n = 2 * sum(grades) - len(grades), 2 * len(grades)
    return -(-total // n)  # the smallest whole number from mean - 1/2 on: a half goes down


def _majority(grades: list[int]) -> int:
    counts, middle = Counter(grades), int(median(grades))
    return min(counts, key=lambda grade: (-counts[grade], abs(grade - middle), grade))


ONE_BY_ONE: dict[str, Callable[[list[int]], int | None]] = {
    "median": agreed_grade,
    "mean": _mean,
    "majority": _majority,
}
MODELS = {"reliability": RaterModel.fit, "dawid-skene": RaterModel.fit_tables}
COMBINATIONS = {  # how labels of several raters become one, and what to say of it
    "median": "the median of the raters, and no grade where it falls between two until that is decided",
    "mean": "the mean of the raters, rounded",
    "majority": "what most raters say",
    "reliability": "the most probable grade by how reliable each rater is",
    "dawid-skene": "the most probable grade by which grades each rater gives to which documents",
}
