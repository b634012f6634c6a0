"""rulerank demo: from texts to reasons, whatever comes out."""

import re

import rulerank as rr
from rulerank.experiment.curve import split_halves
from rulerank.experiment.demo import LEARNERS, OURS, learn_from_few, reasons


def test_the_demo_goes_from_texts_to_reasons(run):
    done = run("demo", "--queries", "30")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("1. Texts of a synthetic shop: Shop(2,000 products, 30 queries, ")
    assert re.findall(r"^\d\.", done.out, re.MULTILINE) == ["1.", "2.", "3.", "4.", "5."]
    for label in ("BM25 alone", "BM25 + meaning", "best single feature", *LEARNERS):
        assert f"\n{label} " in done.out
    assert "\n4. With few labels: start from the baseline ranking, BM25 + meaning, and grade ten " in done.out
    assert "(bm25(all) + meaning(all)); 100 labels of 10 queries; the top 3 changes in " in done.out
    assert "\nThe truth, on 15 other queries: NDCG@10 0." in done.out
    assert "And why above the second? By feature:\n" in done.out
    payload = run.json("demo", "--queries", "30")
    ndcg = {ranking["ranking"]: ranking["means"]["NDCG@10"] for ranking in payload["rankings"]}
    assert list(ndcg)[:4] == ["random order", "BM25 alone", "BM25 + meaning", "best single feature"]
    assert ndcg["random order"] < ndcg["BM25 alone"] < ndcg["BM25 + meaning"] < max(ndcg[label] for label in LEARNERS)
    few = payload["few_labels"]
    assert (few["baseline"], few["labels"], few["labelled_queries"]) == ("bm25(all) + meaning(all)", 100, 10)


def test_few_labels_say_what_their_pieces_say():
    data = rr.datasets.make_ranking(n_queries=40, seed=1)
    lines, facts = learn_from_few(data, "bm25_body", "NDCG@10")
    pool, test = split_halves(data, 0)
    assert not {*pool.qid} & {*test.qid}
    assert facts["truth"]["baseline"] == rr.evaluate(test.y, test.X[:, 0], test.qid, ["NDCG@10"]).means["NDCG@10"]
    assert lines[-2].startswith("Check by pairs, on queries without labels. ")


def test_what_does_not_gain_is_not_called_a_gain_and_a_ranker_is_added_by_one_line(run, monkeypatch):
    class Clueless:
        def fit(self, X, y, qid):
            assert len(X) == len(y) == len(qid)
            return self

        def predict(self, X):
            return X[:, 0] * 0

    monkeypatch.setattr("rulerank.experiment.demo.LEARNERS", {OURS: Clueless, "clueless": Clueless})
    out = run("demo", "--queries", "10").out
    assert "\nclueless " in out
    assert f"No sure gain: {OURS} loses 0." in out
    assert "There is nothing to check: the top 3 differs in " in out.replace("\n", " ")


def test_the_first_document_is_explained_and_set_against_the_second():
    data = rr.Dataset([[0.0], [1.0]] * 20, [0, 1] * 20, ["q"] * 40)
    question, score, reason, *versus = reasons(data, data).splitlines()
    assert question == "Why is row 2 first for q? All rules that cover it vote; exactly:"
    assert score.startswith("  row 2 scores 0.833. It starts from 0.500, the mean grade in training; the 1 rule ")
    assert reason == "  +0.333: f1 1, highest of 40, with 19 others"
    assert versus == ["And why above the second? By feature:", "  row 2 and row 4 both score 0.833: they are tied."]
