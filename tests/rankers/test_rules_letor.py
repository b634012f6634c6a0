"""The rule rankers on the real LETOR folds: expected value over ties, parameters chosen without test data."""

import numpy as np
import pytest

import rulerank as rr

GLOBAL, STABLE, QUERY = rr.GlobalRules, rr.StableRules, rr.QueryRules
MEANS = {"votes": "mean"}


def mean_map(folder, make, measure="MAP", **options):
    values = []
    for fold in rr.read_folds(folder):
        scores = make(**options).fit(fold.train).predict(fold.test)
        values.append(rr.evaluate(fold.test.y, scores, fold.test.qid, [measure]).means[measure])
    return np.mean(values)


@pytest.mark.parametrize(
    ("name", "make", "options", "expected"),
    [
        ("letor3-ohsumed", GLOBAL, MEANS, 0.4458),
        ("letor4-mq2008", GLOBAL, MEANS, 0.4690),
        ("letor3-ohsumed", STABLE, {"literal": True}, 0.3680),  # fails on real data
        ("letor3-ohsumed", QUERY, {}, 0.4496),
        ("letor4-mq2008", QUERY, {}, 0.4770),
        ("letor3-ohsumed", QUERY, {"literal": True}, 0.4459),
        ("letor3-ohsumed", QUERY, {"literal": True, "measure": "P@1"}, 0.6314),
    ],
)
def test_five_fold_figures(letor, name, make, options, expected):
    assert mean_map(letor / name, make, **options) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("make", [GLOBAL, STABLE])
@pytest.mark.parametrize(("name", "least"), [("letor3-ohsumed", 0.448), ("letor4-mq2008", 0.475)])
def test_the_defaults_are_better_than_the_literal_votes(letor, name, least, make):
    assert mean_map(letor / name, make) >= least  # RE-GR to the letter: .4458 and .4690, see above


def test_missing_values_are_a_bin_of_their_own_and_can_be_ranked(letor):
    assert mean_map(letor / "letor3-ohsumed-null", GLOBAL, normalize="minmax") > 0.43
