"""Fit many rankers to the same rows: those that count the same things count them once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from rulerank.dataset import Array
from rulerank.discretize import Discretizer
from rulerank.rankers.foreign import fit_ranker, fresh_for_part
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rules.engine import Engine
from rulerank.rules.tables import Counts, rows_needed
from rulerank.rules.votes import votes_named


def fit_sharing_counts(rankers: Sequence[Any], X: Array, y: Array, qid: Array) -> Iterator[tuple[int, Any]]:
    """Yield the place of each ranker and the ranker fitted; rankers that count the same things share the counts."""
    groups: dict[str, list[int]] = {}
    for place, ranker in enumerate(rankers):
        groups.setdefault(_what_is_counted(ranker) or str(place), []).append(place)
    for places in groups.values():
        counted = None
        for place in places:
            ranker = fresh_for_part(rankers[place])
            if len(places) > 1 and isinstance(ranker, GlobalRules):
                if counted is None:  # evidence needs all that is ever counted
                    share = ranker.drop_share
                    everything = {"votes": "evidence", "metric": "confidence", "mapped": True, "drop_weakest": share}
                    counted = fresh_for_part(ranker).set_params(**everything).fit(X, y, qid=qid)
                if counted.engine_.counts is not None:
                    yield place, _vote_again(counted, counted.engine_.counts, ranker, len(y))
                    continue
            yield place, fit_ranker(ranker, X, y, qid)


def _what_is_counted(ranker: Any) -> str | None:
    """Return the same text for rankers that count the same, None for one that must count for itself."""
    if type(ranker) is not GlobalRules or not isinstance(ranker.discretizer, str | Discretizer | None):
        return None  # the text of somebody else's discretiser need not say how it differs from another
    params = ranker.get_params(deep=False) | {"drop_weakest": ranker.drop_share}
    return repr([value for name, value in params.items() if name not in ("votes", "metric", "mapped", "min_support")])


def _vote_again(counted: GlobalRules, counts: Counts, ranker: GlobalRules, n_rows: int) -> GlobalRules:
    """Return `ranker` as `fit` would, from what another one has counted."""
    ranker.check_parameters()
    fitted = copy(counted).set_params(**ranker.get_params(deep=False))
    learned = counted.engine_
    training = replace(learned.training, min_rows=int(rows_needed(ranker.min_support, n_rows)))
    scheme = votes_named(ranker.votes, ranker.metric, mapped=ranker.mapped)
    fitted.engine_ = Engine.from_counts(learned.layout, scheme, training, counts, n_jobs=ranker.n_jobs)
    fitted.record_params()
    return fitted
