import numpy as np
import pytest

from rulerank.dataset import Dataset
from rulerank.errors import DataError
from rulerank.experiment.label_curve.simulation import thin, thin_folds
from rulerank.worlds import make_folds, make_world


@pytest.fixture(scope="module")
def data():
    return make_world(n_queries=30, seed=1)


def test_relevant_documents_become_rare_and_the_others_stay_in_order(data):
    thinned = thin(data, 20, seed=3)
    assert (thinned.y > 0).sum() == round((data.y > 0).sum() / 20)
    assert (thinned.y == 0).sum() == (data.y == 0).sum()
    place = {docid: row for row, docid in enumerate(data.docid)}
    rows = [place[docid] for docid in thinned.docid]
    assert rows == sorted(rows)
    assert np.array_equal(data.y[rows], thinned.y)


def test_another_seed_keeps_others_and_the_same_one_the_same(data):
    kept = [set(thin(data, 20, seed).docid) for seed in (0, 0, 1)]
    assert kept[0] == kept[1] != kept[2]


def test_only_what_is_chosen_from_is_thinned(data):
    folds = make_folds(data, 3)
    thinned = thin_folds(folds, 10, n_pools=2)
    assert len(thinned) == 6
    assert all(after.test is before.test for after, before in zip(thinned[::2], folds, strict=True))
    assert set(thinned[0].train.docid) != set(thinned[1].train.docid)


def test_mistakes_are_named(data):
    with pytest.raises(DataError, match="keep_one_in must be a whole number from 1: got 0"):
        thin(data, 0)
    with pytest.raises(DataError, match="n_pools must be a whole number from 1: got 0"):
        thin_folds([], n_pools=0)
    with pytest.raises(DataError, match="one in 20 of 2 relevant documents is none: keep more, or take more data"):
        thin(Dataset([[1.0]] * 3, [0, 1, 2], ["q"] * 3))
