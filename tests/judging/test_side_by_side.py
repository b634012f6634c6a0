"""DocumentPairs: who meets whom, what follows from how many, and that two people never get the same query."""

import numpy as np
import pytest
import scipy.stats

import rulerank as rr
from rulerank.judging.pool import Pool
from rulerank.judging.side_by_side import (
    MOST,
    Check,
    DocumentPairs,
    Outcome,
    compare_pair_grades,
    grade_pairs,
    share_won,
    side_by_side_in_words,
)
from rulerank.judging.store import LabelStore


@pytest.fixture(scope="module")
def pool():
    return Pool(rr.datasets.make_ranking(n_queries=60, docs_per_query=15, seed=3))


def top(scores, pool, query):
    rows = pool.rows_of(query)
    return set(rows[np.argsort(-scores[rows], kind="stable")[:3]].tolist())


def test_one_that_entered_meets_one_that_left(pool):
    new, baseline = pool.data.X[:, 2], pool.data.X[:, 0]
    pairs = list(DocumentPairs(pool, new, baseline))
    assert len({pair.query for pair in pairs}) == len(pairs) > 30
    for pair in pairs:
        ours, theirs = top(new, pool, pair.query), top(baseline, pool, pair.query)
        assert pair.entered in ours - theirs
        assert pair.left in theirs - ours
        assert pair.n_entered == len(ours - theirs)
        assert set(pair.shown) == {pair.entered, pair.left}
    assert 0.2 < np.mean([pair.shown[0] == pair.entered for pair in pairs]) < 0.8  # the side tells nothing


def graded(pool, won, lost, ties=0):
    pair = next(iter(DocumentPairs(pool, pool.data.X[:, 2], pool.data.X[:, 0])))
    return [Outcome(pair, *grades) for n, grades in ((won, (1, 0)), (lost, (0, 2)), (ties, (1, 1))) for _ in range(n)]


@pytest.mark.parametrize(
    ("won", "lost", "verdict"),
    [(4, 0, "too few"), (5, 0, "unclear"), (7, 0, "better"), (8, 3, "unclear"), (11, 2, "better"), (0, 5, "unclear"),
     (0, 7, "worse"), (2, 11, "worse"), (5, 10, "unclear"), (2, 2, "too few"), (6, 4, "unclear"), (0, 4, "too few")],
)  # fmt: skip
def test_no_verdict_has_an_interval_that_holds_one_half(pool, won, lost, verdict):
    found = compare_pair_grades(graded(pool, won, lost))
    assert found.verdict == verdict
    low, high = share_won(found)
    assert (verdict in ("unclear", "too few")) == (low <= 0.5 <= high)
    exact = scipy.stats.binomtest(won, won + lost).proportion_ci(0.97)
    assert (low, high) == pytest.approx(tuple(exact))


def test_of_equal_rankings_one_in_twenty_is_called_better_though_every_comparison_is_looked_at(pool):
    chances, better = {(0, 0): 1.0}, 0.0
    for _ in range(MOST):
        after: dict[tuple[int, int], float] = {}
        for (won, lost), chance in chances.items():
            for now in ((won + 1, lost), (won, lost + 1)):
                verdict = compare_pair_grades(graded(pool, *now)).verdict
                better += chance / 2 * (verdict == "better")
                if verdict not in ("better", "worse"):
                    after[now] = after.get(now, 0.0) + chance / 2
        chances = after
    assert 0.03 < better < 0.05


def test_forty_comparisons_at_most(pool):
    found = compare_pair_grades(graded(pool, 6, 4, MOST - 10))
    assert found.is_over(MOST)
    won = "the new ranking was preferred in 6 of 10 decided comparisons"
    assert (
        side_by_side_in_words(found)
        == f"No clear difference after 40 comparisons: {won}, plus 30 ties (97 % interval 24-90 %)."
    )
    found = compare_pair_grades(graded(pool, 6, 4, 3))
    assert side_by_side_in_words(found) == f"No clear difference yet: {won}, plus 3 ties (97 % interval 24-90 %)."
    assert not compare_pair_grades(graded(pool, 6, 4, MOST - 11)).is_over(MOST)
    pairs = DocumentPairs(pool, pool.data.X[:, 2], pool.data.X[:, 0])
    assert compare_pair_grades(grade_pairs(pairs, lambda pair: (1, 1))).ties == MOST
    assert grade_pairs(pairs, lambda pair: None) == []  # passed over


def test_two_people_never_get_the_same_query(pool, tmp_path):
    with LabelStore(tmp_path / "labels.db") as store:
        check = Check(pool, store, pool.data.X[:, 2], pool.data.X[:, 0])
        ann, bob = check.next("ann"), check.next("bob")
        assert ann.query != bob.query
        assert check.next("ann") == ann
        store.add(ann.query, ann.docs[0].doc, 1, "ann")  # half a pair stays with the one who began it
        assert check.next("bob") == bob
        assert check.next("ann").query == ann.query
        store.add(ann.query, ann.docs[1].doc, 1, "ann")
        assert check.comparison().ties == 1
        assert check.next("ann").query not in (ann.query, bob.query)


def test_where_all_that_differs_has_labels_it_is_said_what_to_do(pool, store):
    check = Check(pool, store, pool.data.X[:, 2], pool.data.X[:, 0], judged=pool.queries)
    assert check.next("you") is None
    assert check.changed == 1
    assert check.line() == (
        f"There is nothing to check: the top 3 differs in {len(pool.queries)} queries, which all have labels already, "
        "and the model may have learned from them. Add queries without labels to the pool, or leave out the labels of "
        "some queries, in training and here."
    )
