"""What every ranker promises, a function each; make() makes the ranker."""

import inspect
import warnings

import joblib
import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

import rulerank as rr
from rulerank._util.parameters import parameters_of
from rulerank.errors import DataError


def obvious_synthetic(n_queries=12, n_docs=30, seed=0):
    """Three features, of which the first decides the grade and the others are noise; one value is missing."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_queries * n_docs, 3)).astype(np.float32)
    y = np.digitize(X[:, 0], [0.5, 0.8])
    X[0, 2] = np.nan
    return X, y, np.repeat([f"q{i}" for i in range(n_queries)], n_docs)


X, y, qid = obvious_synthetic()
# another value that each parameter may have, to be set after fit
OTHERS = (None, True, False, 3, 1, 0.5, 0.0, "rank", "mean", "yule_q", "equal_width", "share", "best", "query")


def check_init_only_stores(make):
    defaults = {name: p.default for name, p in inspect.signature(make).parameters.items()}
    assert vars(make()) == defaults


def check_fit_returns_self_and_leaves_the_input_alone(make):
    before = X.copy()
    ranker = make()
    assert ranker.fit(X, y, qid=qid) is ranker
    assert np.array_equal(X, before, equal_nan=True)


def check_finds_the_obvious_ranking(make):
    X_new, y_new, qid_new = obvious_synthetic(seed=1)
    scores = make().fit(X, y, qid=qid).predict(X_new)
    assert rr.evaluate(y_new, scores, qid_new, ["NDCG@10"]).means["NDCG@10"] > 0.95


def check_rows_and_queries_come_in_any_order(make):
    order = np.random.default_rng(0).permutation(len(X))
    one = make().fit(X, y, qid=qid).predict(X)
    other = make().fit(X[order], y[order], qid=qid[order]).predict(X)
    assert one == pytest.approx(other, abs=1e-9)


def check_group_sizes_name_queries_as_ids_do(make):
    by_group, by_id = make().fit(X, y, group=[30] * 12), make().fit(X, y, qid=qid)
    assert np.array_equal(by_group.predict(X), by_id.predict(X))
    assert by_group.score(X, y, group=[30] * 12) == by_id.score(X, y, qid=qid)


def check_any_hashable_ids_name_queries(make):
    numbers = np.unique(qid, return_inverse=True)[1]
    tuples = np.empty(len(qid), dtype=object)
    tuples[:] = [("q", int(n)) for n in numbers]
    one = make().fit(X, y, qid=qid).predict(X)
    for ids in (numbers, tuples, list(qid)):
        assert np.array_equal(make().fit(X, y, qid=ids).predict(X), one)


def check_a_row_alone_scores_as_among_others(make):
    ranker = make().fit(X, y, qid=qid)
    together = ranker.predict(X[:40])
    assert np.array_equal(together, [ranker.predict(X[i : i + 1])[0] for i in range(40)])


def check_threads_do_not_change_a_bit(make):
    one, two = (make(n_jobs=n).fit(X, y, qid=qid).predict(X) for n in (1, 2))
    assert np.array_equal(one, two)


def check_clone_learns_the_same(make):
    ranker = make().fit(X, y, qid=qid)
    assert np.array_equal(clone(ranker).fit(X, y, qid=qid).predict(X), ranker.predict(X))


def check_a_data_set_is_taken_whole_and_matched_by_name(make):
    data = rr.Dataset(X, y, qid, feature_names=("bm25", "tf", "noise"))
    ranker = make().fit(data)
    shuffled = rr.Dataset(X[:, [2, 0, 1]], y, qid, feature_names=("noise", "bm25", "tf"))
    assert np.array_equal(ranker.predict(shuffled), make().fit(X, y, qid=qid).predict(X))
    with pytest.raises(DataError, match="the data lacks 1 of the 3 features the model was trained on: bm25; it has 2"):
        ranker.predict(rr.Dataset(X[:, 1:], y, qid, feature_names=("tf", "noise")))


def check_normalised_by_query_it_needs_the_queries(make):
    ranker = make(normalize="rank").fit(X, y, qid=qid)
    assert ranker.predict(X, qid=qid).shape == y.shape
    with pytest.raises(DataError, match=r"normalises features by query \(normalize='rank'\).*predict\(X, qid=qid\)"):
        ranker.predict(X)


def check_one_scale_per_query_undoes_another(make):
    scale = np.unique(qid, return_inverse=True)[1][:, None] + 1.0
    one = make(normalize="minmax").fit(X, y, qid=qid).predict(X, qid=qid)
    other = make(normalize="minmax").fit(X * scale + scale, y, qid=qid).predict(X * scale + scale, qid=qid)
    assert np.corrcoef(one, other)[0, 1] > 0.999


def check_set_params_changes_nothing_that_was_fitted(make):
    ranker = make().fit(X, y, qid=qid)
    before = ranker.predict(X, qid=qid)
    for name, parameter in parameters_of(type(ranker)).items():
        now = getattr(ranker, name)
        for value in OTHERS:
            if parameter.accepts(value) and value != now:
                ranker.set_params(**{name: value})
    assert ranker.get_params() != make().get_params()
    assert np.array_equal(ranker.predict(X, qid=qid), before)
    if hasattr(ranker, "rules_for"):
        assert ranker.rules_for(X[7]) == make().fit(X, y, qid=qid).rules_for(X[7])


def check_saved_and_loaded_it_scores_the_same(make, tmp_path):
    ranker = make().fit(X, y, qid=qid)
    ranker.save(tmp_path / "model.rulerank")
    loaded = rr.load(tmp_path / "model.rulerank")
    assert type(loaded) is type(ranker)
    assert loaded.get_params() == ranker.get_params()
    assert np.array_equal(loaded.predict(X), ranker.predict(X))


def check_what_is_saved_is_what_was_fitted(make, tmp_path):
    ranker = make(normalize="minmax").fit(X, y, qid=qid)
    before = ranker.predict(X, qid=qid)
    ranker.set_params(normalize=None)
    assert np.array_equal(ranker.predict(X, qid=qid), before)
    ranker.save(tmp_path / "model.rulerank")
    loaded = rr.load(tmp_path / "model.rulerank")
    assert loaded.normalize == "minmax"
    assert np.array_equal(loaded.predict(X, qid=qid), before)


def check_a_ranker_fitted_to_a_frame_ranks_a_data_set_without_a_word(make):
    ranker = make().fit(pl.DataFrame(X, schema=["bm25", "tf", "noise"]), y, qid=qid)
    data = rr.Dataset(X, y, qid, feature_names=("bm25", "tf", "noise"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(ranker.predict(data), make().fit(X, y, qid=qid).predict(X))


def check_rows_without_queries_are_one_query_and_that_is_said(make):
    with pytest.warns(UserWarning, match=r"no qid, so all rows count as one query; give the query of each row"):
        ranker = make().fit(X, y)
    assert np.array_equal(ranker.predict(X), make().fit(X, y, qid=np.zeros(len(X))).predict(X))


def check_an_explanation_adds_up_or_is_refused_in_words(make):
    ranker = make().fit(X, y, qid=qid)
    try:
        found = ranker.explain(X[7])
    except DataError as error:
        assert "gives no explanation" in str(error)  # noqa: PT017  # either of the two is right
        return
    assert found.score == pytest.approx(ranker.predict(X[7:8])[0], abs=1e-9)
    assert found.base + sum(share.adds for share in found.features) == pytest.approx(found.score, abs=1e-9)
    assert ranker.explain(X[7], versus=X[8]).difference >= 0


def check_contributions_add_up_to_the_scores(make):
    ranker = make().fit(X, y, qid=qid)
    some, queries = np.array(X[:90], dtype=float), qid[:90]
    some[3, 0] = np.nan
    some[5] = 7.0  # beyond all of training
    found, scores = ranker.contributions(some, qid=queries), ranker.predict(some, qid=queries)
    assert found.values.shape == (90, len(found.terms)) == (90, len(found.features))
    assert found.base.shape == (90,)
    assert found.base + found.values.sum(axis=1) == pytest.approx(scores, rel=1e-12, abs=1e-12)
    assert found.scores == pytest.approx(scores, rel=1e-12, abs=1e-12)
    shares = dict(zip(ranker.feature_names_, found.by_feature(4)[3], strict=False))
    for share in ranker.explain(some[queries == queries[0]], 3).features:  # the same of one document
        if share.feature in shares:
            assert share.adds == pytest.approx(shares[share.feature], abs=1e-9)


def check_importances_add_up_to_one_and_find_the_feature_that_decides(make):
    ranker = make().fit(X, y, qid=qid)
    found = ranker.feature_importances_
    assert found.shape == (3,)
    assert np.isfinite(found).all()
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert found.argmax() == 0
    assert ranker.importances(X, qid=qid) == pytest.approx(found, abs=1e-12)


def check_importances_survive_saving(make, tmp_path):
    ranker = make().fit(X, y, qid=qid)
    ranker.save(tmp_path / "model.rulerank")
    loaded = rr.load(tmp_path / "model.rulerank")
    assert np.array_equal(loaded.feature_importances_, ranker.feature_importances_)
    assert np.array_equal(loaded.importances(X, qid=qid), ranker.importances(X, qid=qid))


def check_its_score_is_ndcg_at_10(make):
    ranker = make().fit(X, y, qid=qid)
    expected = rr.evaluate(y, ranker.predict(X), qid, "NDCG@10").means["NDCG@10"]
    assert ranker.score(X, y, qid=qid) == ranker.score(rr.Dataset(X, y, qid)) == expected
    with pytest.warns(UserWarning, match="score was given no qid, so all rows count as one query"):
        ranker.score(X, y)


def check_masked_values_are_missing_ones(make):
    holes = np.random.default_rng(0).random(X.shape) < 0.1
    with_nan, masked = np.where(holes, np.nan, X), np.ma.array(np.where(holes, -999.0, X), mask=holes)
    expected = make().fit(with_nan, y, qid=qid)
    found = make().fit(masked, y, qid=qid)
    assert np.array_equal(found.predict(masked), expected.predict(with_nan))


def check_joblib_brings_it_back(make, tmp_path):
    ranker = make().fit(X, y, qid=qid)
    joblib.dump(ranker, tmp_path / "ranker.joblib")
    again = joblib.load(tmp_path / "ranker.joblib")
    assert np.array_equal(again.predict(X), ranker.predict(X))
    assert np.array_equal(again.feature_importances_, ranker.feature_importances_)


def check_mistakes_are_named(make):
    for changes, message in [
        ({"y": None}, "requires y to be passed"),
        ({"y": np.where(np.arange(len(y)) == 3, -1, y)}, "1 of 360 rows are not labelled"),
        ({"y": y + 0.5}, "grades must be integers of at least 0, or -1 for not labelled: got"),
        ({"y": np.ma.masked_equal(y, 2)}, "y must not be a masked array: leave the masked rows out, or fill them"),
        ({"qid": np.ma.array(qid, mask=y == 2)}, "qid must not be a masked array"),
        ({"qid": qid[:-1]}, "qid must have one entry per row: expected 360, got 359"),
        ({"X": np.where(X > 0.9, np.inf, X)}, r"X must be finite or NaN \(missing\): row \d+, column \d is infinity"),
    ]:
        values = {"X": X, "y": y, "qid": qid} | changes
        with pytest.raises(DataError, match=message):
            make().fit(values["X"], values["y"], qid=values["qid"])


def check_a_scale_that_there_is_not_is_named(make):
    with pytest.raises(DataError, match="unknown normalize 'loud'; choose from None, minmax, rank, zscore"):
        make(normalize="loud").fit(X, y, qid=qid)


OF_MIXTURES = [
    check_init_only_stores,
    check_fit_returns_self_and_leaves_the_input_alone,
    check_set_params_changes_nothing_that_was_fitted,
    check_contributions_add_up_to_the_scores,
]
OF_SCALES = [
    check_normalised_by_query_it_needs_the_queries,
    check_one_scale_per_query_undoes_another,
    check_what_is_saved_is_what_was_fitted,
    check_a_scale_that_there_is_not_is_named,
]
CHECKS = [value for name, value in list(globals().items()) if name.startswith("check_")]
