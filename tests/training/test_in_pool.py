from dataclasses import replace

import numpy as np
import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.methods import METHODS
from rulerank.training.few_labels import FEW_LABELS, few_label_ranker, full_data_ranker
from rulerank.training.in_pool import PoolLearner, fit_in_pool


@pytest.fixture(scope="module")
def data():
    return rr.make_world(n_queries=20, n_features=6, seed=4)


def label_some(data, every):
    return replace(data, y=np.where(np.arange(len(data)) % every == 0, data.y, -1))


@pytest.mark.parametrize(
    "ranker",
    [
        rr.QueryIntercepts(l2=3, missing="mean"),
        rr.QueryIntercepts(l2=3, missing="mean", normalize="zscore"),
        rr.GlobalRules(discretizer="equal_width"),
        rr.GlobalRules(discretizer=rr.EqualFrequency(n_bins=4), normalize="rank"),
        rr.GlobalRules(),
    ],
    ids=str,
)
def test_with_all_labels_it_is_the_plain_fit(ranker, data):
    assert np.array_equal(fit_in_pool(ranker, data).predict(data), ranker.fit(data).predict(data))


def test_scales_and_bins_come_from_all_rows(data):
    pool = label_some(data, 10)
    few = fit_in_pool(rr.GlobalRules(discretizer="equal_width", normalize="zscore"), pool)
    whole = rr.GlobalRules(discretizer="equal_width", normalize="zscore").fit(data)
    for found, expected in zip(few.discretizer_.cuts_, whole.discretizer_.cuts_, strict=True):
        assert np.array_equal(found, expected)
    assert max(rule.covered for rule in few.rules_) <= (pool.y >= 0).sum()
    alone = rr.GlobalRules(discretizer="equal_width", normalize="zscore").fit(pool.labelled())
    assert not np.array_equal(alone.discretizer_.cuts_[0], whole.discretizer_.cuts_[0])


def test_cuts_that_need_grades_come_from_the_labelled_rows(data):
    pool = label_some(data, 3)
    found = fit_in_pool(rr.GlobalRules(), pool).discretizer_.cuts_
    expected = rr.GlobalRules().fit(pool.labelled()).discretizer_.cuts_
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("ranker", [few_label_ranker(name) for name in FEW_LABELS], ids=str)
def test_what_was_fitted_is_saved_and_loaded(ranker, data, tmp_path):
    fitted = fit_in_pool(ranker, label_some(data, 5))
    assert repr(fitted) == repr(ranker)
    assert fitted.feature_names_ == data.feature_names
    fitted.save(tmp_path / "few.rulerank")
    loaded = rr.load(tmp_path / "few.rulerank")
    assert np.array_equal(loaded.predict(data), fitted.predict(data))


def test_the_ranker_given_stays_as_it_is(data):
    ranker = rr.GlobalRules(discretizer="equal_width")
    PoolLearner(ranker, data).fit(np.arange(30), data.y[:30])
    assert not hasattr(ranker, "engine_")
    assert ranker.discretizer == "equal_width"


def test_a_pool_without_labels_is_refused(data):
    with pytest.raises(DataError, match=r"no document of the pool has a grade.*label some first"):
        fit_in_pool(rr.GlobalRules(), replace(data, y=np.full(len(data), -1)))


def test_every_method_is_there_for_few_and_for_all_labels():
    assert set(FEW_LABELS) <= set(METHODS)
    assert few_label_ranker("global").discretizer != "mdlp"
    assert full_data_ranker("re-gr").get_params() == rr.GlobalRules().get_params()
