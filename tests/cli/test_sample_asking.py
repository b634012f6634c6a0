"""rulerank sample --ask: a person answers in the terminal."""

import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

from rulerank.io.convert import read_any
from rulerank.judging.store import LabelStore
from sampled_labels import chosen_by_ssar, labels_in


@pytest.mark.parametrize("name", ["labels.csv", "labels.qrels", "labels.txt"])
def test_answers_are_appended(run, folder, answer, name):
    data = read_any("train.txt")
    expected = chosen_by_ssar(data)
    answer(*(grade for *_, grade in expected[:3]), "q")
    done = run("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", name)
    assert labels_in(name) == expected[:3]
    assert done.out.startswith(f"{name}: 3 labels, 3.12% of 96 documents\nyou have stopped (")
    assert done.out.endswith(f"go on with: rulerank sample train.txt --ask --resume {name} --sampler ssar\n")
    answer(*(grade for *_, grade in expected[3:]))
    done = run("sample", "train.txt", "--sampler", "ssar", "--ask", "--resume", name)
    assert labels_in(name) == expected
    assert "it has stopped by itself" in done.out


def test_an_answer_can_be_taken_back_a_document_skipped_and_looked_at(run, folder, answer):
    expected = chosen_by_ssar(read_any("train.txt"))
    answer("u", "1", "u", "f", "9", "0", "s", "q")
    done = run("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", "labels.csv")
    assert labels_in("labels.csv") == [(*expected[0][:2], 0)]
    assert "there is nothing to undo: no label was given in this session" in done.err
    assert done.err.count(f"query {expected[0][0]}   document {expected[0][1]}   (label 1, 0% of the way") == 3
    assert "of the query's documents" in done.err
    assert done.err.count("Keys: 0 to 4 grade, f features, s skip, u undo, q save and quit.") == 2
    shown = [line.split("   (")[0] for line in done.err.splitlines() if line.startswith("query ")]
    assert len(set(shown)) == 3


def test_asking_ends_at_the_budget_and_when_the_judge_is_gone(run, folder, answer):
    answer("0", "0", "0")
    done = run("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", "labels.csv", "--budget", "2", "--json")
    assert json.loads(done.out)["stop"] == "budget"
    answer("0")
    done = run("sample", "train.txt", "--sampler", "ssar", "--ask", "--resume", "labels.csv", "--json")
    assert (json.loads(done.out)["stop"], json.loads(done.out)["labels"]) == ("quit", 3)


def test_asking_ends_when_all_is_skipped(run, folder, answer):
    answer(*["s"] * 200)
    done = run("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", "labels.csv", "--per-query", "--json")
    assert (json.loads(done.out)["stop"], json.loads(done.out)["labels"]) == ("skipped", 0)
    done = run("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", "labels.csv")
    assert "0 labelled" in done.out or done.code == 0


def test_what_a_document_is_about_is_shown(run, folder, answer):
    Path("pool.txt").write_text("? qid:1 1:1 # a milk, fresh\n? qid:1 1:2 # b bread\n")
    answer("q")
    assert "\n  milk, fresh\n" in run("sample", "pool.txt", "--sampler", "ssar", "--ask", "-o", "labels.csv").err


def test_a_line_written_by_hand_is_not_glued_to_the_next(run, folder, answer):
    first, second, *_ = chosen_by_ssar(read_any("train.txt"))
    Path("labels.csv").write_text(f"qid,docid,grade\n{first[0]},{first[1]},{first[2]}")
    answer(second[2])
    run("sample", "train.txt", "--sampler", "ssar", "--ask", "--resume", "labels.csv")
    assert labels_in("labels.csv") == [first, second]


def test_a_session_that_ended_at_once_can_be_resumed(run, folder, answer):
    answer("q")
    run("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", "labels.csv")
    answer("1")
    assert run("sample", "train.txt", "--sampler", "ssar", "--ask", "--resume", "labels.csv").code == 0
    assert len(labels_in("labels.csv")) == 1


def test_a_file_goes_on_in_the_format_it_has(run, folder, answer):
    answer("1")
    run("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", "labels.txt", "--to", "qrels")
    answer("0")
    run("sample", "train.txt", "--sampler", "ssar", "--ask", "--resume", "labels.txt")
    assert [line.split()[-1] for line in Path("labels.txt").read_text().splitlines()] == ["1", "0"]


def test_one_key_is_an_answer_and_ctrl_c_loses_nothing(folder):
    master, slave = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "rulerank",
        "sample",
        "train.txt",
        "--sampler",
        "ssar",
        "--ask",
        "-o",
        "labels.csv",
    ]
    streams = dict.fromkeys(["stdin", "stdout", "stderr"], slave)
    process = subprocess.Popen(command, **streams)
    os.close(slave)
    seen = b""
    for n_asked, key in enumerate([b"1", b"\x1b[A", b"2", b"\x03"], start=1):  # the second is an arrow, the last Ctrl-C
        while seen.count(b"grade?") < n_asked:
            assert select.select([master], [], [], 60)[0], seen
            seen += os.read(master, 4096)
        os.write(master, key)
    assert process.wait(60) == 0
    os.close(master)
    assert [grade for *_, grade in labels_in("labels.csv")] == [1, 2]


def test_a_second_session_cannot_cut_the_labels_of_the_first(run, folder, answer):
    fcntl = pytest.importorskip("fcntl")
    with open("labels.csv", "ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        answer("1", "q")
        done = run("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", "labels.csv")
    assert done.code == 2
    assert done.err == "error: labels.csv: another session of --ask writes to this file; end it, or name another file\n"


def test_asking_goes_on_with_the_same_ranking_of_today(run, folder, answer):
    answer("1", "q")
    done = run("sample", "train.txt", "--today", "-f3", "--seed", "4", "--ask", "-o", "labels.csv")
    assert done.out.endswith("go on with: rulerank sample train.txt --ask --resume labels.csv --today -f3 --seed 4\n")
    assert "of the way to the stop" not in done.err


def test_guidelines_say_which_grades_there_are_and_what_they_mean(run, folder, answer):
    Path("grades.txt").write_text("Be strict.\n0: no - Off topic.\n1: yes\n  example: a tent\n")
    answer("2", "1", "q")
    done = run("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", "labels.csv", "--guidelines", "grades.txt")
    assert "Be strict.\n  0 no: Off topic.\n  1 yes\n      for example a tent\n" in done.err
    assert done.err.count("Keys: 0 to 1 grade") == 2  # 2 is no grade
    assert [grade for *_, grade in labels_in("labels.csv")] == [1]


def test_a_label_store_takes_answers_and_goes_on(run, folder, answer):
    answer("1", "q")
    done = run("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", "labels.db")
    assert done.out.endswith("go on with: rulerank sample train.txt --ask --resume labels.db --sampler ssar\n")
    answer("0", "q")
    assert run("sample", "train.txt", "--sampler", "ssar", "--ask", "--resume", "labels.db").code == 0
    with LabelStore("labels.db") as store:
        assert [(label.grade, label.page) for label in store.labels()] == [(1, "terminal"), (0, "terminal")]
