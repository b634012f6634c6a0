"""One feature ranks documents either way round, those that lack it last."""

import numpy as np
import pytest

from rulerank.dataset import Dataset
from rulerank.errors import DataError
from rulerank.evaluation.rankings import best_feature, feature_scores


@pytest.mark.parametrize("values", [[-3e38, np.nan, 3e38], [0, np.nan, 1], [np.nan, np.nan, np.nan], [5, 4, np.nan]])
def test_missing_values_rank_below_every_other(values):
    data = Dataset(np.array(values)[:, None], [0, 0, 1], ["q"] * 3, feature_names=("a",))
    for name in ("a", "-a"):
        scores, missing = feature_scores(data, name), np.isnan(values)
        assert np.isfinite(scores).all()
        assert scores[missing].max() < scores[~missing].min(initial=np.inf)


def test_of_many_features_only_a_few_are_listed():
    data = Dataset(np.zeros((1, 700)), [0], ["q"])
    with pytest.raises(DataError, match=r"there is no feature 'x'; the data has f1, f2, f3, \.\.\. f700$"):
        feature_scores(data, "x")


def test_a_feature_whose_own_name_begins_with_a_dash_is_found():
    data = Dataset([[1.0], [2.0]], [0, 1], ["q"] * 2, feature_names=["-age"])
    assert feature_scores(data, "-age").tolist() == [1, 2]
    assert feature_scores(data, "--age").tolist() == [-1, -2]
    assert best_feature(data) == "-age"
