"""Duels: is the new ranking better than today's? Two documents of a query side by side, and nobody says whose they are.

For a query whose first three documents differ between the two rankings, one that entered is put beside one that left.
A person grades both; the ranking whose document has the higher grade wins. Only queries without any label are taken, so
that the new ranking has not learned from what it is judged by. `Tally` says what follows from the duels so far.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from rulerank.core.words import counted, percent
from rulerank.dataset import Array
from rulerank.judging.pool import Pool
from rulerank.training.from_today import TOP, top_sets

MOST = 40  # duels in one check
LEAST = 5  # decided duels; below, nothing is said
LEVEL = 0.9  # of the gain's interval
LOOKS = 0.97  # of the interval of the share won: looked at after each of 40 duels, it calls 1 of 20 equal ones better


class Duel(NamedTuple):
    """One document that the new ranking brought into the first three, and one that it put out."""

    query: str
    entered: int  # row of the pool
    left: int
    n_entered: int  # documents that the query's first three have won
    shown: tuple[int, int]  # the two rows as a person sees them, in an order that tells nothing


@dataclass(frozen=True, slots=True)
class Tally:
    """Duels so far: won by the new ranking, lost and drawn.

    >>> print(Tally(won=11, lost=2, drawn=7).line())
    Better: the new ranking won 11 of 13 duels, 7 drawn (97 % interval 52-99 %).
    >>> print(Tally(won=6, lost=1).line())
    No clear difference yet: the new ranking won 6 of 7 duels, 0 drawn (97 % interval 38-100 %).
    >>> print(Tally(won=2, lost=11).line())
    Worse: the new ranking won 2 of 13 duels, 0 drawn (97 % interval 1-48 %): keep the baseline ranking.
    >>> print(Tally(won=2, lost=1).line())
    Not enough to tell yet (2 : 1, 0 drawn).
    """

    won: int = 0
    lost: int = 0
    drawn: int = 0
    differences: tuple[float, ...] = ()  # of relevant documents in the first three, by each duel's measure

    @property
    def n(self) -> int:
        return self.won + self.lost + self.drawn

    @property
    def decided(self) -> int:
        return self.won + self.lost

    @property
    def verdict(self) -> str:
        """better, worse, unclear (the interval holds one half), or too few."""
        if self.decided < LEAST:
            return "too few"
        low, high = self.interval
        return "better" if low > 0.5 else "worse" if high < 0.5 else "unclear"

    @property
    def over(self) -> bool:
        """Whether the check is through: it is decided, or has had its most duels."""
        return self.verdict in ("better", "worse") or self.n >= MOST

    @property
    def interval(self) -> tuple[float, float]:
        """The 97 % interval of the share of decided duels that the new ranking wins (Clopper and Pearson)."""
        from scipy.stats import beta  # slow to load

        tail = (1 - LOOKS) / 2
        low = float(beta.ppf(tail, self.won, self.lost + 1)) if self.won else 0.0
        high = float(beta.ppf(1 - tail, self.won + 1, self.lost)) if self.lost else 1.0
        return low, high

    def gain(self, changed: float) -> tuple[float, float, float] | None:
        """Return how many relevant documents more a query's first three have on average, and the 90 % interval.

        changed: share of the queries whose first three differ. None below five duels.
        """
        if len(self.differences) < LEAST:
            return None
        from scipy.stats import t  # slow to load

        values = np.array(self.differences)
        if (values == values[0]).all():
            values = np.array([*values, 1.0, -1.0])  # one each way: that all are alike so far is no certainty
        reach = float(t.ppf(0.5 + LEVEL / 2, values.size - 1)) * float(values.std(ddof=1)) / math.sqrt(values.size)
        mean = float(values.mean())
        return changed * mean, changed * (mean - reach), changed * (mean + reach)

    def add(self, duel: Duel, entered: int, left: int) -> Tally:
        """Return the tally after one more duel, by the grades of the two documents."""
        entered, left = int(entered), int(left)
        difference = duel.n_entered * (int(entered > 0) - int(left > 0))
        return replace(
            self,
            won=self.won + (entered > left),
            lost=self.lost + (entered < left),
            drawn=self.drawn + (entered == left),
            differences=(*self.differences, float(difference)),
        )

    def line(self) -> str:
        """Say what follows from them, and no more."""
        if self.verdict == "too few":
            return f"Not enough to tell yet ({self.won} : {self.lost}, {self.drawn} drawn)."
        begin, end = {
            "better": ("Better", ""),
            "worse": ("Worse", ": keep the baseline ranking"),
            "unclear": (f"No clear difference after {self.n} duels" if self.over else "No clear difference yet", ""),
        }[self.verdict]
        low, high = self.interval
        interval = f"{percent(LOOKS)} interval {100 * low:.0f}-{percent(high)}"
        won = f"the new ranking won {self.won} of {self.decided} duels, {self.drawn} drawn"
        return f"{begin}: {won} ({interval}){end}."

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        low, high = self.interval
        return {
            "won": self.won,
            "lost": self.lost,
            "drawn": self.drawn,
            "verdict": self.verdict,
            "over": self.over,
            "interval": [round(low, 4), round(high, 4)],
            "line": self.line(),
        }


class Duels:
    """The duels of two rankings of a pool, in random order; the same seed gives the same ones.

    judged: queries that have a label already, which are left out.

    >>> import rulerank as rr
    >>> data = rr.make_world(n_queries=5, docs_per_query=8, seed=0)
    >>> duels = Duels(Pool(data), new=data.X[:, 1], today=data.X[:, 0])
    >>> duels.changed, len(list(duels))
    (0.8, 4)
    """

    def __init__(self, pool: Pool, new: Array, today: Array, judged: Collection[str] = (), seed: int = 0) -> None:
        self.pool = pool
        self.seed = seed
        numbers = pool.query_numbers
        ours, theirs = top_sets(new, numbers), top_sets(today, numbers)
        differs = (ours != theirs).any(axis=1)
        self.changed = float(differs.mean())
        names = np.asarray(pool.queries)
        left_out = set(judged)
        free = [number for number in np.flatnonzero(differs).tolist() if names[number] not in left_out]
        self._tops = {
            number: (set(ours[number].tolist()) - {-1}, set(theirs[number].tolist()) - {-1}) for number in free
        }
        self._order = sorted(free, key=lambda number: self._lot(str(names[number])))
        self.n_left_out = int(differs.sum()) - len(free)

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Duel]:
        return (self._duel(number) for number in self._order)

    def why_none(self) -> str:
        """Say why there is no duel, and what to do.

        >>> import rulerank as rr
        >>> data = rr.make_world(n_queries=5, docs_per_query=8, seed=0)
        >>> print(Duels(Pool(data), new=data.X[:, 0], today=data.X[:, 0]).why_none())
        There is nothing to check: both rankings have the same top 3 in every query.
        """
        if not self.changed:
            return f"There is nothing to check: both rankings have the same top {TOP} in every query."
        differ = f"the top {TOP} differs in {counted(self.n_left_out, 'query', 'queries')}"
        return (
            f"There is nothing to check: {differ}, which all have labels already, and the model may have learned "
            "from them. Add queries without labels to the pool, or leave out the labels of some queries, in training "
            "and here."
        )

    def line(self, tally: Tally) -> str:
        """Say what follows from duels, or why there are none."""
        return tally.line() if tally.n or len(self) else self.why_none()

    def next(self, skip: Collection[str] = ()) -> Duel | None:
        """Return the first duel whose query is not in skip; None: there is none left."""
        return next((duel for duel in self if duel.query not in skip), None)

    def _duel(self, number: int) -> Duel:
        ours, theirs = self._tops[number]
        query = str(self.pool.queries[number])
        rng = np.random.default_rng(self._lot(query))
        entered, left = int(rng.choice(sorted(ours - theirs))), int(rng.choice(sorted(theirs - ours)))
        shown = (entered, left) if rng.random() < 0.5 else (left, entered)
        return Duel(query, entered, left, len(ours - theirs), shown)

    def _lot(self, query: str) -> int:
        return int.from_bytes(hashlib.blake2b(f"duel|{self.seed}|{query}".encode(), digest_size=8).digest())


def run_duels(duels: Duels, ask: Callable[[Duel], tuple[int, int] | None], most: int = MOST) -> Tally:
    """Ask until the duels have decided, `most` were fought or none is left; ask may return None to pass one over.

    ask: returns the grades of the two documents in the order in which they are shown.

    >>> import rulerank as rr
    >>> data = rr.make_world(n_queries=30, docs_per_query=20, seed=0)
    >>> duels = Duels(Pool(data), new=data.y.astype(float), today=data.X[:, 0])
    >>> run_duels(duels, lambda duel: tuple(data.y[list(duel.shown)])).verdict
    'better'
    """
    tally = Tally()
    for duel in duels:
        if tally.over or tally.n >= most:
            break
        grades = ask(duel)
        if grades is None:
            continue
        by_row = dict(zip(duel.shown, grades, strict=True))
        tally = tally.add(duel, by_row[duel.entered], by_row[duel.left])
    return tally
