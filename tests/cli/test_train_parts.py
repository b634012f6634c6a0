"""rulerank train FOLDER and rulerank rank MODEL FOLDER: file by file, with the results of one file that holds all."""

import json
from pathlib import Path

import polars as pl
import pytest

import rulerank as rr


@pytest.fixture
def whole(folder):
    """One file with the rows of the folder `parts`."""
    pl.concat([pl.read_parquet(f"parts/{number}.parquet") for number in range(3)]).write_parquet("whole.parquet")
    return "whole.parquet"


@pytest.mark.parametrize("method", ["RE-GR", "RE-SR", "QI", "FR"])
def test_a_folder_trains_the_model_of_its_rows(method, run, whole):
    given = ["--set", "missing=mean"] if method == "QI" else []
    one = run("train", whole, "-o", "one.rulerank", "--method", method, *given)
    many = run("train", "parts", "-o", "many.rulerank", "--method", method, *given)
    assert (one.code, many.code) == (0, 0), many.err
    assert Path("one.rulerank").read_bytes() == Path("many.rulerank").read_bytes()
    assert many.out.startswith("trained on parts: 3 parts, 96 rows, 12 queries, 20 features\n")


def test_a_pattern_chooses_the_method_on_the_first_files(run, whole):
    done = run("train", "parts/*.parquet", "-o", "model.new", "--json")
    assert done.code == 0, done.err
    summary = json.loads(done.out)
    assert (summary["method"], summary["rows"], summary["parts"]) == ("QI", 96, 3)
    told = run("train", "parts", "-o", "model.new")
    assert "method chosen: intercepts on z-scores by query: 96 labels of 12 queries are too few" in told.out


def test_rows_of_a_query_in_two_files_are_refused(run, whole):
    rows = pl.read_parquet(whole)
    Path("mixed").mkdir()
    rows[::2].write_parquet("mixed/0.parquet")
    rows[1::2].write_parquet("mixed/1.parquet")
    refused = run("train", "mixed", "-o", "brought.rulerank", "--method", "RE-GR")
    assert refused.code == 2
    assert "both have rows of 12 queries, such as" in refused.err
    assert not Path("brought.rulerank").exists()


def test_a_folder_is_not_ranked_at_once(run, whole):
    assert run("train", "parts", "-o", "parts.rulerank", "--method", "RE-GR").code == 0
    assert "parts stands for many files: rank them one after the other" in run("rank", "parts.rulerank", "parts").err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--method", "RE-QR"], "QueryRules needs the data in memory"),
        (["--tune", "--method", "RE-GR"], "--labels, --tune and --vali need the data in memory"),
        (["--memory", "0", "--method", "RE-GR"], "memory must be MiB"),
    ],
)
def test_what_a_folder_cannot_be_trained_with_is_said(options, said, run, folder):
    done = run("train", "parts", "-o", "new.rulerank", *options)
    assert (done.code, said in done.err) == (2, True), done.err
    assert not Path("new.rulerank").exists()


def test_a_model_is_never_written_over_a_part(run, folder):
    done = run("train", "parts", "-o", "parts/1.parquet", "--method", "RE-GR")
    assert done.code == 2
    assert rr.read_table("parts/1.parquet").X.size


def test_parts_that_carry_clicks_are_refused_by_name(run, folder):
    Path("clicked").mkdir()
    Path("pool-with-clicks.parquet").rename("clicked/0.parquet")
    done = run("train", "clicked", "-o", "model.new", "--method", "QI")
    assert done.code == 2
    assert "carries clicks, which are learned from in memory only" in done.err
    assert not Path("model.new").exists()
    with pytest.raises(rr.errors.DataError, match="carries clicks"):
        rr.fit_parts(rr.QueryIntercepts(), [rr.read_table("clicked/0.parquet")])
