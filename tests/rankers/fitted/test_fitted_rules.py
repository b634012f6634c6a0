"""FittedRules as a whole: the same bits always, monotone where asked, weights, categories, few labels, explanations."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import rulerank as rr
from plain.fitted import additive_scores_plainly
from rulerank.errors import DataError, ModelFileError
from rulerank.rankers.foreign import fresh_for_part


@pytest.fixture(scope="module")
def world():
    return rr.make_ranking(n_queries=60, n_features=8, seed=3)


@pytest.fixture(scope="module")
def fitted(world):
    return rr.FittedRules().fit(world)


def model_bytes(ranker, path):
    ranker.save(path)
    return path.read_bytes()


def test_it_ends_where_features_tell_everything():
    world = rr.make_ranking(n_queries=40, n_features=4, seed=0)
    first = np.nan_to_num(world.X[:, 0])
    grades = (first > np.median(first)).astype(int)
    ranker = rr.FittedRules(n_jobs=1).fit(world.X, grades, qid=world.qid)
    assert max(ranker.n_rounds_) < 5_000  # a hundred thousand for each stage before
    found, best = (rr.evaluate(grades, s, world.qid, "MAP").means["MAP"] for s in (ranker.predict(world.X), grades))
    assert found == pytest.approx(best, abs=0.001)


def test_threads_and_another_fit_change_no_byte(world, fitted, tmp_path):
    expected = model_bytes(fitted, tmp_path / "model.rulerank")
    for n_jobs in (1, 2, 4):
        again = rr.FittedRules(n_jobs=n_jobs).fit(world)
        assert model_bytes(again, tmp_path / f"{n_jobs}.rulerank") == expected


def test_the_order_of_the_rows_changes_no_byte(world, fitted, tmp_path):
    order = np.random.default_rng(0).permutation(len(world))
    again = rr.FittedRules().fit(world[order])
    assert model_bytes(again, tmp_path / "a.rulerank") == model_bytes(fitted, tmp_path / "b.rulerank")


def test_a_score_is_the_plain_sum_of_the_tables_votes(world, fitted):
    assert fitted.predict(world[:50]).tolist() == additive_scores_plainly(fitted.tables_, world.X[:50])


def test_pairs_are_few_and_can_be_left_out(world, fitted):
    assert 0 < len(fitted.pairs_) <= 30
    assert len(rr.FittedRules(max_pairs=2).fit(world).pairs_) <= 2
    assert rr.FittedRules(max_pairs=0).fit(world).pairs_ == ()


@pytest.mark.parametrize("normalize", [None, "zscore"])
def test_monotone_votes_never_go_the_other_way(world, normalize):
    signs = {world.feature_names[0]: 1, world.feature_names[1]: -1}
    ranker = rr.FittedRules(monotone=signs, normalize=normalize).fit(world)
    rng = np.random.default_rng(0)
    for feature, sign in ((0, 1), (1, -1)):
        rows = ranker.check_rows(world, None)[rng.choice(len(world), 40)]
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


def test_few_labels_get_a_straight_line(world):
    few = world[np.isin(world.qid, np.unique(world.qid)[:10])]
    ranker = rr.FittedRules().fit(few)
    assert ranker.n_rounds_ == ()
    assert all(len(table.features) == 1 for table in ranker.tables_.tables)
    line = rr.QueryIntercepts(l2=100, missing="mean").fit(few)
    assert np.corrcoef(ranker.predict(few), line.predict(few))[0, 1] > 0.98


def test_weights_of_one_change_nothing_and_of_zero_leave_rows_out(world, fitted):
    ones = rr.FittedRules().fit(world, sample_weight=np.ones(len(world)))
    assert np.array_equal(ones.predict(world), fitted.predict(world))
    kept = np.arange(len(world)) % 5 > 0
    some = rr.FittedRules().fit(world, sample_weight=kept)
    assert np.array_equal(some.predict(world), rr.FittedRules().fit(world[kept]).predict(world))


def test_a_model_of_before_that_chose_its_scale_by_itself_loads(world):
    ranker = rr.FittedRules(normalize="zscore").fit(world)
    state = ranker.to_state()
    before = state | {
        "params": state["params"] | {"normalize": "auto"},
        "learned": state["learned"] | {"view": "zscore"},
    }
    again = rr.FittedRules.from_state(before)
    assert again.normalize_ == "zscore"
    assert np.array_equal(again.predict(world), ranker.predict(world))


def test_many_rows_are_looked_at_in_windows(world, monkeypatch):
    monkeypatch.setattr("rulerank.rankers.fitted.stages.WINDOW_ROWS", 500)
    windowed = rr.FittedRules().fit(world)
    monkeypatch.undo()
    whole = rr.FittedRules().fit(world)
    assert np.corrcoef(windowed.predict(world), whole.predict(world))[0, 1] > 0.85


@pytest.mark.parametrize("grades", [[0] * 8, [1] * 8])
def test_nothing_to_learn_from_is_said(grades):
    X = np.arange(16.0).reshape(8, 2)
    with pytest.warns(
        ConvergenceWarning, match="no query has documents of different grades: there is nothing to learn"
    ):
        ranker = fresh_for_part(rr.FittedRules()).fit(X, grades, qid=[0] * 4 + [1] * 4)
    assert ranker.predict(X).tolist() == [0.0] * 8
    assert ranker.explain(X[0]).score == 0.0


def test_constant_missing_and_huge_features_do_no_harm(world):
    n = len(world)
    odd = np.column_stack([np.ones(n), np.full(n, np.nan), np.where(np.arange(n) % 2, 1e38, -1e38)])
    X = np.column_stack([world.X, odd])
    ranker = rr.FittedRules().fit(X, world.y, qid=world.qid)
    assert np.isfinite(ranker.predict(X)).all()
    assert np.isfinite(ranker.predict(np.full((1, X.shape[1]), np.nan))).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_pairs": -1}, "max_pairs must be a whole number between 0 and 10,000: got -1"),
        ({"n_folds": 1}, "n_folds must be a whole number between 2 and 100: got 1"),
        ({"seed": -1}, "seed must be a whole number from 0: got -1"),
        ({"normalize": "loud"}, "unknown normalize 'loud'; choose from None, minmax, rank, zscore$"),
        ({"monotone": ["a"]}, r"monotone must give 1 or -1 by feature name, such as .* got \['a'\]"),
        ({"monotone": {"pagerank": 2}}, "monotone must give 1 or -1 by feature name"),
        ({"monotone": {"nobody": 1}}, "monotone names 'nobody', which is no feature; the features are"),
    ],
)
def test_mistakes_are_named(world, params, message):
    with pytest.raises(DataError, match=message):
        rr.FittedRules(**params).fit(world)


def test_damaged_tables_in_a_model_are_refused(fitted):
    state = fitted.to_state()
    state["learned"]["tables"]["tables"][0]["votes"] = np.zeros(2)
    with pytest.raises(ModelFileError, match="the tables cannot be read"):
        rr.FittedRules.from_state(state)


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
