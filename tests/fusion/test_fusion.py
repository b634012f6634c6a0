"""The fusions equal values worked out by hand and their plain twins; ties and missing documents as declared."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rulerank as rr
from plain.fusion import fuse_plainly
from rulerank.errors import DataError
from rulerank.fusion.classic import METHODS

pytestmark = pytest.mark.kernels

NAN = float("nan")


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("comb_sum", [1 + 0, 0.75 + 0.5, 0.5, 0 + 1]),
        ("comb_mnz", [2 * 1, 2 * 1.25, 1 * 0.5, 2 * 1]),
        ("borda", [4 + 2, 3 + 3, 2 + 1, 1 + 4]),
        ("condorcet", [2, 2, 0.5, 1.5]),
        ("rrf", [1 / 61 + 1 / 63, 1 / 62 + 1 / 62, 1 / 63, 1 / 64 + 1 / 61]),
    ],
)
def test_two_lists_by_hand_one_of_which_lacks_a_document(method, expected):
    lists = [[40, 30, 20, 0], [0.0, 0.5, NAN, 1.0]]
    assert rr.fuse(lists, ["q"] * 4, method) == pytest.approx(expected)


@st.composite
def lists(draw):
    n_lists, n_rows = draw(st.integers(1, 5)), draw(st.integers(1, 12))
    score = st.one_of(st.just(NAN), st.integers(-3, 3).map(float))
    rows = st.lists(score, min_size=n_rows, max_size=n_rows)
    scores = draw(st.lists(rows, min_size=n_lists, max_size=n_lists))
    return scores, draw(st.lists(st.sampled_from("abc"), min_size=n_rows, max_size=n_rows))


@pytest.mark.parametrize("method", METHODS)
@given(lists())
def test_fusions_agree_with_the_plain_way(method, synthetic):
    scores, qid = synthetic
    assert rr.fuse(scores, qid, method) == pytest.approx(fuse_plainly(scores, qid, method), abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
@given(lists(), st.randoms())
def test_the_order_of_lists_and_rows_does_not_change_a_bit(method, synthetic, random):
    scores, qid = np.array(synthetic[0]), np.array(synthetic[1])
    fused = rr.fuse(scores, qid, method)
    lists = random.sample(range(len(scores)), len(scores))
    rows = random.sample(range(qid.size), qid.size)
    assert np.array_equal(rr.fuse(scores[lists][:, rows], qid[rows], method), fused[rows])


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        (
            [[1, 2]],
            {"method": "magic"},
            "unknown method 'magic'; choose from comb_sum, comb_mnz, borda, condorcet, rrf, ",
        ),
        ([1, 2], {}, r"scores must have one row per ranker, \(n_rankers, n_rows\): got the shape \(2,\)"),
        (np.zeros((0, 2)), {}, "scores must have one row per ranker"),
        ([[1, 2, 3]], {}, "qid must have one entry per row: expected 3, got 2"),
        ([[1, 2], [1]], {}, "scores must be lists of numbers of equal length"),
        ([["x", 2]], {}, "scores must be lists of numbers"),
        ([[1, 2], [3, np.inf]], {}, "finite, or NaN for a missing document: ranker 1, row 1 is infinity"),
        ([[1, 2]], {"method": "linear"}, "method='linear' needs weights, one per ranker"),
        ([[1, 2]], {"method": "linear", "weights": [1, 2]}, r"weights must be 1 finite numbers, .*: got \[1.0, 2.0\]"),
        ([[1, 2]], {"method": "linear", "weights": [NAN]}, "weights must be 1 finite numbers"),
        ([[1, 2]], {"method": "linear", "weights": ["x"]}, r"weights must be numbers: got \['x'\]"),
        (
            [[1, 2]],
            {"method": "rrf", "weights": [1]},
            "only method='linear' takes weights: leave them out for method='rr",
        ),
    ],
)
def test_wrong_arguments_are_named(scores, options, message):
    with pytest.raises(DataError, match=message):
        rr.fuse(scores, ["q", "q"], **options)
