"""Compare two rankings, paired by query: difference, confidence interval, paired tests and the bootstrap.

`Comparison` is the result of every kind of comparison: a measure on graded documents (`compare`), pairs of labels in
the right order, side-by-side judgements, clicks, or interleaved lists. All use `interval`, except `compare`, which
bootstraps over queries.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rulerank._util.parameters import is_whole
from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError, located
from rulerank.evaluation.evaluation import Result, evaluate, graded
from rulerank.evaluation.measures import Measure, as_measures
from rulerank.render.html import html_table, table_of
from rulerank.render.latex import latex_table
from rulerank.render.text import plain_table

LEVEL = 0.95  # of intervals
LEAVE = 0.9  # of an interval that decides whether to leave a baseline: equal rankings pass its low end in 1 of 20 cases
LOOKED_AT = 0.97  # of an interval that is looked at after each of 40 trials: 1 of 20 equal rankings is called better
ROUND_CELLS = 1_000_000  # rounds x queries drawn at a time: some 20 MB
MAX_FLIPS = 2**16  # all ways to flip the signs are tried at once up to here
SAME = 1e-12  # values that differ by less are equal: sums of the same numbers in another order


class Interval(NamedTuple):
    """A value and its confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two rankings by one measure: their difference, its interval by query, and the verdict.

    >>> Comparison("NDCG@10", "new", "baseline", 0.52, 0.50, low=0.004, high=0.036, n_queries=80).verdict
    'better'
    """

    measure: str
    a: str
    b: str
    mean_a: float
    mean_b: float
    low: float  # of mean_a - mean_b
    high: float
    n_queries: int
    wins: int = 0  # queries, or trials, where a is better
    ties: int = 0
    losses: int = 0
    p: Mapping[str, float] = field(default_factory=dict)  # by test
    p_holm: Mapping[str, float] = field(default_factory=dict)  # corrected for the number of pairs
    level: float = LEVEL
    least: int = 2  # queries: fewer say nothing

    @property
    def difference(self) -> float:
        return self.mean_a - self.mean_b

    @property
    def n_trials(self) -> int:
        return self.wins + self.ties + self.losses

    @property
    def verdict(self) -> str:
        """Of a: better, worse, unclear (the interval contains 0), or too few (queries)."""
        if self.n_queries < self.least:
            return "too few"
        return "better" if self.low > 0 else "worse" if self.high < 0 else "unclear"

    def is_over(self, most: int) -> bool:
        """Return whether sequential trials can stop: the verdict is clear, or this many were made."""
        return self.verdict in ("better", "worse") or self.n_trials >= most

    def to_dict(self) -> dict[str, Any]:
        """Return the results as plain values."""
        found = asdict(self) | {"difference": self.difference}
        return {name: value for name, value in found.items() if name not in ("n_queries", "level", "least")}


def interval(parts: Array, wholes: Array | None = None, *, level: float = LEVEL) -> Interval:
    """Return a ratio of sums over queries, with its confidence interval; without wholes, the mean of the parts.

    The unit is the query: a thousand impressions of one query say little about other queries. A value v is in the
    interval if a t-test of `parts - v * wholes` does not find a mean different from 0 (Fieller), which keeps its level
    if queries differ in size; for a mean it is the t interval. With one query, or one that has nearly everything, the
    interval is infinite.

    >>> interval(np.array([1, 2, 3]))
    Interval(value=2.0, low=-0.4841..., high=4.4841...)
    >>> interval(np.array([18, 22, 20]), np.array([100, 100, 100])).low < 0.2
    True
    """
    from scipy.special import stdtrit  # slow to load

    parts = np.asarray(parts, dtype=np.float64)
    wholes = np.ones(parts.size) if wholes is None else np.asarray(wholes, dtype=np.float64)
    parts, wholes = parts[wholes > 0], wholes[wholes > 0]
    part, whole, n = float(parts.sum()), float(wholes.sum()), wholes.size
    value = part / whole if whole else math.nan
    if n < 2:
        return Interval(value, -math.inf, math.inf)
    spread = (stdtrit(n - 1, 0.5 + level / 2) ** 2 * n * np.cov(parts, wholes)).tolist()
    # where a v^2 - 2 b v + c is at most 0
    a, b, c = whole**2 - spread[1][1], part * whole - spread[0][1], part**2 - spread[0][0]
    if a <= 0:
        return Interval(value, -math.inf, math.inf)
    root = math.sqrt(max(0.0, b * b - a * c))
    return Interval(value, min(value, (b - root) / a), max(value, (b + root) / a))  # no rounding leaves the value out


def share_interval(parts: Array, wholes: Array, *, level: float = LEVEL, one_each_way: bool = False) -> Interval:
    """Return a share (parts of wholes, by query) with its confidence interval.

    one_each_way: add two queries of one trial, a win and a loss, so that a few equal outcomes do not look certain.

    The interval is never narrower than that of independent trials (Clopper and Pearson), which is exact if each query
    has one trial.

    >>> share_interval(np.array([10]), np.array([100]))
    Interval(value=0.1, low=0.0, high=1.0)
    >>> share_interval(np.array([1, 1, 1, 1, 1, 1, 0]), np.ones(7)).low
    0.4212...
    """
    from scipy.special import betaincinv  # slow to load

    parts, wholes = np.asarray(parts, dtype=np.float64), np.asarray(wholes, dtype=np.float64)
    won, lost, tail = float(parts.sum()), float((wholes - parts).sum()), (1 - level) / 2
    low = float(betaincinv(won, lost + 1, tail)) if won else 0.0
    high = float(betaincinv(won + 1, lost, 1 - tail)) if lost else 1.0
    value = won / (won + lost) if won + lost else math.nan
    if wholes.max(initial=0) <= 1:
        return Interval(value, low, high)
    more = 2 * one_each_way
    by_query = interval(np.append(parts, [1.0, 0.0][:more]), np.append(wholes, [1.0, 1.0][:more]), level=level)
    return Interval(value, max(0.0, min(low, by_query.low)), min(1.0, max(high, by_query.high)))


def compare_gains(
    measure: str, names: tuple[str, str], a: Array, b: Array, *, least: int = 2, level: float = LEVEL
) -> Comparison:
    """Compare two rankings by one value per query, higher is better.

    >>> compare_gains("NDCG@10", ("new", "baseline"), np.array([0.5, 0.7, 0.6]), np.array([0.4, 0.5, 0.6])).verdict
    'unclear'
    """
    gains = a - b
    found = interval(gains, level=level)
    wins, losses = int((gains > SAME).sum()), int((gains < -SAME).sum())
    means = (float(a.mean()), float(b.mean())) if gains.size else (math.nan, math.nan)
    return Comparison(
        measure, *names, *means, found.low, found.high, gains.size, wins, gains.size - wins - losses, losses,
        level=level, least=least,
    )  # fmt: skip


def compare_trials(
    measure: str, names: tuple[str, str], won: Array, lost: Array, ties: int = 0, *, least: int, level: float = LEVEL
) -> Comparison:
    """Compare two rankings by wins and losses per query; ties are left out of the shares.

    >>> found = compare_trials("side-by-side", ("new", "baseline"), np.ones(11), np.zeros(11), ties=7, least=5)
    >>> found.verdict, found.wins, found.mean_a
    ('better', 11, 1.0)
    """
    won, lost = np.asarray(won, dtype=np.float64), np.asarray(lost, dtype=np.float64)
    found = share_interval(won, won + lost, level=level, one_each_way=True)
    wins, losses = int(won.sum()), int(lost.sum())
    return Comparison(
        measure, *names, found.value, 1 - found.value, 2 * found.low - 1, 2 * found.high - 1,
        int(np.count_nonzero(won + lost)), wins, ties, losses, level=level, least=least,
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonTable:
    """All pairs of rankings by all measures; prints as a table, with a star if the corrected p is below alpha."""

    pairs: tuple[Comparison, ...]
    results: dict[str, Result]  # by ranking
    alpha: float
    n_rounds: int
    seed: int

    @property
    def note(self) -> str:
        """How the results were computed, in one line."""
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

    def to_latex(self) -> str:
        """A LaTeX table (package booktabs), with the note as a comment below it."""
        return f"{latex_table(table_of(*self.rows(), n_left=3))}\n% {self.note}\n"

    def to_dict(self) -> dict[str, Any]:
        """Return all pairs and rankings as plain values."""
        return {
            "pairs": [pair.to_dict() for pair in self.pairs],
            "rankings": {name: result.to_dict() for name, result in self.results.items()},
            "alpha": self.alpha,
            "n_rounds": self.n_rounds,
            "seed": self.seed,
        }

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return header and rows as text; p of both tests is corrected."""
        tests = ("t", "randomisation")
        header = ["measure", "a", "b", "mean a", "mean b", "a - b", "interval", *(f"p {test}" for test in tests)]
        rows = []
        for pair in self.pairs:
            means = f"{pair.mean_a:.4f}", f"{pair.mean_b:.4f}", f"{pair.difference:+z.4f}"
            p = (f"{pair.p_holm[test]:.4f}{'*' * (pair.p_holm[test] < self.alpha)}" for test in tests)
            counts = f"{pair.wins}/{pair.ties}/{pair.losses}"
            rows.append([pair.measure, pair.a, pair.b, *means, f"{pair.low:+z.4f} to {pair.high:+z.4f}", *p, counts])
        return [*header, "wins/ties/losses"], rows


def compare(
    y: ArrayLike | Dataset,
    scores: Mapping[str, ArrayLike],
    qid: ArrayLike | None = None,
    measures: str | Measure | Iterable[str | Measure] = "MAP",
    *,
    n_rounds: int = 10_000,
    seed: int = 0,
    alpha: float = 0.05,
    **rules: Any,
) -> ComparisonTable:
    """Test every pair of rankings for a difference: paired t-test, randomisation test and bootstrap interval.

    >>> y, qid = [1, 0, 1, 0, 1, 0], [1, 1, 2, 2, 3, 3]
    >>> found = compare(y, {"good": [2, 1, 2, 1, 2, 1], "bad": [1, 2, 2, 1, 1, 2]}, qid)
    >>> pair = found.pairs[0]
    >>> pair.difference, pair.wins, pair.ties, pair.p["randomisation"]
    (0.33333333333333337, 2, 1, 0.5)

    Parameters
    ----------
    y : the grades, with qid, the query of each; or a Dataset, which includes its queries.
    scores : the rankings by name, each one score per row.
    measures : one or several, such as "MAP" or ["MAP", "NDCG@10"]; the correction is over the pairs of each.
    n_rounds : rounds of the two-sided randomisation test (random signs of the differences; all combinations if there
        are at most n_rounds) and of the bootstrap of the mean difference, whose percentiles are the interval.
    alpha : level of the tests; the intervals have 1 - alpha.
    rules : convention, ties, docid, relevant_from, max_grade, unjudged and n_jobs, as in `evaluate`.
    """
    asked = as_measures(measures)
    if not isinstance(scores, Mapping):
        came = type(scores).__name__
        raise DataError(f"expected the grades, then the rankings as a dict from name to scores: got {came}")
    graded(y, qid, None, "compare(data, scores, measures=...)")
    if isinstance(y, Dataset):
        rules["unjudged"] = y.counted_rows(rules.get("unjudged")).unjudged  # said once, not per ranking
    results = {}
    for name, column in scores.items():
        with located(f"ranking {str(name)!r}"):
            results[str(name)] = evaluate(y, column, qid, asked, **rules)
    return compare_results(results, n_rounds=n_rounds, seed=seed, alpha=alpha)


def compare_results(
    results: Mapping[str, Result], *, n_rounds: int = 10_000, seed: int = 0, alpha: float = 0.05
) -> ComparisonTable:
    """Compare rankings that were evaluated on the same queries, such as TREC runs; parameters as in `compare`."""
    if len(results) < 2:
        raise DataError(f"expected at least two rankings to compare: got {len(results)}")
    for name, value, least in (("n_rounds", n_rounds, 1), ("seed", seed, 0)):
        if not is_whole(value, least):
            raise DataError(f"{name} must be a whole number from {least}: got {value!r}")
    if not 0 < alpha < 1:
        raise DataError(f"alpha must lie between 0 and 1: got {alpha!r}")
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
        raise DataError("expected at least two queries to test a difference: got 1")
    values = np.empty((len(results), *first.values.shape))  # (n_rankings, n_measures, n_queries)
    for number, result in enumerate(results.values()):
        values[number][:, [place[query] for query in result.queries]] = result.values
    pairs = [
        pair
        for number, measure in enumerate(first.measures)
        for pair in compare_values(str(measure), list(results), values[:, number], n_rounds, seed, alpha)
    ]
    return ComparisonTable(tuple(pairs), dict(results), alpha, n_rounds, seed)


def compare_values(
    measure: str, names: list[str], values: Array, n_rounds: int, seed: int, alpha: float, *, against: int | None = None
) -> list[Comparison]:
    """Compare rankings by their values (n_rankings, n_queries): each pair, or each with the one at a place."""
    firsts, seconds = np.triu_indices(len(names), k=1)
    if against is not None:
        firsts = np.delete(np.arange(len(names)), against)
        seconds = np.full(firsts.size, against)
    differences = values[firsts] - values[seconds]
    p = {"t": t_test(differences), "randomisation": randomisation_test(differences, n_rounds, seed)}
    p_holm = {test: holm(of_pairs) for test, of_pairs in p.items()}
    drawn = bootstrap_means(values, n_rounds, seed)
    pairs = []
    for pair, (a, b) in enumerate(zip(firsts.tolist(), seconds.tolist(), strict=True)):
        found = compare_gains(measure, (names[a], names[b]), values[a], values[b], level=1 - alpha)
        low, high = np.quantile(drawn[:, a] - drawn[:, b], [alpha / 2, 1 - alpha / 2]).tolist()
        own, corrected = ({test: float(some[pair]) for test, some in by_test.items()} for by_test in (p, p_holm))
        pairs.append(replace(found, low=low, high=high, p=own, p_holm=corrected))
    return pairs


def holm(p: Array) -> Array:
    """Correct p-values of several tests by Holm's step-down rule.

    >>> holm(np.array([0.01, 0.04, 0.03])).round(4).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)))
    return corrected


def t_test(differences: Array) -> Array:
    """Return the two-sided p of the paired t-test, one per row of differences (n_pairs, n_queries).

    >>> t_test(np.array([[0.1, 0.2, 0.3], [0.0, 0.0, 0.0]])).round(4).tolist()
    [0.0742, 1.0]
    """
    from scipy.special import stdtr  # slow to load

    n_queries = differences.shape[1]
    error = differences.std(axis=1, ddof=1) / np.sqrt(n_queries)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(differences.mean(axis=1)) / error
    return np.where((np.abs(differences) < SAME).all(axis=1), 1.0, 2 * stdtr(n_queries - 1, -t))


def randomisation_test(differences: Array, n_rounds: int, seed: int) -> Array:
    """Return the two-sided p of the sign-flip test, one per row of differences (n_pairs, n_queries).

    >>> randomisation_test(np.array([[0.1, 0.2, 0.3], [0.0, 0.0, 0.0]]), n_rounds=100, seed=0).tolist()
    [0.25, 1.0]
    """
    n_pairs, n_queries = differences.shape
    rng = np.random.default_rng(seed)
    n_extreme = np.zeros(n_pairs)
    for n_drawn in _chunks(n_rounds, n_queries):
        signs = 1.0 - 2.0 * rng.integers(2, size=(n_drawn, n_queries), dtype=np.int8)
        n_extreme += _is_extreme(signs, differences).sum(axis=0)
    p = (1 + n_extreme) / (1 + n_rounds)  # the observed difference counts as one round: p is never 0
    for pair, moved in enumerate(row[np.abs(row) >= SAME] for row in differences):
        if 2**moved.size <= min(n_rounds, MAX_FLIPS):
            flips = np.arange(2**moved.size)[:, None] >> np.arange(moved.size) & 1
            p[pair] = _is_extreme(1.0 - 2.0 * flips, moved[None]).mean()
    return p


def bootstrap_means(values: Array, n_rounds: int, seed: int) -> Array:
    """Return, round by round, the means of values (n_rankings, n_queries) over queries drawn with replacement.

    >>> bootstrap_means(np.array([[0.5, 0.5], [0.0, 1.0]]), n_rounds=3, seed=0).shape
    (3, 2)
    """
    n_queries = values.shape[1]
    rng = np.random.default_rng([seed, 1])  # not the draws of the randomisation test
    means = []
    for n_drawn in _chunks(n_rounds, n_queries):
        cells = rng.integers(n_queries, size=(n_drawn, n_queries)) + np.arange(n_drawn)[:, None] * n_queries
        times_drawn = np.bincount(cells.ravel(), minlength=cells.size).reshape(cells.shape)
        means.append(times_drawn @ values.T / n_queries)
    return np.concatenate(means)


def _is_extreme(signs: Array, differences: Array) -> Array:
    """Return for each row of signs and of differences whether the flipped sum is as extreme as the observed one."""
    n_queries = differences.shape[1]
    flipped = np.abs(signs @ differences.T)
    return flipped >= np.abs(differences.sum(axis=1)) - SAME * max(1, n_queries)


def _chunks(n_rounds: int, n_queries: int) -> Iterator[int]:
    """Split rounds into parts that fit in memory."""
    at_a_time = max(1, ROUND_CELLS // n_queries)
    for done in range(0, n_rounds, at_a_time):
        yield min(at_a_time, n_rounds - done)


def clearly_less(losses: Array, others: Array) -> bool:
    """Tell whether losses of queries are less than others by more than a standard error of the mean difference.

    >>> clearly_less(np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 3.5])), clearly_less(np.ones(3), np.ones(3))
    (True, False)
    """
    gains = others - losses
    if gains.size < 2:
        return False
    return bool(gains.mean() > gains.std(ddof=1) / np.sqrt(gains.size))
