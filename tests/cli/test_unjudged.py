"""Judgements that list relevant documents alone, through every command that joins them."""

import json
from pathlib import Path

import pytest

import rulerank as rr
from rulerank.io.formats import read_any
from sampled_labels import labels_in

TRAIN = ("train", "pool.parquet", "-o", "m.rulerank", "--method", "QI", "--set", "missing=mean")
WORDS = ["milk", "cheese", "bread", "tea", "coffee", "jam", "rice", "salt"]


@pytest.fixture
def collection(tmp_path, monkeypatch):
    """Texts, queries, and qrels without a grade 0: of each query the documents that have its word in the title.

    One relevant document of each query has none of its words, so that no ranking retrieves it, and one is not in the
    collection; the last query has no judgement.
    """
    monkeypatch.chdir(tmp_path)
    docs = [
        {"id": f"d{number}-{place}", "title": title, "text": f"{text}, told at some length. " * 3}
        for number, word in enumerate(WORDS)
        for place in range(8)
        for title in [f"{word} carton n{number}{place}" if place < 3 else f"thing n{number}{place}"]
        for text in [f"{word} and others {place}" if place < 6 else f"nothing of the kind {number} {place}"]
    ]
    Path("docs.jsonl").write_text("\n".join(map(json.dumps, docs)))
    Path("queries.tsv").write_text("".join(f"q{number}\t{word} carton\n" for number, word in enumerate(WORDS)))
    relevant = [(number, place) for number in range(len(WORDS) - 1) for place in (1, 2, 4, 7)]
    lines = [f"q{number} 0 d{number}-{place} 1\n" for number, place in relevant]
    lines += [f"q{number} 0 gone-{number} 1\n" for number in range(len(WORDS) - 1)]
    Path("positive.qrels").write_text("".join(lines))
    return tmp_path


def make_pool(run, *more, name="pool.parquet"):
    return run("features", "docs.jsonl", "queries.tsv", "--qrels", "positive.qrels", "--top", "12", "-o", name, *more)


def write_bm25_run(pool, target):
    data = read_any(pool)
    data = data[~data.base.extra]
    run = rr.io.run_from_scores(data, data.X[:, data.feature_names.index("bm25(all)")].astype(float))
    rr.io.write_run(run, target)


def test_features_on_positive_only_judgements_rank_candidates_and_say_how(run, collection):
    done = make_pool(run)
    for said in (
        "no judgement has grade 0",
        "to leave them out: unjudged='skip' in Python, `train --unjudged skip`",
        "left out of training and evaluation: 1 query without any judgement",
        "that are candidates only because they are judged",
    ):
        assert said in done.err
    assert "unjudged documents count as not relevant" in done.out
    assert next(float(line.split()[2]) for line in done.out.splitlines() if line.startswith("bm25(all)")) < 0.9
    data = read_any("pool.parquet")
    assert data.base.extra.any()
    assert (data.y[data.qid == "q7"] == -1).all()


def test_one_ranking_has_the_same_figures_in_features_evaluate_and_compare(run, collection):
    table = json.loads(make_pool(run, "--json").out)["features"]
    write_bm25_run("pool.parquet", "bm25.run")
    measures = ("-m", "NDCG@10", "-m", "MAP")
    by_qrels = run.json("evaluate", "--qrels", "positive.qrels", "bm25.run", *measures)["rankings"][0]["means"]
    alone = run.json("evaluate", "pool.parquet", "--feature", "bm25(all)", *measures)["rankings"][0]["means"]
    beside = run.json("evaluate", "pool.parquet", "bm25.run", *measures)["rankings"][0]["means"]
    options = ("--folds", "7", "--method", "Best feature", "--run", "bm25=bm25.run", "--jobs", "1")
    compared = run.json("compare", "pool.parquet", *options, "-m", "NDCG@10,MAP", "-o", "kept")["means"]["bm25"]
    for other in (alone, beside, compared):
        assert other == pytest.approx(by_qrels, abs=1e-12)
    features = {one["feature"]: one["NDCG@10"] for one in table}
    assert features["bm25(all)"] == pytest.approx(by_qrels["NDCG@10"], abs=1e-12)


def test_compare_warns_where_the_recall_base_is_not_known(run, collection):
    make_pool(run)
    data = read_any("pool.parquet")
    rr.io.write_table(rr.Dataset(data.X, data.y, data.qid, data.docid, data.feature_names), "plain.csv")
    done = run("compare", "plain.csv", "--folds", "7", "--method", "Best feature", "--jobs", "1")
    assert "the recall base is not known" in done.err


def test_training_leaves_out_what_would_leak(run, collection):
    make_pool(run)
    done = run(*TRAIN, "--json")
    assert "left out: 1 query without any judgement" in done.err
    assert "left out: 7 documents that are candidates only because they are judged" in done.err
    assert json.loads(done.out)["rows"] == int((read_any("pool.parquet").qid != "q7").sum()) - 7


def test_a_sample_and_a_check_of_positive_only_judgements_have_both_grades(run, collection):
    make_pool(run)
    done = run("sample", "pool.parquet", "--baseline", "bm25(all)", "--own-grades", "-n", "40", "-o", "labels.csv")
    assert "left out: 7 documents that are candidates only because they are judged" in done.err
    assert {grade for *_, grade in labels_in("labels.csv")} == {0, 1}
    assert Path("labels.csv").read_text().startswith("qid,docid,grade\n")  # labels have no recall base
    run(*TRAIN)
    options = ("check", "pool.parquet", "m.rulerank", "--baseline", "-length(all)", "--own-grades")
    assert "left out: 7 documents that are candidates only because they are judged" in run(*options).err
    counted = run.json(*options)
    assert sum(counted[name] for name in ("won", "lost", "ties")) > 0


def test_queries_without_candidates_are_told(run, collection):
    make_pool(run)
    data = read_any("pool.parquet")
    rr.io.write_table(data[(data.qid != "q0") | data.base.extra], "lack.parquet")
    found = run.json("evaluate", "lack.parquet", "--feature", "bm25(all)", "-m", "MAP")["rankings"][0]
    assert found["n_queries_missed"] == 1
    done = run("train", "lack.parquet", "-o", "m.rulerank", "--method", "QI", "--set", "missing=mean")
    assert "left out: 1 query without candidates, whose relevant documents were all missed" in done.err
    done = run("evaluate", "lack.parquet", "--feature", "bm25(all)", "-m", "MAP")
    assert "1 query without candidates counts 0" in done.out + done.err


def test_parts_that_carry_a_recall_base_say_that_it_is_not_used(run, collection):
    Path("parts").mkdir()
    make_pool(run, name="parts/pool.parquet")
    done = run("train", "parts", "-o", "m.rulerank", "--method", "RE-GR")
    assert done.code == 0
    assert "judged:qrels and base:qrels are not used in parts" in done.err


def test_a_ranking_of_the_pool_does_not_find_what_is_there_only_because_it_is_judged(run, collection):
    assert make_pool(run).code == 0
    data = read_any("pool.parquet")
    everything = rr.io.run_from_scores(data, data.X[:, data.feature_names.index("bm25(all)")].astype(float))
    rr.io.write_run(everything, "all.run")  # the documents that no search has found, too
    found = run.json("evaluate", "pool.parquet", "all.run", "--feature", "bm25(all)", "-m", "MAP")
    by_run, by_feature = (ranking["means"]["MAP"] for ranking in found["rankings"])
    assert by_run == pytest.approx(by_feature)
    assert run(*TRAIN).code == 0
    done = run("rank", "pool.parquet", "m.rulerank", "-o", "model.run")
    n_extra = int(data.base.extra.sum())
    assert f"{n_extra} documents left out: in pool.parquet only because they have judgements" in done.err
    assert len(rr.read_run("model.run")) == int((~data.base.extra).sum())
