"""rulerank train FOLDER: file by file, with the results of one file that holds all."""

from pathlib import Path

import polars as pl
import pytest


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
    assert many.out.startswith("trained on parts: 3 parts, 96 rows, 12 queries\n")


def test_rows_of_a_query_in_two_files_are_refused(run, whole):
    rows = pl.read_parquet(whole)
    Path("mixed").mkdir()
    rows[::2].write_parquet("mixed/0.parquet")
    rows[1::2].write_parquet("mixed/1.parquet")
    refused = run("train", "mixed", "-o", "new.rulerank", "--method", "RE-GR")
    assert "both have rows of 12 queries, such as" in refused.err
    assert (refused.code, Path("new.rulerank").exists()) == (2, False)
