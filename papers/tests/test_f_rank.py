import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from papers.baselines import f_rank
from papers.baselines.boosted import paired_rows
from papers.baselines.f_rank import FidelityPicker, FRank
from papers.baselines.stumps import cut_columns
from papers.tests.boosting_data import HAND_GRADES, HAND_QUERIES, HAND_X, rounded_scores, synthetic_sets
from papers.tests.plain_boosting import all_stumps, fidelity_gain, fidelity_loss, pairs_of
from rulerank.errors import DataError
from rulerank.rankers.base import Labelled
from rulerank.rankers.foreign import fresh_for_part

pytestmark = pytest.mark.kernels


@given(st.data())
def test_the_stump_picked_gains_most_of_all(data):
    X, grades, queries = data.draw(synthetic_sets())
    pairs = pairs_of(grades, queries)
    assume(pairs)
    scores = data.draw(rounded_scores(len(X)))
    paired = paired_rows(Labelled(X, grades, queries, np.unique(queries)))
    columns = cut_columns(X[paired.rows], 255)
    picked = FidelityPicker(paired, columns, n_jobs=1).pick(scores[paired.rows])
    places = {int(row): place for place, row in enumerate(paired.rows)}
    synthetic = [(places[b], places[a]) for b, a in pairs], queries[paired.rows], scores[paired.rows]
    most = max(fidelity_gain(says, *synthetic)[0] for says in all_stumps(X[paired.rows]))
    if picked is None:
        assert most == pytest.approx(0, abs=1e-9)
        return
    gain, weight = fidelity_gain(columns.bins[picked.column] >= picked.bin, *synthetic)
    assert gain == pytest.approx(most)
    assert picked.weight == pytest.approx(weight)


@given(synthetic_sets())
def test_every_round_lowers_the_loss_by_what_it_promises(synthetic):
    X, grades, queries = synthetic
    pairs = pairs_of(grades, queries)
    assume(pairs)
    ranker = FRank(n_rounds=4, n_jobs=1).fit(X, grades, qid=queries)
    scores = np.zeros(len(X))
    for number, after in enumerate(ranker.staged_predict(X)):
        gain, _ = fidelity_gain(ranker.stumps_.says(number, X), pairs, queries, scores)
        lowered = fidelity_loss(pairs, queries, scores) - fidelity_loss(pairs, queries, after)
        assert lowered >= gain / 2 - 1e-9
        scores = after


def test_two_rounds_by_hand():
    # round 1: all pairs weigh the same, w. From 0.5 on right is 2w (AD, BD), wrong is said to be w/2: ln(4) / 2.
    # round 2: from 2.5 on right (AC, AD) is half of all the weight, and wrong is said to be an eighth of it: ln(4) / 2.
    ranker = FRank(n_rounds=2).fit(HAND_X, HAND_GRADES, qid=HAND_QUERIES)
    assert ranker.stumps_.thresholds.tolist() == [0.5, 2.5]
    assert ranker.stumps_.weights == pytest.approx([math.log(2)] * 2)


def test_a_query_counts_once_however_many_pairs_it_has():
    # nine pairs of query 1 want the feature low, one pair each of queries 2 and 3 wants it high
    X = np.array([[0.0]] * 3 + [[1.0]] * 3 + [[1.0], [0.0]] * 2)
    y, qid = [1] * 3 + [0] * 3 + [1, 0] * 2, [1] * 6 + [2, 2, 3, 3]
    assert FRank(n_rounds=1).fit(X, y, qid=qid).stumps_[0].weight == pytest.approx(math.log(2) / 2)


def test_pairs_a_few_at_a_time_pick_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    X, y, qid = rng.random((60, 3)), rng.integers(0, 3, 60), np.repeat(np.arange(6), 10)
    whole = FRank(n_rounds=10).fit(X, y, qid=qid)
    monkeypatch.setattr(f_rank, "PAIRS_AT_ONCE", 40)
    assert FRank(n_rounds=10).fit(X, y, qid=qid).predict(X) == pytest.approx(whole.predict(X))


def test_a_stage_is_what_fewer_rounds_would_have_learned():
    rng = np.random.default_rng(1)
    X, y, qid = rng.random((60, 3)), rng.integers(0, 3, 60), np.repeat(np.arange(6), 10)
    ranker = FRank(n_rounds=6).fit(X, y, qid=qid)
    assert np.array_equal(ranker.at_stage(2).predict(X), FRank(n_rounds=2).fit(X, y, qid=qid).predict(X))
    assert list(ranker.staged_predict(X))[1] == pytest.approx(ranker.at_stage(2).predict(X))


def test_a_perfect_stump_is_the_last():
    ranker = FRank().fit([[1.0], [2.0], [3.0], [0.0]], [0, 1, 1, 0], qid=[1, 1, 2, 2])
    assert ranker.stumps_.thresholds.tolist() == [1.5]


def test_without_anything_to_learn_all_scores_are_0():
    with pytest.warns(ConvergenceWarning, match="^no query has documents of more than one grade: there is nothing to"):
        ranker = fresh_for_part(FRank()).fit([[1.0], [2.0]], [0, 1], qid=["a", "b"])
    assert ranker.predict([[1.0], [2.0]]).tolist() == [0.0, 0.0]
    assert FRank().fit(np.ones((2, 1)), [0, 1], qid=[1, 1]).predict([[5.0]]).tolist() == [0.0]


def test_missing_values_go_to_the_side_that_serves():
    ranker = FRank(n_rounds=1).fit([[3.0], [np.nan], [1.0], [0.0]], [1, 1, 0, 0], qid=[1] * 4)
    assert ranker.stumps_[0][:3] == (0, 2.0, 1)


def test_parameters_are_looked_at():
    with pytest.raises(DataError, match=r"^n_rounds must be an integer of at least 1: got None"):
        FRank(n_rounds=None).fit([[1.0], [2.0]], [0, 1], qid=[1, 1])
