import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from papers.baselines.ada_rank import AdaRank
from papers.tests.boosting_data import synthetic_sets
from papers.tests.plain_boosting import adarank_rounds
from rulerank.errors import DataError
from rulerank.evaluation import evaluate
from rulerank.rankers.foreign import fresh_for_part

# one feature ties all documents, the other puts two that are not relevant first
USELESS = (np.array([[0, 0], [0, 2], [0, 3]], dtype=float), np.array([1, 0, 0], dtype=np.int16), np.zeros(3, dtype=int))


@settings(max_examples=50)
@given(synthetic_sets(missing=False), st.sampled_from(["MAP", "NDCG@10", "NDCG@2"]))
@example(USELESS, "NDCG@2")
def test_rounds_are_those_of_the_plain_way(synthetic, measure):
    X, grades, queries = synthetic
    assume(any(len(set(grades[queries == q])) > 1 for q in queries))
    ranker = AdaRank(measure, n_rounds=6).fit(X, grades, qid=queries)
    rounds = adarank_rounds(X, grades, queries, measure, 6)
    assert ranker.picked_.tolist() == [feature for feature, _ in rounds]
    coef = np.zeros(X.shape[1])
    for (feature, weight), found in zip(rounds, ranker.coef_path_, strict=True):
        coef[feature] += weight
        assert found == pytest.approx(coef)


def test_the_first_rounds_by_hand():
    # alone, feature 0 has MAP 1 and 1/2 on the two queries, feature 1 has 1/2 and 1, feature 2 has 1/2 both times
    X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.1], [0.0, 1.0, 0.0], [1.0, 0.0, 0.1]])
    ranker = AdaRank(n_rounds=2).fit(X, [1, 0, 1, 0], qid=["a", "a", "b", "b"])
    # round 1: both means are 3/4, the first is taken. Then b, where it fails, counts e^-0.5 and a e^-1
    b = math.exp(-0.5) / (math.exp(-0.5) + math.exp(-1))
    mean = b + (1 - b) / 2
    assert ranker.picked_.tolist() == [0, 1]
    assert ranker.coef_ == pytest.approx([math.log(7) / 2, math.log((1 + mean) / (1 - mean)) / 2, 0])
    assert ranker.values_ == pytest.approx([0.75, 0.75])


def test_a_feature_that_no_longer_helps_lets_others_have_a_turn():
    rng = np.random.default_rng(0)
    X = rng.random((60, 3))
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1] + 0.2 * rng.random(60), [0.8])
    ranker = AdaRank(n_rounds=20).fit(X, y, qid=np.repeat([1, 2, 3], 20))
    assert ranker.picked_[:2].tolist() == [0, 0]
    for number in range(1, len(ranker.picked_) - 1):
        if ranker.values_[number] <= ranker.values_[number - 1]:
            assert ranker.picked_[number + 1] != ranker.picked_[number]
    assert len(set(ranker.picked_)) > 1


def test_a_single_feature_ends_when_it_is_stuck():
    ranker = AdaRank(n_rounds=9).fit([[1.0], [2.0], [3.0]], [1, 0, 1], qid=[1, 1, 1])
    assert ranker.picked_.tolist() == [0, 0]  # the second time it does not help, and there is no other


def test_a_perfect_ranking_ends_it():
    ranker = AdaRank().fit([[1.0, 5.0], [2.0, 5.0]], [0, 1], qid=[1, 1])
    assert ranker.picked_.tolist() == [0]
    assert ranker.coef_ == pytest.approx([math.log(1.999 / 0.001) / 2, 0])


def test_ties_count_by_the_mean_over_their_orders():
    X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    # feature 0 ties the relevant document with another at the top: MAP 3/4, and not 1 as in the order of the rows
    ranker = AdaRank(n_rounds=1).fit(X, [1, 0, 0, 0], qid=[1] * 4)
    assert ranker.values_.tolist() == [0.75]
    again = AdaRank(n_rounds=1).fit(X[::-1], [0, 0, 0, 1], qid=[1] * 4)
    assert again.coef_.tolist() == ranker.coef_.tolist()


def test_the_measure_decides_which_feature_is_taken():
    # MAP does not tell grade 2 from grade 1, NDCG does
    X = np.array([[3.0, 2.0], [2.0, 3.0], [1.0, 1.0], [0.0, 2.5]])
    y, qid = [1, 2, 1, 0], [1] * 4
    assert AdaRank("MAP", n_rounds=1).fit(X, y, qid=qid).picked_.tolist() == [0]
    assert AdaRank("NDCG@1", n_rounds=1).fit(X, y, qid=qid).picked_.tolist() == [1]


def test_a_stage_is_what_fewer_rounds_would_have_learned():
    rng = np.random.default_rng(0)
    X, y, qid = rng.random((60, 4)), rng.integers(0, 3, 60), np.repeat(np.arange(6), 10)
    ranker = AdaRank(n_rounds=9).fit(X, y, qid=qid)
    stages = list(ranker.staged_predict(X))
    assert stages[-1] == pytest.approx(ranker.predict(X))
    third = ranker.at_stage(3)
    assert np.array_equal(third.coef_, AdaRank(n_rounds=3).fit(X, y, qid=qid).coef_)
    assert third.predict(X) == pytest.approx(stages[2])
    assert evaluate(y, stages[2], qid, "MAP").means["MAP"] == pytest.approx(ranker.values_[2])
    with pytest.raises(DataError, match=r"^a stage is a number from 1 to 9: got 0"):
        ranker.at_stage(0)


def test_without_two_grades_in_a_query_all_scores_are_0_and_that_is_said():
    with pytest.warns(ConvergenceWarning, match="^no query has documents of more than one grade: there is nothing to"):
        ranker = fresh_for_part(AdaRank()).fit([[1.0], [2.0], [3.0]], [1, 1, 0], qid=["a", "a", "b"])
    assert ranker.predict([[1.0], [5.0]]).tolist() == [0.0, 0.0]
    assert ranker.at_stage(1).predict([[1.0]]).tolist() == [0.0]


def test_constant_features_score_all_documents_alike():
    scores = AdaRank().fit(np.ones((4, 2)), [0, 1, 0, 1], qid=[1, 1, 2, 2]).predict(np.ones((3, 2)))
    assert np.ptp(scores) == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"measure": "MAPP"}, r"^unknown measure 'MAPP'"),
        ({"n_rounds": 0}, r"^n_rounds must be an integer of at least 1: got 0"),
        ({"missing": "zero"}, r"^unknown missing 'zero'; choose from error, mean"),
    ],
)
def test_parameters_are_looked_at(changes, message):
    with pytest.raises(DataError, match=message):
        AdaRank(**changes).fit([[1.0], [2.0]], [0, 1], qid=[1, 1])


def test_missing_values_are_refused_unless_told_what_to_do():
    X = [[1.0], [np.nan], [3.0]]
    with pytest.raises(DataError, match=r"^1 values are missing \(NaN\), in 1 of 1 features: f1"):
        AdaRank().fit(X, [0, 1, 1], qid=[1, 1, 1])
    assert AdaRank(missing="mean").fit(X, [0, 1, 1], qid=[1, 1, 1]).fill_.tolist() == [2.0]
