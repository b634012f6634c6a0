import math

import numpy as np
import pytest

from rulerank.datasets.ranking import make_ranking
from rulerank.errors import DataError
from rulerank.export.check import check_answers, read_answers
from rulerank.rankers.fitted.fitted_rules import FittedRules

synthetic = make_ranking(n_queries=30, n_features=6, seed=3)


@pytest.fixture(scope="module")
def ranker():
    return FittedRules().fit(synthetic)


def answers(X, scores):
    rows = [dict(zip(synthetic.feature_names, row, strict=True)) for row in X.tolist()]
    rows = [{name: None if math.isnan(value) else value for name, value in row.items()} for row in rows]
    return [{"features": row, "score": float(score)} for row, score in zip(rows, scores, strict=True)]


def test_answers_that_are_those_of_predict_are_said_to_be(ranker):
    found = check_answers(ranker, answers(synthetic.X, ranker.predict(synthetic)))
    assert found.same
    assert (found.largest_gap, found.n_reversed) == (0, 0)
    assert found.lines()[1] == "all scores equal those of predict"


def test_rounding_of_float32_is_no_difference(ranker):
    scores = ranker.predict(synthetic) * (1 + 3e-7)
    assert check_answers(ranker, answers(synthetic.X, scores)).same


def test_missing_values_taken_for_0_are_named_as_the_reason(ranker):
    zero = ranker.predict(np.nan_to_num(synthetic.X))
    found = check_answers(ranker, answers(synthetic.X, zero))
    wrong = [one for one in found.answers if one.why]
    assert wrong
    assert all(one.why.startswith("missing values were taken for 0") for one in wrong)
    assert found.n_reversed > 0
    assert "differ:" in found.lines()[1]


def test_values_rounded_across_a_cut_are_named_as_the_reason(ranker):
    table = max(ranker.tables_.tables, key=lambda one: len(one.cuts[0]) if len(one.features) == 1 else 0)
    feature = table.features[0]
    cut = next(one for one in table.cuts[0].tolist() if float(np.float32(one)) != one)
    X = synthetic.X[:1].astype(np.float64)
    X[0, feature] = cut - 1e-12 if float(np.float32(cut - 1e-12)) >= cut else cut + 1e-12
    narrow = X.astype(np.float32).astype(np.float64)
    if ranker.predict(X)[0] == ranker.predict(narrow)[0]:
        X[0, feature] = math.nextafter(cut, -math.inf) if float(np.float32(cut)) >= cut else cut
        narrow = X.astype(np.float32).astype(np.float64)
    score = ranker.predict(narrow)[0]
    if score == ranker.predict(X)[0]:
        pytest.skip("these two bins vote alike")
    (one,) = check_answers(ranker, answers(X, [score])).answers
    assert one.why.startswith("values were rounded to float32, across a cut")


def test_what_has_no_known_reason_is_said_to_have_none(ranker):
    (one,) = check_answers(ranker, answers(synthetic.X[:1], [77.0])).answers
    assert one.why.startswith("no reason is known: the features may not be those that the engine scored")


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([{"score": 1}], r"line 1 must be an object with features and a score, such as"),
        ([{"features": {"nope": 1}, "score": 1}], "line 1 has a feature 'nope' that the model does not have"),
        ([{"features": {}, "score": "x"}], "line 1: score must be a number or null: got 'x'"),
    ],
)
def test_answers_are_checked(ranker, bad, message):
    with pytest.raises(DataError, match=message):
        check_answers(ranker, bad)


def test_answers_are_read_line_by_line():
    assert read_answers('{"score": 1}\n\n{"score": 2}\n') == [{"score": 1}, {"score": 2}]
    with pytest.raises(DataError, match=r"line 2 is not JSON .*expected an object such as"):
        read_answers('{"score": 1}\nno\n')
