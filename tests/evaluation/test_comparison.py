"""compare: each test against its own definition or SciPy's, and what the tables say."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from plain.shares import is_possible
from rulerank.errors import DataError
from rulerank.evaluation import compare, compare_results, comparison, evaluate
from rulerank.evaluation.comparison import (
    bootstrap_means,
    compare_gains,
    holm,
    interval,
    randomisation_test,
    share_interval,
    t_test,
)


@pytest.fixture(scope="module")
def synthetic():
    """Forty queries, two rankings that see the grades through noise and one that does not."""
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 3, 800), np.repeat([f"q{number}" for number in range(40)], 20)
    scores = {
        name: y * weight + rng.normal(size=800) for name, weight in {"good": 1.5, "fair": 1.2, "blind": 0}.items()
    }
    return scores, y, qid


def every_sign(differences):
    """The p of the sign-flip test by trying all signs."""
    sums = [abs(np.dot(signs, differences)) for signs in itertools.product([1, -1], repeat=len(differences))]
    return np.mean(np.array(sums) >= abs(sum(differences)) - 1e-9)


def test_the_t_test_is_scipys():
    rng = np.random.default_rng(1)
    a, b = rng.random((2, 5, 30))
    want = [scipy.stats.ttest_rel(a[row], b[row]).pvalue for row in range(5)]
    np.testing.assert_allclose(t_test(a - b), want, rtol=1e-12)


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=9))
def test_the_randomisation_test_of_few_queries_tries_all_signs(tenths):
    differences = np.array(tenths) / 10
    assert randomisation_test(differences[None], n_rounds=512, seed=0)[0] == pytest.approx(every_sign(differences))


def test_holm_is_that_of_the_textbook():
    # sorted .005 .01 .03 .04, times 4 3 2 1: .02 .03 .06 .04, and never below the one before
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.005])), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm(np.array([0.6, 0.7])), [1.0, 1.0])
    np.testing.assert_allclose(holm(np.array([0.2])), [0.2])


def test_the_bootstrap_interval_is_about_that_of_the_normal_law():
    values = np.random.default_rng(3).normal(0.1, 0.2, (1, 300))
    low, high = np.quantile(bootstrap_means(values, 10_000, seed=0)[:, 0], [0.025, 0.975])
    error = values.std() / np.sqrt(300)
    assert low == pytest.approx(values.mean() - 1.96 * error, abs=0.1 * error)
    assert high == pytest.approx(values.mean() + 1.96 * error, abs=0.1 * error)


def test_rounds_in_parts_have_the_size_asked_for(monkeypatch):
    monkeypatch.setattr(comparison, "ROUND_CELLS", 25)
    assert bootstrap_means(np.ones((2, 10)), 7, seed=0).tolist() == [[1.0, 1.0]] * 7
    differences = np.random.default_rng(4).normal(0.05, 0.2, (1, 12))
    assert randomisation_test(differences, 2_000, seed=0)[0] == pytest.approx(every_sign(differences[0]), abs=0.06)


def test_every_pair_is_compared_by_every_measure(synthetic):
    scores, y, qid = synthetic
    found = compare(y, scores, qid, ["MAP", "NDCG@5"], n_rounds=500)
    assert [(p.measure, p.a, p.b) for p in found.pairs[:3]] == [
        ("MAP", "good", "fair"),
        ("MAP", "good", "blind"),
        ("MAP", "fair", "blind"),
    ]
    assert [p.measure for p in found.pairs[3:]] == ["NDCG@5"] * 3
    good, blind = (evaluate(y, scores[name], qid, ["MAP"]) for name in ("good", "blind"))
    pair = found.pairs[1]
    assert pair.mean_a == good.means["MAP"]
    assert pair.difference == good.means["MAP"] - blind.means["MAP"]
    differences = good.per_query["MAP"] - blind.per_query["MAP"]
    assert pair.wins == (differences > 0).sum()
    assert pair.wins + pair.ties + pair.losses == 40
    assert pair.low < pair.difference < pair.high
    assert pair.p["t"] == pytest.approx(scipy.stats.ttest_1samp(differences, 0).pvalue)
    assert pair.p["randomisation"] == 1 / 501  # no flip of 500 came near
    for test in ("t", "randomisation"):
        want = holm(np.array([p.p[test] for p in found.pairs[:3]]))
        assert [p.p_holm[test] for p in found.pairs[:3]] == want.tolist()


def test_the_same_seed_gives_the_same_comparison_and_another_one_does_not(synthetic):
    scores, y, qid = synthetic
    one, same, other = (compare(y, scores, qid, n_rounds=300, seed=seed).to_dict() for seed in (5, 5, 6))
    assert one == same
    assert one["pairs"] != other["pairs"]


def test_equal_rankings_do_not_differ(synthetic):
    scores, y, qid = synthetic
    pair = compare(y, {"a": scores["good"], "b": scores["good"] * 2}, qid).pairs[0]
    assert pair.p == pair.p_holm == {"t": 1.0, "randomisation": 1.0}
    assert (pair.difference, pair.low, pair.high, pair.ties) == (0.0, 0.0, 0.0, 40)


def test_a_difference_that_is_the_same_everywhere_is_no_chance():
    y, qid = [1, 0] * 12, np.repeat(np.arange(12), 2)
    pair = compare(y, {"right": [2, 1] * 12, "wrong": [1, 2] * 12}, qid, "P@1", n_rounds=5_000).pairs[0]
    assert pair.p == {"t": 0.0, "randomisation": 2 / 2**12}


def test_a_comparison_prints_its_table_and_how_it_came_about(synthetic):
    scores, y, qid = synthetic
    found = compare(y, scores, qid, n_rounds=200)
    first, *rows, note = repr(found).splitlines()
    assert " ".join(first.split()) == "measure a b mean a mean b a - b interval p t p randomisation wins/ties/losses"
    assert len(rows) == 3
    assert rows[1].startswith("MAP      good  blind  ")
    assert "0.0149*" in rows[1]  # 3 / 201
    assert "*" not in rows[0]
    assert note == (
        "40 queries, convention standard, ties expected; tied documents of 800: good 0, fair 0, blind 0; "
        "95% bootstrap intervals; p corrected by Holm over the pairs of a measure, * below 0.05; 200 rounds, seed 0"
    )
    payload = found.to_dict()
    assert payload["pairs"][1]["p_holm"]["randomisation"] == pytest.approx(3 / 201)
    assert payload["rankings"]["good"]["means"]["MAP"] == payload["pairs"][0]["mean_a"]


def test_names_are_escaped_in_latex():
    y, qid = [1, 0, 1, 0], [1, 1, 2, 2]
    latex = compare(y, {"a_1 & 50%": [2, 1, 2, 1], r"b\^": [1, 2, 2, 1]}, qid).to_latex()
    assert r"MAP & a\_1 \& 50\% & b\textbackslash{}\textasciicircum{} & 1.0000 & 0.7500 & +0.2500 &" in latex
    assert latex.startswith("\\begin{tabular}{lllrrr")
    assert latex.splitlines()[-1].startswith("% 2 queries, convention standard")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": {"a": [1, 2]}}, "expected at least two rankings to compare: got 1"),
        ({"scores": [[1, 2], [2, 1]]}, "expected the grades, then the rankings as a dict .*: got list"),
        ({}, "expected at least two queries to test a difference: got 1"),
        ({"n_rounds": 0}, "n_rounds must be an integer of at least 1: got 0"),
        ({"seed": -1}, "seed must be an integer of at least 0: got -1"),
        ({"alpha": 5}, "alpha must lie between 0 and 1: got 5"),
        (
            {"scores": {"a": [1, 2], "b": [1, float("nan")]}},
            "ranking 'b': scores must be finite numbers: got nan at row 1",
        ),
    ],
)
def test_bad_input_is_named(change, message):
    arguments = {"scores": {"a": [1, 2], "b": [2, 1]}, "y": [1, 0], "qid": ["q", "q"]} | change
    with pytest.raises(DataError, match=f"^{message}$"):
        compare(**arguments)


def test_only_rankings_of_the_same_queries_are_compared():
    two, other = (evaluate([1, 0], [1, 2], qid, any_grades=True) for qid in (["a", "b"], ["b", "c"]))
    with pytest.raises(DataError, match="on the same queries: these were evaluated on different ones"):
        compare_results({"x": two, "y": other})


@pytest.mark.parametrize(
    ("other", "what"),
    [({"measures": "P@1"}, "measures"), ({"convention": "letor3"}, "convention"), ({"ties": "file"}, "ties")],
)
def test_only_results_of_one_kind_are_compared(other, what):
    y, scores, qid = [1, 0, 1, 0], [2, 1, 1, 2], ["a", "a", "b", "b"]
    one, two = evaluate(y, scores, qid, "MAP"), evaluate(y, scores, qid, **({"measures": "MAP"} | other))
    with pytest.raises(DataError, match=f"rankings can only be compared by the same {what}: got "):
        compare_results({"x": one, "y": two})


@pytest.mark.parametrize("uneven", [False, True])
def test_an_interval_by_query_holds_the_share_as_often_as_it_says(uneven):
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(400):
        shown = rng.poisson(4000 / np.arange(1, 31)) if uneven else rng.integers(20, 200, size=30)
        rates = rng.beta(2, 8, size=30)  # queries differ: intervals by impression would hold 0.2 in half of the cases
        share = share_interval(rng.binomial(shown, rates), shown)
        held += share.low <= 0.2 <= share.high
    assert 0.93 <= held / 400 <= 0.98


clusters = st.lists(
    st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=2, max_size=9
)


@given(clusters)
def test_an_interval_holds_the_shares_that_no_test_rules_out(found):
    parts, wholes = map(np.array, zip(*found, strict=True))
    value, low, high = share_interval(parts, wholes)
    assert low <= value <= high
    near = 1e-6
    for share in (low + near, value, high - near):
        assert not low < share < high or share in (0, 1) or is_possible(share, parts, wholes)
    for share in (low - near, high + near):
        assert not 0 < share < 1 or not is_possible(share, parts, wholes)


def test_one_cluster_or_none_says_nothing():
    assert share_interval(np.array([3]), np.array([10]))[1:] == (0.0, 1.0)
    assert share_interval(np.array([3, 0]), np.array([1000, 1]))[1:] == (0.0, 1.0)
    assert np.isnan(share_interval(np.array([]), np.array([])).value)


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=20).filter(lambda gains: np.std(gains) > 1e-6))
def test_the_interval_of_a_mean_is_scipys(gains):
    found = interval(np.array(gains), level=0.9)
    expected = scipy.stats.ttest_1samp(gains, 0).confidence_interval(0.9)
    assert found == pytest.approx((np.mean(gains), *expected), abs=1e-9)


@pytest.mark.parametrize("n_queries", [6, 20, 100])
def test_gains_of_queries_that_are_none_are_called_one_in_5_of_100_cases(n_queries):
    rng = np.random.default_rng(0)
    pairs = rng.beta(2, 3, size=(1000, 2, n_queries))
    verdicts = [
        compare_gains("NDCG@10", ("new", "baseline"), new, baseline, least=6).verdict for new, baseline in pairs
    ]
    assert 0.035 <= sum(verdict != "unclear" for verdict in verdicts) / 1000 <= 0.065
