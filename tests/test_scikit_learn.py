"""Our rankers, splitter and scorers inside scikit-learn's own tools."""

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rulerank as rr
from rulerank.errors import DataError
from rulerank.rankers.foreign import QueryKFold
from rulerank.selection.select import make_scorer

DATA = rr.datasets.make_ranking(n_queries=15, docs_per_query=(5, 15), n_features=8)
X, y, qid = np.nan_to_num(DATA.X), DATA.y, DATA.qid


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def by_hand(ranker, measure="MAP", cv=None):
    """What cross_validate should find."""
    values = []
    for train, test in (cv or QueryKFold()).split(X, qid=qid):
        scores = clone(ranker).fit(X[train], y[train], qid=qid[train]).predict(X[test], qid=qid[test])
        values.append(rr.evaluate(y[test], scores, qid[test], measure).means[measure])
    return values


@pytest.mark.parametrize("ranker", [rr.GlobalRules(), rr.GlobalRules(normalize="rank")])
def test_cross_validate_hands_the_queries_to_everyone(routing, ranker):
    measures = {"MAP": make_scorer("MAP"), "NDCG": make_scorer("NDCG@10")}
    found = cross_validate(ranker, X, y, cv=QueryKFold(), scoring=measures, params={"qid": qid}, error_score="raise")
    assert found["test_MAP"].tolist() == by_hand(ranker)
    assert found["test_NDCG"].tolist() == by_hand(ranker, "NDCG@10")


def test_grid_search_finds_the_best_setting_and_refits_it(routing):
    grid = {"votes": ["mean", "evidence"], "normalize": [None, "zscore"]}
    search = GridSearchCV(rr.GlobalRules(), grid, scoring=make_scorer("MAP"), cv=QueryKFold(), error_score="raise")
    search.fit(X, y, qid=qid)
    means = [np.mean(by_hand(rr.GlobalRules(**params))) for params in search.cv_results_["params"]]
    assert search.cv_results_["mean_test_score"] == pytest.approx(means)
    best = rr.GlobalRules(**search.best_params_).fit(X, y, qid=qid)
    assert np.array_equal(search.best_estimator_.predict(X, qid=qid), best.predict(X, qid=qid))


def test_a_pipeline_passes_the_queries_on(routing):
    pipeline = make_pipeline(StandardScaler(), rr.GlobalRules(normalize="minmax"))
    assert np.isfinite(pipeline.fit(X, y, qid=qid).predict(X, qid=qid)).all()
    grid = {"globalrules__max_size": [1, 2]}
    search = GridSearchCV(pipeline, grid, scoring=make_scorer("NDCG@5"), cv=QueryKFold(3), error_score="raise")
    assert np.isfinite(search.fit(X, y, qid=qid).best_score_)


def test_a_ranker_of_another_kind_is_scored_without_queries(routing):
    found = cross_validate(LinearRegression(), X, y, cv=QueryKFold(), scoring=make_scorer("MAP"), params={"qid": qid})
    assert np.isfinite(found["test_score"]).all()


def test_without_routing_the_splitter_takes_groups_and_the_scorer_says_what_to_do():
    assert len(cross_validate(rr.GlobalRules(), X, y, cv=QueryKFold(), groups=qid, scoring="r2")["test_score"]) == 5
    scoring = {"scoring": make_scorer("MAP"), "error_score": "raise"}
    with pytest.raises(DataError, match=r"^MAP needs the query of each row: pass qid=qid to fit.*set_config\("):
        cross_validate(rr.GlobalRules(), X, y, cv=QueryKFold(), groups=qid, **scoring)
    with pytest.raises(DataError, match=r"^QueryKFold needs the query of each row: pass qid=qid, with sklearn.set_con"):
        cross_validate(rr.GlobalRules(), X, y, cv=QueryKFold(), scoring="r2")


def test_a_scorer_with_a_wrong_measure_is_refused_at_once():
    with pytest.raises(DataError, match=r"^unknown measure 'MAPP'"):
        make_scorer("MAPP")
    with pytest.raises(DataError, match=r"^unknown convention 'letor5'"):
        make_scorer("MAP", convention="letor5")
    with pytest.raises(DataError, match=r"^ties='docid' needs the document ids"):
        make_scorer("MAP", ties="docid")
    with pytest.raises(DataError, match=r"^a scorer has one measure, such as 'MAP' or 'NDCG@10': got \['MAP', 'P@1'\]"):
        make_scorer(["MAP", "P@1"])
    assert make_scorer("P@1", ties="file") == clone(make_scorer("P@1", ties="file"), safe=False)


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("n_splits", [2, 4, 15])
def test_every_query_is_tested_once_and_never_trained_on_then(shuffle, n_splits):
    splitter = QueryKFold(n_splits, shuffle=shuffle)
    parts = list(splitter.split(X, y, qid=qid))
    assert len(parts) == splitter.get_n_splits() == n_splits
    assert np.array_equal(np.sort(np.concatenate([test for _, test in parts])), np.arange(len(X)))
    n_queries = []
    for train, test in parts:
        assert not set(qid[train]) & set(qid[test])
        assert len(train) + len(test) == len(X)
        n_queries.append(len(set(qid[test])))
    assert max(n_queries) - min(n_queries) <= 1


def test_the_parts_depend_on_the_seed_alone():
    def parts(**params):
        return [test.tolist() for _, test in QueryKFold(**params).split(X, groups=qid)]

    assert parts() == parts(seed=0) == [test.tolist() for _, test in QueryKFold().split(DATA)]
    assert parts() != parts(seed=1)
    assert parts(shuffle=False) == parts(shuffle=False, seed=1)


def test_wrong_numbers_of_splits_and_queries_are_refused():
    def split(n_splits, qid):
        list(QueryKFold(n_splits).split(np.zeros((4, 1)), qid=qid))

    with pytest.raises(DataError, match=r"^n_splits must be between 2 and the number of queries, 3: got 5$"):
        split(5, ["a", "b", "b", "c"])
    with pytest.raises(DataError, match=r"number of queries, 1: got 2; there is nothing to split by$"):
        split(2, ["a"] * 4)
    with pytest.raises(DataError, match=r"^n_splits must be between 2 .*: got 1$"):
        split(1, ["a", "b", "b", "c"])
    with pytest.raises(DataError, match=r"^qid must have one entry per row: expected 4, got 3$"):
        split(2, ["a", "b", "c"])
    with pytest.raises(DataError, match=r"^QueryKFold needs the query of each row"):
        split(2, None)


def test_a_search_over_a_pipeline_routes_queries_and_weights_to_fit_and_score(routing):
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), rr.QueryIntercepts())
    search = GridSearchCV(pipeline, {"queryintercepts__l2": [0.1, 10.0]}, cv=QueryKFold(3), error_score="raise")
    search.fit(X, y, qid=qid, sample_weight=weights)
    means = []
    for l2 in (0.1, 10.0):
        values = []
        for train, test in QueryKFold(3).split(X, qid=qid):
            own = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), rr.QueryIntercepts(l2=l2))
            own.fit(X[train], y[train], qid=qid[train], sample_weight=weights[train])
            values.append(own.score(X[test], y[test], qid=qid[test], sample_weight=weights[test]))
        means.append(np.mean(values))
    assert search.cv_results_["mean_test_score"] == pytest.approx(means)


def test_score_weighs_queries_by_their_rows_and_leaves_rows_of_weight_0_out():
    ranker = rr.GlobalRules().fit(X, y, qid=qid)
    of_query = dict.fromkeys(qid, 1) | {qid[0]: 3, qid[-1]: 0}
    weights = np.array([of_query[query] for query in qid])
    weights[::5] = 0
    kept = weights > 0
    found = rr.evaluate(y[kept], ranker.predict(X)[kept], qid[kept], "NDCG@10")
    expected = np.average(found.values[0], weights=[of_query[query] for query in dict.fromkeys(qid[kept])])
    with pytest.warns(UserWarning, match="other documents"):
        part = ranker.score(X[kept], y[kept], qid[kept], sample_weight=weights[kept])
    assert ranker.score(X, y, qid, sample_weight=weights) == part == pytest.approx(expected)
    assert ranker.score(X, y, qid, sample_weight=np.full(len(X), 2.0)) == pytest.approx(ranker.score(X, y, qid))


@pytest.mark.parametrize("cv", [5, KFold(3, shuffle=True, random_state=0)])
@pytest.mark.parametrize("scoring", [None, make_scorer("MAP")])
def test_folds_that_tear_queries_apart_get_a_warning_that_names_the_right_splitter(routing, cv, scoring):
    pipeline = make_pipeline(StandardScaler(), rr.GlobalRules())
    message = r"other documents of .*, such as 'q\d+', so the score is too optimistic: split by query, cv=Q"
    with pytest.warns(UserWarning, match=message):
        cross_validate(pipeline, X, y, cv=cv, scoring=scoring, params={"qid": qid}, error_score="raise")


def test_folds_of_whole_queries_get_no_warning(routing, recwarn):
    cross_validate(rr.GlobalRules(), X, y, cv=QueryKFold(), params={"qid": qid}, return_train_score=True)
    assert not recwarn.list


def test_arguments_of_other_libraries_get_a_hint():
    with pytest.raises(TypeError, match=r"^FittedRules.fit has no argument 'eval_set'; leave it out: FittedRules hold"):
        rr.FittedRules().fit(X, y, qid=qid, eval_set=[(X, y)])
    with pytest.raises(TypeError, match=r"^QueryIntercepts.fit has no argument 'early_stopping_rounds'; leave it out"):
        rr.QueryIntercepts().fit(X, y, qid=qid, early_stopping_rounds=5)
    with pytest.raises(TypeError, match=r"^FittedRules has no argument 'n_estimators'; leave it out: FittedRules find"):
        rr.FittedRules(n_estimators=100)
    with pytest.raises(TypeError, match=r"^GlobalRules has no argument 'max_sizes'; did you mean 'max_size'\?$"):
        rr.GlobalRules(max_sizes=2)
    with pytest.raises(TypeError, match=r"^FittedRules has no argument 'penalty'; it has max_pairs, normalize, "):
        rr.FittedRules(penalty="l1")
    with pytest.raises(TypeError, match=r"'group_id'; give the query of each row as qid, or the number of rows of "):
        rr.GlobalRules().fit(X, y, group_id=qid)


WRONG_GROUPS = [
    ({"group": [2, 2]}, r"^group must hold the number of rows of each query, .* to 3: they add up to 4; if"),
    ({"group": ["a", "a", "b"]}, r"add up to 3: got \['a', 'a', 'b'\]; if it names the query of each row"),
    ({"group": [0, 3]}, r"add up to 3: got \[0, 3\]"),
    ({"group": [3], "qid": ["a", "a", "b"]}, "^group and qid both define the queries: leave out group"),
]


@pytest.mark.parametrize(("options", "message"), WRONG_GROUPS)
def test_group_sizes_that_cannot_be_are_refused(options, message):
    for call in (rr.GlobalRules().fit, rr.GlobalRules().fit(X[:3], [0, 1, 0], qid=[1, 1, 1]).score):
        with pytest.raises(DataError, match=message):
            call(X[:3], [0, 1, 0], **options)
    with pytest.raises(DataError, match="group and a Dataset, which includes its queries, both define"):
        rr.GlobalRules().fit(DATA, group=[len(DATA)])


@pytest.mark.parametrize("ranker", [rr.GlobalRules(), rr.QueryIntercepts()])
def test_sparse_rows_are_refused_with_a_hint(ranker):
    with pytest.raises(DataError, match=r" does not accept sparse X: give a dense array, X.toarray\(\)$"):
        ranker.fit(sparse.csr_array(X), y, qid=qid)


def test_clone_keeps_the_requests(routing):
    ranker = clone(rr.GlobalRules(max_size=1))
    requests = ranker.get_metadata_routing()
    assert requests.fit.requests == {"qid": True, "sample_weight": True}
    assert requests.predict.requests == {"qid": True}
    assert requests.score.requests == {"qid": True, "sample_weight": True}
