"""A whole query: its documents as the ranker puts them, why, and what moved against today's ranking."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulerank.core.checks import is_whole
from rulerank.core.words import listed
from rulerank.dataset import Array, Dataset, query_index
from rulerank.errors import DataError
from rulerank.explain.explanation import FeatureShare, Shown
from rulerank.explain.score import doc_name, share_of
from rulerank.explain.standing import About, about, background_of
from rulerank.explain.versus import Compared, FeatureGap, feature_gaps
from rulerank.rankers.base import Ranker
from rulerank.render import Page
from rulerank.render.document import sum_digits
from rulerank.today import Today, find_today, suggest_today


@dataclass(frozen=True, slots=True)
class Passing:
    """Why a document passed another one, or was passed by it. difference = base_difference + what the gaps add."""

    passed: bool  # False: it was passed
    other: str
    other_title: str
    other_rank: int
    other_today: int
    difference: float  # of the score of whoever is ahead now, less the other's
    base_difference: float  # of where the two start
    gaps: tuple[FeatureGap, ...]  # the largest first; "high" is whoever is ahead now


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document of a ranking. score = mean score of the query's documents + what the features add + rest."""

    document: str
    rank: int  # from 1; documents of one score share the best of their ranks
    n_tied: int  # other documents of the same score
    score: float
    today: int | None  # its rank today, from 1, ties shared alike
    about: About
    features: tuple[FeatureShare, ...]  # against the average document of the query, the largest first
    rest: float  # of the score, that is no feature's: where documents start, against the average
    passing: Passing | None  # why it moved; None: it did not, or only by ties

    @property
    def moved(self) -> int:
        """How many ranks it went up; below 0: down."""
        return 0 if self.today is None else self.today - self.rank

    @property
    def name(self) -> str:
        """What people call it: its title, or its name."""
        return self.about.title or self.document


@dataclass(frozen=True, repr=False)
class RankingExplanation(Shown):
    """The ranking of one query: documents, reasons and moves; `documents` holds those that are shown."""

    query: str
    query_text: str
    method: str
    noun: str
    today: str | None  # the feature that ranks today
    n_docs: int
    n_risen: int
    n_fallen: int
    mean_score: float
    documents: tuple[RankedDocument, ...]  # the first n, the best first
    dropped: tuple[RankedDocument, ...]  # among the first n today, and no more

    @property
    def digits(self) -> int:
        """With how many decimals scores and their parts are printed."""
        docs = (*self.documents, *self.dropped)
        parts = [adds for doc in docs for adds in (doc.rest, *(share.adds for share in doc.features))]
        return sum_digits([self.mean_score, *parts])

    def page(self) -> Page:
        from rulerank.explain.ranking_layout import ranking_page

        return ranking_page(self)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "ranking"} | asdict(self)


def explain_ranking(
    ranker: Ranker, data: Dataset, query: Any = None, today: str | int | bool | None = None, n: int = 10
) -> RankingExplanation:
    """Explain the ranking of one query; parameters as in `Ranker.explain_query`."""
    check_is_fitted(ranker)
    if not is_whole(n, 1):
        raise DataError(f"n must be a whole number from 1 on, how many documents to show: got {n!r}")
    own = rows_of(data, query)
    found = today_of(own, today)
    scores = ranker.predict(own)
    ranks = ranks_of(scores)
    before = None if found is None else ranks_of(found.scores(own.X))
    X = ranker.check_rows(own, None)
    whole = ranker.needs_the_query()
    cases = [ranker.case(X, row) if whole else ranker.case(X[row : row + 1], 0) for row in range(len(own))]
    shares = np.array([case.ballot.shares for case in cases])
    usual = shares.mean(axis=0)
    mean_score = float(scores.mean())
    mean_base = mean_score - float(usual.sum())
    first = background_of(ranker, own, 0)
    docs = [
        Compared(case, doc_name(own, row), replace(first, row=row, about=about(own, row)))
        for row, case in enumerate(cases)
    ]

    def made(row: int) -> RankedDocument:
        adds, case, behind = shares[row] - usual, cases[row], docs[row].behind
        features = [
            share_of(case, behind, f, float(adds[f]), float(adds[f]))
            for f in np.argsort(-np.abs(adds), kind="stable").tolist()
            if adds[f] != 0
        ]
        return RankedDocument(
            document=docs[row].name,
            rank=int(ranks[row]),
            n_tied=int((scores == scores[row]).sum()) - 1,
            score=float(scores[row]),
            today=None if before is None else int(before[row]),
            about=behind.about,
            features=tuple(features),
            rest=float(scores[row] - shares[row].sum() - mean_base),
            passing=None if before is None else passing(row, docs, ranks, before),
        )

    order = np.argsort(-scores, kind="stable")
    shown = order[:n].tolist()
    gone = [] if before is None else [row for row in np.argsort(before, kind="stable").tolist() if before[row] <= n]
    return RankingExplanation(
        query=str(own.qid[0]),
        query_text=docs[0].behind.about.query_text,
        method=cases[0].method,
        noun=cases[0].noun,
        today=None if found is None else str(found),
        n_docs=len(own),
        n_risen=0 if before is None else int((before > ranks).sum()),
        n_fallen=0 if before is None else int((before < ranks).sum()),
        mean_score=mean_score,
        documents=tuple(made(row) for row in shown),
        dropped=tuple(made(row) for row in gone if row not in shown),
    )


def rows_of(data: Dataset, query: Any) -> Dataset:
    """Return the documents of the query that is meant."""
    if not isinstance(data, Dataset) or not len(data):
        raise DataError("a ranking is explained from a Dataset with documents: make one with rr.Dataset(X, y, qid)")
    ids = [str(one) for one in query_index(data.qid)[1]]
    if query is None and len(ids) > 1:
        raise DataError(f"the data has {len(ids):,} queries: say which is meant, query={ids[0]!r}")
    wanted = ids[0] if query is None else str(query)
    if wanted not in ids:
        raise DataError(f"no query {wanted!r} in the data: it has {listed(ids)}")
    return data[np.array([str(one) == wanted for one in data.qid], dtype=bool)]


def today_of(own: Dataset, today: str | int | bool | None) -> Today | None:
    """Return today's ranking: as it was named, or, unless False, the feature whose name says so."""
    if today is False:
        return None
    if today is not None:
        return find_today(own.feature_names, today)
    found = suggest_today([name for name in own.feature_names if name not in own.categories])
    return None if found is None else find_today(own.feature_names, found.feature)


def ranks_of(scores: Array) -> Array:
    """Return ranks from 1; equal scores share the best of their ranks.

    >>> ranks_of(np.array([0.5, 0.9, 0.5, 0.1])).tolist()
    [2, 1, 2, 4]
    """
    falling = np.sort(-scores)
    return np.searchsorted(falling, -scores, side="left") + 1


def passing(row: int, docs: list[Compared], ranks: Array, before: Array) -> Passing | None:
    """Say why a document moved, by the document next to it now that was on its other side before."""
    rose = before[row] > ranks[row]
    if rose:
        others = np.flatnonzero((before < before[row]) & (ranks > ranks[row]))
    else:
        others = np.flatnonzero((before > before[row]) & (ranks < ranks[row]))
    if not others.size or before[row] == ranks[row]:
        return None
    other = int(others[ranks[others].argmin() if rose else ranks[others].argmax()])
    high, low = (docs[row], docs[other]) if rose else (docs[other], docs[row])
    above, below = high.case.ballot, low.case.ballot
    return Passing(
        passed=bool(rose),
        other=docs[other].name,
        other_title=docs[other].behind.about.title,
        other_rank=int(ranks[other]),
        other_today=int(before[other]),
        difference=above.score - below.score,
        base_difference=above.base - below.base,
        gaps=feature_gaps(high, low),
    )
