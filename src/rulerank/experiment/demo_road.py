"""The road from today's ranking and a hundred labels to a better ranking, walked once and over many splits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rulerank.dataset import UNLABELLED, Dataset, Fold
from rulerank.evaluation import evaluate
from rulerank.experiment.label_curve.curve import label_curve
from rulerank.experiment.label_curve.design import STRATA
from rulerank.experiment.label_curve.learners import FROM_TODAY
from rulerank.experiment.label_curve.result import LabelCurve
from rulerank.experiment.label_curve.splits import LOSS, HalfSplits, signed
from rulerank.judging.duels import Duel, Duels, Tally, run_duels
from rulerank.judging.pool import Pool
from rulerank.sampling.strata import Strata
from rulerank.today import find_today
from rulerank.training.from_today import FromToday, learn_from_today

BUDGET = 100  # ten documents each of ten queries
SIZES = (50, 100, 200, 400)
N_SPLITS = 10


@dataclass(frozen=True, eq=False)
class Road:
    """What a hundred labels made of today's ranking, what a check says of it, and what is true."""

    learned: FromToday
    tally: Tally  # of the duels
    check: str  # what follows from them
    measure: str
    n_queries: int  # that neither the labels nor the check have seen
    today: float  # the measure on them
    new: float
    curve: LabelCurve

    def lines(self) -> list[str]:
        """Say what the road says, and then the truth, which on real searches nobody knows."""
        gained = signed(self.new - self.today)
        return [
            *self.learned.lines(),
            f"Check by duels, on queries without labels. {self.check}",
            f"The truth, on {self.n_queries} other queries: {self.measure} {self.new:.4f}, "
            f"today's {self.today:.4f} ({gained}).",
        ]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return header and rows: what was gained over today's ranking with more and fewer labels."""
        n = self.curve.n_folds
        header = ["labels", f"{self.measure}, gain over today's", f"worst of {n} splits", f"more than {LOSS} lost in"]
        rows = [["0: today's ranking", ".000", ".000", "0"]]
        for point in self.curve.points:
            assert point.gains is not None
            gains = point.gains
            share = f"{point.n_labels:,.0f} of {self.curve.n_pool:,.0f}"
            rows.append([share, signed(gains.mean), signed(gains.worst), f"{gains.n_losses}"])
        return header, rows

    def to_dict(self) -> dict[str, Any]:
        """Return all figures of the road as plain values; the curve has its own."""
        truth = {"measure": self.measure, "queries": self.n_queries, "new": self.new, "today": self.today}
        return self.learned.to_dict() | {"duels": self.tally.to_dict(), "truth": truth}


def walk_the_road(data: Dataset, today: str, measure: str, seed: int = 0) -> Road:
    """Label documents of half the queries by their own grades, learn, check, and look at the other half.

    >>> import rulerank as rr
    >>> road = walk_the_road(rr.make_world(n_queries=40, seed=1), "bm25_body", "NDCG@10")
    >>> road.learned.n_labels, road.n_queries, road.tally.verdict
    (100, 20, 'too few')
    """
    split: Fold = HalfSplits(data, 2, seed=seed)[0]
    pool, test = split.train, split.test
    rows = Strata(today=today, seed=seed).select(pool, lambda row: pool.y[row], budget=min(BUDGET, len(pool)))
    grades = np.full(len(pool), UNLABELLED)
    grades[rows] = pool.y[rows]
    learned = learn_from_today(replace(pool, y=grades), today)
    now = find_today(data.feature_names, today)
    asked = Pool(replace(pool, texts={}))
    judged = {str(name) for name in pool.qid[rows]}
    duels = Duels(asked, learned.ranker.predict(pool), now.scores(pool.X), judged, seed)

    def answer(duel: Duel) -> tuple[int, int]:
        first, second = duel.shown
        return int(pool.y[first]), int(pool.y[second])

    def mean(scores: Any) -> float:
        return float(evaluate(test.y, scores, test.qid, [measure]).means[measure])

    smallest = min(len(one.train) for one in HalfSplits(data, N_SPLITS, seed=seed))
    curve = label_curve(
        data,
        [FROM_TODAY],
        [STRATA],
        sizes=[size for size in SIZES if size <= smallest],
        n_splits=N_SPLITS,
        today=today,
        measure=measure,
        seed=seed,
    )
    tally = run_duels(duels, answer)
    return Road(
        learned=learned,
        tally=tally,
        check=tally.line() if tally.n else duels.why_none(),
        measure=measure,
        n_queries=len(np.unique(test.qid)),
        today=mean(now.scores(test.X)),
        new=mean(learned.ranker.predict(test)),
        curve=curve,
    )
