"""scikit-learn's own checks, on every ranker."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import rulerank as rr
from test_contract import RANKERS

ALL = [make() for make in RANKERS.values()] + [rr.StableRules(literal=True)]


POOL = "weights are of labels: Anchored takes its scale from all documents given, whatever they weigh"


def expected_failures(estimator):
    return {"check_sample_weight_equivalence_on_dense_data": POOL} if isinstance(estimator, rr.Anchored) else {}


@parametrize_with_checks(ALL, expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)
