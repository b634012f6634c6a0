"""Labels of LLMs beside those of people: reading both, and how far an LLM agrees with people.

Agreement shows where an LLM errs, not whether its labels can compare rankings (`evaluation/llm_labels.py` does that).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rulerank.dataset import UNLABELLED, Array, Dataset, query_index
from rulerank.errors import DataError
from rulerank.evaluation.comparison import Interval, interval
from rulerank.evaluation.evaluation import evaluate
from rulerank.judging.grades import combine
from rulerank.judging.label_files import EachLabel, Given, check_scale, each_label, grades_by_row
from rulerank.judging.labels import PERSON, Pair, Plain
from rulerank.judging.pool import Pool

N_ROUNDS = 400  # of the bootstrap
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


@dataclass(frozen=True, slots=True)
class RaterRow(Plain):
    """How an LLM agrees with people on some documents; intervals of 95 % over queries."""

    documents: str  # which
    n_docs: int
    n_queries: int
    same: Interval  # share with the same grade
    bias: Interval  # mean of its grade minus the human one

    def cells(self) -> list[str]:
        """Return the row of the printed table."""
        shown = (f"{one.value:{sign}.2f}" for one, sign in ((self.same, ""), (self.bias, "+")))
        ranges = (
            f"{one.low:{sign}.2f} to {one.high:{sign}.2f}" if 0 < one.high - one.low < np.inf else "unknown"
            for one, sign in ((self.same, ""), (self.bias, "+"))
        )
        both = [text for pair in zip(shown, ranges, strict=True) for text in pair]
        return [self.documents, str(self.n_docs), str(self.n_queries), *both]


COLUMNS = ["documents", "number", "queries", "same grade", "95 % interval", "LLM - human", "95 % interval"]


def rater_rows(
    human: Array, llm: Array, query: Array, *, ranks: Array | None = None, words: Array | None = None
) -> list[RaterRow]:
    """Return the agreement of an LLM with people: of all documents, by grade, by kind of query, by rank.

    human, llm: grades, -1: none. query: numbers of queries. ranks: in the baseline ranking, from 1. words: in the query
    of each document. Queries are split in two halves by their number of relevant documents and by length.

    >>> human, llm = np.array([0, 1, 0, 1]), np.array([0, 1, 1, 1])
    >>> [(row.documents, row.same.value, row.bias.value) for row in rater_rows(human, llm, np.array([0, 0, 1, 1]))]
    [('all', 0.75, 0.25), ('human grade 0', 0.5, 0.5), ('human grade 1', 1.0, 0.0)]
    """
    both = (human != UNLABELLED) & (llm != UNLABELLED)
    parts = {"all": both}
    parts |= {f"human grade {grade}": both & (human == grade) for grade in np.unique(human[both])}
    n_relevant = np.bincount(query, human > 0)[query]
    for what, values in (("relevant documents", n_relevant), ("words", words)):
        if values is not None and both.any():
            _, first = np.unique(np.where(both, query, -1), return_index=True)
            middle = int(np.median(values[first[both[first]]]))
            halves = both & (values <= middle), both & (values > middle)
            if all(half.any() for half in halves):
                names = f"queries with at most {middle} {what}", f"queries with more than {middle} {what}"
                parts |= dict(zip(names, halves, strict=True))
    if ranks is not None:
        parts |= {"ranks 1 to 10": both & (ranks <= 10), "ranks from 11": both & (ranks > 10)}
    return [_row(name, human[own], llm[own], query[own]) for name, own in parts.items() if own.any()]


def rows_of_rater(given: Mapping[Pair, int], people: Mapping[Pair, int]) -> list[RaterRow]:
    """Return the agreement of a rater with people on the documents that both have graded."""
    pairs = [pair for pair in given if pair in people]
    query = query_index(np.array([name for name, _ in pairs], dtype=object))[0]
    human, own = (np.array([grades[pair] for pair in pairs]) for grades in (people, given))
    return rater_rows(human, own, query)


def _row(name: str, human: Array, llm: Array, query: Array) -> RaterRow:
    n = np.bincount(query)
    same, bias = (interval(np.bincount(query, values), n) for values in (llm == human, llm - human))
    same = Interval(same.value, max(0.0, same.low), min(1.0, same.high)) if np.isfinite(same.low) else same
    return RaterRow(name, human.size, int((n > 0).sum()), same, bias)


def system_tau(human: Array, llm: Array, query: Array, systems: Array, *, seed: int = 0) -> Interval:
    """Return Kendall's tau between the orders of systems by human and by LLM labels, and its 95 % bootstrap interval.

    systems: scores (n_systems, n_docs); ordered by NDCG@10 on the documents that both have graded.

    >>> grades = np.tile([2, 1, 0], 4)
    >>> system_tau(grades, grades, np.repeat(np.arange(4), 3), np.stack([grades, -grades, 0 * grades])).value
    1.0
    """
    both = (human != UNLABELLED) & (llm != UNLABELLED)
    by_human, by_llm = (
        np.stack([evaluate(y[both], one[both], query[both], "NDCG@10", any_grades=True).values[0] for one in systems])
        for y in (human, llm)
    )  # (n_systems, n_queries)
    n = by_human.shape[1]
    drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), N_ROUNDS)
    first, second = np.triu_indices(len(systems), 1)

    def tau(weights: Array) -> Array:
        means = (weights @ values.T for values in (by_human, by_llm))
        signs = [np.sign(np.round(one[:, first] - one[:, second], 12)) for one in means]
        agreed: Array = (signs[0] * signs[1]).mean(axis=1)
        return agreed

    low, high = np.quantile(tau(drawn), [0.025, 0.975]).tolist()
    return Interval(float(tau(np.ones((1, n)))[0]), low, high)


def _column(pool: Pool, grades: Iterable[tuple[int, int]]) -> Array:
    column = np.full(len(pool), UNLABELLED, dtype=np.int64)
    for row, grade in grades:
        column[row] = grade
    return column
