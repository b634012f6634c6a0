"""A folder with small files of every kind, for commands to be run in as a user does."""

import json
import shutil
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from rulerank.clicks.counts import read_clicks
from rulerank.clicks.interleaving import interleave_runs
from rulerank.datasets.ranking import make_ranking
from rulerank.io.formats import convert, read_any, write_any
from rulerank.io.letor import read_letor
from rulerank.io.texts import read_documents, read_queries
from rulerank.io.trec import read_run, run_from_scores, write_run
from rulerank.judging.store import LabelStore
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.linear.query_intercepts import QueryIntercepts
from rulerank.rankers.query_rules import QueryRules
from rulerank.text.text_features import TextFeatures


def write_texts(data):
    """Documents and queries whose ids are those of the data."""
    docs = [
        {"id": doc, "title": f"{['milk', 'cheese', 'bread'][row % 3]} box {row}", "price": row}
        for row, doc in enumerate(data.docid)
    ]
    Path("docs.jsonl").write_text("\n".join(map(json.dumps, docs)))
    Path("queries.tsv").write_text("".join(f"{query}\tfresh milk\n" for query in dict.fromkeys(data.qid)))


@pytest.fixture(scope="session")
def all_files(tmp_path_factory):
    """A folder with the files that the examples in the help name, made once."""
    folder = tmp_path_factory.mktemp("files")
    with chdir(folder):
        write_files(folder)
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


def write_files(folder):
    data = make_ranking(n_queries=12, docs_per_query=8, seed=1)
    for name in ("train", "test"):
        write_any(data, f"{name}.txt")
        write_any(data, f"{name}.csv")
    write_any(make_ranking(n_queries=6, docs_per_query=8, seed=2), "vali.txt")
    table = Path("train.csv").read_text()
    Path("train.csv").write_text(table.replace("qid,", "query,", 1))
    convert("test.txt", "qrels.txt", target_format="qrels")
    np.savetxt("scores.txt", data.X[:, 0])
    write_run(run_from_scores(data, data.X[:, 0], "one"), "one.run")
    write_run(run_from_scores(data, data.X[:, 2], "two"), "two.run")
    write_run(run_from_scores(data, data.X[:, 2], "engine"), "engine.run")
    write_texts(read_letor("test.txt"))
    train = read_letor("train.txt")
    Path("parts").mkdir()
    for number in range(3):
        own = [query in {f"q{number * 4 + i + 1}" for i in range(4)} for query in train.qid]
        write_any(train[own], f"parts/{number}.parquet")
    GlobalRules().fit(train).save("model.rulerank")
    row = dict(zip(train.feature_names, np.nan_to_num(train.X[0]).tolist(), strict=True))
    score = float(GlobalRules().fit(train).predict(np.nan_to_num(train.X[:1]))[0])
    Path("scored.jsonl").write_text(json.dumps({"features": row, "score": score}) + "\n")
    QueryRules().fit(train).save("query.rulerank")
    QueryIntercepts(l2=1.0).fit(make_ranking(n_queries=12, n_features=3)).save("linear.rulerank")
    QueryIntercepts(l2=1.0, missing="mean").fit(read_any("test.csv")).save("clicks.rulerank")
    judged_pool()
    served_texts()
    engine_logs(folder)
    click_logs(folder)


def served_texts():
    """Keep an index of the texts and a model of its features."""
    features = TextFeatures(features=["bm25(all)", "price"]).fit(read_documents("docs.jsonl"))
    features.save("text.rulerank")
    pool = features.dataset(read_queries("queries.tsv"), top=10)
    grades = np.arange(len(pool)) % 2
    QueryIntercepts(l2=1.0).fit(replace(pool, y=grades)).save("shop.rulerank")


def engine_logs(folder):
    """Write answers of Solr with features: of one query, of two, and labels."""
    scores = {"a": 2.5, "b": 1.5}
    docs = [{"id": name, "score": score, "[features]": f"title={score},new=1.0"} for name, score in scores.items()]
    answer = {"responseHeader": {"params": {"q": "tent"}}, "response": {"numFound": 2, "start": 0, "docs": docs}}
    (folder / "q7.json").write_text(json.dumps(answer))
    lines = [json.dumps({"query_id": qid, "response": answer}) for qid in ("q7", "q8")]
    (folder / "answers.jsonl").write_text("\n".join(lines))
    (folder / "judged.qrels").write_text("q7 0 a 2\nq7 0 b 0\n")


def click_logs(folder):
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
    write_any(read_clicks("log.csv").join(data), "pool-with-clicks.parquet")
    Path("looked-at.csv").write_text("position,propensity\n" + "".join(f"{k},{1 / k}\n" for k in range(1, 7)))
    (folder / "logs").mkdir()
    log.with_columns(time=pl.lit("2026-11-17T09:30:00Z")).write_ndjson("logs/day.jsonl")
    runs, shown = (read_run("one.run"), read_run("two.run")), []
    for query, session, mixed in interleave_runs(*runs, [f"s{number}" for number in range(5)]):
        for place, (doc, team) in enumerate(zip(mixed.docs, mixed.teams, strict=True), 1):
            own = {"query": query, "session": session, "doc": doc, "position": place}
            shown.append(own | {"clicked": int(place == 2), "team": team})
    pl.DataFrame(shown).write_csv("teams.csv")


def judged_pool():
    """Write a pool of documents and a store of labels."""
    data = make_ranking(n_queries=4, docs_per_query=6, seed=3)
    write_any(data, "pool.csv")
    write_any(data[:10], "graded.csv")
    rows = [*zip(data.qid.tolist(), data.docid.tolist(), data.y.tolist(), strict=True)]
    Path("llm.csv").write_text("qid,docid,grade\nq1,d1,1\n")
    each = [f"{query},{doc},{grade},ann,person" for query, doc, grade in rows[:10]]
    each += [f"{query},{doc},{min(grade + 1, 4)},gpt,llm" for query, doc, grade in rows[5:15]]
    Path("each.csv").write_text("\n".join(["qid,docid,grade,rater,kind", *each]) + "\n")
    with LabelStore("judged.db") as store:
        store.add_all((query, doc, grade, "ann") for query, doc, grade in rows)
