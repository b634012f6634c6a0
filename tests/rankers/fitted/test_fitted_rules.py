"""FittedRules as a whole: the same bits always, monotone where asked, weights, categories, few labels, explanations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import rulerank as rr
from plain.fitted import additive_scores_plainly, without_turns_plainly
from rulerank.errors import DataError
from rulerank.rankers.fitted.bins import without_turns
from rulerank.rankers.foreign import fresh_for_part


@pytest.fixture(scope="module")
def synthetic():
    return rr.datasets.make_ranking(n_queries=60, n_features=8, seed=3)


@pytest.fixture(scope="module")
def fitted(synthetic):
    return rr.FittedRules().fit(synthetic)


def model_bytes(ranker, path):
    ranker.save(path)
    return path.read_bytes()


def test_it_ends_where_features_tell_everything():
    synthetic = rr.datasets.make_ranking(n_queries=40, n_features=4, seed=0)
    first = np.nan_to_num(synthetic.X[:, 0])
    grades = (first > np.median(first)).astype(int)
    ranker = rr.FittedRules(n_jobs=1).fit(synthetic.X, grades, qid=synthetic.qid)
    assert max(ranker.n_rounds_) < 5_000  # a hundred thousand for each stage before
    found, best = (
        rr.evaluate(grades, s, synthetic.qid, "MAP").means["MAP"] for s in (ranker.predict(synthetic.X), grades)
    )
    assert found == pytest.approx(best, abs=0.001)


def test_threads_and_the_order_of_the_rows_change_no_byte(synthetic, fitted, tmp_path):
    expected = model_bytes(fitted, tmp_path / "model.rulerank")
    shuffled = synthetic[np.random.default_rng(0).permutation(len(synthetic))]
    for n_jobs, data in ((1, synthetic), (2, shuffled), (4, synthetic)):
        assert model_bytes(rr.FittedRules(n_jobs=n_jobs).fit(data), tmp_path / f"{n_jobs}.rulerank") == expected


def test_a_score_is_the_plain_sum_of_the_tables_votes(synthetic, fitted):
    assert fitted.predict(synthetic[:50]).tolist() == additive_scores_plainly(fitted.tables_, synthetic.X[:50])


def test_pairs_are_few_and_can_be_left_out(synthetic, fitted):
    assert 0 < len(fitted.pairs_) <= 30
    assert len(rr.FittedRules(max_pairs=2).fit(synthetic).pairs_) <= 2
    assert rr.FittedRules(max_pairs=0).fit(synthetic).pairs_ == ()


@pytest.mark.parametrize("normalize", [None, "zscore"])
def test_monotone_votes_never_go_the_other_way(synthetic, normalize):
    signs = {synthetic.feature_names[0]: 1, synthetic.feature_names[1]: -1}
    ranker = rr.FittedRules(monotone=signs, normalize=normalize).fit(synthetic)
    rng = np.random.default_rng(0)
    for feature, sign in ((0, 1), (1, -1)):
        rows = ranker.check_rows(synthetic, None)[rng.choice(len(synthetic), 40)]
        known = rows[~np.isnan(rows[:, feature]), feature]
        values = np.sort(np.concatenate([np.quantile(known, np.linspace(0, 1, 60)), [-1e9, 1e9]]))
        tried = np.repeat(rows, values.size + 1, axis=0).astype(np.float64)
        tried[:, feature] = np.tile([*values, np.nan], len(rows))
        scores = ranker.tables_.score(tried).reshape(len(rows), -1)
        assert (sign * np.diff(scores[:, :-1], axis=1) >= 0).all()
        assert (scores[:, -1] <= scores[:, :-1].min(axis=1)).all()  # a missing value is the worst


def with_good_missing_prices(n_queries):
    """The cheaper the better, and where the price is missing the document is always relevant."""
    rng = np.random.default_rng(0)
    X = rng.random((n_queries * 20, 3)).astype(np.float32)
    y = (X[:, 0] < 0.3).astype(int)
    missing = rng.random(len(X)) < 0.2
    X[missing, 0], y[missing] = np.nan, 1
    return rr.Dataset(X, y, np.repeat(np.arange(n_queries), 20), feature_names=["price", "a", "b"])


@pytest.mark.parametrize("n_queries", [10, 60])  # a straight line, and boosted tables
def test_a_document_without_a_price_does_not_beat_one_with_a_bad_price(n_queries):
    data = with_good_missing_prices(n_queries)
    free, bound = rr.FittedRules().fit(data), rr.FittedRules(monotone={"price": -1}).fit(data)
    none, bad, good = rr.Dataset([[np.nan, 0.5, 0.5], [0.99, 0.5, 0.5], [0.01, 0.5, 0.5]], [0] * 3, ["q"] * 3).X
    assert free.predict([none])[0] > free.predict([bad])[0]  # what the data say
    assert bound.predict([none])[0] <= bound.predict([bad])[0] < bound.predict([good])[0]


@pytest.mark.parametrize("n_queries", [10, 60])
def test_missing_values_that_training_never_saw_are_the_worst_where_votes_are_monotone(n_queries):
    data = with_good_missing_prices(n_queries)
    ranker = rr.FittedRules(monotone={"price": -1}).fit(data[~np.isnan(data.X[:, 0])])
    none, bad, middle = ranker.predict([[np.nan, 0.5, 0.5], [0.99, 0.5, 0.5], [0.5, 0.5, 0.5]])
    assert none == bad < middle


def test_few_labels_get_a_straight_line(synthetic):
    few = synthetic[np.isin(synthetic.qid, np.unique(synthetic.qid)[:10])]
    ranker = rr.FittedRules().fit(few)
    assert ranker.n_rounds_ == ()
    assert all(len(table.features) == 1 for table in ranker.tables_.tables)
    line = rr.QueryIntercepts(l2=100, missing="mean").fit(few)
    assert np.corrcoef(ranker.predict(few), line.predict(few))[0, 1] > 0.98


def test_weights_of_one_change_nothing_and_of_zero_leave_rows_out(synthetic, fitted):
    ones = rr.FittedRules().fit(synthetic, sample_weight=np.ones(len(synthetic)))
    assert np.array_equal(ones.predict(synthetic), fitted.predict(synthetic))
    kept = np.arange(len(synthetic)) % 5 > 0
    some = rr.FittedRules().fit(synthetic, sample_weight=kept)
    assert np.array_equal(some.predict(synthetic), rr.FittedRules().fit(synthetic[kept]).predict(synthetic))


def test_a_model_of_before_that_chose_its_scale_by_itself_loads(synthetic):
    ranker = rr.FittedRules(normalize="zscore").fit(synthetic)
    state = ranker.to_state()
    before = state | {
        "params": state["params"] | {"normalize": "auto"},
        "learned": state["learned"] | {"view": "zscore"},
    }
    again = rr.FittedRules.from_state(before)
    assert again.normalize_ == "zscore"
    assert np.array_equal(again.predict(synthetic), ranker.predict(synthetic))


def test_many_rows_are_looked_at_in_windows(synthetic, monkeypatch):
    monkeypatch.setattr("rulerank.rankers.fitted.boosting.WINDOW_ROWS", 500)
    windowed = rr.FittedRules().fit(synthetic)
    monkeypatch.undo()
    whole = rr.FittedRules().fit(synthetic)
    assert np.corrcoef(windowed.predict(synthetic), whole.predict(synthetic))[0, 1] > 0.85


@pytest.mark.parametrize("grades", [[0] * 8, [1] * 8])
def test_nothing_to_learn_from_is_said(grades):
    X = np.arange(16.0).reshape(8, 2)
    with pytest.warns(
        ConvergenceWarning, match="no query has documents of different grades: there is nothing to learn"
    ):
        ranker = fresh_for_part(rr.FittedRules()).fit(X, grades, qid=[0] * 4 + [1] * 4)
    assert ranker.predict(X).tolist() == [0.0] * 8
    assert ranker.explain(X[0]).score == 0.0


def test_constant_missing_and_huge_features_do_no_harm(synthetic):
    n = len(synthetic)
    odd = np.column_stack([np.ones(n), np.full(n, np.nan), np.where(np.arange(n) % 2, 1e38, -1e38)])
    X = np.column_stack([synthetic.X, odd])
    ranker = rr.FittedRules().fit(X, synthetic.y, qid=synthetic.qid)
    assert np.isfinite(ranker.predict(X)).all()
    assert np.isfinite(ranker.predict(np.full((1, X.shape[1]), np.nan))).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"monotone": ["a"]}, r"monotone must be \"match\" or give 1 or -1 by feature name, such as .* got \['a'\]"),
        ({"monotone": {"pagerank": 2}}, "monotone must be .* give 1 or -1 by feature name"),
        ({"monotone": "matches"}, "monotone must be .* give 1 or -1 by feature name, such as .* got 'matches'"),
        ({"monotone": {"nobody": 1}}, "monotone names 'nobody', which is not a feature; the features are"),
    ],
)
def test_mistakes_are_named(synthetic, params, message):
    with pytest.raises(DataError, match=message):
        rr.FittedRules(**params).fit(synthetic)


def test_match_makes_all_match_features_rise_and_needs_one(synthetic):
    matching = {name: 1 for name in synthetic.feature_names if name.startswith("bm25")}
    assert 0 < len(matching) < len(synthetic.feature_names)
    one, other = (rr.FittedRules(monotone=how).fit(synthetic) for how in ("match", matching))
    assert np.array_equal(one.predict(synthetic), other.predict(synthetic))
    unnamed = rr.Dataset(synthetic.X, synthetic.y, synthetic.qid)
    with pytest.raises(DataError, match=r'monotone="match" found no feature such as bm25\(title\) .* among f1, f2, f3'):
        rr.FittedRules(monotone="match").fit(unnamed)


def turns(votes):
    steps = np.diff(votes)
    signs = np.sign(steps[steps != 0])
    return int((signs[1:] != signs[:-1]).sum())


def test_merged_curves_turn_less_and_everything_else_stays(synthetic, fitted, tmp_path):
    merged = rr.FittedRules(merge=True).fit(synthetic)
    for one, other in zip(merged.tables_.tables, fitted.tables_.tables, strict=True):
        if len(one.features) > 1:
            assert np.array_equal(one.votes, other.votes)
        else:
            assert turns(one.votes[:-1]) <= turns(other.votes[:-1])
    before, after = (
        sum(turns(table.votes[:-1]) for table in ranker.tables_.tables if len(table.features) == 1)
        for ranker in (fitted, merged)
    )
    assert after < before / 3
    merged.save(tmp_path / "merged.rulerank")
    assert np.array_equal(rr.load(tmp_path / "merged.rulerank").predict(synthetic), merged.predict(synthetic))


@given(st.integers(0, 10_000))
def test_bins_are_merged_as_one_would_by_hand(seed):
    rng = np.random.default_rng(seed)
    votes, counts = rng.normal(size=(3, 6)).cumsum(axis=1) + 2 * rng.normal(size=6), rng.integers(0, 4, 6)
    assert without_turns(votes, counts) == pytest.approx(without_turns_plainly(votes, counts))


def test_categories_that_few_labels_leave_out_are_named():
    rng = np.random.default_rng(0)
    X, y = np.column_stack([rng.integers(0, 2, 200), rng.random(200)]), rng.integers(0, 2, 200)
    data = rr.Dataset(
        X, y, np.repeat(np.arange(20), 10), feature_names=("brand", "f"), categories={"brand": ("a", "b")}
    )
    with pytest.warns(
        UserWarning, match=r"categories are left out \(brand\): with fewer than 500 labels or 15 queries"
    ):
        ranker = rr.FittedRules().fit(data)
    assert {f for table in ranker.tables_.tables for f in table.features} <= {1}
