"""rulerank check: duels with grades that are known, and what is said when something is missing."""

import json
import re
from pathlib import Path

import pytest

from rulerank.judging.store import LabelStore


@pytest.fixture
def model(run, folder):
    run("sample", "pool.csv", "--today", "bm25_body", "--own-grades", "--budget", "10", "-o", "labels.csv")
    run("train", "pool.csv", "--labels", "labels.csv", "--today", "pagerank", "-o", "few.rulerank")


def test_known_grades_fight_the_duels(run, folder, model):
    done = run("check", "pool.csv", "few.rulerank", "--today", "-bm25_title", "--own-grades", "--labels", "labels.csv")
    assert done.code == 0
    assert done.err.startswith("The top 3 differs in ")
    shown = json.loads(run("check", "pool.csv", "few.rulerank", "--own-grades", "--today", "-bm25_title", "--json").out)
    assert shown["today"] == "-bm25_title"
    assert shown["won"] + shown["lost"] + shown["drawn"] > 0


def test_where_every_query_has_labels_it_is_said_and_nothing_else(run, folder, model):
    run("sample", "pool.csv", "--today", "bm25_body", "--own-grades", "--budget", "1000", "-o", "all.csv")
    asked = ("check", "pool.csv", "few.rulerank", "--today", "-bm25_title", "--own-grades", "--labels", "all.csv")
    done = run(*asked)
    assert done.code == 0
    assert re.fullmatch(
        r"The top 3 differs in \d+ % of queries, (\d+) of these have labels already: 0 comparisons available.\n",
        done.err,
    )
    assert re.fullmatch(
        r"There is nothing to check: the top 3 differs in \d+ queries, which all have labels .*\n", done.out
    )


def test_without_a_ranking_the_models_own_is_taken(run, folder, model):
    shown = json.loads(run("check", "pool.csv", "few.rulerank", "--own-grades", "--json").out)
    assert shown["today"] == "pagerank"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "every answer is kept in a label store: name it, --labels labels.db"),
        (["--labels", "labels.csv"], "every answer is kept in a label store: name it, --labels labels.db"),
        (["--own-grades", "--grades", "qrels.txt"], "--grades and --own-grades are two ways to get grades: choose one"),
        (
            ["--own-grades", "--labels", "high.csv", "--max-grade", "2"],
            "high.csv:2: expected grades from 0 to 2, as --max-grade or",
        ),
        (["--own-grades", "--today", "bm26"], "today: there is no feature 'bm26'; the data has bm25_body, "),
    ],
)
def test_mistakes_end_in_one_line(run, folder, model, args, message):
    Path("high.csv").write_text(re.sub(r"\d+$", "3", "\n".join(Path("labels.csv").read_text().split("\n")[:2])))
    done = run("check", "pool.csv", "few.rulerank", *args)
    assert done.code == 2
    assert done.err.startswith(f"error: {message}")


def test_a_person_answers_into_a_label_store(run, folder, model, answer):
    answer("1", "0", "q")
    asked = ("check", "pool.csv", "few.rulerank", "--today", "-bm25_title", "--labels", "labels.db")
    done = run(*asked, "--json")
    assert (json.loads(done.out)["stop"], json.loads(done.out)["labels"]) == ("quit", "labels.db")
    with LabelStore("labels.db") as store:
        assert [label.grade for label in store.labels()] == [1, 0]
    answer("q")
    assert ", 1 of these have labels already" in run(*asked).err
