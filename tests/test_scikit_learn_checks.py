"""scikit-learn's own checks, on every ranker."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import rulerank as rr
from test_contract import RANKERS

ALL = [make() for make in RANKERS.values()] + [rr.StableRules(literal=True)]


@parametrize_with_checks(ALL)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)
