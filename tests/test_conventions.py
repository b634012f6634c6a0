"""What people of scikit-learn, LightGBM, pandas and Polars expect of a ranker."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import is_regressor
from sklearn.feature_selection import SelectFromModel
from sklearn.inspection import partial_dependence
from sklearn.model_selection import cross_val_score

import rulerank as rr
from plain.importances import importances_plainly
from rulerank.errors import DataError, ModelFileError
from rulerank.rankers.rows import sample_of

SYNTHETIC = rr.datasets.make_ranking(n_queries=20, docs_per_query=(5, 15), n_features=6, seed=3)
NAMES = list(SYNTHETIC.feature_names)
FULL = rr.Dataset(np.nan_to_num(SYNTHETIC.X), SYNTHETIC.y, SYNTHETIC.qid, feature_names=SYNTHETIC.feature_names)
RANKERS = {
    "tables": rr.FittedRules(),
    "rules": rr.GlobalRules(),
    "rules, literal": rr.GlobalRules(votes="mean"),
    "linear": rr.QueryIntercepts(l2=1.0, missing="mean"),
    "baseline": rr.Anchored(baseline=0),
    "by query": rr.StableRules(normalize="rank"),
}


@pytest.mark.parametrize("ranker", RANKERS.values(), ids=RANKERS)
def test_importances_are_what_explain_adds_less_the_mean_of_the_query(ranker):
    fitted = sklearn.clone(ranker).fit(SYNTHETIC)
    shares = np.zeros(SYNTHETIC.X.shape)
    for row in range(len(SYNTHETIC)):
        for share in fitted.explain(SYNTHETIC, row).features:
            shares[row, NAMES.index(share.feature.removeprefix("baseline ranking "))] += share.adds
    expected = importances_plainly(shares, SYNTHETIC.qid)
    assert fitted.feature_importances_ == pytest.approx(expected, abs=1e-9)
    assert fitted.importances(SYNTHETIC) == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(1, 60))
def test_a_sample_holds_whole_queries_unless_one_is_too_large(sizes, most):
    queries = np.repeat(np.arange(len(sizes)), sizes)
    found = sample_of(np.arange(len(queries))[:, None], queries, most)
    assert 1 <= len(found.queries) <= max(most, 1)
    assert np.array_equal(queries[found.X[:, 0]], found.queries)
    kept = np.unique(found.queries)
    assert len(kept) == 1 or len(found.queries) == sum(sizes[query] for query in kept)


def test_importances_forget_rows_that_were_removed():
    ranker = rr.GlobalRules().fit(SYNTHETIC)
    state = ranker.to_state()
    assert "importances" in state
    ranker.unlearn(SYNTHETIC[SYNTHETIC.qid == "q3"])
    assert "importances" not in ranker.to_state()
    assert not hasattr(ranker, "feature_importances_")
    with pytest.raises(AttributeError, match=r"has no importances \(rows were added or removed, .* call importances\("):
        ranker.feature_importances_  # noqa: B018
    with pytest.raises(ModelFileError, match=r"^expected 6 importances: got \(2,\)$"):
        rr.GlobalRules.from_state(state | {"importances": np.ones(2)})
    with pytest.raises(DataError, match=r"importances needs the query of each row: importances\(X, qid=qid\)"):
        ranker.importances(SYNTHETIC.X)


def test_features_are_selected_by_importance():
    chosen = SelectFromModel(rr.FittedRules().fit(FULL.X, FULL.y, qid=FULL.qid), prefit=True, max_features=2)
    assert chosen.transform(FULL.X).shape == (len(FULL), 2)


def test_score_follows_the_routing_of_queries():
    with sklearn.config_context(enable_metadata_routing=True):
        ranker, qid = rr.QueryIntercepts(l2=1.0), {"qid": FULL.qid}
        found = cross_val_score(ranker, FULL.X, FULL.y, cv=rr.QueryKFold(3), params=qid)
    assert found.shape == (3,)
    assert 0 < found.min() < found.max() < 1


def test_score_without_grades_says_how():
    with pytest.raises(DataError, match=r"score needs one grade per row: score\(X, y, qid=qid\)"):
        rr.QueryIntercepts(l2=1.0).fit(FULL).score(FULL.X)


@pytest.mark.parametrize("ranker", [rr.FittedRules(), rr.QueryIntercepts(l2=1.0, missing="mean")])
def test_partial_dependence_is_the_mean_score_along_a_feature(ranker):
    ranker.fit(SYNTHETIC.X, SYNTHETIC.y, qid=SYNTHETIC.qid)
    found = partial_dependence(ranker, SYNTHETIC.X, [1], grid_resolution=5)
    for value, mean in zip(found["grid_values"][0], found["average"][0], strict=True):
        changed = SYNTHETIC.X.copy()
        changed[:, 1] = value
        assert mean == pytest.approx(ranker.predict(changed).mean())


def test_a_ranker_is_a_regressor_only_to_tools_that_look_at_fitted_ones():
    assert not is_regressor(rr.GlobalRules())
    assert is_regressor(rr.GlobalRules().fit(SYNTHETIC))


ORDER = np.random.default_rng(0).permutation(len(FULL))


def frames():
    """The same rows in frames whose index says something else than the place of a row."""
    for index in (ORDER, [f"doc {i}" for i in ORDER], [7] * len(FULL)):
        frame = pd.DataFrame(FULL.X, columns=NAMES, index=index)
        yield frame, pd.Series(FULL.y, index=index[::-1]), pd.Series(list(FULL.qid), index=index)
    yield pl.DataFrame(FULL.X, schema=NAMES), pl.Series(FULL.y), pl.Series(list(FULL.qid))


def test_rows_of_frames_go_by_place_whatever_their_index():
    expected = rr.GlobalRules().fit(FULL)
    for X, y, qid in frames():
        ranker = rr.GlobalRules().fit(X, y, qid=qid)
        scores = ranker.predict(X)
        assert isinstance(scores, np.ndarray)
        assert np.array_equal(scores, expected.predict(FULL))
        assert ranker.score(X, y, qid) == expected.score(FULL)
        assert ranker.feature_names_ == tuple(NAMES)
        assert rr.evaluate(y, scores, qid).means == rr.evaluate(FULL, expected.predict(FULL)).means
        assert rr.Dataset(X, y, qid).y.tolist() == FULL.y.tolist()
