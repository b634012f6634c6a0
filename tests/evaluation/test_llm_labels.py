"""LLM labels corrected by human ones: the estimate against its formulas written out, coverage, and what is refused."""

import numpy as np
import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.evaluation.comparison import interval
from rulerank.evaluation.llm_labels import corrected_mean, estimate_with_llm, sample_for_comparison


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


def test_the_corrected_mean_is_a_regression_estimate():
    y, f, more = [0.1, 0.5, 0.4, 0.6], [0.2, 0.6, 0.3, 0.8], [0.9, 0.7]
    slope = np.polyfit(f, y, 1)[0]
    assert 0 < slope < 1
    expected = np.mean(y) + slope * (np.mean([*f, *more]) - np.mean(f))
    found = corrected_mean(np.array(y), np.array(f), np.array([*f, *more]))
    assert found.value == pytest.approx(expected)
    assert found.low < expected < found.high


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
    first, _, last = found.lines()
    assert first == "new - old: NDCG@10 {:+.3f} [{:+.3f}, {:+.3f}]".format(*found.estimate)
    assert last == f"as precise as {found.as_precise_as} human-judged queries instead of 40"


def test_the_messages_say_when_llm_labels_do_not_help_and_when_queries_are_few(data, rankings):
    rng = np.random.default_rng(2)
    llm = rr.Dataset(data.X, rng.integers(0, 3, len(data)), data.qid)
    found = estimate_with_llm(llm, {"new": rankings["new"]}, judged_queries(data, 12), "MAP")
    assert found.lines()[2:] == [
        "LLM labels do not help here: the interval is not narrower than that of the human labels alone",
        "fewer than 20 human-judged queries: the interval may be too narrow",
    ]
    assert "verdict" not in found.to_dict()


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
        ({"probability": 0.0, "some": True}, "some human grades are of documents that the sample could not choose"),
        ({"probability": 0.5, "some": True}, "expected at least 10 documents with human grades"),
    ],
)
def test_mistakes_are_named(data, rankings, change, message):
    human = judged_queries(data, change.get("human", 20))
    if change.get("some"):
        human = np.where(np.arange(len(data)) == 0, data.y, -1)
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
