"""The method is chosen by queries that were held out, and the choice can be read."""

import numpy as np
import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.rankers.fitted.settings import FEW_QUERIES
from rulerank.training.choose import CANDIDATES, Candidate, choose_ranker

WORLD = rr.make_world(n_queries=40, docs_per_query=20, n_features=8, seed=3)
LINE = Candidate("QI", "a line", {"l2": 10.0, "missing": "mean"})
RULES = Candidate("RE-GR", "rules")


def crossed(n_queries=60, n_docs=20, seed=0):
    """Grades that no weighted sum can tell apart."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_queries * n_docs, 2))
    return rr.Dataset(X, (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5), np.repeat(np.arange(n_queries), n_docs))


def straight(n_queries=60, n_docs=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * n_docs, 5))
    truth = X.sum(axis=1) + 3 * rng.normal(size=len(X))
    return rr.Dataset(X, np.digitize(truth, [1.0, 4.0]), np.repeat(np.arange(n_queries), n_docs))


def test_what_the_data_are_like_decides():
    assert choose_ranker(crossed()).candidate.method == "FR"
    assert choose_ranker(straight()).candidate.method == "QI"


def test_the_figures_are_those_of_cross_validation_by_query():
    found = choose_ranker(WORLD, [LINE, RULES], measure="NDCG@10", seed=1)
    assert found.n_queries == 40
    for candidate, trial in found.table:
        means = []
        for train, test in rr.QueryKFold(5, seed=1).split(WORLD):
            scores = candidate.make().fit(WORLD[train]).predict(WORLD[test])
            means.append(rr.evaluate(WORLD.y[test], scores, WORLD.qid[test], "NDCG@10").means["NDCG@10"])
        assert trial.folds == pytest.approx(means)
    means = [trial.mean for _, trial in found.table]
    assert means == sorted(means, reverse=True)
    assert found.candidate is found.table[0][0]
    np.testing.assert_array_equal(found.ranker.predict(WORLD), found.candidate.make().fit(WORLD).predict(WORLD))


def test_the_reason_names_the_best_and_the_next_method_in_one_line():
    found = choose_ranker(WORLD, [LINE, RULES])
    (best, first), (other, second) = found.table
    expected = (
        f"{best.about}: MAP {first.mean:.4f} on 40 held-out queries, {other.about} {second.mean:.4f} "
        f"({second.behind:.4f} ± {second.behind_error:.4f} behind)"
    )
    assert found.reason == expected
    assert found.to_dict()["reason"] == expected
    assert [row["about"] for row in found.to_dict()["table"]] == [best.about, other.about]


def test_two_views_of_one_method_are_not_told_apart_in_the_reason():
    found = choose_ranker(WORLD, CANDIDATES[:2])
    assert found.reason.endswith(" on 40 held-out queries")


def test_of_equals_the_first_is_taken():
    again = Candidate("QI", "the same line", LINE.params)
    assert choose_ranker(WORLD, [LINE, again]).candidate is LINE


def test_many_queries_are_held_out_only_until_there_are_enough(monkeypatch):
    monkeypatch.setattr("rulerank.training.choose.ENOUGH_QUERIES", 12)
    found = choose_ranker(WORLD, [LINE, RULES])
    assert found.n_queries == 16  # two parts of eight
    assert len(found.table[0][1].folds) == 2


@pytest.mark.parametrize("data", [WORLD[:499], WORLD[: 20 * (FEW_QUERIES - 1)]])
def test_few_labels_or_queries_take_the_simplest(data):
    found = choose_ranker(data, [LINE, RULES])
    assert (found.candidate, found.n_queries, found.table) == (LINE, 0, ())
    assert found.reason.endswith("are too few to choose by (from 500 of 15)")


def test_one_candidate_is_no_choice():
    assert choose_ranker(WORLD, [RULES]).reason == "rules: the only one to choose from"


@pytest.mark.parametrize(
    ("data", "candidates", "says"),
    [
        (
            WORLD.X,
            CANDIDATES,
            r"^expected a Dataset, such as rr.from_frame\(frame\) or rr.Dataset\(X, y, qid\): got nd",
        ),
        (
            rr.Dataset([[1.0]], [-1], ["q"]),
            CANDIDATES,
            r"^only labelled rows can be learned from: leave the others out",
        ),
        (WORLD, (), r"^expected at least one method to choose from: got none$"),
        (WORLD, (Candidate("XX", "none"),), r"^unknown method 'XX'; choose from RE-GR"),
    ],
)
def test_what_cannot_be_chosen_from_is_refused(data, candidates, says):
    with pytest.raises(DataError, match=says):
        choose_ranker(data, candidates)
