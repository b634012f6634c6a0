"""Learn a ranker from clicks: method and shrinkage are those that foresee clicks of held-out queries best."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rulerank.core.words import counted
from rulerank.dataset import Array, Dataset, query_index
from rulerank.errors import DataError
from rulerank.methods import method_named
from rulerank.rankers.base import Ranker
from rulerank.rankers.clicks.click_rows import ClickRows, check_clicks, weighed
from rulerank.rankers.clicks.held_out import click_losses
from rulerank.rankers.clicks.learns import LearnsFromClicks, PositionWarning
from rulerank.rankers.clicks.moves import document_numbers
from rulerank.rankers.clicks.position_effects import PositionEffects
from rulerank.rankers.fitted.fitted_rules import clearly_less
from rulerank.rankers.linear.query_intercepts import QueryIntercepts
from rulerank.rankers.training_rows import content_keys
from rulerank.splitting import QueryKFold

L2_OF_CLICKS = (1000.0, 100.0, 10.0)  # the calmest first: of two that do equally well the earlier wins
N_SPLITS = 3
FEW_CLICKS = 100  # fewer say too little to choose by, or to fit more than a straight line
NOT_SAID = "Whether it ranks better than today's ranking, clicks on that one do not say: rulerank interleave does."


@dataclass(frozen=True)
class Candidate:
    """A ranker to try, and its name for people."""

    about: str
    method: str
    params: dict[str, Any] = field(default_factory=dict)

    def make(self) -> Any:
        """Return it unfitted.

        >>> Candidate("intercepts", "QI", {"l2": 100.0}).make()
        QueryIntercepts(l2=100.0)
        """
        return method_named(self.method).ranker_class()(**self.params)


@dataclass(frozen=True, eq=False)
class LearnedFromClicks:
    """A ranker, and how it was chosen."""

    ranker: Any
    candidate: Candidate
    losses: tuple[tuple[Candidate, float], ...]  # mean loss of held-out queries, the best first
    n_queries: int
    reason: str

    @property
    def positions(self) -> PositionEffects:
        """What positions do to clicks, as it was found."""
        found: PositionEffects = self.ranker.positions()
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        tried = [
            {"about": one.about, "method": one.method, "params": one.params, "loss": loss} for one, loss in self.losses
        ]
        return {"reason": self.reason, "queries": self.n_queries, "table": tried} | self.positions.to_dict()

    def lines(self) -> list[str]:
        """Say what was found, line by line."""
        return [f"method chosen: {self.reason}", *repr(self.positions).splitlines(), NOT_SAID]


def learn_from_clicks(
    data: Dataset,
    *,
    method: str = "auto",
    params: dict[str, Any] | None = None,
    propensities: Any = None,
    seed: int = 0,
) -> LearnedFromClicks:
    """Learn from a data set that carries clicks, with the method and shrinkage that foresee held-out clicks best.

    method: "QI", "FR" or "auto": the simplest of them that is not clearly worse.
    params: parameters of the method, which are then not chosen.
    propensities: how likely each position is looked at, {1: 1.0, 2: 0.6, ...}, where that is known.

    >>> import rulerank as rr
    >>> world = rr.make_world(n_queries=40, n_features=3, seed=0)
    >>> seen = rr.simulate_clicks(world, world.X[:, 0], n_impressions=4000, seed=0)
    >>> learn_from_clicks(seen).ranker
    QueryIntercepts(...)
    """
    if not isinstance(data, Dataset) or data.shown is None:
        raise DataError(
            "expected a Dataset that carries clicks, such as rr.read_clicks(log).join(pool): "
            f"got {'one without' if isinstance(data, Dataset) else type(data).__name__}"
        )
    candidates = _candidates(method, dict(params or {}))
    queries, ids = query_index(data.qid)
    n_clicks = int(data.shown.clicks.sum())
    if not _tells(queries, data.shown.impressions, data.shown.clicks):
        raise DataError(
            "no query has both clicks and impressions without one, so there is nothing to learn from: a log must hold "
            "what was shown, clicked or not"
        )
    given = {} if propensities is None else {"propensities": propensities}
    clicks = f"{counted(n_clicks, 'click')} of {counted(int(ids.size), 'query', 'queries')}"
    if len(candidates) == 1 or n_clicks < FEW_CLICKS or ids.size < 2 * N_SPLITS:
        one = candidates[0]
        why = "the only one to choose from" if len(candidates) == 1 else f"{clicks} are too few to choose by"
        return LearnedFromClicks(one.make().fit(data, **given), one, (), 0, f"{one.about}: {why}")
    effects = _effects(data, candidates, given)
    rows = check_clicks(data.shown.clicks, data.shown.position, data.shown.impressions, len(data))
    documents = document_numbers(content_keys(data.X), queries)
    rows = weighed(rows, documents, 1.0)
    losses = np.full((len(candidates), ids.size), np.nan)
    for train, test in QueryKFold(N_SPLITS, seed=seed).split(queries[:, None], qid=queries):
        for number, one in enumerate(candidates):
            ranker = one.make().fit(data[train], propensities=_by_position(effects))
            own = _losses(ranker, data[test], rows[test], queries[test], effects)
            losses[number, own[0]] = own[1]
    informative = ~np.isnan(losses).any(axis=0)
    losses = losses[:, informative]
    best = 0
    for number in range(1, len(candidates)):
        if clearly_less(losses[number], losses[best]):
            best = number
    order = sorted(range(len(candidates)), key=lambda number: (number != best, losses[number].mean()))
    table = tuple((candidates[number], float(losses[number].mean())) for number in order)
    chosen = candidates[best]
    held_out = counted(losses.shape[1], "held-out query", "held-out queries")
    reason = f"{chosen.about}: loss {table[0][1]:.4f} a query on {held_out}"
    others = [(one, loss) for one, loss in table[1:] if one.method != chosen.method]
    if others:
        reason += f", {others[0][0].about} {others[0][1]:.4f}"
    return LearnedFromClicks(chosen.make().fit(data, **given), chosen, table, losses.shape[1], f"{reason}; {clicks}")


def _tells(queries: Array, shown: Array, clicks: Array) -> bool:
    """Tell whether a query has both clicks and impressions without one."""
    n_shown, n_clicks = np.bincount(queries, shown), np.bincount(queries, clicks)
    return bool(((n_clicks > 0) & (n_clicks < n_shown)).any())


def _candidates(method: str, params: dict[str, Any]) -> list[Candidate]:
    named = "auto" if method.lower() == "auto" else method_named(method).name
    found = []
    if named in ("auto", "QI"):
        grid = (params["l2"],) if "l2" in params else L2_OF_CLICKS
        found += [Candidate(f"intercepts, l2 {l2:g}", "QI", {"missing": "mean"} | params | {"l2": l2}) for l2 in grid]
    if named in ("auto", "FR"):
        found.append(Candidate("fitted rules", "FR", params))
    if not found:
        raise DataError(f"{method} does not learn from clicks; choose from QI, FR and auto")
    return found


def _effects(data: Dataset, candidates: list[Candidate], given: dict[str, Any]) -> PositionEffects:
    """Find once what positions do, so that candidates differ in scores only."""
    first = next((one for one in candidates if one.method == "QI"), None)
    ranker = QueryIntercepts(l2=100.0, missing="mean") if first is None else first.make()
    if isinstance(ranker, LearnsFromClicks):
        ranker = ranker.set_params(document_spread=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PositionWarning)  # the last fit says it
        found: PositionEffects = ranker.fit(data, **given).positions()
    return found


def _by_position(effects: PositionEffects) -> dict[int, float]:
    lowest = float(effects.effects.min())
    return dict(zip(effects.positions.tolist(), np.exp(lowest - effects.effects).tolist(), strict=True))


def _losses(
    ranker: Ranker, data: Dataset, rows: ClickRows, queries: Array, effects: PositionEffects
) -> tuple[Array, Array]:
    """Return the numbers of held-out queries and their losses."""
    link = "log-odds" if not isinstance(ranker, LearnsFromClicks) else ranker.link
    return click_losses(ranker.predict(data), rows, queries, effects.effects, link)
