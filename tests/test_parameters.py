"""No bad parameter of any class ends in anything but a DataError that names it."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rulerank as rr
from rulerank._util.parameters import parameters_of
from rulerank.methods import METHODS

RANKERS = [method.ranker_class() for method in METHODS.values()]
CLASSES = [*RANKERS, *rr.discretize.DISCRETIZERS.values(), rr.SSAR, rr.StratifiedSampler]
PLACES = [(owner, name) for owner in CLASSES for name in parameters_of(owner)]
SYNTHETIC = rr.datasets.make_ranking(n_queries=3, docs_per_query=8, n_features=3, n_grades=2, seed=1)
KINDS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([10**30, -(10**30), 255, 1000]),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.complex_numbers(),
    st.lists(st.integers(), max_size=2),
    st.tuples(st.text(max_size=2)),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=1),
    st.sampled_from([object(), object, len, np.array([1, 2]), np.float64("nan"), np.int64(-7), math, {1}, b"x"]),
)


def use(owner, **params):
    """Do what looks at the parameters of a class."""
    made = owner(**params)
    if owner in (rr.SSAR, rr.StratifiedSampler):
        return made.begin(SYNTHETIC)
    if owner in rr.discretize.DISCRETIZERS.values():
        return made.fit(SYNTHETIC.X, SYNTHETIC.y)
    return made.fit(SYNTHETIC)


def test_every_parameter_of_every_class_stands_in_its_table():
    for owner in CLASSES:
        assert set(owner().get_params(deep=False)) == set(parameters_of(owner)), owner


@pytest.mark.parametrize(("owner", "name"), PLACES, ids=lambda place: getattr(place, "__name__", place))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(value=KINDS)
def test_a_bad_value_is_refused_by_name(owner, name, value):
    if parameters_of(owner)[name].accepts(value):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(rr.errors.DataError, match=name):
            use(owner, **{name: value})
