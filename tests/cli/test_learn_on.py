"""rulerank train --model with --more and --less."""

import json
import re

import pytest

from rulerank.io.convert import read_any, write_any
from rulerank.model_file import load


@pytest.fixture
def halves(run, folder):
    data = read_any("train.txt")
    write_any(data[:60], "first.csv")
    write_any(data[60:], "second.parquet")
    assert run("train", "first.csv", "-o", "first.rulerank", "--method", "RE-GR").code == 0


def content(name):
    with open(name, "rb") as file:
        return file.read()


def test_a_model_learns_on_and_unlearns(run, halves):
    done = run("train", "--model", "first.rulerank", "--more", "second.parquet", "-o", "both.rulerank")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("first.rulerank: 36 rows added, 0 removed\nboth.rulerank: learned from 96 rows, in 0.")
    expected = load("first.rulerank").add(read_any("second.parquet"))
    expected.save("expected.rulerank")
    assert content("both.rulerank") == content("expected.rulerank")
    done = run("train", "--model", "both.rulerank", "--less", "second.parquet", "-o", "again.rulerank", "--json")
    assert done.err == ""
    assert json.loads(done.out) | {"seconds": 0} == {
        "model": "again.rulerank", "from": "both.rulerank", "rows": 60, "added": 0, "removed": 36, "seconds": 0,
    }  # fmt: skip
    assert content("again.rulerank") == content("first.rulerank")


def test_less_goes_before_more_comes(run, halves):
    options = ("--more", "first.csv", "--less", "first.csv", "-o", "same.rulerank")
    assert run("train", "--model", "first.rulerank", *options).code == 2  # nothing would be left in between
    write_any(read_any("first.csv")[:3], "three.csv")
    options = ("--more", "three.csv", "--less", "three.csv", "-o", "same.rulerank")
    assert run("train", "--model", "first.rulerank", *options).code == 0
    assert content("same.rulerank") == content("first.rulerank")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--more", "second.parquet"), "--more and --less change a model: name it, --model old.rulerank"),
        (("--model", "first.rulerank"), "--model learns on from a model: add --more FILE"),
        (("--model", "first.rulerank", "--more", "-", "--less", "-"), "only one file can be stdin"),
        (("--model", "first.rulerank", "--more", "second.parquet", "--tune"), "leave out --tune, or train anew"),
        (("first.csv", "--model", "first.rulerank", "--more", "second.parquet"), "leave out DATA, or train anew"),
        (("--model", "first.rulerank", "--less", "second.parquet"), "rows to remove are not among the rows|no rows of"),
        (("--model", "other.rulerank", "--more", "second.parquet"), "holds a QueryRules, and only rules that are"),
        (("--model", "bare.rulerank", "--more", "second.parquet"), "has not kept the 60 rows it has learned from"),
        ((), "name the graded documents to learn from: rulerank train DATA -o model.rulerank"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(run, halves, folder, options, message):
    assert run("train", "first.csv", "-o", "other.rulerank", "--method", "RE-QR").code == 0
    assert run("train", "first.csv", "-o", "bare.rulerank", "--method", "RE-GR", "--set", "keep_rows=0").code == 0
    done = run("train", *options, "-o", "new.rulerank")
    assert done.code == 2
    assert re.search(message, " ".join(done.err.split()))
    assert not (folder / "new.rulerank").exists()
