"""Tuning finds what plain refits find, shares only work, and shows what it chose from."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import rulerank as rr
from rulerank.dataset import Dataset
from rulerank.discretize import EqualWidth
from rulerank.errors import DataError
from rulerank.evaluation import evaluate
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.shared_counts import fit_sharing_counts
from rulerank.splitting import QueryKFold
from rulerank.training.tuning import GRID, tune
from rulerank.worlds import make_world

DATA = make_world(n_queries=12, docs_per_query=(5, 15), n_features=8)
SMALL = {"votes": ["evidence", "mean"], "normalize": [None, "rank"], "max_size": [1, 2], "min_support": [0.0, 0.05]}


@pytest.mark.parametrize("params", [{}, {"memory_budget": 0}, {"discretizer": EqualWidth(4)}], ids=str)
def test_shared_counts_give_the_bits_of_plain_fits(params):
    votes = ("evidence", "mean")
    rankers = [
        GlobalRules(votes=v, min_support=s, max_size=m, drop_weakest=d, **params)
        for v in votes
        for s in (0.0, 0.05)
        for m in (1, 2)
        for d in (None, 0.0, 0.4)
    ]
    seen = set()
    for place, fitted in fit_sharing_counts(rankers, DATA.X, DATA.y, DATA.qid):
        plain = clone(rankers[place]).fit(DATA.X, DATA.y, qid=DATA.qid)
        assert repr(fitted) == repr(plain)
        assert np.array_equal(fitted.predict(DATA.X), plain.predict(DATA.X))
        assert fitted.engine_.training.min_rows == plain.engine_.training.min_rows
        seen.add(place)
    assert seen == set(range(len(rankers)))


def test_every_trial_is_what_refits_by_query_give():
    tuned = tune(DATA, grid=SMALL, n_splits=3)
    assert [trial.params for trial in tuned.table][:3] == [
        {"votes": "evidence", "normalize": None, "max_size": 1, "min_support": 0.0},
        {"votes": "evidence", "normalize": None, "max_size": 1, "min_support": 0.05},
        {"votes": "evidence", "normalize": None, "max_size": 2, "min_support": 0.0},
    ]
    for trial in tuned.table:
        per_query = []
        for (train, test), value in zip(QueryKFold(3).split(DATA), trial.folds, strict=True):
            scores = GlobalRules(**trial.params).fit(DATA[train]).predict(DATA[test])
            result = evaluate(DATA.y[test], scores, DATA.qid[test], "MAP")
            assert result.means["MAP"] == pytest.approx(value)
            per_query.extend(result.per_query["MAP"])
        assert trial.mean == pytest.approx(np.mean(per_query))
        assert trial.error == pytest.approx(np.std(per_query, ddof=1) / np.sqrt(12))


def test_the_best_row_is_chosen_and_fitted_to_everything():
    tuned = tune(DATA, grid=SMALL, n_splits=3, measure="NDCG@10")
    best = max(tuned.table, key=lambda trial: trial.mean)
    assert tuned.best == best.params
    assert best.behind == best.behind_error == 0
    assert all(trial.behind == pytest.approx(best.mean - trial.mean) for trial in tuned.table)
    assert np.array_equal(tuned.ranker.predict(DATA), GlobalRules(**tuned.best).fit(DATA).predict(DATA))
    assert tuned.ranker.feature_names_ == DATA.feature_names


def test_of_equal_settings_the_earlier_wins():
    constant = Dataset(np.zeros((8, 2)), [0, 1] * 4, list("aabbccdd"))
    tuned = tune(constant, grid={"max_size": [2, 1], "votes": ["mean", "evidence"]}, n_splits=2)
    assert tuned.best == {"max_size": 2, "votes": "mean"}


def test_what_the_grid_does_not_name_stays_as_the_ranker_has_it():
    tuned = tune(DATA, GlobalRules(votes="mean", normalize="zscore"), {"max_size": [1]}, n_splits=2)
    assert (
        tuned.ranker.get_params() | {"max_size": 1}
        == GlobalRules(votes="mean", normalize="zscore", max_size=1).get_params()
    )
    assert tuned.table[0].mean == pytest.approx(
        np.mean(
            [
                value
                for train, test in QueryKFold(2).split(DATA)
                for value in evaluate(
                    DATA.y[test], clone(tuned.ranker).fit(DATA[train]).predict(DATA[test]), DATA.qid[test], "MAP"
                ).per_query["MAP"]
            ]
        )
    )


def test_the_default_grid_is_tried_whole_and_printed_best_first():
    tuned = tune(DATA, n_splits=2)
    grid = {name: values for name, values in GRID.items() if name in tuned.ranker.get_params()}
    assert len(tuned.table) == np.prod([len(values) for values in grid.values()])
    header, *rows, last = repr(tuned).splitlines()
    assert header.split() == [*grid, "MAP", "error", "behind", "error", "part", "1", "part", "2"]
    assert len(rows) == 10
    assert [row.split()[6] for row in rows] == sorted((row.split()[6] for row in rows), reverse=True)
    assert last == f"the best 10 of {len(tuned.table)} settings"


def test_only_what_varies_is_printed():
    tuned = tune(DATA, grid={"max_size": [1, 2], "votes": ["mean"]}, n_splits=2)
    assert tuned.varied == ["max_size"]
    assert repr(tuned).startswith("max_size     MAP")


def test_mistakes_are_named():
    with pytest.raises(DataError, match=r"^GlobalRules has no parameter 'size'; it has discretizer, "):
        tune(DATA, grid={"size": [1]})
    with pytest.raises(DataError, match=r"^expected a list of values to try for 'votes': got 'mean'$"):
        tune(DATA, grid={"votes": "mean"})
    with pytest.raises(DataError, match=r"^expected a list of values to try for 'votes': got \[\]$"):
        tune(DATA, grid={"votes": []})
    with pytest.raises(DataError, match=r"^only labelled rows can be learned from: leave the others out, tune\("):
        tune(Dataset([[1.0]], [-1], ["a"]))
    with pytest.raises(DataError, match=r"^n_splits must be between 2 and the number of queries, 12: got 13$"):
        tune(DATA, n_splits=13)
    with pytest.raises(DataError, match=r"^unknown votes 'loud'"):
        tune(DATA, grid={"votes": ["mean", "loud"]})
    with pytest.raises(DataError, match=r"^min_support must be a share of the rows"):
        tune(DATA, grid={"min_support": [0.0, 7.0]})
    with pytest.raises(DataError, match=r"^unknown measure 'MAPS'"):
        tune(DATA, measure="MAPS")


def test_discretisers_of_others_are_fitted_each_for_itself():
    class AboveCut(BaseEstimator):
        def __init__(self, cut=0.0):
            self.cut = cut

        def __repr__(self):
            return "AboveCut()"  # does not say where

        def fit(self, X, y):
            return self

        def transform(self, X):
            return (np.nan_to_num(X) > self.cut).astype(int)

    choices = [AboveCut(0.1), AboveCut(3.0)]
    grid = {"discretizer": choices, "votes": ["evidence", "mean"]}
    both = tune(DATA, grid=grid, n_splits=2)
    for number, choice in enumerate(choices):
        alone = tune(DATA, grid=grid | {"discretizer": [choice]}, n_splits=2)
        assert [t.mean for t in both.table[2 * number :][:2]] == [t.mean for t in alone.table]


def test_a_data_frame_is_told_how_to_become_a_data_set():
    with pytest.raises(DataError, match=r"^expected a Dataset, such as rr.from_frame\(frame\).*: got list$"):
        tune([1, 2])


def test_a_ranker_that_chooses_its_own_scale_may_be_tuned():
    world = rr.make_world(n_queries=20, docs_per_query=10, seed=0)
    tuned = rr.tune(world, rr.FittedRules(n_folds=2), {"normalize": [None, "auto"]}, n_splits=2)
    assert [trial.params["normalize"] for trial in tuned.table] == [None, "auto"]
    assert tuned.ranker.predict(world).shape == (len(world),)


def test_the_measure_stands_in_the_fourth_place_as_in_evaluate_and_compare():
    grid = {"max_size": [1, 2]}
    new, by_name = (
        tune(DATA, GlobalRules(), grid, "P@1", n_splits=2),
        tune(DATA, GlobalRules(), grid, measure="P@1", n_splits=2),
    )
    assert new.measure == by_name.measure == "P@1"
    assert new.table == by_name.table


def test_what_is_no_grid_and_no_ranker_is_refused():
    with pytest.raises(
        DataError, match=r"expected a grid, such as .*: got 'NDCG@10'; a measure goes by name, measure='MAP'"
    ):
        tune(DATA, GlobalRules(), "NDCG@10")
    with pytest.raises(DataError, match=r"expected a ranker to tune, such as rr.GlobalRules\(\): got 'MAP'"):
        tune(DATA, "MAP")
