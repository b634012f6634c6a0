"""Side-by-side comparison: is the new ranking better than the baseline? A rater grades two documents, blind.

For a query whose top 3 differ between the two rankings, one document that entered is shown beside one that left. The
ranking whose document has the higher grade wins. Only queries without any label are used, so that the new ranking
has not been trained on the labels that decide.

`Check` assigns the pairs on the page. The labels are its only state: a pair is done when both of its documents have a
grade, so undo and a second rater need no extra code.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulerank._util.words import counted, percent
from rulerank.dataset import Array
from rulerank.evaluation.comparison import LOOKED_AT, Comparison, compare_trials, interval
from rulerank.judging.grades import CurrentLabels
from rulerank.judging.labels import JudgingTask
from rulerank.judging.pool import Pool
from rulerank.selection.few_labels import TOP, top_sets

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore

MOST = 40  # comparisons in one check
READY = 10 * MOST  # pairs that are sampled in advance: some are skipped
LEAST = 5  # comparisons without ties; with fewer there is no verdict
NAMES = ("new", "baseline")


class DocumentPair(NamedTuple):
    """One document that the new ranking brought into the top 3, and one that it replaced."""

    query: str
    entered: int  # row of the pool
    left: int
    n_entered: int  # documents that entered the query's top 3
    shown: tuple[int, int]  # the two rows in random order, as the rater sees them


class Outcome(NamedTuple):
    """The grades of the two documents of a pair."""

    pair: DocumentPair
    entered: int
    left: int


def compare_pair_grades(outcomes: Sequence[Outcome]) -> Comparison:
    """Compare two rankings by graded pairs, one per query; the level allows for a look after each of them."""
    signs = np.array([np.sign(one.entered - one.left) for one in outcomes], dtype=int)
    decided = signs[signs != 0]
    n_ties = signs.size - decided.size
    return compare_trials("side-by-side", NAMES, decided > 0, decided < 0, n_ties, least=LEAST, level=LOOKED_AT)


def compare_relevant(outcomes: Sequence[Outcome], changed: float) -> Comparison:
    """Estimate how many more relevant documents the top 3 holds, on average over all queries.

    changed: share of the queries whose top 3 differ.
    """
    gains = [one.pair.n_entered * (int(one.entered > 0) - int(one.left > 0)) for one in outcomes]
    values = np.array(
        gains if len(set(gains)) > 1 else [*gains, 1, -1]
    )  # equal values would give an interval of width 0
    mean, low, high = (changed * value for value in interval(values))
    return Comparison("relevant documents", *NAMES, mean, 0.0, low, high, len(gains), least=LEAST)


def side_by_side_in_words(found: Comparison) -> str:
    """Return the verdict of the comparisons in words.

    >>> won = [1] * 11 + [0] * 2
    >>> print(side_by_side_in_words(compare_trials("side-by-side", NAMES, won, 1 - np.array(won), 7, least=5)))
    Better: the new ranking was preferred in 11 of 13 decided comparisons, plus 7 ties (95 % interval 55-98 %).
    >>> print(side_by_side_in_words(compare_trials("side-by-side", NAMES, [1, 1, 0], [0, 0, 1], least=5)))
    Too few comparisons yet (2 : 1, 0 ties).
    """
    if found.verdict == "too few":
        return f"Too few comparisons yet ({found.wins} : {found.losses}, {counted(found.ties, 'tie')})."
    begin, end = {
        "better": ("Better", ""),
        "worse": ("Worse", ": keep the baseline ranking"),
        "unclear": (f"No clear difference {f'after {MOST} comparisons' if found.n_trials >= MOST else 'yet'}", ""),
    }[found.verdict]
    low, high = share_won(found)
    decided = counted(found.wins + found.losses, "decided comparison")
    won = f"the new ranking was preferred in {found.wins} of {decided}, plus {counted(found.ties, 'tie')}"
    return f"{begin}: {won} ({percent(found.level)} interval {100 * low:.0f}-{percent(high)}){end}."


def share_won(found: Comparison) -> tuple[float, float]:
    """Return the interval of the share of comparisons without ties that the new ranking wins."""
    return (1 + found.low) / 2, (1 + found.high) / 2


def side_by_side_as_dict(found: Comparison) -> dict[str, Any]:
    """Return the result as plain values."""
    return {
        "won": found.wins,
        "lost": found.losses,
        "ties": found.ties,
        "verdict": found.verdict,
        "over": found.is_over(MOST),
        "interval": [round(bound, 4) for bound in share_won(found)],
        "line": side_by_side_in_words(found),
    }


class DocumentPairs:
    """One pair of documents per query whose top 3 differ, in random order; the same seed gives the same pairs.

    judged: queries that have a label already; they are left out.

    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=5, docs_per_query=8, seed=0)
    >>> pairs = DocumentPairs(Pool(data), new=data.X[:, 1], baseline=data.X[:, 0])
    >>> pairs.changed, len(list(pairs))
    (0.8, 4)
    """

    def __init__(self, pool: Pool, new: Array, baseline: Array, judged: Collection[str] = (), seed: int = 0) -> None:
        self.pool = pool
        self.seed = seed
        numbers = pool.query_numbers
        ours, theirs = top_sets(new, numbers), top_sets(baseline, numbers)
        differs = (ours != theirs).any(axis=1)
        self.changed = float(differs.mean())
        names = np.asarray(pool.queries)
        left_out = set(judged)
        free = [number for number in np.flatnonzero(differs).tolist() if names[number] not in left_out]
        self._tops = {
            number: (set(ours[number].tolist()) - {-1}, set(theirs[number].tolist()) - {-1}) for number in free
        }
        self._order = sorted(free, key=lambda number: self._hash(str(names[number])))
        self.n_left_out = int(differs.sum()) - len(free)

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[DocumentPair]:
        return (self._pair(number) for number in self._order)

    def why_none(self) -> str:
        """Return why there is no pair, and what to do.

        >>> import rulerank as rr
        >>> data = rr.datasets.make_ranking(n_queries=5, docs_per_query=8, seed=0)
        >>> print(DocumentPairs(Pool(data), new=data.X[:, 0], baseline=data.X[:, 0]).why_none())
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
        """Return the verdict in words, or why there are no pairs."""
        return side_by_side_in_words(found) if found.n_trials or len(self) else self.why_none()

    def _pair(self, number: int) -> DocumentPair:
        ours, theirs = self._tops[number]
        query = str(self.pool.queries[number])
        rng = np.random.default_rng(self._hash(query))
        entered, left = int(rng.choice(sorted(ours - theirs))), int(rng.choice(sorted(theirs - ours)))
        shown = (entered, left) if rng.random() < 0.5 else (left, entered)
        return DocumentPair(query, entered, left, len(ours - theirs), shown)

    def _hash(self, query: str) -> int:
        return int.from_bytes(hashlib.blake2b(f"side-by-side|{self.seed}|{query}".encode(), digest_size=8).digest())


def grade_pairs(
    pairs: DocumentPairs, ask: Callable[[DocumentPair], tuple[int, int] | None], most: int = MOST
) -> list[Outcome]:
    """Ask for grades until the comparison is decided, `most` pairs are graded or none is left; None skips a pair.

    ask: returns the grades of the two documents in the order in which they are shown.

    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=30, docs_per_query=20, seed=0)
    >>> pairs = DocumentPairs(Pool(data), new=data.y.astype(float), baseline=data.X[:, 0])
    >>> compare_pair_grades(grade_pairs(pairs, lambda pair: tuple(data.y[list(pair.shown)]))).verdict
    'better'
    """
    outcomes: list[Outcome] = []
    for pair in pairs:
        if compare_pair_grades(outcomes).is_over(most):
            break
        grades = ask(pair)
        if grades is not None:
            by_row = dict(zip(pair.shown, grades, strict=True))
            outcomes.append(Outcome(pair, int(by_row[pair.entered]), int(by_row[pair.left])))
    return outcomes


class PairTask(NamedTuple):
    """Two documents of one query as a rater sees them, side by side."""

    query: str
    docs: tuple[JudgingTask, JudgingTask]
    number: int  # of the pair in this check, from 1


class Check:
    """Assigns pairs of documents to raters, and compares two rankings by their grades.

    store: keeps the labels.
    new, baseline: scores of the pool's rows.
    judged: the queries that had labels when the check began.

    >>> import tempfile, rulerank as rr
    >>> from rulerank.judging.store import LabelStore
    >>> pool = Pool(rr.datasets.make_ranking(n_queries=8, docs_per_query=9, seed=0))
    >>> store = LabelStore(tempfile.mkdtemp() + "/labels.db")
    >>> check = Check(pool, store, new=pool.data.X[:, 1], baseline=pool.data.X[:, 0])
    >>> task = check.next("you")
    >>> for place, doc in enumerate(task.docs):
    ...     label = store.add(doc.query, doc.doc, place, "you")
    >>> check.comparison().n_trials, check.next("you").query != task.query
    (1, True)
    """

    def __init__(
        self, pool: Pool, store: LabelStore, new: Array, baseline: Array, judged: Collection[str] = ()
    ) -> None:
        self.pool, self.store = pool, store
        self._lock = threading.Lock()
        self._current = CurrentLabels(pool, store)
        self._pairs_of = DocumentPairs(pool, new, baseline, judged)
        self.changed = self._pairs_of.changed
        self.pairs = list(islice(self._pairs_of, READY))

    def comparison(self) -> Comparison:
        """Compare the rankings by the pairs whose two documents have grades."""
        with self._lock:
            return compare_pair_grades(self._outcomes())

    def next(self, rater: str) -> PairTask | None:
        """Return a pair that no other rater has, the same one until both have a grade; None if none is left."""
        with self._lock:
            found = compare_pair_grades(self._outcomes())
            if found.is_over(MOST):
                return None
            skipped = set(self.store.skipped(rater))
            for pair in self.pairs:
                entered = self.pool.pairs[pair.entered]
                if entered in skipped or self._graded(pair):
                    continue
                if self.store.claim(*entered, rater):
                    first, second = (self.pool.task(row) for row in pair.shown)
                    return PairTask(pair.query, (first, second), found.n_trials + 1)
            return None

    def skip(self, rater: str, query: str) -> None:
        """Skip a pair: this rater will not get it again."""
        for pair in self.pairs:
            if pair.query == query:
                self.store.skip(*self.pool.pairs[pair.entered], rater)

    def line(self) -> str:
        """Return the verdict so far in words."""
        return self._pairs_of.line(self.comparison())

    def _graded(self, pair: DocumentPair) -> bool:
        """Return whether raters have judged both documents; "cannot judge" ends a comparison too."""
        return pair.entered in self._current.by_row and pair.left in self._current.by_row

    def _outcomes(self) -> list[Outcome]:
        self._current.sync(self.store.state())
        grades = self._current.grades
        return [
            Outcome(pair, grades[pair.entered], grades[pair.left])
            for pair in self.pairs
            if pair.entered in grades and pair.left in grades
        ]
