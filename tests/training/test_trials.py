"""One machine tries settings: it walks a grid, scores what was held out, and says how far behind each setting is."""

import numpy as np
import pytest

import rulerank as rr
from papers.baselines import RankBoost
from rulerank.errors import DataError
from rulerank.training.trials import Fit, Scoring, Staged, settings_of, try_settings
from rulerank.training.validating import fit_tuned

DATA = rr.make_world(n_queries=6, docs_per_query=8, n_features=4, seed=9)
ALL = [np.arange(len(DATA))]


class ByFeature:
    """Ranks by one feature; nothing to learn."""

    def __init__(self, feature):
        self.feature = feature

    def predict(self, X):
        return np.nan_to_num(X[:, self.feature])


def by_query(feature):
    scores = np.nan_to_num(DATA.X[:, feature])
    return rr.evaluate(DATA.y, scores, DATA.qid, "NDCG@5").values[0]


def test_trials_tell_the_mean_its_error_and_how_far_each_is_behind_the_best():
    fits = [Fit(place, 0, ByFeature(place), DATA) for place in range(4)]
    tried = try_settings([{"feature": place} for place in range(4)], fits, DATA, ALL, Scoring("NDCG@5"))
    values = np.array([by_query(place) for place in range(4)])
    best = int(values.mean(axis=1).argmax())
    assert tried.best == best
    for place, trial in enumerate(tried.table):
        assert trial.mean == values[place].mean() == trial.folds[0]
        assert trial.error == pytest.approx(values[place].std(ddof=1) / np.sqrt(6))
        behind = values[best] - values[place]
        assert (trial.behind, trial.behind_error) == (behind.mean(), behind.std(ddof=1) / np.sqrt(6))
    fit, scores = tried.kept
    assert fit.ranker.feature == best
    np.testing.assert_array_equal(scores, np.nan_to_num(DATA.X[:, best]))


def test_parts_make_one_figure_over_all_queries_and_one_each():
    parts = [test for _, test in rr.QueryKFold(3).split(DATA)]
    fits = [Fit(0, part, ByFeature(1), DATA.X[rows]) for part, rows in enumerate(parts)]
    tried = try_settings([{}], fits, DATA, parts, Scoring("NDCG@5"))
    assert tried.table[0].mean == by_query(1).mean()
    assert np.mean(tried.table[0].folds) == pytest.approx(by_query(1).mean())  # parts of two queries each
    assert tried.kept is None


def test_a_stage_is_chosen_on_a_validation_set_and_told():
    found = fit_tuned(RankBoost(n_rounds=6), DATA, DATA, measure="NDCG@5")
    assert isinstance(RankBoost(), Staged)
    assert found.best.chosen == {"rounds": found.best.stage}
    np.testing.assert_array_equal(found.scores, found.ranker.predict(DATA))
    assert found.best.mean == Scoring("NDCG@5").mean(DATA, found.scores)


def test_a_grid_is_walked_with_the_last_parameter_fastest():
    grid = {"max_size": (1, 2), "votes": ["mean", "evidence"]}
    settings = settings_of(grid, rr.GlobalRules())
    assert [tuple(setting.values()) for setting in settings] == [
        (1, "mean"),
        (1, "evidence"),
        (2, "mean"),
        (2, "evidence"),
    ]


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"size": [1]}, r"^GlobalRules has no parameter 'size'; it has discretizer, "),
        ({"votes": "mean"}, r"^expected a list of values to try for 'votes': got 'mean'$"),
        ({"votes": ()}, r"^expected a list of values to try for 'votes': got \(\)$"),
    ],
)
def test_a_grid_that_cannot_be_walked_is_named(grid, message):
    with pytest.raises(DataError, match=message):
        settings_of(grid, rr.GlobalRules())
    with pytest.raises(DataError, match=message):
        fit_tuned(rr.GlobalRules(), DATA, DATA, grid)
