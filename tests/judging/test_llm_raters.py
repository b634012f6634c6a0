"""The agreement of LLM raters with people: against the plain way, by part, and the order of systems."""

import numpy as np
import pytest
from scipy import stats

import rulerank as rr
from plain import llm_labels as plain
from rulerank.judging.llm_raters import rater_rows, system_tau


def test_agreement_is_clustered_by_query():
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(200), rng.integers(1, 9, 200))
    human = rng.integers(0, 3, query.size)
    right = rng.random(200)[query] > rng.random(query.size)  # queries differ
    llm = np.where(right, human, (human + 1) % 3)
    row = rater_rows(human, llm, query)[0]
    share, low, high = plain.agreement(human.tolist(), llm.tolist(), query.tolist())
    assert row.same.value == pytest.approx(share)
    assert (row.same.low, row.same.high) == pytest.approx((low, high), abs=0.003)  # Fieller and the delta method
    assert row.same.high - row.same.low > 1.3 * 2 * 1.96 * (share * (1 - share) / query.size) ** 0.5


def test_rows_of_grades_kinds_of_queries_and_ranks():
    human, llm = np.array([0, 1, 2, 0, 0, -1]), np.array([0, 2, 2, 1, 0, 1])
    rows = rater_rows(
        human,
        llm,
        np.array([0, 0, 0, 1, 1, 1]),
        ranks=np.array([1, 11, 2, 1, 12, 3]),
        words=np.array([2] * 3 + [5] * 3),
    )
    found = {row.documents: (row.n_docs, round(row.same.value, 2), round(row.bias.value, 2)) for row in rows}
    assert found == {
        "all": (5, 0.6, 0.4),
        "human grade 0": (3, 0.67, 0.33), "human grade 1": (1, 0.0, 1.0), "human grade 2": (1, 1.0, 0.0),
        "queries with at most 1 relevant documents": (2, 0.5, 0.5),
        "queries with more than 1 relevant documents": (3, 0.67, 0.33),
        "queries with at most 3 words": (3, 0.67, 0.33), "queries with more than 3 words": (2, 0.5, 0.5),
        "ranks 1 to 10": (3, 0.67, 0.33), "ranks from 11": (2, 0.5, 0.5),
    }  # fmt: skip
    assert rows[-1].cells()[0] == "ranks from 11"


def test_tau_is_that_of_scipy():
    data = rr.datasets.make_ranking(n_queries=30, docs_per_query=8, seed=1)
    rng = np.random.default_rng(0)
    query = np.unique(data.qid, return_inverse=True)[1]
    llm = np.where(rng.random(len(data)) < 0.4, rng.integers(0, 3, len(data)), data.y)
    systems = np.nan_to_num(data.X.T[:8].astype(float))
    found = system_tau(data.y, llm, query, systems)
    means = [[rr.evaluate(y, one, query, "NDCG@10").means["NDCG@10"] for one in systems] for y in (data.y, llm)]
    assert found.value == pytest.approx(stats.kendalltau(*means).statistic)
    assert found.low <= found.value <= found.high
