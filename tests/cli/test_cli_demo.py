import json

import pytest

from rulerank.dataset import Dataset
from rulerank.experiment.demo import LEARNERS, OURS, reasons


@pytest.fixture(scope="module")
def small_world():
    return ("demo", "--queries", "30", "--seed", "2")


def test_the_table_ranks_chance_below_bm25_below_learning(run, small_world):
    payload = json.loads(run(*small_world, "--json").out)
    ndcg = {ranking["ranking"]: ranking["means"]["NDCG@10"] for ranking in payload["rankings"]}
    assert list(ndcg)[:3] == ["random order", "BM25 alone", "best single feature"]
    learned = max(ndcg[label] for label in LEARNERS)
    assert ndcg["random order"] < ndcg["BM25 alone"] < learned
    assert all(ranking["n_queries"] == 30 for ranking in payload["rankings"])
    assert len(payload["chosen_features"]) == 5
    assert payload["shop"]["products"] == 2000
    assert payload["shop"]["features"][0] == "grams(title)"
    assert [pair["b"] for pair in payload["pairs"] if pair["a"] == OURS] == ["BM25 alone"] * 3


def test_the_demo_goes_from_texts_to_reasons(run, small_world):
    done = run(*small_world)
    assert done.code == 0
    assert done.out.startswith("1. Texts of a synthetic shop: Shop(2,000 products, 30 queries, ")
    steps = [line[:2] for line in done.out.splitlines() if line[:1].isdigit() and line[1:2] == "."]
    assert steps == ["1.", "2.", "3.", "4.", "5."]
    for label in ("BM25 alone", "best single feature", *LEARNERS):
        assert f"\n{label} " in done.out
    assert f": {OURS} " in done.out
    assert " in NDCG@10 " in done.out
    assert "\nnone: BM25 alone " in done.out
    assert "? All rules that cover it vote; exactly:\n" in done.out
    assert "And why above the second? By feature:\n" in done.out
    assert "chosen on the training queries" in done.out


def test_few_labels_are_set_against_bm25_whatever_comes_out(run, small_world):
    payload = json.loads(run(*small_world, "--json").out)
    bm25 = next(one["means"]["NDCG@10"] for one in payload["rankings"] if one["ranking"] == "BM25 alone")
    line = payload["label_curve"]["lines"][-1]
    assert line["name"] == "by bm25(all)"
    assert line["value"] == pytest.approx(bm25)


def test_the_same_seed_prints_the_same(run, small_world):
    assert run(*small_world) == run(*small_world)


def test_a_ranker_is_added_by_one_line(run, small_world, monkeypatch):
    class Backwards:
        def fit(self, X, y, qid):
            assert len(X) == len(y) == len(qid)
            return self

        def predict(self, X):
            return -X[:, 0]

    monkeypatch.setitem(LEARNERS, "backwards", Backwards)
    assert "\nbackwards " in run(*small_world).out


def test_too_few_queries_are_refused(run):
    assert run("demo", "--queries", "9") == (
        2,
        "",
        "error: --queries must be at least 10, two to test in each fold: got 9\n",
    )


def test_what_does_not_gain_is_not_called_a_gain(run, monkeypatch):
    class Clueless:
        def fit(self, X, y, qid):
            return self

        def predict(self, X):
            return X[:, 0] * 0

    monkeypatch.setattr("rulerank.experiment.demo.LEARNERS", {OURS: Clueless})
    out = run("demo", "--queries", "10").out
    assert f"No sure gain: {OURS} loses 0." in out
    assert " in NDCG@10 to BM25 alone, " in out


def test_the_first_document_is_explained_and_set_against_the_second():
    data = Dataset([[0.0], [1.0]] * 20, [0, 1] * 20, ["q"] * 40)
    question, score, reason, *versus = reasons(data, data).splitlines()
    assert question == "Why is row 2 first for q? All rules that cover it vote; exactly:"
    assert score.startswith("  row 2 scores 0.833. It starts from 0.500, the mean grade in training; the 1 rule ")
    assert reason == "  +0.333: f1 >= 0.5; 20 like it in training: 100% grade 1"
    assert versus == ["And why above the second? By feature:", "  row 2 and row 4 both score 0.833: they are tied."]
