"""Compare rankings over queries: do two of them differ by more than chance?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rulerank.core.checks import is_whole
from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError
from rulerank.evaluation.evaluation import evaluate, graded
from rulerank.evaluation.measures import Measure, as_measures
from rulerank.evaluation.other_measures import other_measure
from rulerank.evaluation.result import Result
from rulerank.evaluation.significance import SAME, TESTS, bootstrap_means, holm
from rulerank.render.notebook import html_table, table_of
from rulerank.render.tables import latex_table, markdown_table, plain_table


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rankings by one measure: their difference, its interval, and how surprising it would be by chance."""

    measure: str
    a: str
    b: str
    mean_a: float
    mean_b: float
    low: float  # bootstrap interval of the mean difference
    high: float
    wins: int  # queries where a is better
    ties: int
    losses: int
    p: dict[str, float]  # by test
    p_holm: dict[str, float]  # corrected for the number of pairs

    @property
    def difference(self) -> float:
        return self.mean_a - self.mean_b


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """All pairs of rankings by all measures; prints as a table, a star where the corrected p is below alpha."""

    pairs: tuple[Pair, ...]
    results: dict[str, Result]  # by ranking
    alpha: float
    n_rounds: int
    seed: int

    @property
    def note(self) -> str:
        """How the figures came about, in one line."""
        some = next(iter(self.results.values()))
        tied = ", ".join(f"{name} {result.n_tied:,}" for name, result in self.results.items())
        return (
            f"{some.n_queries:,} queries, convention {some.convention}, ties {some.ties}; "
            f"tied documents of {some.n_docs:,}: {tied}; "
            f"{1 - self.alpha:.0%} bootstrap intervals; p corrected by Holm over the pairs of a measure, "
            f"* below {self.alpha:g}; {self.n_rounds:,} rounds, seed {self.seed}"
        )

    def __repr__(self) -> str:
        return f"{plain_table(*self.rows(), n_left=3)}\n{self.note}"

    def _repr_html_(self) -> str:
        return html_table(table_of(*self.rows(), n_left=3, note=self.note))

    def to_markdown(self) -> str:
        return f"{markdown_table(*self.rows(), n_left=3)}\n\n{self.note}\n"

    def to_latex(self) -> str:
        """A LaTeX table (package booktabs), with the note as a comment below it."""
        return f"{latex_table(*self.rows(), n_left=3)}\n% {self.note}\n"

    def to_dict(self) -> dict[str, Any]:
        """Return all pairs and rankings as plain values."""
        return {
            "pairs": [{**asdict(pair), "difference": pair.difference} for pair in self.pairs],
            "rankings": {name: result.to_dict() for name, result in self.results.items()},
            "alpha": self.alpha,
            "n_rounds": self.n_rounds,
            "seed": self.seed,
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2)

    def rows(self, *, brief: bool = False) -> tuple[list[str], list[list[str]]]:
        """Return header and rows as text; brief: without the means and with the corrected p alone."""
        cells = [self._cells(pair, brief=brief) for pair in self.pairs]
        return list(cells[0]), [list(row.values()) for row in cells]

    def _cells(self, pair: Pair, *, brief: bool) -> dict[str, str]:
        cells = {"measure": pair.measure, "a": pair.a, "b": pair.b}
        if not brief:
            cells |= {"mean a": f"{pair.mean_a:.4f}", "mean b": f"{pair.mean_b:.4f}"}
        cells["a - b"] = f"{pair.difference:+z.4f}"
        cells["interval"] = f"{pair.low:+z.4f} to {pair.high:+z.4f}"
        for test, p in pair.p_holm.items():
            if not brief:
                cells[f"p {test}"] = f"{pair.p[test]:.4f}"
            cells[f"p {test}" if brief else f"Holm {test}"] = f"{p:.4f}{'*' if p < self.alpha else ''}"
        return cells | {"wins/ties/losses": f"{pair.wins}/{pair.ties}/{pair.losses}"}


def compare(
    y: ArrayLike | Dataset,
    scores: Mapping[str, ArrayLike],
    qid: ArrayLike | None = None,
    measures: str | Measure | Iterable[str | Measure] = "MAP",
    *,
    tests: Sequence[str] = ("t", "randomisation"),
    n_rounds: int = 10_000,
    seed: int = 0,
    alpha: float = 0.05,
    convention: str = "standard",
    ties: str | None = None,
    docid: ArrayLike | None = None,
    relevant_from: int = 1,
    max_grade: int | None = None,
    unjudged: int | str | None = None,
    n_jobs: int | None = None,
    measure: str | Measure | Iterable[str | Measure] | None = None,
) -> Comparison:
    """Compare each pair of rankings over queries.

    >>> y, qid = [1, 0, 1, 0, 1, 0], [1, 1, 2, 2, 3, 3]
    >>> found = compare(y, {"good": [2, 1, 2, 1, 2, 1], "bad": [1, 2, 2, 1, 1, 2]}, qid)
    >>> pair = found.pairs[0]
    >>> pair.difference, pair.wins, pair.ties, pair.p["randomisation"]
    (0.33333333333333337, 2, 1, 0.5)

    Parameters
    ----------
    y : the grades, with qid, the query of each; or a Dataset, which has its queries with it.
    scores : the rankings by name, each one score per row. A dict in the first place and grades in the second, as the
        first version had it, are understood, too: only one of the two is a dict.
    measures : one or several, such as "MAP" or ["MAP", "NDCG@10"]; the correction is over the pairs of each. `measure`
        is the first version's name of it.
    tests : of "t" (paired t-test) and "randomisation" (signs of the differences flipped at random, two-sided; all ways
        of flipping them when there are at most n_rounds).
    n_rounds : rounds of the randomisation test and of the bootstrap of the mean difference (percentile interval).
    convention, ties, docid, relevant_from, max_grade, unjudged : as in `evaluate`.
    """
    if measure is not None:
        if measures != "MAP":
            raise DataError("measures and measure mean the same: give one of them")
        measures = measure
    asked = as_measures(measures, others=other_measure)
    grades, rankings = _in_order(y, scores)
    data = grades if isinstance(grades, Dataset) else None
    grades, own_queries, docid = graded(grades, qid, docid, "compare(data, scores, measures=...)")
    queries: ArrayLike | None = own_queries
    if data is not None:
        grades, queries, unjudged = data, None, data.counted_rows(unjudged).unjudged  # said once, not per ranking
    results = {}
    for name, column in rankings.items():
        try:
            results[str(name)] = evaluate(
                grades, column, queries, asked, convention=convention, ties=ties, docid=docid,
                relevant_from=relevant_from, max_grade=max_grade, unjudged=unjudged, n_jobs=n_jobs,
            )  # fmt: skip
        except DataError as error:
            raise DataError(f"ranking {str(name)!r}: {error}") from None
    return compare_results(results, tests=tests, n_rounds=n_rounds, seed=seed, alpha=alpha)


def _in_order(first: Any, second: Any) -> tuple[Any, Mapping[str, ArrayLike]]:
    """Return grades and rankings; the rankings are the one that is a dict, so that no order has to be guessed."""
    if isinstance(first, Mapping) == isinstance(second, Mapping):
        came = "two dicts" if isinstance(first, Mapping) else type(second).__name__
        raise DataError(f"expected the grades, and the rankings as a dict from name to scores: got {came}")
    return (second, first) if isinstance(first, Mapping) else (first, second)


def compare_results(
    results: Mapping[str, Result],
    *,
    tests: Sequence[str] = ("t", "randomisation"),
    n_rounds: int = 10_000,
    seed: int = 0,
    alpha: float = 0.05,
) -> Comparison:
    """Compare rankings that were evaluated on the same queries, such as TREC runs; parameters as in `compare`."""
    _check(results, tests, n_rounds, seed, alpha)
    first, *others = results.values()
    for other in others:
        for what in ("measures", "convention", "ties"):
            if getattr(other, what) != getattr(first, what):
                raise DataError(
                    f"rankings can only be compared by the same {what}: "
                    f"got {getattr(first, what)} and {getattr(other, what)}"
                )
    place = {query: number for number, query in enumerate(first.queries)}
    if any(place.keys() != set(other.queries) for other in others):
        raise DataError("rankings can only be compared on the same queries: these were evaluated on different ones")
    if len(place) < 2:
        raise DataError("expected at least two queries to tell a difference from chance: got 1")
    values = np.empty((len(results), *first.values.shape))  # (n_rankings, n_measures, n_queries)
    for number, result in enumerate(results.values()):
        values[number][:, [place[query] for query in result.queries]] = result.values
    pairs = [
        pair
        for number, measure in enumerate(first.measures)
        for pair in _compare_pairs(str(measure), list(results), values[:, number], tests, n_rounds, seed, alpha)
    ]
    return Comparison(tuple(pairs), dict(results), alpha, n_rounds, seed)


def _compare_pairs(
    measure: str, names: list[str], values: Array, tests: Sequence[str], n_rounds: int, seed: int, alpha: float
) -> list[Pair]:
    firsts, seconds = np.triu_indices(len(names), k=1)
    differences = values[firsts] - values[seconds]
    p = {test: TESTS[test](differences, n_rounds, seed) for test in tests}
    p_holm = {test: holm(of_pairs) for test, of_pairs in p.items()}
    drawn = bootstrap_means(values, n_rounds, seed)
    means = values.mean(axis=1)
    pairs = []
    for pair, (first, second) in enumerate(zip(firsts, seconds, strict=True)):
        low, high = np.quantile(drawn[:, first] - drawn[:, second], [alpha / 2, 1 - alpha / 2])
        wins, losses = int((differences[pair] > SAME).sum()), int((differences[pair] < -SAME).sum())
        pairs.append(
            Pair(
                measure=measure,
                a=names[first],
                b=names[second],
                mean_a=float(means[first]),
                mean_b=float(means[second]),
                low=float(low),
                high=float(high),
                wins=wins,
                ties=differences.shape[1] - wins - losses,
                losses=losses,
                p={test: float(of_pairs[pair]) for test, of_pairs in p.items()},
                p_holm={test: float(of_pairs[pair]) for test, of_pairs in p_holm.items()},
            )
        )
    return pairs


def _check(results: Mapping[str, Result], tests: Sequence[str], n_rounds: int, seed: int, alpha: float) -> None:
    if len(results) < 2:
        raise DataError(f"expected at least two rankings to compare: got {len(results)}")
    if isinstance(tests, str):
        raise DataError(f"tests must be a list such as ['t', 'randomisation']: got {tests!r}")
    if not tests:
        raise DataError(f"expected at least one test, got none; choose from {', '.join(TESTS)}")
    for test in tests:
        if test not in TESTS:
            raise DataError(f"unknown test {test!r}; choose from {', '.join(TESTS)}")
    for name, value, least in (("n_rounds", n_rounds, 1), ("seed", seed, 0)):
        if not is_whole(value, least):
            raise DataError(f"{name} must be a whole number from {least}: got {value!r}")
    if not 0 < alpha < 1:
        raise DataError(f"alpha must lie between 0 and 1: got {alpha!r}")
