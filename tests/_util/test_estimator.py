"""Our estimators answer as scikit-learn's own base class would."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import rulerank as rr
from rulerank._util.estimator import Estimator
from rulerank.discretize import EqualWidth


def pair(base):
    """Return the same class over our base and over scikit-learn's."""

    class Cutter(base):
        def __init__(self, n_bins=10, inner=None, words=("a",)):
            self.n_bins, self.inner, self.words = n_bins, inner, words

    return Cutter


OURS, THEIRS = pair(Estimator), pair(BaseEstimator)


@pytest.mark.parametrize(
    "params", [{}, {"n_bins": 3}, {"n_bins": float("nan")}, {"words": ["x"]}, {"inner": rr.GlobalRules(max_size=1)}]
)
def test_parameters_and_text_are_those_of_scikit_learn(params):
    ours, theirs = OURS(**params), THEIRS(**params)
    assert repr(ours) == repr(theirs)
    assert sorted(ours.get_params()) == sorted(theirs.get_params())
    assert repr(clone(ours)) == repr(clone(theirs))


def test_parameters_of_parameters_are_set_by_their_path():
    ours = OURS(inner=rr.GlobalRules()).set_params(inner__max_size=1, n_bins=2)
    assert (ours.inner.max_size, ours.n_bins) == (1, 2)


def test_an_unknown_parameter_is_refused_as_scikit_learn_does():
    messages = []
    for make in (OURS, THEIRS):
        with pytest.raises(ValueError, match="Invalid parameter 'bins'") as error:
            make().set_params(bins=3)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_a_clone_copies_parameters_and_what_is_routed_but_nothing_learned():
    ranker = rr.GlobalRules(max_size=1).fit([[0.0], [1.0]], [0, 1], qid=["q", "q"])
    copied = clone(ranker)
    assert copied.max_size == 1
    assert not hasattr(copied, "params_")
    with pytest.raises(NotFittedError, match="This GlobalRules instance is not fitted yet"):
        copied.predict([[0.0]])
    check_is_fitted(ranker)


def test_a_missing_attribute_is_missing():
    with pytest.raises(AttributeError, match="'GlobalRules' object has no attribute 'coef_'"):
        rr.GlobalRules().coef_  # noqa: B018


def test_a_ranker_is_shown_in_notebooks_and_can_be_pickled():
    ranker = rr.GlobalRules().fit([[0.0], [1.0]], [0, 1], qid=["q", "q"])
    assert "GlobalRules" in ranker._repr_mimebundle_()["text/html"]
    assert pickle.loads(pickle.dumps(ranker)).predict([[0.5]]) == ranker.predict([[0.5]])


def test_set_output_gives_frames_from_a_discretiser():
    X = np.array([[0.0], [1.0]])
    found = EqualWidth(n_bins=2).set_output(transform="pandas").fit_transform(X)
    assert found.values.ravel().tolist() == EqualWidth(n_bins=2).fit_transform(X).ravel().tolist() == [0, 1]
    assert [*found.columns] == [*EqualWidth(n_bins=2).fit(X).get_feature_names_out()]
