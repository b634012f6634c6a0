"""Duels: is the new ranking better than today's? Two documents of a query side by side, and nobody says whose they are.

For a query whose first three documents differ between the two rankings, one that entered is put beside one that left.
A person grades both; the ranking whose document has the higher grade wins. Only queries without any label are taken, so
that the new ranking has not learned from what it is judged by. `compare_duels` says what follows from them.

`Check` hands them out on the page. The labels are its only state: a duel is over when both of its documents have a
grade, so that an undo or a second rater need nothing of their own.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulerank.core.words import counted, percent
from rulerank.dataset import Array
from rulerank.evaluation.comparison import LOOKED_AT, Comparison, compare_trials, interval
from rulerank.judging.grades import CurrentLabels
from rulerank.judging.labels import JudgingTask
from rulerank.judging.pool import Pool
from rulerank.training.few_labels import TOP, top_sets

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore

MOST = 40  # duels in one check
READY = 10 * MOST  # duels that are drawn beforehand: some are skipped
LEAST = 5  # decided duels; below, nothing is said
NAMES = ("new", "today")


class Duel(NamedTuple):
    """One document that the new ranking brought into the first three, and one that it put out."""

    query: str
    entered: int  # row of the pool
    left: int
    n_entered: int  # documents that the query's first three have won
    shown: tuple[int, int]  # the two rows as a person sees them, in an order that tells nothing


class Outcome(NamedTuple):
    """The grades that the two documents of a duel got."""

    duel: Duel
    entered: int
    left: int


def compare_duels(outcomes: Sequence[Outcome]) -> Comparison:
    """Return which of two rankings wins their duels, one of each query: looked at after each of them."""
    signs = np.array([np.sign(one.entered - one.left) for one in outcomes], dtype=int)
    decided = signs[signs != 0]
    n_drawn = signs.size - decided.size
    return compare_trials("duels", NAMES, decided > 0, decided < 0, n_drawn, least=LEAST, level=LOOKED_AT)


def compare_relevant(outcomes: Sequence[Outcome], changed: float) -> Comparison:
    """Return how many relevant documents the first three of all queries have more, by each duel's measure.

    changed: share of the queries whose first three differ.
    """
    gains = [one.duel.n_entered * (int(one.entered > 0) - int(one.left > 0)) for one in outcomes]
    values = np.array(gains if len(set(gains)) > 1 else [*gains, 1, -1])  # all alike so far is no certainty
    mean, low, high = (changed * value for value in interval(values))
    return Comparison("relevant documents", *NAMES, mean, 0.0, low, high, len(gains), least=LEAST)


def duels_in_words(found: Comparison) -> str:
    """Say what follows from duels, and no more.

    >>> print(duels_in_words(compare_trials("duels", NAMES, [1] * 11 + [0] * 2, [0] * 11 + [1] * 2, 7, least=5)))
    Better: the new ranking won 11 of 13 duels, 7 drawn (95 % interval 55-98 %).
    >>> print(duels_in_words(compare_trials("duels", NAMES, [1, 1, 0], [0, 0, 1], least=5)))
    Not enough to tell yet (2 : 1, 0 drawn).
    """
    if found.verdict == "too few":
        return f"Not enough to tell yet ({found.wins} : {found.losses}, {found.ties} drawn)."
    begin, end = {
        "better": ("Better", ""),
        "worse": ("Worse", ": keep the baseline ranking"),
        "unclear": (f"No clear difference {f'after {MOST} duels' if found.n_trials >= MOST else 'yet'}", ""),
    }[found.verdict]
    low, high = share_won(found)
    won = f"the new ranking won {found.wins} of {found.wins + found.losses} duels, {found.ties} drawn"
    return f"{begin}: {won} ({percent(found.level)} interval {100 * low:.0f}-{percent(high)}){end}."


def share_won(found: Comparison) -> tuple[float, float]:
    """Return from where to where the share of decided duels may lie that the new ranking wins."""
    return (1 + found.low) / 2, (1 + found.high) / 2


def duels_as_dict(found: Comparison) -> dict[str, Any]:
    """Return all figures as plain values."""
    return {
        "won": found.wins,
        "lost": found.losses,
        "drawn": found.ties,
        "verdict": found.verdict,
        "over": found.is_over(MOST),
        "interval": [round(bound, 4) for bound in share_won(found)],
        "line": duels_in_words(found),
    }


class Duels:
    """The duels of two rankings of a pool, in random order; the same seed gives the same ones.

    judged: queries that have a label already, which are left out.

    >>> import rulerank as rr
    >>> data = rr.make_ranking(n_queries=5, docs_per_query=8, seed=0)
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
        >>> data = rr.make_ranking(n_queries=5, docs_per_query=8, seed=0)
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

    def line(self, found: Comparison) -> str:
        """Say what follows from duels, or why there are none."""
        return duels_in_words(found) if found.n_trials or len(self) else self.why_none()

    def _duel(self, number: int) -> Duel:
        ours, theirs = self._tops[number]
        query = str(self.pool.queries[number])
        rng = np.random.default_rng(self._lot(query))
        entered, left = int(rng.choice(sorted(ours - theirs))), int(rng.choice(sorted(theirs - ours)))
        shown = (entered, left) if rng.random() < 0.5 else (left, entered)
        return Duel(query, entered, left, len(ours - theirs), shown)

    def _lot(self, query: str) -> int:
        return int.from_bytes(hashlib.blake2b(f"duel|{self.seed}|{query}".encode(), digest_size=8).digest())


def run_duels(duels: Duels, ask: Callable[[Duel], tuple[int, int] | None], most: int = MOST) -> list[Outcome]:
    """Ask until the duels have decided, `most` were fought or none is left; ask may return None to pass one over.

    ask: returns the grades of the two documents in the order in which they are shown.

    >>> import rulerank as rr
    >>> data = rr.make_ranking(n_queries=30, docs_per_query=20, seed=0)
    >>> duels = Duels(Pool(data), new=data.y.astype(float), today=data.X[:, 0])
    >>> compare_duels(run_duels(duels, lambda duel: tuple(data.y[list(duel.shown)]))).verdict
    'better'
    """
    outcomes: list[Outcome] = []
    for duel in duels:
        if compare_duels(outcomes).is_over(most):
            break
        grades = ask(duel)
        if grades is not None:
            by_row = dict(zip(duel.shown, grades, strict=True))
            outcomes.append(Outcome(duel, int(by_row[duel.entered]), int(by_row[duel.left])))
    return outcomes


class DuelTask(NamedTuple):
    """Two documents of one query as a rater sees them, side by side."""

    query: str
    docs: tuple[JudgingTask, JudgingTask]
    number: int  # of the duel in this check, from 1


class Check:
    """Hand out duels of two rankings, and say how they stand.

    store: keeps the labels.
    new, today: scores of the pool's rows.
    judged: the queries that had labels when the check began; by default those that have some now.

    >>> import tempfile, rulerank as rr
    >>> from rulerank.judging.store import LabelStore
    >>> pool = Pool(rr.make_ranking(n_queries=8, docs_per_query=9, seed=0))
    >>> store = LabelStore(tempfile.mkdtemp() + "/labels.db")
    >>> check = Check(pool, store, new=pool.data.X[:, 1], today=pool.data.X[:, 0])
    >>> task = check.next("you")
    >>> for place, doc in enumerate(task.docs):
    ...     label = store.add(doc.query, doc.doc, place, "you")
    >>> check.comparison().n_trials, check.next("you").query != task.query
    (1, True)
    """

    def __init__(
        self,
        pool: Pool,
        store: LabelStore,
        new: Array,
        today: Array,
        seed: int = 0,
        judged: Set[str] | None = None,
    ) -> None:
        self.pool, self.store = pool, store
        self._lock = threading.Lock()
        self._current = CurrentLabels(pool, store)
        self._current.sync(store.state())
        if judged is None:
            judged = {pool.pairs[row][0] for row in self._current.by_row}
        duels = Duels(pool, new, today, judged, seed)
        self.changed = duels.changed
        self._drawn_from = duels
        self.duels = list(islice(duels, READY))

    def comparison(self) -> Comparison:
        """Return which ranking wins the duels whose two documents have grades."""
        with self._lock:
            return compare_duels(self._outcomes())

    def next(self, rater: str) -> DuelTask | None:
        """Hand out a duel that no other rater has, the same one until both documents have a grade; None: no more."""
        with self._lock:
            found = compare_duels(self._outcomes())
            if found.is_over(MOST):
                return None
            skipped = set(self.store.skipped(rater))
            for duel in self.duels:
                pair = self.pool.pairs[duel.entered]
                if pair in skipped or self._fought(duel):
                    continue
                if self.store.claim(*pair, rater):
                    docs = [JudgingTask(*self.pool.pairs[row], **self.pool.shown(row)) for row in duel.shown]
                    return DuelTask(duel.query, (docs[0], docs[1]), found.n_trials + 1)
            return None

    def skip(self, rater: str, query: str) -> None:
        """Pass over a duel: this rater will not be asked again."""
        for duel in self.duels:
            if duel.query == query:
                self.store.skip(*self.pool.pairs[duel.entered], rater)

    def line(self) -> str:
        """Say what follows from the duels so far."""
        return self._drawn_from.line(self.comparison())

    def _fought(self, duel: Duel) -> bool:
        """Tell whether both documents have been looked at; one that cannot be judged ends a duel too."""
        return duel.entered in self._current.by_row and duel.left in self._current.by_row

    def _outcomes(self) -> list[Outcome]:
        self._current.sync(self.store.state())
        grades = self._current.grades
        return [
            Outcome(duel, grades[duel.entered], grades[duel.left])
            for duel in self.duels
            if duel.entered in grades and duel.left in grades
        ]
