"""A model, such as one learned from clicks, as the baseline ranking of the learners for few labels."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

import rulerank as rr
from rulerank.errors import DataError, ModelFileError
from rulerank.model_file import RANKER, _unpack, described


@pytest.fixture(scope="module")
def data():
    return rr.datasets.make_ranking(n_queries=30, n_features=4, seed=4)


@pytest.fixture(scope="module")
def clicks(data):
    seen = rr.clicks.simulate_clicks(data, data.X[:, 0], n_impressions=4000, seed=0)
    return rr.QueryIntercepts(l2=100.0, missing="mean").fit(seen)


@pytest.fixture(scope="module")
def rules(data):
    return rr.FittedRules(max_pairs=1).fit(data[:600])


def label_first(data, n):
    return replace(data, y=np.where(np.arange(len(data)) < n, data.y, -1))


def same_order(data, one, two):
    """Tell whether two scores rank the documents of every query alike."""
    return all(
        np.array_equal(np.argsort(one[own], kind="stable"), np.argsort(two[own], kind="stable"))
        for own in (data.qid == query for query in np.unique(data.qid))
    )


def test_labels_move_it_and_many_labels_move_it_further(data, clicks):
    def moved(n):
        ranker = rr.Anchored(baseline=clicks).fit(label_first(data, n))
        return np.abs(ranker.contributions(data).by_feature(99)[:, : len(data.feature_names)]).mean()

    assert 0 < moved(20) < moved(len(data))


def test_the_score_is_the_models_z_score_weighed_and_the_tables_of_the_features(data, clicks):
    ranker = rr.Anchored(baseline=clicks).fit(data[:200])
    own = data[data.qid == data.qid[0]]
    column = clicks.predict(own)
    column = (column - column.mean()) / column.std()
    rows = np.column_stack([own.X.astype(np.float64), np.zeros(len(own))])
    expected = ranker.tables_.score(rows) + column * ranker.tables_.weights[-1]
    assert ranker.predict(own) == pytest.approx(expected, abs=1e-6)
    assert not ranker.tables_.weights[:-1].any()
    assert ranker.needs_the_query()
    with pytest.raises(DataError, match="is a QueryIntercepts model, whose scores are normalised by query: give"):
        ranker.predict(own.X)


def test_the_file_holds_the_model_and_gives_the_same_to_the_bit(data, clicks, rules, tmp_path):
    for model in (clicks, rules, rr.Anchored(baseline=clicks).fit(data[:60])):
        ranker = rr.Anchored(baseline=model).fit(label_first(data, 100))
        ranker.save(tmp_path / "model.rulerank")
        again = rr.load(tmp_path / "model.rulerank")
        assert np.array_equal(again.predict(data), ranker.predict(data))
        assert np.array_equal(again.baseline.predict(data), model.predict(data))
        assert again.explain(data, 3).lines() == ranker.explain(data, 3).lines()
        again.save(tmp_path / "again.rulerank")
        assert (tmp_path / "again.rulerank").read_bytes() == (tmp_path / "model.rulerank").read_bytes()


def test_reasons_add_up_and_say_which_model_it_starts_from(data, clicks, rules):
    for model in (clicks, rules):
        ranker = rr.Anchored(baseline=model).fit(data[:200])
        why = ranker.explain(data, 3)
        assert why.baseline == f"baseline ranking of {type(model).__name__}"
        assert {share.feature for share in why.features} <= {why.baseline, *data.feature_names}
        assert why.baseline in {share.feature for share in why.features}
        score = ranker.predict(data)[3]
        assert why.base + sum(share.adds for share in why.features) == pytest.approx(score, abs=1e-9)
        assert "explain the baseline itself to see what it is made of" in " ".join(why.notes)
        versus = ranker.explain(data, 3, versus=7)
        assert versus.difference == pytest.approx(abs(score - ranker.predict(data)[7]), abs=1e-9)
        assert ranker.feature_importances_.shape == (4,)
        few = rr.Anchored(baseline=model).fit(label_first(data, 100))
        assert few.feature_importances_.shape == (4,)
        assert np.array_equal(few.predict(data.X, qid=data.qid), few.predict(data))
        assert ranker.overview(data[:60]).method.startswith("Anchored")


def test_columns_go_by_name_and_frames_do_as_well(data, clicks):
    ranker = rr.Anchored(baseline=clicks).fit(data[:200])
    order = [2, 0, 3, 1]
    turned = replace(data, X=data.X[:, order], feature_names=tuple(data.feature_names[i] for i in order))
    assert np.array_equal(ranker.predict(turned), ranker.predict(data))
    frame = pl.DataFrame(dict(zip(turned.feature_names, turned.X.T, strict=True)))
    assert np.array_equal(ranker.predict(frame, qid=data.qid), ranker.predict(data))
    by_frame = rr.Anchored(baseline=rr.QueryIntercepts(missing="mean").fit(frame, data.y, qid=data.qid))
    assert by_frame.fit(data[:200]).predict(data).shape == (len(data),)


def test_categories_reach_the_model_by_name():
    kinds, rng = ("Drama", "War"), np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(60), rng.integers(0, 2, 60)])
    data = rr.Dataset(X, (X[:, 1] > 0).astype(int), np.repeat(range(6), 10), None, ("bm25", "genre"),
                      categories={"genre": kinds})  # fmt: skip
    model = rr.GlobalRules(max_size=1).fit(data)
    ranker = rr.Anchored(baseline=model).fit(label_first(data, 20))
    swapped = replace(data, X=np.column_stack([X[:, 0], 1 - X[:, 1]]), categories={"genre": kinds[::-1]})
    assert np.array_equal(ranker.predict(swapped), ranker.predict(data))
    assert ranker.coef_[1] == 0
    with pytest.raises(DataError, match="has different categories of genre from the data: train it on this data"):
        rr.select(swapped, baseline=model)


def test_copies_start_from_the_same_fitted_model(data, clicks):
    asked = rr.Anchored(baseline=clicks)
    copied = clone(asked)
    assert copied.baseline is clicks
    assert copied.get_params()["baseline__l2"] == 100.0
    assert same_order(data, copied.start(data).predict(data), clicks.predict(data))
    assert clone(rr.Anchored(baseline="bm25_body")).baseline == "bm25_body"


def test_what_happens_to_the_model_later_changes_nothing_that_was_learned(data, clicks):
    model = rr.QueryIntercepts(l2=100.0, missing="mean").fit(data)
    ranker = rr.Anchored(baseline=model).fit(data[:100])
    before = ranker.predict(data)
    model.fit(replace(data, y=data.y.max() - data.y))
    ranker.set_params(baseline="bm25_body")
    assert np.array_equal(ranker.predict(data), before)
    assert rr.Anchored(baseline=clicks).fit(data[:100]).set_params(baseline=0).fit(data[:100]).coef_.shape == (4,)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (rr.QueryIntercepts(), "baseline: this QueryIntercepts is not fitted: fit it first"),
        (LinearRegression(), r"or a fitted ranker of this library, such as QueryIntercepts: got LinearRegression\(\)"),
    ],
)
def test_what_is_no_fitted_ranker_is_refused(data, wrong, message):
    with pytest.raises(DataError, match=message):
        rr.Anchored(baseline=wrong).fit(data)
    with pytest.raises(DataError, match=message):
        rr.select(data, baseline=wrong)


def test_a_model_of_other_features_is_refused(data):
    other = rr.QueryIntercepts(l2=1.0).fit(
        rr.Dataset([[0.0, 1.0], [1.0, 2.0]], [0, 1], [1, 1], None, ("price", "bm25_body"))
    )
    message = r"baseline: this QueryIntercepts needs price, which the data lacks \(it has bm25_body, "
    for learn in (
        lambda: rr.Anchored(baseline=other).fit(data),
        lambda: rr.Anchored(baseline=other).start(data),
        lambda: rr.select(data, rr.Anchored(baseline=other), baseline=other),
    ):
        with pytest.raises(DataError, match=message):
            learn()


def test_a_model_of_more_columns_than_an_array_has_is_refused(data, clicks):
    with pytest.raises(DataError, match="baseline: this QueryIntercepts was trained on 4 features: the data has 2"):
        rr.Anchored(baseline=clicks).fit(data.X[:, :2], data.y, qid=data.qid)


def test_no_export_pretends_that_it_is_a_sum(data, clicks):
    ranker = rr.Anchored(baseline=clicks).fit(data[:200])
    with pytest.raises(DataError, match="is not additive: it starts from scores that are normalised"):
        ranker.additive()
    with pytest.raises(DataError, match="this Anchored cannot be exported: it starts from a ranking"):
        rr.export_model(ranker, "solr-ltr")


def test_a_file_whose_parts_do_not_fit_is_refused(data, clicks):
    state = rr.Anchored(baseline=clicks).fit(data[:100]).to_state()
    other = rr.QueryIntercepts(l2=1.0).fit(rr.Dataset([[0.0], [1.0]], [0, 1], [1, 1], None, ("price",)))
    for change, message in [
        ({"baseline_model": 7}, "expected a ranker as baseline_model: got int"),
        ({"baseline_model": other}, "needs price, which the data lacks"),
        ({"baseline_column": 2}, "expected the baseline ranking among 5 columns, and a sign: got 2 and 1"),
        ({"coef": np.zeros(4)}, r"expected 5 numbers, one per feature: got \(4,\)"),
    ]:
        with pytest.raises(DataError, match=message):
            rr.Anchored.from_state(state | {"learned": state["learned"] | change})


def test_only_a_ranker_may_lie_inside_another(data, clicks):
    saved = described(clicks)
    assert np.array_equal(_unpack({RANKER: saved}, []).predict(data), clicks.predict(data))
    with pytest.raises(ModelFileError, match=r"holds a 'os\.system', which rulerank"):
        _unpack({RANKER: saved | {"class": "os.system"}}, [])
    with pytest.raises(ModelFileError, match="expected a ranker inside another: got Reranker"):
        _unpack({RANKER: described(rr.Reranker(clicks))}, [])
