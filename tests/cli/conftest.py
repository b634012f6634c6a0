"""A folder with small files of every kind, for commands to be run in as a user does."""

import json
import shutil
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import rulerank as rr
from logged_files import write_scored, write_teams
from rulerank.io.formats import convert, read_any, write_any


def write_texts(data):
    """Documents and queries whose ids are those of the data."""
    titles = [f"{['milk', 'cheese', 'bread'][row % 3]} box {row}" for row in range(len(data))]
    docs = [{"id": doc, "title": titles[row], "price": row} for row, doc in enumerate(data.docid)]
    Path("docs.jsonl").write_text("\n".join(map(json.dumps, docs)))
    Path("queries.tsv").write_text("".join(f"{query}\tfresh milk\n" for query in dict.fromkeys(data.qid)))


@pytest.fixture(scope="session")
def all_files(tmp_path_factory):
    """A folder with the files that the examples in the help name, made once."""
    folder = tmp_path_factory.mktemp("files")
    with chdir(folder):
        write_files()
    return folder


@pytest.fixture
def folder(all_files, tmp_path, monkeypatch):
    """A copy of these files; the current folder during the test. A service or page that starts in it stops at once."""
    shutil.copytree(all_files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rulerank.serve.web.workers.run", lambda *arguments: 0)
    monkeypatch.setattr("rulerank.web.server.serve", lambda app, listening: None)
    monkeypatch.setattr("rulerank.web.server.open_page", lambda url: None)
    return tmp_path


def write_files():
    data = rr.datasets.make_ranking(n_queries=12, docs_per_query=8, seed=1)
    for name in ("train", "test"):
        write_any(data, f"{name}.txt")
        write_any(data, f"{name}.csv")
    write_any(rr.datasets.make_ranking(n_queries=6, docs_per_query=8, seed=2), "vali.txt")
    table = Path("train.csv").read_text()
    Path("train.csv").write_text(table.replace("qid,", "query,", 1))
    convert("test.txt", "qrels.txt", target_format="qrels")
    write_any(replace(data, X=data.X[:, :0], feature_names=(), y=np.minimum(data.y + 1, 2)), "gpt.csv")
    np.savetxt("scores.txt", data.X[:, 0])
    for name, column in (("one", 0), ("two", 2), ("engine", 2)):
        rr.io.write_run(rr.io.run_from_scores(data, data.X[:, column], name), f"{name}.run")
    write_texts(rr.read_letor("test.txt"))
    train = rr.read_letor("train.txt")
    Path("parts").mkdir()
    for number in range(3):
        own = [query in {f"q{number * 4 + i + 1}" for i in range(4)} for query in train.qid]
        write_any(train[own], f"parts/{number}.parquet")
    rules = rr.GlobalRules().fit(train)
    rules.save("model.rulerank")
    write_scored(train, rules, Path("scored.jsonl"))
    rr.QueryRules().fit(train).save("query.rulerank")
    rr.QueryIntercepts(l2=1.0).fit(rr.datasets.make_ranking(n_queries=12, n_features=3)).save("linear.rulerank")
    rr.QueryIntercepts(l2=1.0, missing="mean").fit(read_any("test.csv")).save("clicks.rulerank")
    judged_pool()
    served_texts()
    engine_logs()
    click_logs()


def served_texts():
    """Keep an index of the texts and a model of its features."""
    features = rr.TextFeatures(features=["bm25(all)", "price"]).fit(rr.read_documents("docs.jsonl"))
    features.save("text.rulerank")
    pool = features.dataset(rr.read_queries("queries.tsv"), top=10)
    rr.QueryIntercepts(l2=1.0).fit(replace(pool, y=np.arange(len(pool)) % 2)).save("shop.rulerank")


def engine_logs():
    """Write answers of Solr with features: of one query, of two, and labels."""
    scores = {"a": 2.5, "b": 1.5}
    docs = [{"id": name, "score": score, "[features]": f"title={score},new=1.0"} for name, score in scores.items()]
    answer = {"responseHeader": {"params": {"q": "tent"}}, "response": {"numFound": 2, "start": 0, "docs": docs}}
    Path("q7.json").write_text(json.dumps(answer))
    lines = [json.dumps({"query_id": qid, "response": answer}) for qid in ("q7", "q8")]
    Path("answers.jsonl").write_text("\n".join(lines))
    Path("judged.qrels").write_text("q7 0 a 2\nq7 0 b 0\n")


def click_logs():
    """Write logs of what was clicked in the pool: csv, Parquet, and a folder of JSON lines."""
    data, rng = read_any("pool.csv"), np.random.default_rng(0)
    rows = [
        {"query": query, "doc": doc, "position": position, "clicked": int(rng.random() < 0.5 / position)}
        for query in dict.fromkeys(data.qid)
        for _ in range(100)
        for position, doc in enumerate(rng.permutation(data.docid[data.qid == query]), 1)
    ]
    log = pl.DataFrame(rows)
    log.write_csv("log.csv")
    log.write_parquet("log.parquet")
    write_any(rr.clicks.read_clicks("log.csv").join(data), "pool-with-clicks.parquet")
    Path("logs").mkdir()
    log.with_columns(time=pl.lit("2026-11-17T09:30:00Z")).write_ndjson("logs/day.jsonl")
    write_teams(Path(), "one", "two")


def judged_pool():
    """Write a pool of documents and a store of labels."""
    data = rr.datasets.make_ranking(n_queries=4, docs_per_query=6, seed=3)
    write_any(data, "pool.csv")
    write_any(data[:10], "graded.csv")
    rows = [*zip(data.qid.tolist(), data.docid.tolist(), data.y.tolist(), strict=True)]
    Path("llm.csv").write_text("qid,docid,grade\nq1,d1,1\n")
    each = [f"{query},{doc},{grade},ann,person" for query, doc, grade in rows[:10]]
    each += [f"{query},{doc},{min(grade + 1, 4)},gpt,llm" for query, doc, grade in rows[5:15]]
    Path("each.csv").write_text("\n".join(["qid,docid,grade,rater,kind", *each]) + "\n")
    with rr.judging.LabelStore("judged.db") as store:
        store.add_all((query, doc, grade, "ann") for query, doc, grade in rows)
