"""RE-SR on the real LETOR folds: expected value over ties, the default chosen without test data."""

import numpy as np
import pytest

from rulerank.evaluation import evaluate
from rulerank.io.folds import read_folds
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.stable_rules import StableRules


def mean_map(folder, ranker):
    values = []
    for fold in read_folds(folder):
        scores = ranker.fit(fold.train).predict(fold.test)
        values.append(evaluate(fold.test.y, scores, fold.test.qid, ["MAP"]).means["MAP"])
    return np.mean(values)


@pytest.mark.parametrize(
    ("name", "least_gain"), [("letor3-ohsumed", 0.0), ("letor2-ohsumed", 0.0), ("letor4-mq2008", 0.006)]
)
def test_the_default_is_better_than_literal_global_rules(letor, name, least_gain):
    literal = mean_map(letor / name, GlobalRules(votes="mean"))
    assert mean_map(letor / name, StableRules()) >= literal + least_gain


def test_the_literal_reading_fails_on_real_data_as_measured(letor):
    assert mean_map(letor / "letor3-ohsumed", StableRules(literal=True)) == pytest.approx(0.3680, abs=5e-5)


@pytest.mark.parametrize(("name", "expected"), [("letor3-ohsumed", 0.4463), ("letor4-mq2008", 0.4695)])
def test_the_reading_by_the_mean_over_queries_holds(letor, name, expected):
    assert mean_map(letor / name, StableRules(stability="mean")) == pytest.approx(expected, abs=5e-5)
