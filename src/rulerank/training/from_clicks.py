"""Learn a ranker from clicks, and keep the baseline ranking until clicks of held-out queries support a change.

Clicks and few labels together: clicks first, and labels start from the clicks' model or from the baseline, as both say.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from rulerank.core.words import counted, percent
from rulerank.dataset import UNLABELLED, Array, Dataset, query_index
from rulerank.errors import DataError
from rulerank.evaluation import Comparison
from rulerank.evaluation.comparison import LEAVE, clearly_less, compare_gains
from rulerank.normalize import normalize_by_query
from rulerank.rankers.anchored.anchored import Anchored
from rulerank.rankers.anchored.starts_from_today import StartsFromToday
from rulerank.rankers.anchored.today_model import TodayModel, check_start, find_start, scores_today
from rulerank.rankers.clicks.click_rows import CLICKS_L2, ClickRows, clicks_of, known_effects, weighed
from rulerank.rankers.clicks.likelihood import ranking_losses
from rulerank.rankers.clicks.positions import find_positions
from rulerank.rankers.linear.query_intercepts import QueryIntercepts
from rulerank.splitting import QueryKFold
from rulerank.today import Today, check_scores
from rulerank.training.few_labels import PAIRS, compare_pairs, pairs_verdict, select_from_today
from rulerank.training.selection import Selection, Trial

N_SPLITS = 3
HARD = 10_000.0  # l2 of all features but today's, whose coefficient is free
CHANCE = 5.0  # deviations by which more clicks than looks are no chance
FEW_CLICKS = 100  # fewer say too little to choose by, or to fit more than a straight line
FEWEST = 6  # queries with clicks: fewer all go one way too often, whatever is better
MOST_TIMES = 1000  # as many impressions: beyond, how many would tell is not said
QUERIES = ("held-out query", "held-out queries")
HINT = "Held-out clicks are a hint: which of two rankings people prefer, rulerank interleave says."


class Candidate(NamedTuple):
    """Settings of QueryIntercepts to try, and their name for people."""

    about: str
    params: dict[str, Any]
    free_column: int | None = None  # a feature whose coefficient is not shrunken

    def make(self) -> QueryIntercepts:
        """Return an unfitted ranker."""
        ranker = QueryIntercepts(**self.params)
        ranker._free_column = self.free_column
        return ranker


def select_by_clicks(
    data: Dataset,
    ranker: Any = None,
    *,
    params: Mapping[str, Any] | None = None,
    propensities: Any = None,
    today: Any = None,
    seed: int = 0,
) -> Selection:
    """Learn query intercepts from a data set that carries clicks, as `select` does.

    ranker: query intercepts set otherwise, which are returned whatever clicks say of them; None keeps the baseline
        ranking unless held-out clicks say, certain to 95 % over queries, that the new one is better.
    params: what was asked for of the ranker; None: where it differs from the defaults.
    today: a feature's name or column, a fitted ranker, or a score of each row; where it is not known, nothing says that
        a new one is better. It is returned where it is a feature or a ranker; what was learned is in `learned`.

    >>> import rulerank as rr
    >>> world = rr.make_ranking(n_queries=40, n_features=3, seed=0)
    >>> seen = rr.simulate_clicks(world, world.X[:, 0], n_impressions=4000, seed=0)
    >>> rr.select(seen, rr.QueryIntercepts()).ranker
    QueryIntercepts(...)
    """
    assert data.shown is not None
    if ranker is not None and not isinstance(ranker, QueryIntercepts):
        raise DataError(f"{type(ranker).__name__} does not learn from clicks; QueryIntercepts (QI) does")
    if params is None:
        usual = QueryIntercepts().get_params()
        own = {} if ranker is None else ranker.get_params()
        params = {name: value for name, value in own.items() if value != usual[name]}
    queries, ids = query_index(data.qid)
    if not _tells(queries, data.shown.impressions, data.shown.clicks):
        raise DataError(
            "no query has both clicks and impressions without one, so there is nothing to learn from: a log must hold "
            "what was shown, clicked or not"
        )
    rows = clicks_of(data)
    documents = rows.documents(data.X, queries)
    now = today_scores(data, today, queries, documents)
    candidates = _candidates(dict(params), now)
    n_clicks, n_shown = int(data.shown.clicks.sum()), int(data.shown.impressions.sum())
    given = {} if propensities is None else {"propensities": propensities}
    if propensities is not None:
        check_possible(propensities, rows)
    clicks = f"{counted(n_clicks, 'click')} of {counted(int(ids.size), 'query', 'queries')}"
    table: tuple[Trial, ...] = ()
    if n_clicks < FEW_CLICKS or ids.size < 2 * N_SPLITS:
        chosen = next(one for one in candidates if one.free_column is None)
        why = "the only one to choose from" if len(candidates) == 1 else f"{clicks} are too few to choose by"
        reason, n_queries = f"{chosen.about}: {why}", 0
        found = _not_compared(np.unique(queries[data.shown.clicks > 0]).size)
    else:
        losses, of_today = _held_out(data, rows, candidates, now, queries, documents, propensities, seed)
        best = 0
        for number in range(1, len(candidates)):
            if clearly_less(losses[number], losses[best]):
                best = number
        order = sorted(range(len(candidates)), key=lambda number: (number != best, losses[number].mean()))
        table = tuple(
            Trial(candidates[k].params, float(losses[k].mean()), method="QI", about=candidates[k].about) for k in order
        )
        chosen, n_queries = candidates[best], losses.shape[1]
        found = _not_compared(n_queries)
        if n_queries >= FEWEST:
            found = compare_gains(
                "log-likelihood", ("new", "today"), -losses[best], -of_today, least=FEWEST, level=LEAVE
            )
        other = f", today's ranking {of_today.mean():.4f}" if now.known else ""
        why = f"{chosen.about}: loss {table[0].mean:.4f} a query on {counted(n_queries, *QUERIES)}{other}; {clicks}"
        reason = why
    new = chosen.make().fit(data, **given)
    better = now.known and found.verdict == "better"
    kept = ranker is None and now.start is not None and not better
    if kept:
        reason = f"today's ranking is kept; {why}"
    lines = [
        f"method chosen: {reason}",
        *repr(new.positions()).splitlines(),
        clicks_in_words(found, now, n_shown),
        HINT,
    ]
    compared = not math.isnan(found.difference)
    facts = new.positions().to_dict() | {
        "reason": reason,
        "keep_today": not better,
        "against_today": {
            "today": now.about,
            "gain": found.difference if compared else None,
            "interval": [found.low, found.high] if compared else None,
            "better": better,
            "impressions_needed": impressions_needed(found, now, n_shown),
        },
    }
    return Selection(
        now.ranker(data) if kept else new, table, "\n".join(lines), "loss", n_queries, found, new, facts=facts
    )


def _not_compared(n_queries: int) -> Comparison:
    unknown = math.nan, math.nan, -math.inf, math.inf
    return Comparison("log-likelihood", "new", "today", *unknown, n_queries, least=FEWEST)


def impressions_needed(found: Comparison, now: TodayScores, n_impressions: int) -> int | None:
    """Return about how many impressions would tell; None where nothing speaks for the new ranking, or far too many."""
    gain, reach = found.difference, found.difference - found.low
    if found.verdict == "better" or not now.known or not gain > 0 or reach > gain * math.sqrt(MOST_TIMES):
        return None
    needed = n_impressions * (reach / gain) ** 2
    digits = 10 ** max(math.floor(math.log10(needed)) - 1, 0)
    return math.ceil(round(needed / digits, 6)) * digits


def clicks_in_words(found: Comparison, now: TodayScores, n_impressions: int) -> str:
    """Say whether held-out clicks support a change."""
    seen = f"{counted(n_impressions, 'impression')}, with clicks in {counted(found.n_queries, *QUERIES)},"
    if not now.known:
        return "Today's ranking is not known, so nothing says that the new one is better: name it, today= or --today."
    if math.isnan(found.difference):
        return f"{seen} are too few to compare a new ranking with today's ({now.about}): keep today's."
    if found.verdict == "better":
        figures = f"log-likelihood {found.difference:+.4f} a query, at least {found.low:+.4f} (certain to 95 %)"
        return f"{seen} say that it is better than today's ranking ({now.about}): {figures}."
    needed = impressions_needed(found, now, n_impressions)
    more = "" if needed is None else f"; about {needed:,} impressions would, if the difference is what it seems"
    return f"{seen} do not say that a new ranking is better than today's ({now.about}): keep today's{more}."


@dataclass(frozen=True, eq=False)
class TodayScores:
    """Today's ranking of rows that were shown."""

    about: str
    views: tuple[Array, ...]  # scores as they are, and their ranks by query; the kinder one counts
    start: Today | TodayModel | None = None  # a feature or a model, by which new documents can be ranked too
    known: bool = True

    def ranker(self, data: Dataset) -> Any:
        """Return the model itself, or one that ranks by the feature."""
        assert self.start is not None
        if isinstance(self.start, TodayModel):
            return self.start.ranker
        return Anchored(today=self.start.option).start(data.feature_names, data.categories)


def today_scores(data: Dataset, today: Any, queries: Array, documents: Array) -> TodayScores:
    """Return today's scores: of a feature or a model, as given, or else by the mean position of a document.

    >>> import rulerank as rr
    >>> world = rr.make_ranking(n_queries=2, n_features=2, seed=0)
    >>> today_scores(world, "bm25_title", np.zeros(len(world), dtype=int), np.arange(len(world))).about
    'bm25_title'
    """
    start = None
    if today is None:
        about, scores = "the mean positions at which documents were shown", mean_standing(data, documents)
    elif isinstance(today, str | int | np.integer) or hasattr(today, "predict"):
        start = find_start(data.feature_names, today)
        about, scores = str(start), scores_once(partial(scores_today, start), data, documents)
    else:
        about, scores = "the scores given", check_scores(today, len(data))
    ranks = normalize_by_query(scores[:, None], queries, "rank")[:, 0]
    if today is not None and not _differs(ranks, queries):
        raise DataError(
            f"today's ranking ({about}) is the same for all documents of every query, so it ranks nothing: name another"
        )
    return TodayScores(about, (scores, ranks), start, today is not None)


def _differs(scores: Array, queries: Array) -> bool:
    """Tell whether documents of any query have different scores."""
    lowest, highest = np.full(int(queries.max()) + 1, np.inf), np.full(int(queries.max()) + 1, -np.inf)
    np.minimum.at(lowest, queries, scores)
    np.maximum.at(highest, queries, scores)
    return bool((highest > lowest).any())


def mean_standing(data: Dataset, documents: Array) -> Array:
    """Return, of each row, how far up its document stood in the mean: minus its mean position."""
    assert data.shown is not None
    shown, position = data.shown.impressions.astype(np.float64), data.shown.position
    means = np.bincount(documents, shown * position) / np.bincount(documents, shown)
    found: Array = -means[documents]
    return found


def scores_once(predict: Callable[[Dataset], Array], data: Dataset, documents: Array) -> Array:
    """Return the score of each row, each document scored once, whatever the positions it was shown at.

    A model that puts features on one scale by query would else see a document as often as it moved.
    """
    _, first, own = np.unique(documents, return_index=True, return_inverse=True)
    return predict(data[first])[own.reshape(-1)]


def check_possible(propensities: Any, rows: ClickRows) -> None:
    """Refuse propensities below the share of impressions that were clicked: nobody clicks on what nobody looks at."""
    impressions, clicks = rows.by_position()
    looked = np.exp(-known_effects(propensities, rows.positions))
    most = impressions * looked + CHANCE * np.sqrt(impressions * looked)
    if (clicks > most + CHANCE).any():
        place = int((clicks > most + CHANCE).argmax())
        raise DataError(
            f"position {rows.positions[place]} was clicked in {percent(clicks[place] / impressions[place])} of its "
            f"impressions, and by the propensities it is looked at in {looked[place]:.2g} of 1: nobody clicks on what "
            "nobody looks at; give propensities that fit the log"
        )


def _tells(queries: Array, shown: Array, clicks: Array) -> bool:
    """Tell whether a query has both clicks and impressions without one."""
    n_shown, n_clicks = np.bincount(queries, shown), np.bincount(queries, clicks)
    return bool(((n_clicks > 0) & (n_clicks < n_shown)).any())


def _held_out(
    data: Dataset,
    rows: ClickRows,
    candidates: list[Candidate],
    now: TodayScores,
    queries: Array,
    documents: Array,
    propensities: Any,
    seed: int,
) -> tuple[Array, Array]:
    """Return the losses of held-out queries, (n_candidates, n_queries), and those of today's ranking.

    What positions do is found once, from all queries, so that candidates differ in scores only.
    """
    scores = np.empty((len(candidates), len(data)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is wrong with the data the last fit says, and of all of them
        asked = candidates[-1].params.get("leave_after_click")
        effects, taken = find_positions(rows, queries, documents, propensities, asked)
        known = {"leave_after_click": effects.leaving}
        looked = np.exp(float(effects.effects.min()) - effects.effects)
        by_position = dict(zip(effects.positions.tolist(), looked.tolist(), strict=True))
        for train, test in QueryKFold(N_SPLITS, seed=seed).split(queries[:, None], qid=queries):
            for number, one in enumerate(candidates):
                ranker = one.make().set_params(**known).fit(data[train], propensities=by_position)
                scores[number, test] = scores_once(ranker.predict, data[test], documents[test])
    rows = weighed(replace(rows, after=taken), documents, 1.0)
    standing = normalize_by_query(mean_standing(data, documents)[:, None], queries, "rank")[:, 0]

    def losses(*of: Array) -> Array:
        return ranking_losses(np.stack(of, axis=1), rows, queries, effects.effects)[1]

    of_today = min((losses(one, standing) for one in now.views), key=np.mean)  # the kinder one counts
    return np.stack([losses(one) for one in scores]), of_today


def _candidates(params: dict[str, Any], now: TodayScores) -> list[Candidate]:
    own = {"missing": "mean", "l2": CLICKS_L2} | params
    l2 = own["l2"]
    found = [Candidate(f"intercepts, l2 {l2:g}" if isinstance(l2, int | float) else "intercepts", own)]
    if isinstance(now.start, Today) and "l2" not in params:
        hard = own | {"l2": HARD}
        found.insert(0, Candidate("today's ranking and a little of the rest", hard, now.start.column))
    return found


def select_by_clicks_and_labels(
    log: Dataset, pool: Dataset, *, today: Any = None, propensities: Any = None, ranker: StartsFromToday | None = None
) -> Selection:
    """Learn from clicks, and from there on from the labelled rows of a pool (the others have grade -1).

    Labels start from the model of the clicks if the clicks say that it is better than today's ranking, and from today's
    if they do not; but where the labels, of which neither has seen any, say which is better, that one is the start.

    today: a feature or a fitted ranker; where it is not known, there is nothing to keep. One that learned from these
        labels looks better on them than it is.
    ranker: what learns from the labels; by default as in `select_from_today`.

    >>> import rulerank as rr
    >>> world = rr.make_ranking(n_queries=40, n_features=3, seed=0)
    >>> seen = rr.simulate_clicks(world, world.X[:, 0], n_impressions=4000, seed=0)
    >>> grades = np.where(np.arange(len(world)) % 9, -1, world.y)
    >>> some = rr.Dataset(world.X, grades, world.qid, None, world.feature_names)
    >>> rr.select(some, clicks=seen, today="bm25_body").facts["start"]["start"]
    'clicks'
    """
    if log.shown is None:
        raise DataError(
            "expected a Dataset that carries clicks, such as rr.read_clicks(log).join(pool): got one without"
        )
    if today is not None:
        check_start(today)  # scores of rows that were shown say nothing of a pool
    clicks = select_by_clicks(log, propensities=propensities, today=today)
    pairs = None if today is None else compare_by_labels(pool, clicks.learned, today)
    by_pairs = {} if pairs is None else {"better": True, "worse": False}
    from_clicks = pairs is None or by_pairs.get(pairs.verdict, not clicks.facts["keep_today"])
    start = clicks.learned if from_clicks else today
    labels = select_from_today(pool, start, ranker=None if ranker is None else clone(ranker).set_params(today=start))
    said = None
    if pairs is not None:
        said = {"clicks": pairs.mean_a, "today": pairs.mean_b, "verdict": pairs_verdict(pairs)}
    facts = {
        "clicks": clicks.to_dict(),
        "start": {"start": "clicks" if from_clicks else "today", "pairs": said},
        "few_labels": labels.facts,
    }
    before = [*clicks.lines(), _about_the_start(from_clicks, pairs)]
    return replace(labels, reason="\n".join([*before, *labels.lines()]), facts=facts)


def _about_the_start(from_clicks: bool, pairs: Comparison | None) -> str:
    """Say where labels start from, and why."""
    start = "the model of the clicks" if from_clicks else "today's ranking"
    if pairs is None:
        return f"Labels start from {start}."
    if pairs.verdict == "too few":
        return f"Labels start from {start}; they are too few to compare the clicks' model with today's ranking."
    labels = f"{counted(pairs.n_trials, 'pair')} of {counted(pairs.n_queries, 'query', 'queries')}"
    return (
        f"Labels start from {start}: the clicks' model has {percent(pairs.mean_a)} of {labels} in order, "
        f"today's ranking {percent(pairs.mean_b)}: {PAIRS[pairs.verdict][1]}."
    )


def compare_by_labels(pool: Dataset, new: Any, today: Any) -> Comparison:
    """Compare two rankings that have seen no labels of a pool, features or models, by the pairs of its labels."""
    rows = np.flatnonzero(pool.y != UNLABELLED)
    of_new, of_today = (scores_today(find_start(pool.feature_names, one), pool)[rows] for one in (new, today))
    return compare_pairs(of_new, of_today, pool.y[rows], query_index(pool.qid[rows])[0])
