"""rulerank train --labels: few labels, from today's ranking on."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rulerank as rr
from rulerank.io.formats import read_any, write_any
from rulerank.methods import FROM_TODAY, METHODS
from rulerank.model_file import load
from rulerank.training.few_labels import few_label_ranker

RULES = ("--method", "global")  # RE-GR by its other name


# ten labels leave a Competence, which must leave queries out, nothing to tell apart
@pytest.mark.parametrize("method", [name for name in METHODS if name != "Competence"])
def test_few_labels_are_learned_in_their_pool(run, folder, method):
    today = ["--today", "-bm25_title"] if method.startswith("Anchored") else []
    done = run("train", "pool.csv", "--labels", "graded.csv", "-o", "few.rulerank", "--method", method, *today)
    pool = read_any("pool.csv")
    grades = np.where(np.arange(len(pool)) < 10, pool.y, -1)
    ranker = few_label_ranker(method)
    expected = (ranker.set_params(today="-bm25_title") if today else ranker).fit(replace(pool, y=grades))
    assert done.code == 0
    warned = f"warning: {method} learned from 10 labels is mostly worse than today's ranking (docs/few-labels.md); "
    others = [line for line in done.err.splitlines() if "documents are level with another" not in line]
    assert len(others) == 1 if method.startswith("RE-") else not others
    assert done.err.startswith(warned) or not others
    assert np.array_equal(load("few.rulerank").predict(pool), expected.predict(pool))
    assert done.out.startswith("trained on pool.csv and graded.csv: Dataset(10 rows")
    assert "__" not in done.out  # the parameters of the discretizer stand in its own words


def test_what_is_given_goes_before_what_is_good_for_few_labels(run, folder):
    run("train", "pool.csv", "--labels", "graded.csv", "-o", "few.rulerank", *RULES, "--max-size", "2")
    assert load("few.rulerank").get_params()["max_size"] == 2


def test_few_labels_start_from_todays_ranking_and_what_can_be_said_is_said(run, folder):
    done = run("train", "pool.csv", "--labels", "graded.csv", "--today", "bm25_body", "-o", "few.rulerank")
    assert "Anchored: missing mean, normalize zscore, today bm25_body\n" in done.out
    assert re.search(
        r"Starts from today's ranking \(bm25_body\); 10 labels of \d+ quer\w+; the top 3 changes in \d+ %", done.out
    )
    assert "more labels could add at least about" in done.out
    done = run("train", "pool.csv", "--labels", "graded.csv", "--today", "clicks", "-o", "few.rulerank", "--json")
    shown = json.loads(done.out)
    assert (shown["method"], shown["few_labels"]["today"], shown["few_labels"]["labels"]) == ("Anchored", "clicks", 10)


def test_labels_of_one_grade_write_no_model(run, folder):
    pool = read_any("pool.csv")
    lines = [f"{qid},{docid},1\n" for qid, docid in zip(pool.qid[:9], pool.docid[:9], strict=True)]
    Path("same.csv").write_text("qid,docid,grade\n" + "".join(lines))
    for method in ("Anchored", "AnchoredRules", "QI", "RE-GR"):
        done = run("train", "pool.csv", "--labels", "same.csv", "--method", method, "-o", "few.rulerank")
        assert (done.code, done.out) == (2, "")
        assert (
            "no query has documents of two grades (all 9 have grade 1), so there is nothing to learn from" in done.err
        )
        assert not Path("few.rulerank").exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--labels", "graded.csv", "--today", "bm25"], "today: there is no feature 'bm25'; the data has bm25_body, "),
        (["--today", "f1"], "--today is where Anchored starts from: leave it out, or add --labels or --method Anchor"),
        (
            ["--labels", "graded.csv", "--features", "clicks,pagerank"],
            "which feature ranks the documents now? Say --today FEATURE, one of clicks, pagerank; or a method that "
            "does without, such as --method QI",
        ),
    ],
)
def test_mistakes_with_todays_ranking_end_in_one_line(run, folder, args, message):
    done = run("train", "pool.csv", "-o", "few.rulerank", *args)
    assert done.code == 2
    assert done.err.startswith(f"error: {message}")


def test_a_feature_whose_name_says_so_is_todays_ranking_and_that_is_said(run, folder):
    pool = read_any("pool.csv")
    write_any(replace(pool, feature_names=("es_score", *pool.feature_names[1:])), "named.csv")
    done = run("train", "named.csv", "--labels", "graded.csv", "-o", "few.rulerank")
    assert done.err == "today's ranking is taken to be es_score, by its name; --today says otherwise\n"
    assert load("few.rulerank").today_.feature == "es_score"


def write_labels(name, pool, rows, grades):
    lines = [f"{pool.qid[row]},{pool.docid[row]},{grade}\n" for row, grade in zip(rows, grades, strict=True)]
    Path(name).write_text("qid,docid,grade\n" + "".join(lines))


def test_a_model_with_a_third_of_its_documents_level_says_so(run, folder):
    words = ["--labels", "graded.csv", "-o", "few.rulerank", *RULES, "--features", "bm25_body,bm25_title"]
    done = run("train", "pool.csv", *words)
    assert re.search(r"warning: \d+ % of the documents are level with another: chance puts them in order\.\n", done.err)
    done = run("train", "pool.csv", *words, "--today", "bm25_body")
    assert "\nCompared with today's ranking (bm25_body); 10 labels of " in done.out  # it does not start from there
    assert re.search(r"\n\d+ % of the documents are level with another: chance puts them in order\.\n", done.out)


def test_different_grades_of_one_document_count_by_their_median_and_that_is_said(run, folder):
    pool = read_any("pool.csv")
    write_labels("raters.csv", pool, [0, 1, 2, 3, 0, 0, 1], [0, 1, 0, 2, 2, 2, 1])
    write_labels("agreed.csv", pool, [0, 1, 2, 3], [2, 1, 0, 2])
    today = ["--today", "bm25_body"]
    done = run("train", "pool.csv", "--labels", "raters.csv", "-o", "one.rulerank", *today)
    assert done.err == (
        f"warning: raters.csv: 1 document with different grades, such as '{pool.docid[0]}' of query '{pool.qid[0]}': "
        "their median counts\n"
    )
    assert run("train", "pool.csv", "--labels", "agreed.csv", "-o", "two.rulerank", *today).err == ""
    assert np.array_equal(load("one.rulerank").predict(pool), load("two.rulerank").predict(pool))


@pytest.mark.parametrize("method", ["Anchored", "AnchoredRules"])
def test_labels_of_one_query_are_learned_from_and_nothing_is_compared(run, folder, method):
    pool = read_any("pool.csv")
    rows = np.flatnonzero(pool.qid == pool.qid[0])
    write_labels("one.csv", pool, rows, np.arange(rows.size) % 3)
    words = ["--labels", "one.csv", "--today", "bm25_body", "--method", method]
    done = run("train", "pool.csv", "-o", "few.rulerank", *words)
    assert (done.code, done.err) == (0, "")
    assert f"{rows.size} labels of 1 query; the top 3 changes in" in done.out
    assert "Pairs in order" not in done.out


def test_rules_from_the_first_label(run, folder):
    words = ["--labels", "graded.csv", "--today", "bm25_body", "--method", "anchored-rules"]
    done = run("train", "pool.csv", "-o", "few.rulerank", *words)
    assert "AnchoredRules: n_bins 5, normalize zscore, today bm25_body\n" in done.out
    assert re.search(r"few.rulerank: \d+ rules, learned in", done.out)
    assert "more labels could add" not in done.out  # which is an estimate of Anchored
    ranker = load("few.rulerank")
    assert len(ranker.rules_) == int(re.search(r"(\d+) rules", done.out)[1])
    pool = read_any("pool.csv")
    own = pool[pool.qid == pool.qid[0]]
    assert "the sum of what the baseline ranking bm25_body and " in str(ranker.explain(own, 0))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--set", "n_bins=1"], "n_bins must be a whole number between 2 and 254: got 1"),
        (["--set", "today=nope"], "today: there is no feature 'nope'; the data has bm25_body, "),
        (["--max-size", "2"], "AnchoredRules takes no --max-size; it takes n_bins, n_jobs, normalize, today"),
        (["--tune"], "--labels is for few labels, too few to choose parameters by: leave out --tune and --vali"),
    ],
)
def test_mistakes_with_rules_from_the_first_label_end_in_one_line(run, folder, args, message):
    words = ["--labels", "graded.csv", "--method", "AnchoredRules", *args]
    done = run("train", "pool.csv", "-o", "few.rulerank", *words)
    assert done.code == 2
    assert done.err.splitlines()[-1].startswith(f"error: {message}")
    assert not Path("few.rulerank").exists()


@pytest.mark.parametrize("method", FROM_TODAY)
def test_a_model_may_be_where_few_labels_start_from(run, folder, method):
    command = ("train", "pool.csv", "--labels", "graded.csv", "--today", "clicks.rulerank", "--method", method)
    done = run(*command, "-o", "both.rulerank")
    pool, clicks = read_any("pool.csv"), load("clicks.rulerank")
    assert done.code == 0, done.err
    assert "today QueryIntercepts\n" in done.out
    assert "Starts from today's ranking (a QueryIntercepts model, linear); 10 labels" in done.out
    grades = np.where(np.arange(len(pool)) < 10, pool.y, -1)
    asked = few_label_ranker(method).set_params(today=clicks)
    learned = rr.select(replace(pool, y=grades), asked, today=clicks).ranker
    assert np.array_equal(load("both.rulerank").predict(pool), learned.predict(pool))
    shown = json.loads(run(*command, "-o", "both.rulerank", "--json").out)
    assert (shown["params"]["today"], shown["few_labels"]["today"]) == (
        "QueryIntercepts",
        "a QueryIntercepts model, linear",
    )
    ranked = run("rank", "both.rulerank", "pool.csv")
    assert ranked.code == 0
    assert run("explain", "both.rulerank", "pool.csv").code == 0


def test_a_check_compares_with_the_model_it_started_from(run, folder):
    run("train", "pool.csv", "--labels", "graded.csv", "--today", "clicks.rulerank", "-o", "both.rulerank")
    known = json.loads(run("check", "pool.csv", "both.rulerank", "--own-grades", "--json").out)
    named = run("check", "pool.csv", "both.rulerank", "--own-grades", "--json", "--today", "clicks.rulerank")
    assert json.loads(named.out) == known
    assert known["today"] == "a QueryIntercepts model, linear"


@pytest.mark.parametrize(
    ("today", "message"),
    [
        ("none.rulerank", "none.rulerank: there is no such file"),
        ("linear.rulerank", "today: this QueryIntercepts reads "),
        ("text.rulerank", "text.rulerank: expected a ranker, which `rulerank train` writes"),
        ("pool.csv", "today: there is no feature 'pool.csv'"),
    ],
)
def test_a_file_that_is_no_model_of_these_features_is_refused_as_a_start(run, folder, today, message):
    if today == "linear.rulerank":
        other = rr.Dataset([[0.0], [1.0]], [0, 1], [1, 1], None, ("price",))
        rr.QueryIntercepts(l2=1.0).fit(other).save(today)
    done = run("train", "pool.csv", "--labels", "graded.csv", "--today", today, "-o", "few.rulerank")
    assert done.code != 0
    assert message in done.err


def test_the_model_it_starts_from_is_not_written_over(run, folder):
    done = run("train", "pool.csv", "--labels", "graded.csv", "--today", "clicks.rulerank", "-o", "clicks.rulerank")
    assert done.code != 0
    assert "clicks.rulerank" in done.err
