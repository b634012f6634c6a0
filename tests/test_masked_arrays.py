"""What a NumPy masked array masks is missing, wherever features are taken; `contract_checks.py` has fit and predict."""

import numpy as np
import pytest

import rulerank as rr

HOLES = np.array([[False, True], [False, False], [True, False], [False, False]])
HIDDEN = np.where(HOLES, 1e6, [[1.0, 2.0], [2.0, 5.0], [3.0, 7.0], [4.0, 9.0]])
MASKED, WITH_NAN = np.ma.array(HIDDEN, mask=HOLES), np.where(HOLES, np.nan, HIDDEN)
QID = ["a", "a", "b", "b"]
RANKER = rr.GlobalRules(discretizer="equal_width").fit(WITH_NAN, [0, 1, 0, 1], qid=QID)


TAKE_FEATURES = [
    lambda X: rr.discretize.EqualWidth(n_bins=3).fit(X).transform(X),
    lambda X: rr.fuse(X.T, QID, "comb_sum"),
    lambda X: rr.SSAR(discretizer="equal_width").select(X, lambda row: row % 2),
    lambda X: rr.StratifiedSampler(baseline=0).select(X, lambda row: row % 2, QID),
    lambda X: RANKER.explain(X, 0).lines(),
    lambda X: RANKER.rules_for(X[0]),
]


@pytest.mark.parametrize("found", TAKE_FEATURES)
def test_masked_is_missing(found):
    assert np.array_equal(np.asarray(found(MASKED)), np.asarray(found(WITH_NAN)))


def test_where_every_row_needs_a_value_a_mask_is_refused():
    with pytest.raises(rr.errors.DataError, match="position must not be a masked array"):
        rr.QueryIntercepts().fit(WITH_NAN, [0, 1, 0, 1], QID, position=np.ma.masked_equal([1, 2, 1, 2], 2))
