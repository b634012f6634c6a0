"""Do two rankings differ by more than chance? Paired tests over queries."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.evaluate.evaluation import evaluate
from rulerank.evaluate.measures import Measure, as_measures, is_whole
from rulerank.evaluate.result import Result
from rulerank.evaluate.tables import latex_table, markdown_table, plain_table

ROUND_CELLS = 1_000_000  # rounds x queries drawn at a time: some 20 MB
SAME = 1e-12  # values that differ by less are equal: sums of the same numbers in another order


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
        return f"{plain_table(*self._table(), n_left=3)}\n{self.note}"

    def to_markdown(self) -> str:
        return f"{markdown_table(*self._table(), n_left=3)}\n\n{self.note}\n"

    def to_latex(self) -> str:
        """A LaTeX table (package booktabs), with the note as a comment below it."""
        return f"{latex_table(*self._table(), n_left=3)}\n% {self.note}\n"

    def to_json(self) -> str:
        payload = {
            "pairs": [{**asdict(pair), "difference": pair.difference} for pair in self.pairs],
            "rankings": {name: json.loads(result.to_json()) for name, result in self.results.items()},
            "alpha": self.alpha,
            "n_rounds": self.n_rounds,
            "seed": self.seed,
        }
        return json.dumps(payload, indent=2)

    def _table(self) -> tuple[list[str], list[list[str]]]:
        tests = list(self.pairs[0].p)
        header = ["measure", "a", "b", "mean a", "mean b", "a - b", "interval"]
        header += [column for test in tests for column in (f"p {test}", "Holm")]
        header += ["wins/ties/losses"]
        rows = []
        for pair in self.pairs:
            cells = [
                pair.measure,
                pair.a,
                pair.b,
                f"{pair.mean_a:.4f}",
                f"{pair.mean_b:.4f}",
                f"{pair.difference:+z.4f}",
            ]
            cells += [f"{pair.low:+z.4f} to {pair.high:+z.4f}"]
            for test in tests:
                star = "*" if pair.p_holm[test] < self.alpha else ""
                cells += [f"{pair.p[test]:.4f}", f"{pair.p_holm[test]:.4f}{star}"]
            rows.append([*cells, f"{pair.wins}/{pair.ties}/{pair.losses}"])
        return header, rows


def compare(
    scores: Mapping[str, ArrayLike],
    y: ArrayLike,
    qid: ArrayLike,
    measure: str | Measure | Iterable[str | Measure] = "MAP",
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
    n_jobs: int | None = None,
) -> Comparison:
    """Compare each pair of rankings over queries.

    >>> y, qid = [1, 0, 1, 0, 1, 0], [1, 1, 2, 2, 3, 3]
    >>> found = compare({"good": [2, 1, 2, 1, 2, 1], "bad": [1, 2, 2, 1, 1, 2]}, y, qid)
    >>> pair = found.pairs[0]
    >>> pair.difference, pair.wins, pair.ties, pair.p["randomisation"]
    (0.33333333333333337, 2, 1, 0.5)

    Parameters
    ----------
    scores : the rankings by name, each one score per row.
    measure : one or several, such as "MAP" or ["MAP", "NDCG@10"]; the correction is over the pairs of each.
    tests : of "t" (paired t-test) and "randomisation" (signs of the differences flipped at random, two-sided; all ways
        of flipping them when there are at most n_rounds).
    n_rounds : rounds of the randomisation test and of the bootstrap of the mean difference (percentile interval).
    convention, ties, docid, relevant_from, max_grade : as in `evaluate`.
    """
    asked = as_measures(measure)
    _check(scores, tests, n_rounds, seed, alpha)
    results = {}
    for name, column in scores.items():
        try:
            results[str(name)] = evaluate(
                y, column, qid, asked, convention=convention, ties=ties, docid=docid,
                relevant_from=relevant_from, max_grade=max_grade, n_jobs=n_jobs,
            )  # fmt: skip
        except DataError as error:
            raise DataError(f"ranking {str(name)!r}: {error}") from None
    values = np.stack([result.values for result in results.values()])  # (n_rankings, n_measures, n_queries)
    if values.shape[2] < 2:
        raise DataError("expected at least two queries to tell a difference from chance: got 1")
    names = list(results)
    pairs = [
        pair
        for number, label in enumerate(asked)
        for pair in _compare_pairs(str(label), names, values[:, number], tests, n_rounds, seed, alpha)
    ]
    return Comparison(tuple(pairs), results, alpha, n_rounds, seed)


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
    p = (1 + n_extreme) / (1 + n_rounds)  # the ranking as it is counts as one of the rounds: p is never 0
    for pair, moved in enumerate(row[np.abs(row) >= SAME] for row in differences):
        if 2**moved.size <= n_rounds:
            flips = np.arange(2**moved.size)[:, None] >> np.arange(moved.size) & 1
            p[pair] = _is_extreme(1.0 - 2.0 * flips, moved[None]).mean()
    return p


TESTS: dict[str, Callable[[Array, int, int], Array]] = {
    "t": lambda differences, n_rounds, seed: t_test(differences),
    "randomisation": randomisation_test,
}


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


def _is_extreme(signs: Array, differences: Array) -> Array:
    """Tell for each row of signs and each of differences whether the flipped sum is as far from 0 as the real one."""
    n_queries = differences.shape[1]
    flipped = np.abs(signs @ differences.T)
    return flipped >= np.abs(differences.sum(axis=1)) - SAME * max(1, n_queries)


def _chunks(n_rounds: int, n_queries: int) -> Iterator[int]:
    """Split rounds into parts that fit in memory."""
    at_a_time = max(1, ROUND_CELLS // n_queries)
    for done in range(0, n_rounds, at_a_time):
        yield min(at_a_time, n_rounds - done)


def _check(scores: Mapping[str, ArrayLike], tests: Sequence[str], n_rounds: int, seed: int, alpha: float) -> None:
    if not isinstance(scores, Mapping) or len(scores) < 2:
        got = f"{len(scores)}" if isinstance(scores, Mapping) else f"{type(scores).__name__}"
        raise DataError(f"expected at least two rankings, as a dict from name to scores: got {got}")
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
