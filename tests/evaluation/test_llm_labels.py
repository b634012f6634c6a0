"""LLM labels corrected by human ones: the estimate against its formulas written out, coverage, and what is refused."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rulerank as rr
from plain import llm_labels as plain
from rulerank.errors import DataError
from rulerank.evaluation.comparison import Interval, interval
from rulerank.evaluation.llm_labels import (
    LLMEstimate,
    corrected_mean,
    estimate_with_llm,
    sample_for_comparison,
    sampled_mean,
)


def lenient(data, rng):
    """The grades of a rater who errs upwards in a third of the documents."""
    return np.minimum(data.y.max(), data.y + (rng.random(len(data)) < 0.3))


def judged_queries(data, n):
    chosen = np.unique(data.qid)[:n]
    return np.where(np.isin(data.qid, chosen), data.y, -1)


@pytest.fixture(scope="module")
def data():
    return rr.datasets.make_ranking(n_queries=120, docs_per_query=12, seed=3)


@pytest.fixture(scope="module")
def rankings(data):
    return {"new": data.X[:, 0] + data.X[:, 1], "old": data.X[:, 2]}


def test_a_small_example_by_hand():
    """Mean y and mean f are .5, the mean f of all six .6; S_ff .14, S_fy .1, S_yy .08."""
    y, f = np.array([0.3, 0.5, 0.5, 0.7]), np.array([0.3, 0.4, 0.5, 0.8])
    found = corrected_mean(y, f, np.array([0.3, 0.4, 0.5, 0.8, 0.7, 0.9]))
    slope = 0.1 / 0.14
    assert found.value == pytest.approx(0.5 + slope * 0.1)
    errors = 0.08 - 0.1 * slope
    residual = (errors + 0.08 / 3) / 3  # the pseudo-residual: more than errors / 2
    variance = residual * (1 / 4 + 0.01 / 0.14) + slope**2 * 0.056 / 6
    assert found.high - found.value == pytest.approx(4.302652729911275 * variance**0.5)


@given(st.lists(st.tuples(*[st.integers(0, 20)] * 2), min_size=4, max_size=12), st.lists(st.integers(0, 20)))
def test_the_corrected_mean_agrees_with_the_plain_way(pairs, more):
    y, f = np.array(pairs).T / 20
    assume(np.ptp(f) > 0)
    f_all = np.append(f, np.array(more) / 20)
    np.testing.assert_allclose(corrected_mean(y, f, f_all), plain.corrected_mean(y, f, f_all), atol=1e-9)


@given(st.integers(2, 14), st.integers(0, 99))
def test_chances_of_documents_agree_with_the_plain_way(n_docs, seed):
    rng = np.random.default_rng(seed)
    scores = {name: rng.permutation(10 * n_docs) * 1.0 for name in ("new", "old")}
    qid = np.repeat(np.arange(10), n_docs)
    expected = [plain.chances(*(one[qid == query] for one in scores.values())) for query in range(10)]
    assume(all(map(any, expected)))  # the top 10 of every query differs
    chance = sample_for_comparison(scores, qid, 10)[1]
    np.testing.assert_allclose(chance, np.concatenate(expected), atol=1e-12)


def test_the_mean_of_sampled_documents_is_the_intercept_of_a_regression():
    rng = np.random.default_rng(5)
    f_all = rng.random(30)
    f = f_all[:12]
    b = f + rng.normal(0, 0.1, 12)
    a = b + rng.normal(0, 0.1, 12)
    design = np.stack([np.ones(12), b - f, f - f_all.mean()], axis=1)
    slopes, (errors,), *_ = np.linalg.lstsq(design, a)
    found = sampled_mean(a, b, f, f_all)
    assert found.value == pytest.approx(slopes[0])
    variance = errors / 9 * np.linalg.inv(design.T @ design)[0, 0] + slopes[2] ** 2 * f_all.var(ddof=1) / 30
    assert found.high - found.value == pytest.approx(2.2621571628540993 * variance**0.5)  # t of 9 degrees


def test_a_rater_without_a_spread_changes_nothing():
    y = np.array([0.1, 0.5, 0.4, 0.9])
    assert corrected_mean(y, np.ones(4), np.ones(9)) == interval(y)


def test_intervals_cover_and_a_biased_rater_alone_does_not():
    rng = np.random.default_rng(0)
    truth, covered, alone, width = 0.1, 0, 0, []
    for _ in range(400):
        y = truth + 0.2 * rng.standard_normal(300)
        f = y + 0.15 + 0.1 * rng.standard_normal(300)
        found, human = corrected_mean(y[:30], f[:30], f), interval(y[:30])
        covered += found.low <= truth <= found.high
        alone += interval(f).low <= truth <= interval(f).high
        width.append((found.high - found.low) / (human.high - human.low))
    assert 0.93 <= covered / 400 <= 0.99
    assert alone == 0
    assert np.mean(width) < 0.7


def test_whole_queries_give_the_measure_of_all_queries(data, rankings):
    rng = np.random.default_rng(1)
    llm = rr.Dataset(data.X, lenient(data, rng), data.qid)
    found = estimate_with_llm(llm, rankings, judged_queries(data, 40))
    truth = np.subtract(
        *(rr.evaluate(data, scores, measures="NDCG@10").means["NDCG@10"] for scores in rankings.values())
    )
    assert found.estimate.low <= truth <= found.estimate.high
    assert found.estimate.high - found.estimate.low < found.human.high - found.human.low
    assert found.as_precise_as > found.n_human == 40
    assert found.to_dict()["verdict"] == found.verdict
    first, second, *_ = found.lines()
    assert first == (
        "new - old: NDCG@10 {:+.3f} [{:+.3f}, {:+.3f}]; ".format(*found.estimate)
        + f"LLM labels alone {found.llm:+.3f}; as precise as {found.as_precise_as} human queries instead of 40"
    )
    human = "{:+.3f} [{:+.3f}, {:+.3f}]".format(*found.human)
    assert second == f"  human labels of 40 queries alone {human}; LLM labels of 120 queries"


def test_the_messages_say_when_llm_labels_do_not_help_and_when_queries_are_few(data, rankings):
    rng = np.random.default_rng(2)
    llm = rr.Dataset(data.X, rng.integers(0, 3, len(data)), data.qid)
    found = estimate_with_llm(llm, {"new": rankings["new"]}, judged_queries(data, 12), "MAP")
    assert found.lines()[0].endswith("; LLM labels do not help here")
    assert found.lines()[2:] == ["  fewer than 20 human queries: the interval may be too narrow"]
    assert "verdict" not in found.to_dict()


@pytest.mark.parametrize(("value", "more"), [(0.1, "about 61"), (0.01, "more than 200")])
def test_an_unclear_difference_says_how_many_labels_would_settle_it(value, more):
    found = LLMEstimate(
        "NDCG@10", ("a", "b"), Interval(value, value - 0.2, value + 0.2), Interval(0, -1, 1), 0.1, 20, 90, 30
    )
    expected = f"  unclear; {more} more human queries would settle it, if the difference is as estimated"
    assert found.lines()[2:] == [expected]
    assert found.n_more == int(more.split()[-1])
    assert LLMEstimate("NDCG@10", ("a", "b"), Interval(0.3, 0.1, 0.5), Interval(0, -1, 1), 0.1, 20, 90, 30).n_more == 0


def test_human_judged_queries_that_are_not_like_the_others_are_noticed(data, rankings):
    values = rr.evaluate(data, rankings["new"], measures="NDCG@10")
    best = np.array(values.queries)[np.argsort(-values.values[0])[:20]]
    human = np.where(np.isin(data.qid, best), data.y, -1)
    found = estimate_with_llm(data, {"new": rankings["new"]}, human)
    assert "were they sampled at random?" in found.lines()[-1]


def test_one_document_per_query_is_unbiased_and_narrower_than_human_labels_alone(data, rankings):
    rng = np.random.default_rng(4)
    llm = rr.Dataset(data.X, lenient(data, rng), data.qid)
    discount = 1 / np.log2(np.arange(10) + 2)

    def sdcg(scores):
        total = 0.0
        for query in np.unique(data.qid):
            own = np.flatnonzero(data.qid == query)
            total += data.y[own[np.argsort(-scores[own], kind="stable")][:10]] @ discount
        return total / data.y.max() / discount.sum() / np.unique(data.qid).size

    truth = sdcg(rankings["new"]) - sdcg(rankings["old"])
    found = []
    for seed in range(200):
        rows, chance = sample_for_comparison(rankings, data.qid, 60, seed=seed)
        assert np.unique(data.qid[rows]).size == 60
        human = np.full(len(data), -1)
        human[rows] = data.y[rows]
        found.append(estimate_with_llm(llm, rankings, human, probability=chance))
    values = np.array([one.estimate.value for one in found])
    assert abs(values.mean() - truth) < 3 * values.std() / np.sqrt(200)
    assert np.mean([one.estimate.low <= truth <= one.estimate.high for one in found]) >= 0.93
    assert np.mean([one.as_precise_as > one.n_human for one in found]) > 0.9
    assert found[0].measure == "SDCG@10"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"human": 9}, "expected at least 10 queries with human grades, sampled at random: got 9"),
        ({"scores": {}}, "expected one or two rankings as a dict from name to scores"),
        ({"scores": {"a": [1.0]}}, r"ranking 'a': expected 1,440 finite scores: got an array of shape \(1,\)"),
        ({"some": True}, r"has human grades for 1 of its 12 documents \(1 such queries\): grade all documents"),
        ({"missing": True}, "some documents have a human grade and none of the LLM"),
        ({"probability": 0.5, "one": True}, "sampled documents compare two rankings: got 1"),
        ({"probability": 0.5}, "some queries have several human grades"),
        (
            {"probability": 0.9, "one each": True},
            "were sampled to compare other rankings than new and old, or other doc",
        ),
        ({"probability": 0.5, "some": True}, "expected at least 10 documents with human grades"),
    ],
)
def test_mistakes_are_named(data, rankings, change, message):
    human = judged_queries(data, change.get("human", 20))
    if change.get("some"):
        human = np.where(np.arange(len(data)) == 0, data.y, -1)
    if change.get("one each"):
        human = np.where(np.arange(len(data)) % 12 == 0, data.y, -1)
    grades = np.where(human >= 0, -1, data.y) if change.get("missing") else data.y
    scores = {"new": rankings["new"]} if change.get("one") else change.get("scores", rankings)
    chance = np.full(len(data), change["probability"]) if "probability" in change else None
    with pytest.raises(DataError, match=message):
        estimate_with_llm(rr.Dataset(data.X, grades, data.qid), scores, human, probability=chance)


def test_sampling_needs_two_rankings_that_differ(data, rankings):
    with pytest.raises(DataError, match="expected two rankings to compare, by name: got 1"):
        sample_for_comparison({"new": rankings["new"]}, data.qid, 10)
    with pytest.raises(DataError, match="the top 10 of new and old differs in 0 of 120 queries: comparing them needs"):
        sample_for_comparison({"new": rankings["new"], "old": rankings["new"]}, data.qid, 10)
