"""Training with human and LLM labels: the weight of the LLM labels, and why."""

import numpy as np
import pytest

import rulerank as rr
from rulerank.rankers.pool import PoolLearner
from rulerank.selection.few_labels import PEOPLE, WEIGHTS, choose_weight, few_label_ranker, fit_by_rater


@pytest.fixture(scope="module")
def pool():
    return rr.datasets.make_ranking(n_queries=40, docs_per_query=15, seed=2)


def human_labels(pool, n_queries):
    chosen = np.unique(pool.qid)[:n_queries]
    rows = np.flatnonzero(np.isin(pool.qid, chosen) & (np.arange(len(pool)) % 15 < 10))
    return {int(row): int(pool.y[row]) for row in rows}


def scores(pool, given):
    with pytest.warns(UserWarning, match="every rater has separate intercepts") as caught:
        fitted = fit_by_rater("QI", pool, given)
    return fitted.predict(pool), str(caught[-1].message)


def test_good_labels_count_and_random_ones_do_not(pool):
    human, rng = human_labels(pool, 10), np.random.default_rng(0)
    alone, _ = scores(pool, {PEOPLE: human})
    _, message = scores(pool, {PEOPLE: human, "gpt": dict(enumerate(pool.y.tolist()))})
    assert "labels of non-human raters: weight " in message
    assert "(held-out human pairs in order by weight: 0: " in message
    useless, message = scores(pool, {PEOPLE: human, "gpt": dict(enumerate(rng.permutation(pool.y).tolist()))})
    assert "labels of non-human raters are not used: they order only " in message
    assert (useless == alone).all()


def test_the_weight_is_that_with_most_held_out_human_pairs_in_order(pool):
    """Written out: models of the other queries' labels of both raters, by weight."""
    human = human_labels(pool, 10)
    rows = np.array([*human, *range(len(pool))])
    grades = np.array([*human.values(), *pool.y.tolist()])
    raters = np.array([PEOPLE] * len(human) + ["gpt"] * len(pool))
    learner = PoolLearner(few_label_ranker("QI"), pool)
    weight, reason = choose_weight(learner, rows, grades, raters)
    own, query = raters == PEOPLE, learner.query[rows]
    folds = rr.QueryKFold(n_splits=5).split(rows[own], qid=rr.dataset.query_index(query[own])[0])
    right = np.zeros(len(WEIGHTS))
    for _, test in folds:
        away = ~np.isin(query, query[own][test])
        for number, one in enumerate(WEIGHTS):
            train = away & (own | (one > 0))
            weights = np.where(own[train], 1.0, one)
            fitted = learner.fit(rows[train], grades[train], rater=raters[train].astype(object), sample_weight=weights)
            found = fitted.predict(pool)
            for a in rows[own][test]:
                for b in rows[own][test]:
                    if pool.qid[a] == pool.qid[b] and pool.y[a] > pool.y[b]:
                        right[number] += (found[a] > found[b]) + 0.5 * (found[a] == found[b])
    assert weight == WEIGHTS[int(right.argmax())]
    assert f"weight {weight:g}" in reason


def test_few_or_no_human_labels_leave_the_llm_labels_as_they_are(pool):
    llm = dict(enumerate(pool.y.tolist()))
    for given in ({"gpt": llm}, {PEOPLE: human_labels(pool, 2), "gpt": llm}):
        _, message = scores(pool, given)
        assert message.endswith("every rater has separate intercepts")
