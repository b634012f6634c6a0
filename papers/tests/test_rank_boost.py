import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from papers.baselines.boosted import BoostedStumps, paired_rows
from papers.baselines.boosting_kernels import exponential_potentials
from papers.baselines.rank_boost import ExponentialPicker, RankBoost
from papers.baselines.stumps import cut_columns
from papers.tests.boosting_data import HAND_GRADES, HAND_QUERIES, HAND_X, rounded_scores, synthetic_sets
from papers.tests.plain_boosting import all_stumps, exponential_loss, pairs_of, r_of
from rulerank.errors import DataError
from rulerank.rankers.base import Labelled
from rulerank.rankers.foreign import fresh_for_part

pytestmark = pytest.mark.kernels


def labelled(synthetic):
    X, grades, queries = synthetic
    return Labelled(X, grades, queries, np.unique(queries))


@given(synthetic_sets())
def test_paired_rows_stand_for_every_pair_of_different_grades(synthetic):
    data = labelled(synthetic)
    paired = paired_rows(data)
    ends = np.repeat(paired.bounds[1:], np.diff(paired.bounds))
    found = [
        (int(paired.rows[i]), int(paired.rows[j])) for i in range(ends.size) for j in range(paired.below[i], ends[i])
    ]
    assert sorted(found) == pairs_of(data.grades, data.queries)
    assert paired.n_pairs == len(found)


@given(st.data())
def test_potentials_by_sums_are_those_of_the_pairs(data):
    synthetic = labelled(data.draw(synthetic_sets()))
    paired = paired_rows(synthetic)
    scores = data.draw(rounded_scores(len(synthetic.X)))
    potentials, losses = np.empty(paired.rows.size), np.empty(paired.bounds.size - 1)
    exponential_potentials(scores[paired.rows], paired.bounds, paired.below, 0, losses.size, potentials, losses)
    want = np.zeros(len(synthetic.X))
    for better, worse in pairs_of(synthetic.grades, synthetic.queries):
        weight = math.exp(scores[worse] - scores[better])
        want[better] += weight
        want[worse] -= weight
    assert potentials == pytest.approx(want[paired.rows])
    assert losses.sum() == pytest.approx(exponential_loss(pairs_of(synthetic.grades, synthetic.queries), scores))


@given(st.data())
def test_the_stump_picked_has_the_largest_r_of_all(data):
    synthetic = labelled(data.draw(synthetic_sets()))
    pairs = pairs_of(synthetic.grades, synthetic.queries)
    assume(pairs)
    scores = data.draw(rounded_scores(len(synthetic.X)))
    paired = paired_rows(synthetic)
    columns = cut_columns(synthetic.X[paired.rows], 255)
    picked = ExponentialPicker(paired, columns, n_jobs=1).pick(scores[paired.rows])
    used = synthetic.X[paired.rows]
    places = {int(row): place for place, row in enumerate(paired.rows)}
    own_pairs = [(places[better], places[worse]) for better, worse in pairs]
    most = max(abs(r_of(says, own_pairs, scores[paired.rows])) for says in all_stumps(used))
    if picked is None:
        assert most == pytest.approx(0, abs=1e-9)
        return
    r = r_of(columns.bins[picked.column] >= picked.bin, own_pairs, scores[paired.rows])
    assert abs(r) == pytest.approx(most)
    r = math.copysign(min(abs(r), len(pairs) / (len(pairs) + 1)), r)
    assert picked.weight == pytest.approx(math.log((1 + r) / (1 - r)) / 2)


@given(synthetic_sets())
def test_no_round_raises_the_loss(synthetic):
    X, grades, queries = synthetic
    pairs = pairs_of(grades, queries)
    assume(pairs)
    ranker = RankBoost(n_rounds=6, n_jobs=1).fit(X, grades, qid=queries)
    losses = [len(pairs), *(exponential_loss(pairs, scores) for scores in ranker.staged_predict(X))]
    assert all(after <= before * (1 + 1e-9) for before, after in pairwise(losses))


def test_two_rounds_by_hand():
    # round 1: from 0.5 on orders AD and BD, from 2.5 on AC and AD: r = 1/2 both, the lower one comes first.
    # round 2: AC and BC weigh 1, AD and BD 1/sqrt(3); from 2.5 on r = (1 + 1/sqrt 3) / (2 + 2/sqrt 3) = 1/2.
    ranker = RankBoost(n_rounds=2).fit(HAND_X, HAND_GRADES, qid=HAND_QUERIES)
    assert ranker.stumps_.thresholds.tolist() == [0.5, 2.5]
    assert ranker.stumps_.weights == pytest.approx([math.log(3) / 2] * 2)
    assert ranker.predict(HAND_X) == pytest.approx(np.array([2, 1, 1, 0]) * math.log(3) / 2)


def test_a_feature_that_counts_the_other_way_gets_a_negative_weight_and_a_perfect_one_ends_it():
    ranker = RankBoost().fit([[3.0], [2.0], [1.0]], [0, 0, 1], qid=[1, 1, 1])
    assert ranker.stumps_.weights == pytest.approx([-math.log(5) / 2])  # r = -1, counted as -2/3
    assert len(ranker.stumps_) == 1


def test_being_missing_can_be_what_tells():
    X = [[np.nan], [1.0], [np.nan], [2.0]]
    ranker = RankBoost().fit(X, [1, 0, 1, 0], qid=[1, 1, 2, 2])
    assert ranker.stumps_[0][:3] == (0, -math.inf, 0)
    assert ranker.stumps_[0].weight < 0
    assert ranker.predict([[np.nan]]) > ranker.predict([[1.5]])


def test_missing_values_go_to_the_side_that_serves():
    ranker = RankBoost(n_rounds=1).fit([[3.0], [np.nan], [1.0], [0.0]], [1, 1, 0, 0], qid=[1] * 4)
    assert ranker.stumps_[0][:3] == (0, 2.0, 1)
    assert ranker.predict([[np.nan], [2.0], [1.9]]).astype(bool).tolist() == [True, True, False]


def test_a_missing_value_where_training_had_none_is_below_every_threshold():
    ranker = RankBoost().fit([[1.0], [0.0]], [1, 0], qid=[1, 1])
    assert ranker.predict([[np.nan]]).tolist() == ranker.predict([[-9.0]]).tolist() == [0.0]


@pytest.mark.parametrize("y", [[1, 1, 1], [0, 0, 2]])
def test_without_two_grades_in_a_query_all_scores_are_0_and_that_is_said(y):
    with pytest.warns(ConvergenceWarning, match="^no query has documents of more than one grade: there is nothing to"):
        ranker = fresh_for_part(RankBoost()).fit([[1.0], [2.0], [3.0]], y, qid=["a", "a", "b"])
    assert ranker.predict([[1.0], [5.0]]).tolist() == [0.0, 0.0]
    assert list(ranker.staged_predict([[1.0]])) == []


def test_constant_features_teach_nothing():
    ranker = RankBoost().fit(np.ones((4, 2)), [0, 1, 0, 1], qid=[1, 1, 2, 2])
    assert len(ranker.stumps_) == 0
    assert ranker.predict(np.ones((1, 2))).tolist() == [0.0]


def test_queries_of_one_document_change_nothing():
    X, y, qid = np.array([[1.0], [2.0], [3.0], [9.0]]), [0, 1, 0, 1], ["a", "a", "a", "b"]
    assert np.array_equal(
        RankBoost().fit(X, y, qid=qid).predict(X), RankBoost().fit(X[:3], y[:3], qid=qid[:3]).predict(X)
    )


def test_a_thousand_rounds_on_what_is_learned_already_stay_finite():
    rng = np.random.default_rng(0)
    X = rng.random((60, 4))
    y = (X[:, 0] > 0.5).astype(int) + (X[:, 1] > 0.5)
    ranker = RankBoost(n_rounds=3000).fit(X, y, qid=np.repeat([1, 2, 3], 20))
    assert np.isfinite(ranker.predict(X)).all()


def stages_agree(ranker: BoostedStumps, X, y, qid) -> None:
    stages = list(ranker.fit(X, y, qid=qid).staged_predict(X))
    assert stages[-1] == pytest.approx(ranker.predict(X))
    third = ranker.at_stage(3)
    assert third.predict(X) == pytest.approx(stages[2])
    assert third.get_params()["n_rounds"] == third.params_["n_rounds"] == 3
    assert ranker.n_rounds == 8
    again = type(ranker)(n_rounds=3).fit(X, y, qid=qid)
    assert np.array_equal(third.predict(X), again.predict(X))
    with pytest.raises(DataError, match=r"^a stage is a round from 1 to 8: got 9"):
        ranker.at_stage(9)


def noisy_synthetic(seed=0, n_queries=6, n_docs=15):
    rng = np.random.default_rng(seed)
    X = rng.random((n_queries * n_docs, 4))
    y = np.digitize(X[:, 0] + X[:, 1] + 0.5 * rng.random(len(X)), [1.0, 1.5])
    return X, y, np.repeat(np.arange(n_queries), n_docs)


def test_a_stage_is_what_fewer_rounds_would_have_learned():
    stages_agree(RankBoost(n_rounds=8), *noisy_synthetic())


def test_fewer_thresholds_are_tried_when_asked_for():
    X, y, qid = noisy_synthetic()
    ranker = RankBoost(n_rounds=40, n_thresholds=3).fit(X, y, qid=qid)
    by_feature = [set(ranker.stumps_.thresholds[ranker.stumps_.features == f]) for f in range(4)]
    assert max(map(len, by_feature)) == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_rounds": 0}, r"^n_rounds must be an integer of at least 1: got 0"),
        ({"n_rounds": 2.5}, r"^n_rounds must be an integer of at least 1: got 2.5"),
        ({"n_thresholds": 70_000}, r"^n_thresholds must be an integer between 1 and 65,000: got 70000"),
    ],
)
def test_parameters_are_looked_at(changes, message):
    with pytest.raises(DataError, match=message):
        RankBoost(**changes).fit([[1.0], [2.0]], [0, 1], qid=[1, 1])
