"""RE-GR on the real LETOR folds: expected value over ties, parameters chosen without test data."""

import numpy as np
import pytest

import rulerank as rr


def mean_map(folder, **options):
    values = []
    for fold in rr.read_folds(folder):
        scores = rr.GlobalRules(**options).fit(fold.train).predict(fold.test)
        values.append(rr.evaluate(fold.test.y, scores, fold.test.qid, ["MAP"]).means["MAP"])
    return np.mean(values)


@pytest.mark.parametrize(("name", "expected"), [("letor3-ohsumed", 0.445), ("letor4-mq2008", 0.469)])
def test_the_literal_votes_reach_what_the_prototype_reached(letor, name, expected):
    assert mean_map(letor / name, votes="mean") == pytest.approx(expected, abs=0.003)


@pytest.mark.parametrize(
    ("name", "least"), [("letor3-ohsumed", 0.448), ("letor2-ohsumed", 0.448), ("letor4-mq2008", 0.471)]
)
def test_the_default_is_better_than_the_literal_votes(letor, name, least):
    default = mean_map(letor / name)
    assert default >= least
    assert default > mean_map(letor / name, votes="mean")


def test_missing_values_are_a_bin_of_their_own_and_can_be_ranked(letor):
    assert mean_map(letor / "letor3-ohsumed-null", normalize="minmax") > 0.43
