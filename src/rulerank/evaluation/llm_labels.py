"""Estimate a measure from LLM labels of all queries, corrected by human labels of some (prediction-powered inference).

Labels of an LLM are cheap and biased, labels of people are dear and few. Both together give an interval that is
narrower than that of the human labels alone and, unlike that of the LLM labels alone, in the right place. People
either judge all documents of queries sampled at random (any measure), or one sampled document per query (SDCG@10 of
the difference of two rankings, which is linear in the grades: `sample_for_comparison`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rulerank._util.parameters import is_whole
from rulerank.dataset import UNLABELLED, Array, Dataset, check_grades, query_index
from rulerank.errors import DataError
from rulerank.evaluation.comparison import LEVEL, Interval, interval
from rulerank.evaluation.evaluation import evaluate
from rulerank.evaluation.measures import Measure

LEAST = 10  # human-judged queries: with fewer, intervals are too narrow whatever the formula
RELIABLE = 20  # with fewer, they may be
MOST_MORE = 10  # times the human labels: a difference that needs more is called far from settled
ODD = 3.5  # standard errors between human-judged queries and the others: rarer than 1 in 1,000 random samples
TOP = 10  # ranks that SDCG looks at
SAMPLED_MEASURE = f"SDCG@{TOP}"


@dataclass(frozen=True)
class LLMEstimate:
    """A measure of one ranking, or the difference of two, from human and LLM labels together."""

    measure: str
    names: tuple[str, ...]  # of one ranking, or of two: the first minus the second
    estimate: Interval  # from both kinds of labels
    human: Interval  # from the human labels alone
    llm: float  # from the LLM labels alone
    n_human: int  # human-judged queries, or documents where one was sampled per query
    n_queries: int  # with LLM labels
    as_precise_as: int  # human labels alone would need so many queries, or documents
    representative: bool = True  # by LLM labels, human-judged queries are like the others

    @property
    def verdict(self) -> str:
        """Of the first of two rankings: better, worse or unclear (the interval contains 0)."""
        return "better" if self.estimate.low > 0 else "worse" if self.estimate.high < 0 else "unclear"

    @property
    def n_more(self) -> int:
        """Return how many more human labels would exclude 0 if the difference is as estimated; 0: none."""
        half = (self.estimate.high - self.estimate.low) / 2
        if self.verdict != "unclear":
            return 0
        most = MOST_MORE * self.n_human
        far = abs(self.estimate.value) * math.sqrt(most / self.n_human) < half
        return most if far else math.ceil(self.n_human * (half / self.estimate.value) ** 2) - self.n_human + 1

    def lines(self) -> list[str]:
        """Return the result in sentences."""
        two, unit = len(self.names) == 2, "documents" if self.measure == SAMPLED_MEASURE else "queries"
        number = "{:+.3f}" if two else "{:.3f}"
        (value, low, high), alone = (tuple(map(number.format, one)) for one in (self.estimate, self.human))
        worth = (
            f"as precise as {self.as_precise_as:,} human {unit} instead of {self.n_human:,}"
            if self.as_precise_as > self.n_human
            else "LLM labels do not help here"
        )
        lines = [
            f"{' - '.join(self.names)}: {self.measure} {value} [{low}, {high}]; LLM labels alone "
            + f"{number.format(self.llm)}; {worth}",
            f"  human labels of {self.n_human:,} {unit} alone {alone[0]} [{alone[1]}, {alone[2]}]; "
            + f"LLM labels of {self.n_queries:,} queries",
        ]
        if two and self.verdict == "unclear":
            more = f"more than {self.n_more:,}" if self.n_more == MOST_MORE * self.n_human else f"about {self.n_more:,}"
            lines.append(f"  unclear; {more} more human {unit} would settle it, if the difference is as estimated")
        if self.n_human < RELIABLE:
            lines.append(f"  fewer than {RELIABLE} human {unit}: the interval may be too narrow")
        if not self.representative:
            lines.append(
                "  the human-judged queries differ from the others in the LLM labels: were they sampled at random? "
                "If not, the estimate is biased"
            )
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return all values as plain ones."""
        intervals = {name: getattr(self, name)._asdict() for name in ("estimate", "human")}
        return asdict(self) | intervals | ({"verdict": self.verdict} if len(self.names) == 2 else {})


def estimate_with_llm(
    data: Dataset,
    scores: Mapping[str, ArrayLike],
    human: ArrayLike,
    measure: str | Measure = "NDCG@10",
    *,
    probability: ArrayLike | None = None,
    level: float = LEVEL,
    **rules: Any,
) -> LLMEstimate:
    """Estimate a measure of one ranking, or the difference of two, over the queries that data is a sample of.

    Parameters
    ----------
    data : documents with the grades of the LLM as y; documents without one are left out.
    scores : one or two rankings by name, a score per row.
    human : human grades per row, -1 where there is none. Each query has human grades for all its documents or for
        none, and the queries were sampled at random; other choices bias the estimate.
    probability : per row, how likely `sample_for_comparison` was to choose it from its query; then one document per
        query has a human grade, and the measure is SDCG@10.
    rules : convention, ties, relevant_from and max_grade, as in `evaluate`.

    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=60, seed=0)
    >>> human = np.where(np.isin(data.qid, np.unique(data.qid)[:20]), data.y, -1)   # people judge 20 queries
    >>> llm = rr.Dataset(data.X, np.maximum(data.y, 1), data.qid)                   # a lenient rater judges all
    >>> found = rr.estimate_with_llm(llm, {"title": data.X[:, 1], "body": data.X[:, 0]}, human)
    >>> found.n_human, found.verdict
    (20, 'unclear')
    """
    names, columns = _rankings(scores, len(data))
    llm = check_grades(data.y, len(data))
    people = check_grades(human, len(data))
    rows = np.flatnonzero(llm != UNLABELLED)
    if (people[llm == UNLABELLED] != UNLABELLED).any():
        raise DataError("some documents have a human grade and none of the LLM: the LLM must grade all of them too")
    llm, people = llm[rows], people[rows]
    query, ids = query_index(data.qid[rows])
    if probability is not None:
        if len(names) != 2:
            raise DataError(f"sampled documents compare two rankings: got {len(names)}")
        chances = np.asarray(probability, dtype=np.float64)[rows]
        return _from_documents(llm, people, columns[:, rows], query, ids.size, chances, names, level)
    n_docs, n_judged = np.bincount(query), np.bincount(query, people != UNLABELLED)
    partly = np.flatnonzero((n_judged > 0) & (n_judged < n_docs))
    if partly.size:
        some = partly[0]
        raise DataError(
            f"query {ids[some]!r} has human grades for {int(n_judged[some])} of its {n_docs[some]} documents "
            f"({partly.size:,} such queries): grade all documents of a query, or sample one per query with "
            "`rulerank sample --for-comparison`, which records how likely each was"
        )
    judged = n_judged > 0
    _check_enough(int(judged.sum()), "queries with human grades")

    def values(grades: Array, some: Array) -> Array:
        """Return the measure of each query, or the difference of the two rankings."""
        first, *second = (
            evaluate(grades[some], column[rows][some], query[some], measure, any_grades=True, **rules).values[0]
            for column in columns
        )
        return first - second[0] if second else first

    f_all = values(llm, np.ones(rows.size, dtype=np.bool_))
    y = values(people, judged[query])
    estimate = corrected_mean(y, f_all[judged], f_all, level=level)
    alone = interval(y, level=level)
    label = str(Measure.parse(measure) if isinstance(measure, str) else measure)
    precise = n_as_precise(y, estimate, level)
    alike = _alike(f_all[judged], f_all[~judged])
    return LLMEstimate(label, names, estimate, alone, float(f_all.mean()), y.size, ids.size, precise, alike)


def _alike(some: Array, others: Array) -> bool:
    """Tell whether the means of two random parts of one set may differ as they do."""
    if others.size < 2:
        return True
    error = np.concatenate([some, others]).std(ddof=1) * math.sqrt(1 / some.size + 1 / others.size)
    return bool(abs(some.mean() - others.mean()) <= ODD * error)


def corrected_mean(y: Array, f: Array, f_all: Array, *, level: float = LEVEL) -> Interval:
    """Return the mean of y over all queries: y and f are known for n of them, f (f_all) for all N.

    A regression estimate: mean y + slope (mean f_all - mean f), the slope by least squares between 0 and 1. One
    pseudo-residual as large as the spread of y keeps a nearly perfect rater, whose n residuals are all small, honest.

    >>> y, f = np.array([0.2, 0.4, 0.5, 0.9]), np.array([0.3, 0.4, 0.6, 0.8])
    >>> round(corrected_mean(y, f, np.array([0.3, 0.4, 0.6, 0.8, 0.7, 0.8])).value, 3)
    0.575
    """
    from scipy.special import stdtrit  # slow to load

    n, shift = y.size, float(f_all.mean() - f.mean())
    spread = float(((f - f.mean()) ** 2).sum())
    if spread == 0:
        return interval(y, level=level)
    slope = float(np.clip(((f - f.mean()) * (y - y.mean())).sum() / spread, 0, 1))
    squares = float(((y - y.mean() - slope * (f - f.mean())) ** 2).sum())
    residual = max(squares / (n - 2), (squares + y.var(ddof=1)) / (n - 1))
    variance = residual * (1 / n + shift**2 / spread) + slope**2 * f_all.var(ddof=1) / f_all.size
    value = float(y.mean()) + slope * shift
    half = float(stdtrit(n - 2, 0.5 + level / 2)) * variance**0.5
    return Interval(value, value - half, value + half)


def sampled_mean(a: Array, b: Array, f: Array, f_all: Array, *, level: float = LEVEL) -> Interval:
    """Return the mean of a sum over the documents of a query, of which one per query was sampled.

    a, b: by human and by LLM grades, the sampled term over its probability. f: the LLM's sum, of the sampled queries
    and of all. The intercept of a regression of a on b - f, the error of sampling, and on f - mean f_all.

    >>> a, b = np.array([0.2, 0.5, 0.3, 0.8, 0.1]), np.array([0.3, 0.6, 0.3, 0.7, 0.3])
    >>> f = np.array([0.2, 0.4, 0.3, 0.6, 0.2])
    >>> round(sampled_mean(a, b, f, np.append(f, 0.7)).value, 3)
    0.459
    """
    from scipy.special import stdtrit  # slow to load

    z = np.stack([np.ones(a.size), b - f, f - f_all.mean()], axis=1)
    inverse = np.linalg.pinv(z.T @ z)
    slopes = inverse @ z.T @ a
    variance = float(((a - z @ slopes) ** 2).sum()) / (a.size - 3) * inverse[0, 0]
    variance += slopes[2] ** 2 * f_all.var(ddof=1) / f_all.size
    half = float(stdtrit(a.size - 3, 0.5 + level / 2)) * variance**0.5
    return Interval(float(slopes[0]), float(slopes[0] - half), float(slopes[0] + half))


def sample_for_comparison(
    scores: Mapping[str, ArrayLike], qid: ArrayLike, n: int, *, seed: int = 0
) -> tuple[Array, Array]:
    """Choose one document each of n random queries, to compare two rankings by; return rows and probabilities.

    A document is chosen in proportion to how much its grade can change the difference of SDCG@10. Queries with the same
    top 10 need no label and are not chosen. probabilities: one per row of the data, 0 where a grade cannot matter.
    With the same seed, a larger n adds documents to those of a smaller one.

    >>> scores = {"new": np.tile([3, 2, 1], 10), "old": np.tile([1, 2, 3], 10)}
    >>> rows, chance = sample_for_comparison(scores, np.repeat(np.arange(10), 3), 4)
    >>> rows.size, chance[:3].tolist()
    (4, [0.5, 0.0, 0.5])
    """
    names, columns = _rankings(scores, len(np.asarray(qid)))
    if len(names) != 2:
        raise DataError(f"expected two rankings to compare, by name: got {len(names)}")
    query, ids = query_index(np.asarray(qid))
    chance = _chances(sdcg_weights(columns, query), query)
    changed = np.unique(query[chance > 0])
    if changed.size < LEAST:
        raise DataError(
            f"the top {TOP} of {' and '.join(names)} differs in {changed.size} of {ids.size:,} queries: comparing them "
            f"needs at least {LEAST}"
        )
    if not is_whole(n, 1):
        raise DataError(f"n must be an integer of at least 1: got {n!r}")
    random = np.random.default_rng(seed)
    chosen, at = np.sort(random.permutation(changed)[:n]), random.random(ids.size)
    order = np.argsort(query, kind="stable")
    by_query = np.split(order, np.flatnonzero(np.diff(query[order])) + 1)
    sums = (np.cumsum(chance[by_query[number]]) for number in chosen)
    places = [np.searchsorted(sum, at[number] * sum[-1], "right") for number, sum in zip(chosen, sums, strict=True)]
    rows = [by_query[number][place] for number, place in zip(chosen, places, strict=True)]
    return np.array(rows, dtype=np.int64), chance


def _from_documents(
    llm: Array, people: Array, columns: Array, query: Array, n_queries: int, chance: Array, names: tuple[str, ...],
    level: float,
) -> LLMEstimate:  # fmt: skip
    """Estimate the difference of SDCG@10 from one document per query, whose probability is known."""
    weight = sdcg_weights(columns, query) / max(1, int(max(llm.max(), people.max())))
    changed = np.bincount(query, np.abs(weight), minlength=n_queries) > 0
    rows = np.flatnonzero(people != UNLABELLED)
    if np.unique(query[rows]).size < rows.size:
        raise DataError("some queries have several human grades: the estimate needs one sampled document per query")
    _check_enough(rows.size, "documents with human grades")
    if not np.allclose(chance[rows], _chances(weight, query)[rows], rtol=1e-3):
        raise DataError(
            f"the human-judged documents were sampled to compare other rankings than {' and '.join(names)}, or other "
            "documents than those that the LLM graded"
        )
    f_all = np.bincount(query, weight * llm, minlength=n_queries)[changed]
    of_query = np.bincount(query, weight * llm, minlength=n_queries)[query[rows]]
    a, b = (weight[rows] * grades[rows] / chance[rows] for grades in (people, llm))
    share = changed.mean()  # the others have the same top 10: their difference is 0
    estimate = Interval(*(float(share * value) for value in sampled_mean(a, b, of_query, f_all, level=level)))
    alone = Interval(*(float(share * value) for value in interval(a, level=level)))
    precise = n_as_precise(share * a, estimate, level)
    return LLMEstimate(
        SAMPLED_MEASURE, names, estimate, alone, float(share * f_all.mean()), rows.size, n_queries, precise
    )


def n_as_precise(y: Array, found: Interval, level: float) -> int:
    """Return how many values that spread like y would have a t interval of this width.

    >>> y = np.array([0.1, 0.4, 0.5, 0.7, 0.9])
    >>> n_as_precise(y, interval(y), LEVEL)
    5
    """
    from scipy.special import stdtrit  # slow to load

    spread, half = float(y.std(ddof=1)), (found.high - found.low) / 2
    n = np.arange(2, 100 * y.size)
    wide = stdtrit(n - 1, 0.5 + level / 2) * spread / np.sqrt(n) > half * (1 + 1e-9)
    return int(n[np.argmin(wide)]) if not wide.all() else int(n[-1])


def _chances(weight: Array, query: Array) -> Array:
    """Return how likely each document is chosen from its query; 0 in queries where no grade matters."""
    size = np.abs(weight)
    total = np.bincount(query, size)[query]
    return np.divide(size, total, out=np.zeros(size.size), where=total > 0)


def sdcg_weights(columns: Array, query: Array) -> Array:
    """Return what one grade of each document adds to the difference of SDCG@10 of two rankings, before the scale."""
    discount = np.zeros(max(query.size, TOP))
    discount[:TOP] = 1 / np.log2(np.arange(TOP) + 2)
    both = []
    for column in columns:
        order = np.lexsort((-column, query))
        place = np.empty(query.size, dtype=np.int64)
        place[order] = np.arange(query.size) - np.searchsorted(query[order], query[order])
        both.append(discount[place])
    return (both[0] - both[1]) / discount.sum()


def _rankings(scores: Mapping[str, ArrayLike], n_rows: int) -> tuple[tuple[str, ...], Array]:
    if not isinstance(scores, Mapping) or not 1 <= len(scores) <= 2:
        raise DataError("expected one or two rankings as a dict from name to scores")
    columns = [np.asarray(column, dtype=np.float64) for column in scores.values()]
    for name, column in zip(scores, columns, strict=True):
        if column.shape != (n_rows,) or not np.isfinite(column).all():
            raise DataError(
                f"ranking {name!r}: expected {n_rows:,} finite scores: got an array of shape {column.shape}"
            )
    return tuple(map(str, scores)), np.stack(columns)


def _check_enough(n: int, what: str) -> None:
    if n < LEAST:
        raise DataError(f"expected at least {LEAST} {what}, sampled at random: got {n}")
