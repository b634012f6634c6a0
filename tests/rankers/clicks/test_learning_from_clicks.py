"""QueryIntercepts and clicks: the truth is found, what cannot be told is said, and mistakes are named."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from rulerank.dataset import Impressions, query_index
from rulerank.normalize import normalize_by_query
from rulerank.rankers.clicks.positions import PositionWarning
from tests.plain.click_likelihood import click_chances, joined_plainly

EFFECTS = np.array([0.0, 0.5, 0.9, 1.1, 1.6, 1.7, 2.0, 2.1, 2.3, 2.4])
WEIGHTS = np.array([1.0, -0.5, 0.3])


def true_clicks(n_impressions, effects=EFFECTS, n_queries=100, n_docs=10, seed=0):
    """Clicks of a model that is right: every query's documents in random order, n_impressions in all."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * n_docs, WEIGHTS.size))
    n_lists = n_impressions // n_docs
    queries = rng.integers(0, n_queries, n_lists)
    order = np.argsort(rng.random((n_lists, n_docs)), axis=1) + n_docs * queries[:, None]
    rows, position = order.ravel(), np.tile(np.arange(1, n_docs + 1), n_lists)
    scores = X @ WEIGHTS - rng.normal(1.0, 1.0, n_queries)[np.arange(len(X)) // n_docs]
    clicked = rng.random(rows.size) < click_chances(scores[rows], effects[position - 1])
    return X[rows], clicked, rows // n_docs, position


def test_effects_and_weights_are_found_where_the_model_is_right():
    X, clicked, queries, position = true_clicks(100_000)
    # features say all there is to say of a document, so that every impression is a fact of its own
    ranker = rr.QueryIntercepts(document_spread=0).fit(X, clicked, queries, position=position)
    found = ranker.position_effects_
    assert abs(found.effects - EFFECTS).max() < 0.1
    assert (abs(found.effects - EFFECTS)[1:] < 4 * found.errors[1:]).all()
    np.testing.assert_allclose(ranker.coef_, WEIGHTS, atol=0.05)
    assert (abs(ranker.coef_ - WEIGHTS) < 4 * ranker.standard_errors_).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5))
def test_it_warns_exactly_where_documents_do_not_lead_from_one_position_to_the_other(seed, n_positions):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(6, 2))
    rows = rng.integers(0, 6, rng.integers(2, 12))
    position = rng.integers(1, n_positions + 1, rows.size)
    clicks = rng.integers(0, 2, rows.size)
    groups = joined_plainly(position.tolist(), rows.tolist())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranker = rr.QueryIntercepts(l2=1).fit(X[rows], clicks, rows % 2, position=position)
    warned = any(issubclass(one.category, PositionWarning) for one in caught)
    assert warned == (len(groups) > 1)
    effects = ranker.position_effects_.effects
    assert effects[0] == 0
    assert (np.diff(effects) >= 0).all()
    assert np.isfinite(effects).all()
    if max(map(len, groups)) == 1:
        assert not effects.any()


def test_where_nothing_moves_it_says_what_is_assumed():
    X, clicked, _queries, _ = true_clicks(1000)
    with pytest.warns(PositionWarning, match="no document was shown at two of the 10 positions.*no position effect"):
        fixed = rr.QueryIntercepts(l2=1).fit(
            X[:30], clicked[:30], np.repeat([0, 1, 2], 10), position=np.tile(np.arange(1, 11), 3)
        )
    assert "are not identifiable, and none is assumed" in repr(fixed.positions())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rr.QueryIntercepts(l2=1).fit(
            X[:30], clicked[:30], np.repeat([0, 1, 2], 10), position=np.tile(np.arange(1, 11), 3),
            propensities=[0.9**k for k in range(10)],
        )  # fmt: skip


def test_documents_with_equal_features_are_not_one_that_moved():
    X = np.repeat(np.arange(40.0), 2)[:, None] % 7  # both documents of a query look the same
    shown = Impressions(np.tile([1, 2], 40), np.full(80, 50), np.tile([20, 5], 40))
    data = rr.Dataset(
        X, np.full(80, -1), np.repeat(np.arange(40), 2), docid=[f"d{n}" for n in range(80)], impressions=shown
    )
    with pytest.warns(PositionWarning, match="no document was shown at two of the 2 positions"):
        ranker = rr.QueryIntercepts(l2=1.0).fit(data)
    assert ranker.positions().n_moved == 0
    by_content = rr.QueryIntercepts(l2=1.0).fit(
        X, shown.clicks, data.qid, position=shown.position, impressions=shown.count
    )
    assert by_content.positions().n_moved == 40  # arrays have no ids


def test_far_down_positions_share_steps_and_the_effects_are_those_of_a_step_each(monkeypatch):
    rng = np.random.default_rng(0)
    document, position = rng.integers(0, 200, 4000), rng.integers(1, 61, 4000)
    X, queries = rng.normal(size=(200, 2))[document], document % 10
    clicked = rng.random(4000) < 1 / (1 + np.exp(0.5 * np.log(position) - X[:, 0]))
    shared = rr.QueryIntercepts().fit(X, clicked, queries, position=position).positions()
    monkeypatch.setattr("rulerank.rankers.clicks.positions.KNOTS_APART", 0.0)
    own = rr.QueryIntercepts().fit(X, clicked, queries, position=position).positions()
    assert np.abs(shared.effects - own.effects).max() < 0.1 * own.errors[-1]
    assert len(repr(own).splitlines()) == 22
    assert repr(own).endswith("that moved; 40 positions further down not printed")


def test_a_data_set_brings_its_clicks_along():
    synthetic = rr.datasets.make_ranking(n_queries=30, n_features=3, seed=0)
    seen = rr.clicks.simulate_clicks(synthetic, synthetic.X[:, 0], n_impressions=3000, seed=0)
    one = rr.QueryIntercepts(l2=10).fit(seen)
    shown = seen.impressions
    two = rr.QueryIntercepts(l2=10).fit(
        seen.X, shown.clicks, seen.qid, position=shown.position, impressions=shown.count
    )
    assert one.coef_.tobytes() == two.coef_.tobytes()
    known = rr.QueryIntercepts(l2=10).fit(seen, propensities={k: 1 / k for k in range(1, 11)})
    np.testing.assert_allclose(known.position_effects_.effects, np.log(np.arange(1, 11)))


def test_a_document_counts_once_for_the_scale_of_its_query():
    synthetic = rr.datasets.make_ranking(n_queries=10, n_features=3, seed=0)
    seen = rr.clicks.simulate_clicks(synthetic, synthetic.X[:, 0], n_impressions=2000, seed=0)
    by_itself = rr.QueryIntercepts(l2=1, normalize="zscore").fit(seen)
    _, first = np.unique(np.column_stack([seen.qid, seen.docid]).astype(str), axis=0, return_index=True)
    once = seen[np.sort(first)]
    place = {key: row for row, key in enumerate(zip(once.qid, once.docid, strict=True))}
    scaled = normalize_by_query(once.X, query_index(once.qid)[0], "zscore")
    rows = [place[key] for key in zip(seen.qid, seen.docid, strict=True)]
    before = rr.QueryIntercepts(l2=1).fit(
        scaled[rows],
        seen.impressions.clicks,
        seen.qid,
        position=seen.impressions.position,
        impressions=seen.impressions.count,
    )
    np.testing.assert_allclose(by_itself.coef_, before.coef_, rtol=1e-5)


def test_a_model_file_keeps_the_effects(tmp_path):
    X, clicked, queries, position = true_clicks(2000)
    ranker = rr.QueryIntercepts(l2=1).fit(X, clicked, queries, position=position)
    ranker.save(tmp_path / "m.rulerank")
    again = rr.load(tmp_path / "m.rulerank")
    assert repr(again.positions()) == repr(ranker.positions())
    assert again.predict(X).tobytes() == ranker.predict(X).tobytes()
    assert ranker.positions().to_dict()["positions"][0]["standard_error"] is None
    labelled = rr.QueryIntercepts(l2=1).fit(X, clicked.astype(int), queries)
    with pytest.raises(rr.errors.DataError, match="was not fitted with position"):
        labelled.positions()


def test_clicks_that_say_nothing_are_said_to():
    X = np.array([[0.0], [1.0], [0.0], [1.0]])
    with pytest.warns(UserWarning, match="no query has both clicks and impressions without one"):
        rr.QueryIntercepts(l2=1).fit(X, [0, 0, 0, 0], [0, 0, 0, 0], position=[1, 2, 2, 1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"position": [0, 1]}, r"position must be integers from 1 \(the top\): got 0 at row 0"),
        ({"position": [1.5, 1]}, "position must be integers from 1 .*got 1.5 at row 0"),
        ({"position": ["top", "x"]}, r"position must be integers from 1 .*got \['top', 'x'\]"),
        ({"position": [1, 2**31]}, "position must be at most 2147483647: got 2147483648"),
        ({"y": [3, 0]}, r"clicks must not be above impressions: got 3 of 1 at row 0 \(1 each, as impressions is not"),
        ({"y": [3, 0], "impressions": [2, 2]}, "clicks must not be above impressions: got 3 of 2 at row 0$"),
        ({"y": [-1, 0]}, "y must be the number of clicks of each row: got -1 at row 0"),
        ({"impressions": [0, 1]}, "impressions must be numbers above 0: got 0 at row 0"),
        ({"impressions": [1e200, 1]}, "expected at most 9,007,199,254,740,992 impressions, got .*: are these counts?"),
        ({"impressions": [1]}, "impressions must have one entry per row: expected 2, got 1"),
        (
            {"propensities": {1: 1.0}},
            r"propensities must contain every position.*position 2 is missing, given are \[1\]",
        ),
        ({"propensities": [1.0, 0.0]}, "propensities must be above 0 and at most 1.*got 0.0 for position 2"),
        ({"propensities": [1.0, "low"]}, "propensities must be above 0 and at most 1.*got 'low' for position 2"),
        ({"position": None, "impressions": [1, 1]}, "impressions belong to clicks: give position too"),
        ({"position": None, "propensities": [1.0]}, "propensities belong to clicks: give position too"),
        ({"y": None}, "with position, y is how often each row was clicked"),
    ],
)
def test_mistakes_are_named(change, message):
    given_ = {"X": [[0.0], [1.0]], "y": [0, 1], "qid": [1, 1], "position": [1, 2]} | change
    with pytest.raises(rr.errors.DataError, match=message):
        rr.QueryIntercepts().fit(**given_)


def test_rankers_that_learn_from_grades_refuse_clicks():
    synthetic = rr.datasets.make_ranking(n_queries=4, n_features=2, seed=0)
    seen = rr.clicks.simulate_clicks(synthetic, synthetic.X[:, 0], n_impressions=40, seed=0)
    with pytest.raises(
        rr.errors.DataError, match="FittedRules learns from grades, and these rows hold clicks: use Quer"
    ):
        rr.FittedRules().fit(seen)
