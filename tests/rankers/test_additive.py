"""The additive form of a ranker is the ranker, whatever the document."""

import numpy as np
import pytest

import rulerank as rr
from rulerank.errors import DataError, TooLargeError

synthetic = rr.datasets.make_ranking(n_queries=30, n_features=6, seed=1)


@pytest.mark.parametrize(
    "ranker",
    [
        rr.GlobalRules(),
        rr.GlobalRules(min_support=0.05),
        rr.GlobalRules(max_size=3, discretizer="equal_frequency"),
        rr.FittedRules(),
        rr.QueryIntercepts(missing="mean", l2=1),
    ],
    ids=repr,
)
def test_the_additive_form_scores_as_predict_does_on_rows_that_training_never_saw(ranker):
    ranker.fit(synthetic)
    rng = np.random.default_rng(0)
    X = rng.normal(0, 3, (300, synthetic.X.shape[1]))
    X[rng.random(X.shape) < 0.2] = np.nan
    for rows in (X, X.astype(np.float32), synthetic.X):
        expected = ranker.predict(rows)
        assert np.abs(ranker.additive().score(rows) - expected).max() < 1e-12


def test_bins_as_features_have_an_additive_form_too():
    X = np.random.default_rng(0).integers(0, 3, (60, 3))
    ranker = rr.GlobalRules(discretizer=None, drop_weakest=0).fit(X, X[:, 0] % 2, qid=np.arange(60) // 10)
    others = np.array([[0, 1, 2], [5, 0, 1], [2, 9, 9]])
    assert np.abs(ranker.additive().score(others.astype(np.float64)) - ranker.predict(others)).max() < 1e-12


def test_what_is_not_additive_says_why_and_what_to_use():
    mean = rr.GlobalRules(votes="mean").fit(synthetic)
    with pytest.raises(DataError, match=r"divides by the number of rules that cover a document; fit it with"):
        mean.additive()
    with pytest.raises(DataError, match=r"StableRules is not additive: .*use FittedRules, GlobalRules with votes"):
        rr.StableRules().fit(synthetic).additive()


def test_tables_that_are_not_kept_say_so_and_what_to_do():
    few = rr.datasets.make_ranking(n_queries=14, docs_per_query=20, n_features=6, seed=1)
    ranker, kept = rr.GlobalRules(memory_budget=0).fit(few), rr.GlobalRules().fit(few)
    says = r"the tables of all \d+ feature sets take 0 MiB, more than memory_budget, so they are not kept: predict, .*"
    for ask in (ranker.additive, lambda: ranker.rules_):
        with pytest.raises(TooLargeError, match=f"^{says}; fit again with a larger memory_budget, a lower max_size or"):
            ask()
    with pytest.raises(DataError, match=f"^this GlobalRules cannot be exported: {says}"):
        rr.export_model(ranker, "python")
    assert ranker.as_tables() is None
    assert np.array_equal(ranker.feature_importances_, kept.feature_importances_)
    assert [one.feature for one in ranker.curves().curves] == [one.feature for one in kept.curves().curves]


def test_a_model_of_the_first_version_is_not_additive_and_says_so():
    from pathlib import Path

    old = rr.load(Path(__file__).parent.parent / "data" / "v0.1" / "first" / "RE-GR.rulerank")
    with pytest.raises(DataError, match="models of the first version have no votes for cells without training rows"):
        old.additive()
