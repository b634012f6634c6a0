"""rulerank sample --ask: a person answers in the terminal, into a label store."""

import json
from pathlib import Path

import pytest

from rulerank.io.formats import read_any
from rulerank.judging.store import LabelStore
from sampled_labels import chosen_by_ssar

ASK = ("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", "labels.db")


def kept():
    with LabelStore("labels.db") as store:
        return [(label.query, label.doc, label.grade) for label in store.labels()]


def test_answers_are_kept_and_the_next_session_goes_on(run, folder, answer):
    expected = chosen_by_ssar(read_any("train.txt"))
    answer(*(grade for *_, grade in expected[:3]), "q")
    done = run(*ASK)
    assert kept() == expected[:3]
    assert done.out.startswith("labels.db: 3 labels, 3.12% of 96 documents\nyou have stopped (")
    assert done.out.endswith("go on with: rulerank sample train.txt --ask -o labels.db --sampler ssar\n")
    answer(*(grade for *_, grade in expected[3:]))
    assert "it has stopped by itself" in run(*ASK).out
    assert kept() == expected
    with LabelStore("labels.db") as store:
        assert {label.page for label in store.labels()} == {"terminal"}


def test_an_answer_can_be_taken_back_a_document_skipped_and_looked_at(run, folder, answer):
    expected = chosen_by_ssar(read_any("train.txt"))
    answer("u", "1", "u", "f", "9", "0", "s", "q")
    done = run(*ASK)
    assert kept() == [(*expected[0][:2], 0)]
    assert "there is nothing to undo: no label was given in this session" in done.err
    assert done.err.count(f"query {expected[0][0]}   document {expected[0][1]}   (label 1, 0% of the way") == 3
    assert " % of the pool\n" in done.err
    assert done.err.count("Keys: 0 to 4 grade, f features, s skip, u undo, q save and quit.") == 2
    shown = [line.split("   (")[0] for line in done.err.splitlines() if line.startswith("query ")]
    assert len(set(shown)) == 3


@pytest.mark.parametrize(
    ("typed", "options", "stop", "n_labels"),
    [(["0", "0", "0"], ["--budget", "2"], "budget", 2), (["0"], [], "quit", 1), (["s"] * 200, [], "skipped", 0)],
)
def test_asking_ends_at_the_budget_when_the_judge_is_gone_and_when_all_is_skipped(
    run, folder, answer, typed, options, stop, n_labels
):
    answer(*typed)
    found = json.loads(run(*ASK, *options, "--json").out)
    assert (found["stop"], found["labels"]) == (stop, n_labels)


def test_what_a_document_is_about_is_shown(run, folder, answer):
    Path("pool.txt").write_text("? qid:1 1:1 # a milk, fresh\n? qid:1 1:2 # b bread\n")
    answer("q")
    assert "\n  milk, fresh\n" in run("sample", "pool.txt", "--sampler", "ssar", "--ask", "-o", "labels.db").err


def test_asking_goes_on_with_the_same_ranking_of_today(run, folder, answer):
    answer("1", "q")
    done = run("sample", "train.txt", "--today", "-f3", "--seed", "4", "--ask", "-o", "labels.db")
    assert done.out.endswith("go on with: rulerank sample train.txt --ask -o labels.db --today -f3 --seed 4\n")
    assert "of the way to the stop" not in done.err


def test_guidelines_say_which_grades_there_are_and_what_they_mean(run, folder, answer):
    Path("grades.txt").write_text("Be strict.\n0: no - Off topic.\n1: yes\n  example: a tent\n")
    answer("2", "1", "q")
    done = run(*ASK, "--guidelines", "grades.txt")
    assert "Be strict.\n  0 no: Off topic.\n  1 yes\n      for example a tent\n" in done.err
    assert done.err.count("Keys: 0 to 1 grade") == 2  # 2 is no grade
    assert [grade for *_, grade in kept()] == [1]


def test_a_model_is_trained_on_the_labels_of_a_store(run, folder, answer):
    data = {(query, doc): grade for query, doc, grade in chosen_by_ssar(read_any("train.txt"))}
    answer(*data.values(), "q")
    run(*ASK)
    run("labels", "labels.db", "-o", "labels.csv")
    models = []
    for source in ("labels.db", "labels.csv"):
        done = run("train", "train.txt", "--labels", source, "--today", "f1", "-o", "few.rulerank")
        assert done.code == 0, done.err
        models.append(Path("few.rulerank").read_bytes())
    assert models[0] == models[1]
    assert run("train", "train.txt", "--labels", "no.db", "-o", "few.rulerank").err == (
        "error: no.db: there is no such label store\n"
    )
