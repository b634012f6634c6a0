"""Learn a ranker from clicks, and keep today's ranking until clicks of held-out queries support a change."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rulerank.core.words import counted, percent
from rulerank.dataset import Array, Dataset, query_index
from rulerank.errors import DataError
from rulerank.evaluation.significance import clearly_less
from rulerank.methods import method_name, method_named
from rulerank.normalize import normalize_by_query
from rulerank.rankers.anchored.anchored import Anchored
from rulerank.rankers.anchored.today_model import TodayModel
from rulerank.rankers.base import Ranker
from rulerank.rankers.clicks.click_rows import CLICKS_L2, check_clicks, known_effects, weighed
from rulerank.rankers.clicks.held_out import ranking_losses
from rulerank.rankers.clicks.learns import LearnsFromClicks
from rulerank.rankers.clicks.leaving import ClicksAbove
from rulerank.rankers.clicks.moves import document_numbers, id_numbers
from rulerank.rankers.clicks.position_effects import PositionEffects
from rulerank.rankers.linear.query_intercepts import QueryIntercepts
from rulerank.rankers.training_rows import content_keys
from rulerank.shown import Shown
from rulerank.splitting import QueryKFold
from rulerank.training.keep_today import (
    AgainstToday,
    TodayScores,
    compare_with_today,
    mean_standing,
    scores_once,
    today_scores,
)

N_SPLITS = 3
HARD = 10_000.0  # l2 of all features but today's, whose coefficient is free
CHANCE = 5.0  # deviations by which more clicks than looks are no chance
FEW_CLICKS = 100  # fewer say too little to choose by, or to fit more than a straight line
TODAYS = "today's ranking"  # where it is kept
HINT = "Held-out clicks are a hint: which of two rankings people prefer, rulerank interleave says."


@dataclass(frozen=True)
class Candidate:
    """Settings to try, and their name for people."""

    about: str
    params: dict[str, Any] = field(default_factory=dict)
    free_column: int | None = None  # a feature whose coefficient is not shrunken
    method: str = "QI"

    def make(self) -> QueryIntercepts:
        """Return an unfitted ranker.

        >>> Candidate("intercepts", {"l2": 100.0}).make()
        QueryIntercepts(l2=100.0)
        """
        known = QueryIntercepts().get_params()
        unknown = [name for name in self.params if name not in known]
        if unknown:
            raise DataError(f"QueryIntercepts takes no {unknown[0]}; it takes {', '.join(known)}")
        ranker = QueryIntercepts(**self.params)
        ranker._free_column = self.free_column
        return ranker


@dataclass(frozen=True, eq=False)
class LearnedFromClicks:
    """A ranker, and how it was chosen."""

    ranker: Any  # today's ranking, where that is kept
    new: Any  # what clicks made
    candidate: Candidate
    losses: tuple[tuple[Candidate, float], ...]  # mean loss of held-out queries, the chosen one first
    n_queries: int
    reason: str
    positions: PositionEffects  # what positions do to clicks, as it was found
    against_today: AgainstToday

    @property
    def is_today(self) -> bool:
        """Whether the ranker is today's ranking itself."""
        return self.candidate.about == TODAYS

    @property
    def keep_today(self) -> bool:
        """Whether the clicks do not say that the ranker is better than today's ranking."""
        return not self.against_today.better

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        tried = [
            {"about": one.about, "method": one.method, "params": one.params, "loss": loss} for one, loss in self.losses
        ]
        found = {"reason": self.reason, "queries": self.n_queries, "table": tried} | self.positions.to_dict()
        return found | {"keep_today": self.keep_today, "against_today": self.against_today.to_dict()}

    def lines(self) -> list[str]:
        """Say what was found, line by line."""
        found = [f"method chosen: {self.reason}", *repr(self.positions).splitlines()]
        return [*found, self.against_today.line(), HINT]


def learn_from_clicks(
    data: Dataset,
    *,
    method: str = "auto",
    params: dict[str, Any] | None = None,
    propensities: Any = None,
    today: Any = None,
    seed: int = 0,
) -> LearnedFromClicks:
    """Learn query intercepts from a data set that carries clicks.

    method: "auto" keeps today's ranking unless held-out clicks support a change; "QI" returns the new one.
    params: parameters of QueryIntercepts.
    propensities: how likely each position is looked at, {1: 1.0, 2: 0.6, ...}, where that is known.
    today: the ranking of now: a feature's name or column, a fitted ranker, or a score of each row; where it is not
        known, nothing says that a new one is better. Unless the clicks of held-out queries say that the new ranking is
        better, certain to 95 % over queries, `keep_today` is true; "auto" then returns today's ranking
        where it is a feature or a ranker.

    >>> import rulerank as rr
    >>> world = rr.make_world(n_queries=40, n_features=3, seed=0)
    >>> seen = rr.simulate_clicks(world, world.X[:, 0], n_impressions=4000, seed=0)
    >>> learn_from_clicks(seen, method="QI").ranker
    QueryIntercepts(...)
    """
    if not isinstance(data, Dataset) or data.shown is None:
        raise DataError(
            "expected a Dataset that carries clicks, such as rr.read_clicks(log).join(pool): "
            f"got {'one without' if isinstance(data, Dataset) else type(data).__name__}"
        )
    queries, ids = query_index(data.qid)
    if not _tells(queries, data.shown.impressions, data.shown.clicks):
        raise DataError(
            "no query has both clicks and impressions without one, so there is nothing to learn from: a log must hold "
            "what was shown, clicked or not"
        )
    documents = document_numbers(content_keys(data.X) if data.docid is None else id_numbers(data.docid), queries)
    now = today_scores(data, today, queries, documents)
    candidates = _candidates(method, dict(params or {}), now)
    auto = method.lower() == "auto"
    n_clicks, n_shown = int(data.shown.clicks.sum()), int(data.shown.impressions.sum())
    given = {} if propensities is None else {"propensities": propensities}
    if propensities is not None:
        check_possible(propensities, data.shown)
    clicks = f"{counted(n_clicks, 'click')} of {counted(int(ids.size), 'query', 'queries')}"
    if n_clicks < FEW_CLICKS or ids.size < 2 * N_SPLITS:
        one = next(one for one in candidates if one.free_column is None)
        ranker = one.make().fit(data, **given)
        n_clicked = np.unique(queries[data.shown.clicks > 0]).size
        unsaid = AgainstToday(now.about, math.nan, math.nan, n_clicked, n_shown, now.known)
        why = "the only one to choose from" if len(candidates) == 1 else f"{clicks} are too few to choose by"
        learned = LearnedFromClicks(ranker, ranker, one, (), 0, f"{one.about}: {why}", ranker.positions(), unsaid)
        return _kept(learned, data, now, why) if auto and now.start is not None else learned
    effects = _effects(data, candidates, given)
    losses, of_today = _held_out(data, candidates, now, queries, documents, effects, seed)
    best = 0
    for number in range(1, len(candidates)):
        if clearly_less(losses[number], losses[best]):
            best = number
    order = sorted(range(len(candidates)), key=lambda number: (number != best, losses[number].mean()))
    table = tuple((candidates[number], float(losses[number].mean())) for number in order)
    chosen = candidates[best]
    against = compare_with_today(losses[best], of_today, now, n_shown)
    held_out = counted(losses.shape[1], "held-out query", "held-out queries")
    reason = f"{chosen.about}: loss {table[0][1]:.4f} a query on {held_out}"
    reason += f", today's ranking {of_today.mean():.4f}" if now.known else ""
    ranker = chosen.make().fit(data, **given)
    learned = LearnedFromClicks(
        ranker, ranker, chosen, table, losses.shape[1], f"{reason}; {clicks}", ranker.positions(), against
    )
    if auto and now.start is not None and not against.better:
        return _kept(learned, data, now, learned.reason)
    return learned


def check_possible(propensities: Any, shown: Shown) -> None:
    """Refuse propensities below the share of impressions that were clicked: nobody clicks on what nobody looks at."""
    rows = check_clicks(shown.clicks, shown.position, shown.impressions, shown.clicks.size)
    n = rows.positions.size
    impressions, clicks = np.bincount(rows.places, rows.shown, n), np.bincount(rows.places, rows.clicks, n)
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


def _kept(learned: LearnedFromClicks, data: Dataset, now: TodayScores, why: str) -> LearnedFromClicks:
    """Return today's ranking instead: the model itself, or one that ranks by the feature."""
    assert now.start is not None
    ranker: Ranker
    if isinstance(now.start, TodayModel):
        ranker = now.start.ranker
        one = Candidate(TODAYS, ranker.get_params(deep=False), method=method_name(ranker))
    else:
        ranker = Anchored(today=now.start.option).start(data.feature_names, data.categories)
        one = Candidate(TODAYS, {"today": now.start.option}, method="Anchored")
    return replace(learned, ranker=ranker, candidate=one, reason=f"today's ranking is kept; {why}")


def _held_out(
    data: Dataset,
    candidates: list[Candidate],
    now: TodayScores,
    queries: Array,
    documents: Array,
    effects: PositionEffects,
    seed: int,
) -> tuple[Array, Array]:
    """Return the losses of held-out queries, (n_candidates, n_queries), and those of today's ranking."""
    assert data.shown is not None
    rows = check_clicks(data.shown.clicks, data.shown.position, data.shown.impressions, len(data))
    leaving, by_position = effects.leaving, _by_position(effects)
    taken = ClicksAbove(rows, queries, documents).taken(leaving, effects.effects)
    rows = weighed(replace(rows, after=taken), documents, 1.0)
    scores = np.empty((len(candidates), len(data)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is wrong with the data the last fit says, and of all of them
        for train, test in QueryKFold(N_SPLITS, seed=seed).split(queries[:, None], qid=queries):
            for number, one in enumerate(candidates):
                ranker = one.make().set_params(leave_after_click=leaving).fit(data[train], propensities=by_position)
                scores[number, test] = scores_once(ranker.predict, data[test], documents[test])
    standing = normalize_by_query(mean_standing(data, documents)[:, None], queries, "rank")[:, 0]

    def losses(*of: Array) -> Array:
        return ranking_losses(np.stack(of, axis=1), rows, queries, effects.effects)[1]

    of_today = min((losses(one, standing) for one in now.views), key=np.mean)  # the kinder one counts
    return np.stack([losses(one) for one in scores]), of_today


def _candidates(method: str, params: dict[str, Any], now: TodayScores) -> list[Candidate]:
    if method.lower() != "auto" and method_named(method).name != "QI":
        raise DataError(f"{method} does not learn from clicks; QueryIntercepts (QI) does")
    own = {"missing": "mean", "l2": CLICKS_L2} | params
    l2 = own["l2"]
    found = [Candidate(f"intercepts, l2 {l2:g}" if isinstance(l2, int | float) else "intercepts", own)]
    if now.feature is not None and "l2" not in params:
        hard = own | {"l2": HARD}
        found.insert(0, Candidate("today's ranking and a little of the rest", hard, now.feature.column))
    return found


def _effects(data: Dataset, candidates: list[Candidate], given: dict[str, Any]) -> PositionEffects:
    """Find once what positions do, so that candidates differ in scores only."""
    params = candidates[-1].params
    asked = {name: params[name] for name in LearnsFromClicks.parameter_table if name in params}
    ranker = QueryIntercepts(l2=CLICKS_L2, missing="mean").set_params(**asked | {"document_spread": 0.0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the last fit says it
        found: PositionEffects = ranker.fit(data, **given).positions()
    return found


def _by_position(effects: PositionEffects) -> dict[int, float]:
    lowest = float(effects.effects.min())
    return dict(zip(effects.positions.tolist(), np.exp(lowest - effects.effects).tolist(), strict=True))
