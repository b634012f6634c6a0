"""rulerank check: side-by-side comparisons, decided by labels or by grades that are known."""

import re
from dataclasses import replace

import numpy as np
import pytest

import rulerank as rr


@pytest.fixture
def model(run, folder):
    run("sample", "pool.csv", "--baseline", "bm25_body", "--own-grades", "-n", "10", "-o", "labels.csv")
    run("train", "pool.csv", "--labels", "labels.csv", "--baseline", "pagerank", "-o", "few.rulerank")
    return ("check", "pool.csv", "few.rulerank")


def test_known_grades_decide(run, model):
    done = run(*model, "--baseline", "-bm25_title", "--own-grades", "--labels", "labels.csv")
    assert done.code == 0
    assert done.err.startswith("The top 3 differs in ")
    shown = run.json(*model, "--own-grades", "--baseline", "-bm25_title")
    assert shown["baseline"] == "-bm25_title"
    assert shown["won"] + shown["lost"] + shown["ties"] > 0
    assert run.json(*model, "--own-grades")["baseline"] == "pagerank"  # the model's own


def test_where_every_query_has_labels_it_is_said_and_nothing_else(run, model):
    run("sample", "pool.csv", "--baseline", "bm25_body", "--own-grades", "-n", "1000", "-o", "all.csv")
    done = run(*model, "--baseline", "-bm25_title", "--own-grades", "--labels", "all.csv")
    assert done.code == 0
    said = r"The top 3 differs in \d+ % of queries \(\d+ of them left out: labelled before\): 0 comparisons available."
    assert re.fullmatch(said, done.err.strip())
    assert re.fullmatch(r"There is nothing to check: the top 3 differs in \d+ queries, which all have .*\n", done.out)


def test_labels_decide_unless_the_page_had_them_when_it_trained(run, model):
    by_store = run.json(*model, "--baseline", "-bm25_title", "--labels", "judged.db")
    by_grades = run.json(*model, "--baseline", "-bm25_title", "--own-grades")
    assert by_store | {"labels": None} == by_grades  # the store has all of them
    with rr.judging.LabelStore("judged.db") as store:
        store.note_check(max(label.id for label in store.history()), "Anchored", "bm25_body")
    done = run(*model, "--baseline", "-bm25_title", "--labels", "judged.db")
    assert "There is nothing to check" in done.out


def test_what_lacks_a_grade_is_counted(run, folder):
    synthetic = rr.datasets.make_ranking(n_queries=30, docs_per_query=12, seed=0)
    rr.GlobalRules().fit(synthetic).save("g.rulerank")
    places = synthetic.X[:, 0].reshape(30, 12).argsort(axis=1).argsort(axis=1).ravel()  # from the lowest of a query
    rr.io.write_table(replace(synthetic, y=np.where(places < 4, places % 2, -1)), "low.csv")
    words = ("check", "low.csv", "g.rulerank", "--baseline", synthetic.feature_names[0], "--own-grades")
    done = run(*words)
    n = run.json(*words)["n_without_grades"]
    assert n > 20
    assert f"comparisons available, {n} more without grades." in done.err
    assert re.search(rf"{n} of [^.]*have documents without grades", done.out.replace("\n", " "))
