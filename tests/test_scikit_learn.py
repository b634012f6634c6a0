"""Our rankers, splitter and scorers inside scikit-learn's own tools."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rulerank.datasets.ranking import make_ranking
from rulerank.errors import DataError
from rulerank.evaluation import evaluate
from rulerank.rankers.global_rules import GlobalRules
from rulerank.splitting import QueryKFold
from rulerank.training.selection import scorer

DATA = make_ranking(n_queries=15, docs_per_query=(5, 15), n_features=8)
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
        values.append(evaluate(y[test], scores, qid[test], measure).means[measure])
    return values


@pytest.mark.parametrize("ranker", [GlobalRules(), GlobalRules(normalize="rank")])
def test_cross_validate_hands_the_queries_to_everyone(routing, ranker):
    measures = {"MAP": scorer("MAP"), "NDCG": scorer("NDCG@10")}
    found = cross_validate(ranker, X, y, cv=QueryKFold(), scoring=measures, params={"qid": qid}, error_score="raise")
    assert found["test_MAP"].tolist() == by_hand(ranker)
    assert found["test_NDCG"].tolist() == by_hand(ranker, "NDCG@10")


def test_grid_search_finds_the_best_setting_and_refits_it(routing):
    grid = {"votes": ["mean", "evidence"], "normalize": [None, "zscore"]}
    search = GridSearchCV(GlobalRules(), grid, scoring=scorer("MAP"), cv=QueryKFold(), error_score="raise")
    search.fit(X, y, qid=qid)
    means = [np.mean(by_hand(GlobalRules(**params))) for params in search.cv_results_["params"]]
    assert search.cv_results_["mean_test_score"] == pytest.approx(means)
    best = GlobalRules(**search.best_params_).fit(X, y, qid=qid)
    assert np.array_equal(search.best_estimator_.predict(X, qid=qid), best.predict(X, qid=qid))


def test_a_pipeline_passes_the_queries_on(routing):
    pipeline = make_pipeline(StandardScaler(), GlobalRules(normalize="minmax"))
    assert np.isfinite(pipeline.fit(X, y, qid=qid).predict(X, qid=qid)).all()
    grid = {"globalrules__max_size": [1, 2]}
    search = GridSearchCV(pipeline, grid, scoring=scorer("NDCG@5"), cv=QueryKFold(3), error_score="raise")
    assert np.isfinite(search.fit(X, y, qid=qid).best_score_)


def test_a_ranker_of_another_kind_is_scored_without_queries(routing):
    found = cross_validate(LinearRegression(), X, y, cv=QueryKFold(), scoring=scorer("MAP"), params={"qid": qid})
    assert np.isfinite(found["test_score"]).all()


def test_without_routing_the_splitter_takes_groups_and_the_scorer_says_what_to_do():
    assert len(cross_validate(GlobalRules(), X, y, cv=QueryKFold(), groups=qid, scoring="r2")["test_score"]) == 5
    with pytest.raises(DataError, match=r"^MAP needs the query of each row: pass qid=qid to fit.*set_config\("):
        cross_validate(GlobalRules(), X, y, cv=QueryKFold(), groups=qid, scoring=scorer("MAP"), error_score="raise")
    with pytest.raises(DataError, match=r"^QueryKFold needs the query of each row: pass qid=qid, with sklearn.set_con"):
        cross_validate(GlobalRules(), X, y, cv=QueryKFold(), scoring="r2")


def test_a_scorer_with_a_wrong_measure_is_refused_at_once():
    with pytest.raises(DataError, match=r"^unknown measure 'MAPP'"):
        scorer("MAPP")
    with pytest.raises(DataError, match=r"^unknown convention 'letor5'"):
        scorer("MAP", convention="letor5")
    with pytest.raises(DataError, match=r"^ties='docid' needs the document ids"):
        scorer("MAP", ties="docid")
    with pytest.raises(DataError, match=r"^a scorer has one measure, such as 'MAP' or 'NDCG@10': got \['MAP', 'P@1'\]"):
        scorer(["MAP", "P@1"])
    assert scorer("P@1", ties="file") == clone(scorer("P@1", ties="file"), safe=False)


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


def test_clone_keeps_the_requests(routing):
    ranker = clone(GlobalRules(max_size=1))
    requests = ranker.get_metadata_routing()
    assert requests.fit.requests == {"qid": True, "sample_weight": True}
    assert requests.predict.requests == {"qid": True}
