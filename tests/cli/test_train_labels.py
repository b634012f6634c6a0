"""rulerank train --labels: few labels, from the baseline on; of people alone, unless other raters are named."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rulerank as rr
from rulerank.io.formats import read_any, write_any
from rulerank.methods import FROM_BASELINE, METHODS
from rulerank.selection.few_labels import PEOPLE, few_label_ranker, fit_by_rater

FEW = ("train", "pool.csv", "--labels", "graded.csv", "-o", "few.rulerank")
EACH = ("train", "pool.csv", "--labels", "each.csv", "-o", "few.rulerank")


def graded_pool():
    pool = read_any("pool.csv")
    return replace(pool, y=np.where(np.arange(len(pool)) < 10, pool.y, -1))


# ten labels leave a Competence, which must leave queries out, nothing to tell apart
@pytest.mark.parametrize("method", [name for name in METHODS if name != "Competence"])
def test_few_labels_are_learned_in_their_pool(run, folder, method):
    baseline = ["--baseline", "-bm25_title"] if method in FROM_BASELINE else []
    done = run(*FEW, "--method", method, *baseline)
    ranker, pool = few_label_ranker(method), graded_pool()
    expected = (ranker.set_params(baseline="-bm25_title") if baseline else ranker).fit(pool)
    assert done.code == 0
    others = [line for line in done.err.splitlines() if "documents are level with another" not in line]
    assert len(others) == method.startswith("RE-")  # "usually worse than ..."
    assert np.array_equal(rr.load("few.rulerank").predict(pool), expected.predict(pool))
    assert done.out.startswith("trained on pool.csv and graded.csv: Dataset(10 rows")
    assert "__" not in done.out  # the parameters of the discretizer stand in its own words


def test_what_is_set_goes_before_what_is_good_for_few_labels(run, folder):
    run(*FEW, "--method", "GlobalRules", "--set", "max_size=2")
    assert rr.load("few.rulerank").get_params()["max_size"] == 2


def test_few_labels_start_from_the_baseline_and_what_can_be_said_is_said(run, folder):
    done = run(*FEW, "--baseline", "bm25_body")
    assert "Anchored: baseline bm25_body\n" in done.out
    assert re.search(r"\(bm25_body\); 10 labels of \d+ quer\w+; the top 3 changes in \d+ %", done.out)
    assert "more labels could raise DCG@10 by" in done.out
    found = run.json(*FEW, "--baseline", "clicks")
    assert found["method"] == "Anchored"
    assert found["few_labels"].items() >= {"baseline": "clicks", "labels": 10}.items()


def test_a_feature_whose_name_says_so_is_the_baseline_and_that_is_said(run, folder):
    pool = read_any("pool.csv")
    write_any(replace(pool, feature_names=("es_score", *pool.feature_names[1:])), "named.csv")
    said = "Using es_score as the baseline ranking (guessed from its name; choose another with --baseline).\n"
    assert run("train", "named.csv", "--labels", "graded.csv", "-o", "few.rulerank").err == said
    assert rr.load("few.rulerank").baseline_.feature == "es_score"


def test_a_model_with_a_third_of_its_documents_level_says_so(run, folder):
    words = [*FEW, "--method", "GlobalRules", "--features", "bm25_body,bm25_title"]
    level = r"\d+ % of the documents are tied with another: their order is arbitrary\.\n"
    assert re.search(f"warning: {level}", run(*words).err)
    done = run(*words, "--baseline", "bm25_body")
    assert "(bm25_body); 10 labels of " in done.out  # it is compared with, and not started from
    assert re.search(f"\n{level}", done.out)


def test_different_grades_of_one_document_count_by_their_median(run, folder):
    pool = read_any("pool.csv")

    def write_labels(name, rows, grades):
        lines = [f"{pool.qid[row]},{pool.docid[row]},{grade}\n" for row, grade in zip(rows, grades, strict=True)]
        Path(name).write_text("qid,docid,grade\n" + "".join(lines))

    write_labels("raters.csv", [0, 1, 2, 3, 0, 0, 1], [0, 1, 0, 2, 2, 2, 1])
    write_labels("agreed.csv", [0, 1, 2, 3], [2, 1, 0, 2])
    done = run("train", "pool.csv", "--labels", "raters.csv", "-o", "one.rulerank", "--baseline", "bm25_body")
    assert "warning: raters.csv: 1 document with different grades, such as " in done.err
    run("train", "pool.csv", "--labels", "agreed.csv", "-o", "two.rulerank", "--baseline", "bm25_body")
    assert np.array_equal(rr.load("one.rulerank").predict(pool), rr.load("two.rulerank").predict(pool))


@pytest.mark.parametrize("method", FROM_BASELINE)
def test_a_model_may_be_the_baseline_and_a_check_knows_it(run, folder, method):
    done = run(*FEW, "--baseline", "clicks.rulerank", "--method", method)
    pool, clicks = graded_pool(), rr.load("clicks.rulerank")
    assert done.code == 0, done.err
    assert "baseline QueryIntercepts\n" in done.out
    expected = rr.select(pool, few_label_ranker(method).set_params(baseline=clicks), baseline=clicks).ranker
    assert np.array_equal(rr.load("few.rulerank").predict(pool), expected.predict(pool))
    assert run("rank", "pool.csv", "few.rulerank").code == run("explain", "pool.csv", "few.rulerank").code == 0
    known = run.json("check", "pool.csv", "few.rulerank", "--own-grades")
    named = run("check", "pool.csv", "few.rulerank", "--own-grades", "--json", "--baseline", "clicks.rulerank")
    assert known["baseline"] == "a QueryIntercepts model"
    assert json.loads(named.out) == known | {"baseline": "clicks.rulerank"}


@pytest.mark.parametrize("method", FROM_BASELINE)
def test_a_sum_of_features_or_a_run_may_be_the_baseline(run, folder, method):
    run("rank", "pool.csv", "clicks.rulerank", "-o", "old.run")
    for baseline in ("bm25_body + bm25_title - pagerank", "old.run"):
        done = run(*FEW, "--baseline", baseline, "--method", method)
        assert done.code == 0, done.err
        assert f"Starts from the baseline ranking ({baseline}); 10 labels" in done.out
        for words in (("rank",), ("explain",), ("explain", "--query", "q1"), ("explain", "--doc", "q1-d1")):
            again = run(words[0], "pool.csv", "few.rulerank", *words[1:])
            assert again.code == 0, again.err
        assert run.json("check", "pool.csv", "few.rulerank", "--own-grades")["baseline"] == baseline


def test_a_method_that_is_gone_names_the_one_to_use(run, folder):
    done = run(*FEW, "--baseline", "bm25_body", "--method", "AnchoredRules")
    assert "AnchoredRules is no longer part of rulerank; use Anchored instead" in done.err


def test_labels_of_a_store_are_those_of_its_people(run, folder):
    words = ("train", "pool.csv", "--labels", "judged.db", "-o", "few.rulerank", "--baseline", "bm25_body")
    assert "Dataset(24 rows" in run(*words).out


def test_labels_of_other_raters_are_left_out_and_it_is_said_how_to_let_them_in(run, folder):
    lines = (folder / "each.csv").read_text().splitlines()
    (folder / "people.csv").write_text("\n".join(line for line in lines if not line.endswith("llm")) + "\n")
    done = run(*EACH, "--baseline", "bm25_body", "--json")
    assert "each.csv: left out labels of non-human raters: 10 labels of gpt (llm); --raters gpt uses them" in done.err
    assert json.loads(done.out)["left_out"] == 10
    run("train", "pool.csv", "--labels", "people.csv", "-o", "people.rulerank", "--baseline", "bm25_body")
    pool = read_any("pool.csv")
    assert (rr.load("few.rulerank").predict(pool) == rr.load("people.rulerank").predict(pool)).all()


def test_a_rater_who_is_named_has_intercepts_of_its_own(run, folder):
    done = run(*EACH, "--raters", "gpt")
    assert "learned from 10 labels of the people, 10 labels of gpt: every rater has separate intercepts" in done.err
    assert "Dataset(20 rows" in done.out
    pool = read_any("pool.csv")
    of_gpt = {row: min(int(pool.y[row]) + 1, 4) for row in range(5, 15)}
    given = {PEOPLE: dict(enumerate(pool.y[:10].tolist())), "gpt": of_gpt}
    with pytest.warns(UserWarning, match="learned from"):
        assert (rr.load("few.rulerank").predict(pool) == fit_by_rater("QI", pool, given).predict(pool)).all()
    assert run(*EACH, "--raters", "gpt", "--method", "QI", "--set", "l2=7").code == 0
    assert rr.load("few.rulerank").l2 == 7
