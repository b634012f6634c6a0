"""Learning from clicks with a method that held-out clicks choose."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import rulerank as rr
from rulerank.rankers.clicks.learns import PositionWarning
from rulerank.shown import Shown
from rulerank.training.from_clicks import learn_from_clicks

WORLD = rr.make_world(n_queries=30, n_features=3, seed=0)


def seen(**options):
    return rr.simulate_clicks(WORLD, WORLD.X[:, 0], n_impressions=3000, seed=0, **options)


@pytest.mark.parametrize("share", [0, 1])
def test_a_log_in_which_nothing_or_everything_was_clicked_teaches_nothing(share):
    data = seen()
    shown = Shown(data.shown.position, data.shown.impressions, share * data.shown.impressions)
    with pytest.raises(rr.errors.DataError, match="no query has both clicks and impressions without one, so there is"):
        learn_from_clicks(replace(data, shown=shown))


def test_what_cannot_be_told_of_positions_is_said_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learned = learn_from_clicks(seen(explore=0), method="QI")
    assert [one.category for one in caught] == [PositionWarning]
    assert learned.n_queries > 0  # it has chosen
    assert not np.any(learned.positions.effects)
    assert learned.lines()[-1].endswith("which of two rankings people prefer, rulerank interleave says.")
