"""What rows came to, grades or clicks, as the loops of the rounds read them; arrays of size 0 stand for the other kind.

grades      int16[n], weights float64[n] or of size 0: as `gradient.py` has them
link        int, precision float, effects, shown, clicks float64[n]: as `click_gradient.py` has them, of size 0 where
            there are grades
"""

from __future__ import annotations

from rulerank.core.compiled import compiled
from rulerank.dataset import Array
from rulerank.rankers.fitted.click_gradient import add_click_losses, add_click_pulls
from rulerank.rankers.fitted.gradient import add_losses, add_pulls

Outcomes = tuple[Array, Array, int, float, Array, Array, Array]  # grades, weights, link, precision, effects, ...


@compiled
def write_pulls(
    scores: Array, outcomes: Outcomes, bounds: Array, first: int, last: int, intercepts: Array, pulls: Array
) -> None:
    """Write the derivatives of the queries first..last-1, their intercepts moved by one step of Newton."""
    grades, weights, link, precision, effects, shown, clicks = outcomes
    if shown.size:
        add_click_pulls(scores, link, precision, effects, shown, clicks, bounds, first, last, intercepts, pulls)
    else:
        add_pulls(scores, grades, weights, bounds, first, last, intercepts, pulls)


@compiled
def write_losses(
    scores: Array, outcomes: Outcomes, bounds: Array, first: int, last: int, intercepts: Array, losses: Array
) -> float:
    """Write the losses of the queries first..last-1, their intercepts moved by one step; return the sum."""
    grades, weights, link, precision, effects, shown, clicks = outcomes
    if shown.size:
        return add_click_losses(
            scores, link, precision, effects, shown, clicks, bounds, first, last, intercepts, losses
        )
    return add_losses(scores, grades, weights, bounds, first, last, intercepts, losses)
