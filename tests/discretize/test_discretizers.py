"""What all discretisers promise: bins, words, state, names, and scikit-learn's own checks."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from rulerank.discretize import DISCRETIZERS, MAX_BINS, MDLP, EqualWidth, discretizer_from_state, make_discretizer
from rulerank.discretize.base import between, shorten
from rulerank.errors import DataError, ModelFileError

pytestmark = pytest.mark.kernels

every_kind = pytest.mark.parametrize("make", DISCRETIZERS.values(), ids=list(DISCRETIZERS))
tables = hnp.arrays(
    st.sampled_from([np.float32, np.float64]),
    st.tuples(st.integers(1, 30), st.integers(1, 4)),
    elements=st.one_of(st.floats(-100, 100, width=32), st.sampled_from([math.nan, 0.0, 1.0])),
)


@parametrize_with_checks([make() for make in DISCRETIZERS.values()])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def fitted(make, X):
    X = np.asarray(X)
    return make().fit(X, np.nan_to_num(X[:, 0]) > np.nanmedian(np.nan_to_num(X[:, 0])))


def bin_plainly(value, cuts):
    return len(cuts) + 1 if math.isnan(value) else sum(cut <= value for cut in cuts)


@every_kind
@given(X=tables, new=tables)
def test_a_bin_is_the_number_of_cuts_not_above_the_value(make, X, new):
    discretizer = fitted(make, X)
    new = np.resize(new, (new.shape[0], X.shape[1]))
    bins = discretizer.transform(new)
    assert bins.dtype == np.uint8
    assert bins.tolist() == [[bin_plainly(v, c) for v, c in zip(row, discretizer.cuts_, strict=True)] for row in new]
    assert discretizer.n_bins_.tolist() == [len(cuts) + 2 for cuts in discretizer.cuts_]


@pytest.mark.parametrize("n_bins", [2, 30, 60, MAX_BINS])
def test_many_cuts_are_searched_as_few_are(n_bins):
    X = np.append(np.linspace(0, 1, 100), np.nan)[:, None]
    discretizer = EqualWidth(n_bins).fit(X)
    assert discretizer.transform(X).ravel().tolist() == [bin_plainly(v, discretizer.cuts_[0]) for v in X[:, 0]]


@every_kind
@given(X=tables)
def test_a_state_brings_the_same_discretizer_back(make, X):
    discretizer = fitted(make, X)
    state = discretizer.to_state()
    again = discretizer_from_state(state)
    assert type(again) is make
    assert again.to_state().keys() == state.keys()
    assert again.to_state()["cuts"].tobytes() == state["cuts"].tobytes()
    assert again.n_features_in_ == X.shape[1]
    assert again.transform(X).tobytes() == discretizer.transform(X).tobytes()
    json.dumps([state["kind"], state["params"], state["feature_names"]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "mdlp"}, "a 'equal_width' discretiser has the state of a 'mdlp'"),
        ({"offsets": [0, 9]}, "do not fit each other"),
        ({"offsets": [0, 2, 1]}, "do not fit each other"),
        ({"offsets": [0], "cuts": []}, "do not fit each other"),
        ({"offsets": [0, 254], "cuts": np.arange(254)}, "do not fit each other"),
        ({"cuts": [[1.0], [2.0]]}, "do not fit each other"),
        ({"feature_names": ["a", "b"]}, "do not fit each other"),
        ({"cuts": None, "offsets": "none"}, "the discretiser cannot be read .* save the model again"),
        ({"params": {"depth": 3}}, "the discretiser cannot be read .*'depth'"),
        ({"cuts": [2.0, 1.0]}, "cuts are not finite and ascending"),
        ({"cuts": [0.0, math.nan]}, "cuts are not finite and ascending"),
    ],
)
def test_a_damaged_state_is_refused(change, message):
    state = EqualWidth(n_bins=3).fit([[0.0], [3.0]]).to_state()
    with pytest.raises(ModelFileError, match=message):
        EqualWidth.from_state(state | change)


def test_an_unknown_kind_of_state_is_refused():
    with pytest.raises(
        ModelFileError, match="unknown discretizer 'magic' in the model; known are mdlp, tube, equal_width"
    ):
        discretizer_from_state({"kind": "magic"})


def test_bins_of_refuses_what_the_loop_could_not_bear():
    made = EqualWidth(2).fit([[0.0, 5.0], [1.0, 6.0]])
    for X in (np.zeros((3, 3)), np.zeros((3, 2), dtype=int)):
        with pytest.raises(DataError, match=f"float32 or float64 with 2 features: got {X.dtype} of shape"):
            made.bins_of(X)


@pytest.mark.parametrize(
    ("feature", "bin", "message"),
    [(1, 0, "feature must be between 0 and 0: got 1"), (0, 4, "feature 0 has bins 0 to 3: got 4")],
)
def test_a_bin_that_does_not_exist_is_named(feature, bin, message):
    with pytest.raises(DataError, match=message):
        EqualWidth(3).fit([[0.0], [3.0]]).describe(feature, bin)


@pytest.mark.parametrize(
    ("cuts", "shown"),
    [
        ([np.float32(0.36), np.float32(0.55)], ["0.36", "0.55"]),
        ([0.123456, 0.7], ["0.123", "0.7"]),
        ([0.1234, 0.1235], ["0.1234", "0.1235"]),
        ([999.5, 1234.56, 123456.7], ["1000", "1235", "123457"]),
        ([1.5e-7, 2.5e9], ["1.5e-07", "2.5e+09"]),
        ([1.0, np.nextafter(1.0, 2)], ["1", "1"]),
        ([0.123456, 0.123457, 0.1234571], ["0.123456", "0.123457", "0.123457"]),
        ([-0.0], ["0"]),
        ([], []),
    ],
)
def test_cuts_are_written_short_and_apart_in_six_digits(cuts, shown):
    assert shorten(np.array(cuts, dtype=np.float64)) == shown


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=9, unique=True))
def test_written_cuts_ascend_and_are_near_the_cut(cuts):
    cuts = np.unique(np.array(cuts) + 0.0)
    read = np.array([float(text) for text in shorten(cuts)])
    assert (np.diff(read) >= 0).all()
    np.testing.assert_allclose(read, cuts, rtol=0.005, atol=1e-12)


@given(hnp.arrays(np.float64, 2, elements=st.floats(allow_nan=False, allow_infinity=False), unique=True))
def test_the_middle_of_two_floats_parts_them(pair):
    low, high = np.sort(pair)
    cut = between(np.array([low]), np.array([high]))[0]
    assert low < cut <= high or low == high == 0


@every_kind
@pytest.mark.parametrize("when", ["fit", "transform"])
def test_infinity_is_refused_by_feature_and_row(make, when):
    good = pd.DataFrame({"tf": [0.0, 1.0], "idf": [1.0, 2.0]})
    bad = good.copy()
    bad.loc[1, "idf"] = -np.inf
    with pytest.raises(DataError, match="X contains infinity, the feature 'idf' at row 1: features must be numbers"):
        make().fit(bad if when == "fit" else good, [0, 1]).transform(bad)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("mdpl", "unknown discretizer 'mdpl'; choose from mdlp, tube, equal_width, equal_frequency, None for bin"),
        (MDLP, "unknown discretizer <class .*; choose from mdlp, .* or an object of rulerank.discretize"),
        (KBinsDiscretizer(), r"unknown discretizer KBinsDiscretizer\(\); choose from mdlp, tube"),
    ],
)
def test_an_unknown_discretizer_lists_the_choices(choice, message):
    with pytest.raises(DataError, match=message):
        make_discretizer(choice)
