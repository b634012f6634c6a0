"""The figures of the official LETOR scripts and of trec_eval."""

import csv
import gzip
import re
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulerank.evaluation import evaluate

pytrec_eval = pytest.importorskip("pytrec_eval")


def grades_and_queries(path):
    heads = re.findall(r"^(\d+) qid:(\S+)", path.read_text(), flags=re.MULTILINE)
    return [int(grade) for grade, _ in heads], [query for _, query in heads]


def test_every_official_figure_of_the_letor_scripts_is_reproduced(letor, official):
    wanted = defaultdict(dict)
    with open(official / "official.csv") as lines:
        for row in csv.DictReader(lines):
            wanted[row["scores"], row["convention"]][row["measure"]] = row["value"]
    assert sum(map(len, wanted.values())) == 172
    for (name, convention), figures in wanted.items():
        data, fold, _ = name.split(".")
        y, qid = grades_and_queries(letor / data / fold / "test.txt")
        with gzip.open(official / f"{name}.score.gz", "rt") as lines:
            scores = [float(line) for line in lines]
        found = evaluate(y, scores, qid, list(figures), convention=convention).means
        for measure, figure in figures.items():
            if convention == "letor3":
                assert found[measure] == pytest.approx(float(figure), abs=1e-9), (name, measure)
            else:
                assert f"{found[measure]:.4f}" == figure, (name, measure)


def test_the_order_of_ohsumeds_files_is_a_ranking_that_only_the_expected_value_ignores(letor):
    found = {"letor3": [], "standard": []}
    for fold in range(1, 6):
        y, qid = grades_and_queries(letor / "letor3-ohsumed" / f"Fold{fold}" / "test.txt")
        for convention, values in found.items():
            values.append(evaluate(y, np.zeros(len(y)), qid, "MAP", convention=convention).means["MAP"])
    assert np.mean(found["letor3"]) == pytest.approx(0.427, abs=5e-4)
    assert np.mean(found["standard"]) == pytest.approx(0.307, abs=2e-3)  # 0.307 was found with one random order


TREC = {
    "MAP": "map",
    "MAP@5": "map_cut_5",
    "P@1": "P_1",
    "P@5": "P_5",
    "P@30": "P_30",
    "Recall@5": "recall_5",
    "MRR": "recip_rank",
    "NDCG": "ndcg",
    "NDCG@3": "ndcg_cut_3",
    "NDCG@10": "ndcg_cut_10",
}


@st.composite
def judged_runs(draw):
    """Rows with few different scores, ids whose text order is not their number's, and some documents not retrieved."""
    n = draw(st.integers(1, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_levels = draw(st.sampled_from([1, 3, 1000]))
    y, qid = rng.integers(0, draw(st.integers(1, 4)), n), rng.integers(0, 4, n).astype(str)
    scores = rng.integers(0, n_levels, n) / 8  # exact in float32, which trec_eval rounds to
    docid = np.array([f"d{number}" for number in rng.permutation(n)])
    return y, scores, qid, docid, rng.random(n) < draw(st.sampled_from([0.7, 1.0]))


def as_dicts(y, scores, qid, docid, retrieved):
    qrels, run = defaultdict(dict), defaultdict(dict)
    for row in range(y.size):
        qrels[str(qid[row])][str(docid[row])] = int(y[row])
        if retrieved[row]:
            run[str(qid[row])][str(docid[row])] = float(scores[row])
    return dict(qrels), dict(run)


@given(judged_runs())
def test_standard_agrees_with_trec_eval_on_runs_with_ties(case):
    y, scores, qid, docid, retrieved = case
    qrels, run = as_dicts(*case)
    peer = pytrec_eval.RelevanceEvaluator(qrels, set(TREC.values())).evaluate(run)
    ours = evaluate(y, scores, qid, list(TREC), ties="docid", docid=docid, retrieved=retrieved, any_grades=True)
    for query, number in zip(ours.queries, range(ours.n_queries), strict=True):
        for measure, theirs in TREC.items():
            # a query of which nothing was retrieved is not in the run: trec_eval passes over it, we count it 0
            want = peer[query][theirs] if query in peer else 0.0
            assert ours.per_query[measure][number] == pytest.approx(want, abs=1e-12), measure


def test_scores_that_differ_only_beyond_float32_tie_in_trec_eval_and_not_here():
    scores = np.array([1.0, 1.0 + 1e-12])
    qrels, run = {"q": {"b": 1, "a": 0}}, {"q": {"b": scores[0], "a": scores[1]}}
    peer = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)["q"]["recip_rank"]
    options = {"ties": "docid", "docid": ["b", "a"]}
    assert peer == 1.0
    assert evaluate([1, 0], scores, ["q", "q"], "MRR", **options).means["MRR"] == 0.5
    assert evaluate([1, 0], scores.astype(np.float32), ["q", "q"], "MRR", **options).means["MRR"] == peer
