"""The ranking of a query: its documents, why they rank as they do, and what moved against the baseline."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rulerank._util.estimator import check_is_fitted
from rulerank._util.parameters import is_whole
from rulerank._util.words import counted, joined, listed
from rulerank.baseline import Baseline, find_baseline, suggest_baseline
from rulerank.dataset import Array, Dataset, query_index
from rulerank.errors import DataError
from rulerank.explain.documents import About, Documents, method_of, placed
from rulerank.explain.explanation import (
    START,
    FeatureGap,
    FeatureShare,
    Shown,
    feature_gaps,
    most_of,
    share_of,
    strongest_first,
    with_the_rest,
)
from rulerank.rankers.base import Ranker
from rulerank.render.document import (
    Bar,
    Block,
    Cell,
    Content,
    Page,
    Section,
    Sentences,
    Table,
    in_digits,
    sum_digits,
    summed_rows,
    units,
)

REASONS = 3  # of a document, in the table
LINES = 6  # of a card


@dataclass(frozen=True, slots=True)
class Passing:
    """Why a document passed another one, or was passed by it. difference = base_difference + what the features add."""

    passed: bool  # False: it was passed
    other: str
    other_title: str
    other_rank: int
    other_baseline: int  # rank
    difference: float  # of the score of whoever is ahead now, less the other's
    base_difference: float  # of where the two start
    features: tuple[FeatureGap, ...]  # the largest first; "high" is whoever is ahead now


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document of a ranking. score = mean score of the query's documents + what the features add + rest."""

    document: str
    rank: int  # from 1; documents of one score share the best of their ranks
    n_tied: int  # other documents of the same score
    score: float
    baseline_rank: int | None  # from 1, ties share the best of their ranks
    about: About
    features: tuple[FeatureShare, ...]  # against the average document of the query, the largest first
    rest: float  # of the score, not of a feature: where the document starts, against the average
    passing: Passing | None  # why it moved; None: it did not, or only by ties

    @property
    def moved(self) -> int:
        """How many ranks it went up; below 0: down."""
        return 0 if self.baseline_rank is None else self.baseline_rank - self.rank

    @property
    def name(self) -> str:
        """Its title, or its name."""
        return self.about.title or self.document


@dataclass(frozen=True, repr=False)
class RankingExplanation(Shown):
    """The ranking of one query: documents, reasons and moves; `documents` holds those that are shown."""

    query: str
    query_text: str
    method: str
    baseline: str | None  # in words
    n_docs: int
    n_risen: int
    n_fallen: int
    mean_score: float
    documents: tuple[RankedDocument, ...]  # the first n, the best first
    dropped: tuple[RankedDocument, ...]  # in the top n of the baseline, and not now

    @property
    def digits(self) -> int:
        """With how many decimals scores and their parts are printed."""
        docs = (*self.documents, *self.dropped)
        parts = [adds for doc in docs for adds in (doc.rest, *(share.adds for share in doc.features))]
        return sum_digits([self.mean_score, *parts])

    def page(self) -> Page:
        asked = f"“{self.query_text}”" if self.query_text else f"query {self.query}"
        blocks: list[Block] = [_overview(self), *([_dropped(self)] if self.dropped else [])]
        blocks += [_card(doc, self) for doc in self.documents]
        return Page(f"The ranking for {asked}", tuple(_lead(self)), tuple(blocks), footer=f"Model: {self.method}.")

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "ranking"} | asdict(self)


def explain_ranking(
    ranker: Ranker, data: Dataset, query: Any = None, baseline: Any = None, n: int = 10
) -> RankingExplanation:
    """Explain the ranking of one query; parameters as in `Ranker.explain_query`."""
    check_is_fitted(ranker)
    if not is_whole(n, 1):
        raise DataError(f"n, the number of documents to show, must be an integer of at least 1: got {n!r}")
    own = rows_of(data, query)
    found = baseline_of(own, baseline)
    documents = Documents(ranker, own)
    scores, shares = documents.scores, documents.shares
    ranks = ranks_of(scores)
    before = None if found is None else ranks_of(found.scores(own))
    mean_score = float(scores.mean())
    above_usual = shares - shares.mean(axis=0)
    rest = scores - mean_score - above_usual.sum(axis=1)

    def made(row: int) -> RankedDocument:
        adds = above_usual[row]
        return RankedDocument(
            document=documents.names[row],
            rank=int(ranks[row]),
            n_tied=int((scores == scores[row]).sum()) - 1,
            score=float(scores[row]),
            baseline_rank=None if before is None else int(before[row]),
            about=documents.about(row),
            features=tuple(share_of(documents, row, part, float(adds[part])) for part in strongest_first(adds)),
            rest=float(rest[row]),
            passing=None if before is None else passing(row, documents, ranks, before),
        )

    shown = np.argsort(-scores, kind="stable")[:n].tolist()
    gone = [] if before is None else [row for row in np.argsort(before, kind="stable").tolist() if before[row] <= n]
    return RankingExplanation(
        query=str(own.qid[0]),
        query_text=documents.about(0).query_text,
        method=method_of(ranker),
        baseline=None if found is None else str(found),
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
        raise DataError(f"the data has {len(ids):,} queries: choose one, query={ids[0]!r}")
    wanted = ids[0] if query is None else str(query)
    if wanted not in ids:
        raise DataError(f"no query {wanted!r} in the data: it has {listed(ids)}")
    return data[np.array([str(one) == wanted for one in data.qid], dtype=bool)]


def baseline_of(own: Dataset, baseline: Any) -> Baseline | None:
    """Return the baseline ranking: as it was named, or, unless False, a feature with a usual name."""
    if baseline is False:
        return None
    if baseline is not None:
        return find_baseline(own.feature_names, baseline, own.categories)
    return suggest_baseline([name for name in own.feature_names if name not in own.categories])


def ranks_of(scores: Array) -> Array:
    """Return ranks from 1; equal scores share the best of their ranks.

    >>> ranks_of(np.array([0.5, 0.9, 0.5, 0.1])).tolist()
    [2, 1, 2, 4]
    """
    return np.searchsorted(np.sort(-scores), -scores) + 1


def passing(row: int, documents: Documents, ranks: Array, before: Array) -> Passing | None:
    """Return why a document moved: the document next to it now that was on its other side before."""
    rose = before[row] > ranks[row]
    way = 1 if rose else -1
    others = np.flatnonzero((way * before < way * before[row]) & (way * ranks > way * ranks[row]))
    if not others.size or before[row] == ranks[row]:
        return None
    other = int(others[ranks[others].argmin() if rose else ranks[others].argmax()])
    high, low = (row, other) if rose else (other, row)
    return Passing(
        passed=bool(rose),
        other=documents.names[other],
        other_title=documents.about(other).title,
        other_rank=int(ranks[other]),
        other_baseline=int(before[other]),
        difference=float(documents.scores[high] - documents.scores[low]),
        base_difference=float(documents.bases[high] - documents.bases[low]),
        features=feature_gaps((documents, high), (documents, low)),
    )


def _lead(r: RankingExplanation) -> list[str]:
    first = r.documents[0]
    best = [share for share in first.features if share.adds > 0 and share.varies][:REASONS]
    why = f": {joined([share.in_words for share in best])}" if best else ""
    top = f"On top, tied with {counted(first.n_tied, 'other')}," if first.n_tied else "On top"
    lines = [f"{counted(r.n_docs, 'document')}, ranked by the model. {top} is {first.name}{why}."]
    if r.baseline is not None:
        lines.append(f"Against the baseline ranking ({r.baseline}), {r.n_risen:,} rose and {r.n_fallen:,} fell.")
    return lines


def _overview(r: RankingExplanation) -> Table:
    above = [doc.score - r.mean_score for doc in r.documents]
    rows: list[tuple[Content, ...]] = []
    for doc, value in zip(r.documents, above, strict=True):
        baseline = () if r.baseline is None else (_move(doc),)
        number = Bar(value, max(map(abs, above)), text=in_digits(_above_mean(doc, r), r.digits, signed=True))
        rows.append((_rank(doc), doc.name, _reasons(doc), *baseline, _score(doc, r), number))
    moves = () if r.baseline is None else ("baseline",)
    header = ("rank", "document", "mainly because of", *moves, "score", "against the mean")
    left = r.n_docs - len(r.documents)
    note = f"{counted(left, 'more document')} not shown. " if left else ""
    note += "“2=”: tied, the best of their ranks."
    note += "" if r.baseline is None else " “5 → 2 ▲”: rank 5 in the baseline, rank 2 now."
    return Table(f"Top {len(r.documents):,}", header, tuple(rows), 3, note)


def _dropped(r: RankingExplanation) -> Table:
    rows = tuple(
        (_rank(doc), doc.name, _why(doc.passing) if doc.passing else "", _move(doc), _score(doc, r))
        for doc in r.dropped
    )
    header = ("rank", "document", "why", "baseline", "score")
    return Table(f"No longer in the top {len(r.documents):,}", header, rows, 3)


def _card(doc: RankedDocument, r: RankingExplanation) -> Section:
    parts = [((share.label, placed(share.value, share.standing)), share.adds) for share in doc.features]
    parts += [((Cell("where it starts"), ""), doc.rest)] if abs(doc.rest) > 1e-9 else []
    rows = summed_rows(parts, _above_mean(doc, r), r.digits, LINES, "other part")
    note = f"With {r.mean_score:z.{r.digits}f}, the mean score of the query, these add up to {_score(doc, r)}."
    blocks: list[Table | Sentences] = []
    texts = tuple(f"{name}: {text}" for name, text in doc.about.texts.items() if text != doc.about.title)
    if texts:
        blocks.append(Sentences("The document", texts))
    blocks.append(Table("Why it ranks here", ("feature", "value", "adds"), tuple(rows), 2, note))
    if doc.passing is not None:
        blocks.append(Sentences("Why it moved", (_why(doc.passing), *_against(doc.passing))))
    tied = f", tied with {counted(doc.n_tied, 'other')}" if doc.n_tied else ""
    baseline = ""
    if r.baseline is not None:
        way = f"up {doc.moved:,}" if doc.moved > 0 else f"down {-doc.moved:,}" if doc.moved else "the same"
        baseline = f" Rank {doc.baseline_rank:,} in the baseline: {way}."
    named = "" if doc.name == doc.document else f"{doc.document}; "
    return Section(f"{doc.rank}. {doc.name}", tuple(blocks), about=f"{named}score {_score(doc, r)}{tied}.{baseline}")


def _score(doc: RankedDocument, r: RankingExplanation) -> str:
    return f"{doc.score:z.{r.digits}f}"


def _above_mean(doc: RankedDocument, r: RankingExplanation) -> int:
    """Return the printed score less the printed mean, in units of the last digit."""
    return units(doc.score, r.digits) - units(r.mean_score, r.digits)


def _why(why: Passing) -> str:
    """Return in a sentence which features put one document above the other.

    The other is its neighbour now among those that were on its other side in the baseline.
    """
    other = why.other_title or why.other
    for_it, _ = most_of(why.features, why.base_difference, REASONS)
    reasons = joined(for_it or [START])
    places = f"rank {why.other_baseline} in the baseline, {why.other_rank} now"
    if why.passed:
        return f"It passed {other} ({places}) mostly because of {reasons}."
    return f"{other} ({places}) passed it mostly because of {reasons}."


def _against(why: Passing) -> list[str]:
    _, against = most_of(why.features, why.base_difference, REASONS)
    behind = f"{why.other_title or why.other} is" if why.passed else "It is"
    better = [f"{behind} better in {joined(against)}."] if against else []
    parts = with_the_rest([((str(gap.label),), gap.adds) for gap in why.features if gap.differs], why)
    digits = sum_digits((adds for _, adds in parts), why.difference)
    rows = summed_rows(parts, units(why.difference, digits), digits, LINES, "smaller part")
    made = f", made up of {joined([f'{number} from {name}' for name, number in rows])}" if rows else ""
    return [*better, f"The difference of the two scores is {why.difference:z.{digits}f}{made}."]


def _rank(doc: RankedDocument) -> Cell:
    return Cell(f"{doc.rank}{'=' if doc.n_tied else ''}", doc.rank, strong=doc.rank <= 3)


def _move(doc: RankedDocument) -> Cell:
    if doc.baseline_rank is None:
        return Cell("")
    mark = "▲" if doc.moved > 0 else "▼" if doc.moved < 0 else ""
    text = f"{doc.baseline_rank} → {doc.rank}" if doc.moved else str(doc.baseline_rank)
    return Cell(text, float(doc.moved), mark=mark)


def _reasons(doc: RankedDocument) -> str:
    """Return the main reasons in a few words; those that lower the score follow "despite"."""
    telling = [share for share in doc.features if share.varies][:REASONS]
    return ", ".join(f"{'' if share.adds > 0 else 'despite '}{share.label} {share.value}" for share in telling)
