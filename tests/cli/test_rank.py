"""rulerank rank: scores of documents, by the features that a model names."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import rulerank as rr
from rulerank.io.formats import read_any, write_any
from rulerank.io.trec import read_scores

WORDS = ("test.txt", "model.rulerank")


@pytest.fixture
def model(folder):
    """The model of the LETOR file, where the examples look for it."""
    return rr.load("model.rulerank")


def ranked(run, *words):
    done = run("rank", *words)
    assert done.code == 0, done.err
    return pl.read_csv(done.out.encode())["score"].to_numpy()


FORMATS = [
    ("one.run", "as a TREC run", "q1 Q0 q1-d"),
    ("one.csv", "as csv", "qid,docid,score\n"),
    ("one.scores", "one per line", ""),
]


@pytest.mark.parametrize(("name", "says", "begins"), FORMATS)
def test_the_ending_of_the_file_chooses_the_format(run, model, name, says, begins):
    done = run("rank", *WORDS, "-o", name)
    assert done == (0, f"{name}: 96 scores, {says}\n", "")
    assert Path(name).read_text().startswith(begins)
    assert begins or np.array_equal(read_scores(name), model.predict(read_any("test.txt")))


def test_json_holds_the_scores_unless_a_file_does(run, model):
    data = read_any("test.txt")
    found = run.json("rank", *WORDS)
    assert found == {"rows": 96, "format": "csv", "scores": model.predict(data).tolist()}
    assert run.json("rank", *WORDS, "-o", "ranked.txt") == {"rows": 96, "format": "scores"}


def test_csv_and_runs_have_the_ids_of_the_documents_or_their_keys(run, model):
    data = read_any("test.txt")
    said = f"qid,docid,score\n{data.qid[0]},{data.docid[0]},{float(model.predict(data)[0])!r}\n"
    assert run("rank", *WORDS).out.startswith(said)
    write_any(rr.Dataset(data.X, data.y, data.qid), "nameless.txt")
    lines = run("rank", "nameless.txt", "model.rulerank").out.splitlines()
    keys = rr.judging.read_pool("nameless.txt").pairs  # those that their labels have
    assert [tuple(line.split(",")[:2]) for line in lines] == [("qid", "docid"), *keys]
    assert run("rank", "nameless.txt", "model.rulerank", "-o", "nameless.run").code == 0
    found = rr.read_run("nameless.run")
    assert sorted(zip(found.qid, found.docid, strict=True)) == sorted(keys)


def test_stdin_is_read(run, model, monkeypatch):
    content = Path("test.txt").read_bytes()
    expected = run("rank", *WORDS).out
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=SimpleNamespace(read=lambda: content)))
    assert run("rank", "-", "model.rulerank").out == expected


def test_a_letor_file_without_the_last_features_has_zeros_there(run, model):
    narrow = read_any("test.txt")
    write_any(rr.Dataset(narrow.X[:, :-2], narrow.y, narrow.qid), "narrow.txt")
    X = np.where(np.arange(narrow.X.shape[1]) < narrow.X.shape[1] - 2, narrow.X, 0)
    assert np.array_equal(ranked(run, "narrow.txt", "model.rulerank"), model.predict(X, qid=narrow.qid))
    warned = "warning: narrow.txt has 18 features and 20 are needed: the last 2 are taken as 0\n"
    assert run("rank", "narrow.txt", "model.rulerank").err == warned


def test_features_of_a_table_are_matched_by_name_and_must_all_be_there(run, folder):
    table = read_any("test.csv")
    names = table.feature_names
    rr.GlobalRules().fit(table).save("model.rulerank")
    order = np.random.default_rng(0).permutation(len(names))
    X = np.column_stack([table.X[:, order], np.ones(len(table))])
    write_any(rr.Dataset(X, table.y, table.qid, feature_names=(*(names[i] for i in order), "more")), "mixed.csv")
    assert np.array_equal(*(ranked(run, name, "model.rulerank") for name in ("mixed.csv", "test.csv")))
    write_any(rr.Dataset(table.X[:, 1:], table.y, table.qid, feature_names=names[1:]), "less.csv")
    error = run("rank", "less.csv", "model.rulerank").err
    assert re.match(f"error: less.csv: the data lacks 1 of the {len(names)} features .*: {names[0]}; ", error)
    write_any(rr.Dataset(table.X[:, 1:], table.y, table.qid), "less.txt")
    error = run("rank", "less.txt", "model.rulerank").err  # no zeros for features of another name
    assert error.startswith(f"error: less.txt: the data lacks {len(names)} of the {len(names)} features ")
