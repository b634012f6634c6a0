import json

import pytest

from rulerank.dataset import Dataset
from rulerank.datasets.ranking import make_ranking
from rulerank.evaluation import evaluate
from rulerank.experiment.demo import LEARNERS, OURS, learn_from_few, reasons
from rulerank.experiment.label_curve import split_halves

SMALL = ("demo", "--queries", "30", "--seed", "2")
DONE = {}


@pytest.fixture
def once(run):
    """Call the command line, or return what it gave to the test before: a demo takes seconds."""

    def once(*args):
        if args not in DONE:
            DONE[args] = run(*args)
        return DONE[args]

    return once


def test_the_table_ranks_chance_below_bm25_below_learning(once):
    payload = json.loads(once(*SMALL, "--json").out)
    ndcg = {ranking["ranking"]: ranking["means"]["NDCG@10"] for ranking in payload["rankings"]}
    assert list(ndcg)[:3] == ["random order", "BM25 alone", "best single feature"]
    learned = max(ndcg[label] for label in LEARNERS)
    assert ndcg["random order"] < ndcg["BM25 alone"] < learned
    assert all(ranking["n_queries"] == 30 for ranking in payload["rankings"])
    assert len(payload["chosen_features"]) == 5
    assert payload["shop"]["products"] == 2000
    assert payload["shop"]["features"][0] == "grams(title)"
    assert [pair["b"] for pair in payload["pairs"] if pair["a"] == OURS] == ["BM25 alone"] * 3


def test_the_demo_goes_from_texts_to_reasons(once):
    done = once(*SMALL)
    assert done.code == 0
    assert done.out.startswith("1. Texts of a synthetic shop: Shop(2,000 products, 30 queries, ")
    steps = [line[:2] for line in done.out.splitlines() if line[:1].isdigit() and line[1:2] == "."]
    assert steps == ["1.", "2.", "3.", "4.", "5."]
    for label in ("BM25 alone", "best single feature", *LEARNERS):
        assert f"\n{label} " in done.out
    assert f": {OURS} " in done.out
    assert " in NDCG@10 " in done.out
    assert "\n4. Labels are costly: start from today's ranking, BM25 alone, and grade ten products each " in done.out
    assert "\nStarts from today's ranking (bm25(all)); 100 labels of 10 queries; the top 3 changes in " in done.out
    assert "\nCheck by duels, on queries without labels. " in done.out
    assert "\nThe truth, on 15 other queries: NDCG@10 0." in done.out
    assert done.err == ""
    assert "? All rules that cover it vote; exactly:\n" in done.out
    assert "And why above the second? By feature:\n" in done.out
    assert "chosen on the training queries" in done.out


def test_few_labels_are_set_against_bm25_whatever_comes_out(once):
    payload = json.loads(once(*SMALL, "--json").out)
    few = payload["few_labels"]
    assert (few["today"], few["labels"], few["labelled_queries"]) == ("bm25(all)", 100, 10)
    assert few["duels"]["verdict"] in ("better", "worse", "unclear", "too few")
    assert 0 < few["truth"]["today"] < 1


def test_few_labels_say_what_their_pieces_say():
    data = make_ranking(n_queries=40, seed=1)
    lines, facts = learn_from_few(data, "bm25_body", "NDCG@10")
    pool, test = split_halves(data, 0)
    assert not {*pool.qid} & {*test.qid}
    truth = facts["truth"]
    assert truth["today"] == evaluate(test.y, test.X[:, 0], test.qid, ["NDCG@10"]).means["NDCG@10"]
    assert lines[-2].startswith("Check by duels, on queries without labels. ")
    assert f"NDCG@10 {truth['new']:.4f}, today's {truth['today']:.4f} (" in lines[-1]


def test_when_all_queries_have_labels_there_is_nothing_to_check(run):
    said = run("demo", "--queries", "10").out.replace("\n", " ")
    assert "There is nothing to check: the top 3 differs in " in said
    assert "which all have labels already, and the model may have learned from them." in said


def test_the_same_seed_prints_the_same(run, once):
    assert run(*SMALL) == once(*SMALL)


def test_a_ranker_is_added_by_one_line(run, monkeypatch):
    class Backwards:
        def fit(self, X, y, qid):
            assert len(X) == len(y) == len(qid)
            return self

        def predict(self, X):
            return -X[:, 0]

    monkeypatch.setitem(LEARNERS, "backwards", Backwards)
    assert "\nbackwards " in run("demo", "--queries", "10").out


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
