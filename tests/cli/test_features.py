"""rulerank features with embeddings: names, files beside, and what it refuses."""

import json
from pathlib import Path

import numpy as np
import pytest

import rulerank as rr
from rulerank.baseline import find_baseline


def test_meaning_is_a_feature_and_the_extractor_serves_it(run, folder):
    arguments = ("docs.jsonl", "queries.tsv", "--embed", "lsa", "--candidates", "hybrid")
    done = run("features", *arguments, "-o", "pool.parquet", "--keep", "text.rulerank")
    assert "meaning(all)" in done.out
    data, features = rr.read_table("pool.parquet"), rr.load("text.rulerank")
    one = features.for_query("fresh milk")
    assert np.array_equal(one.X, data[data.qid == data.qid[0]].X, equal_nan=True)
    assert (features.params_["embed"], features.params_["candidates"]) == ("lsa", "hybrid")


def test_vectors_of_ones_own_lie_beside_the_files(run, folder):
    n_docs, n_queries = (len(Path(name).read_text().splitlines()) for name in ("docs.jsonl", "queries.tsv"))
    np.save("docs.npy", np.random.default_rng(0).normal(size=(n_docs, 4)))
    np.save("queries.npy", np.load("docs.npy")[:n_queries])
    done = run("features", "docs.jsonl", "queries.tsv", "--embed", "npy", "-o", "pool.parquet", "--json")
    assert "cosine(embedding)" in [row["feature"] for row in json.loads(done.out)["features"]]
    data = rr.read_table("pool.parquet")
    row = np.flatnonzero((data.docid == rr.read_documents("docs.jsonl").ids[0]) & (data.qid == data.qid[0]))[0]
    assert data.X[row, data.feature_names.index("cosine(embedding)")] == 1


def test_candidates_come_from_a_file_too(run, folder):
    run("features", "docs.jsonl", "queries.tsv", "--candidates", "engine.run", "-o", "pool.parquet")
    data = rr.read_table("pool.parquet")
    assert data.feature_names[-2:] == ("engine_rank", "engine_score")
    known = rr.read_run("engine.run")
    assert {*zip(data.qid, data.docid, strict=True)} == {*zip(known.qid, known.docid, strict=True)}


MISTAKES = [
    (("--embed", "word2vec"), "embed must be static, static:FOLDER, lsa"),
    (("--candidates", "dense"), "dense candidates need vectors: name an embedder, or a field of vectors"),
    (("--candidates", "sparse"), "sparse: "),
    (("--embed", "npy"), "cannot read the vectors of docs.jsonl: docs.npy"),
    (("--run", "other.run"), "run 'other' has none of the candidates: check the ids"),
    (("--run", "plain.csv"), "plain.csv: a run needs a column 'score'; the columns are qid, docid"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_what_cannot_be_is_refused(run, folder, arguments, message):
    Path("other.run").write_text("nobody Q0 nothing 1 2.0 tag\n")
    Path("plain.csv").write_text("qid,docid\nq1,d1\n")
    done = run("features", "docs.jsonl", "queries.tsv", *arguments, "-o", "pool.parquet")
    assert (done.code, message in done.err) == (2, True)


def test_the_fused_baseline_is_printed_with_its_quality(run, folder):
    arguments = ("docs.jsonl", "queries.tsv", "--qrels", "qrels.txt", "--embed", "lsa", "-o", "pool.parquet")
    done = run("features", *arguments)
    assert "A start without labels: --baseline 'bm25(all) + meaning(all)' (NDCG@10 0." in done.out
    found = run.json("features", *arguments)["fused"]
    data = rr.read_table("pool.parquet")
    scores = find_baseline(data.feature_names, "bm25(all) + meaning(all)").scores(data)
    assert found["baseline"] == "bm25(all) + meaning(all)"
    assert found["NDCG@10"] == pytest.approx(rr.evaluate(data, scores, measures="NDCG@10").means["NDCG@10"])
    done = run("features", "docs.jsonl", "queries.tsv", "--embed", "lsa", "-o", "pool.parquet")
    assert "A start without labels: --baseline 'bm25(all) + meaning(all)', the sum of their z-scores" in done.out


def test_runs_add_their_scores_and_reciprocal_ranks(run, folder):
    arguments = ("docs.jsonl", "queries.tsv", "--qrels", "qrels.txt", "-o", "pool.parquet")
    run("features", *arguments, "--run", "one.run", "--run", "two.run")
    data, known = rr.read_table("pool.parquet"), rr.read_run("one.run")
    names = ("score(one)", "reciprocal_rank(one)", "score(two)", "reciprocal_rank(two)")
    assert data.feature_names[-4:] == names
    known = zip(known.qid, known.docid, known.score, known.ranks(), strict=True)
    ranks = {(qid, docid): (score, rank) for qid, docid, score, rank in known}
    for qid, docid, row in zip(data.qid, data.docid, data.X[:, -4:-2].tolist(), strict=True):
        score, rank = ranks.get((qid, docid), (np.nan, np.inf))
        assert row == pytest.approx([score, 1 / rank], nan_ok=True)
