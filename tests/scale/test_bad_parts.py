"""What is wrong with a part is said before long work, with the part's name, and nothing is half learned."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import rulerank as rr
from parts_data import cut, small_synthetic
from rulerank.dataset import Impressions
from rulerank.errors import DataError, ReadError, TooLargeError


@pytest.fixture
def folder(tmp_path):
    for number, part in enumerate(cut(small_synthetic(), 4)):
        rr.io.write_table(part, tmp_path / f"{number}.parquet")
    return tmp_path


def refused(folder, match, error=(DataError, ReadError), ranker=None, **options):
    ranker = rr.GlobalRules() if ranker is None else ranker
    with pytest.raises(error, match=match):
        rr.scale.fit_partitions(ranker, folder, **options)
    assert not hasattr(ranker, "params_")


def change(folder, number, **columns):
    path = folder / f"{number}.parquet"
    pl.read_parquet(path).with_columns(**columns).write_parquet(path)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"pagerank": pl.lit("high")}, r"column 'pagerank' must hold numbers: it holds String$"),
        (
            {"pagerank": pl.lit("high", dtype=pl.Enum(["high"]))},
            "the feature 'pagerank' has the categories .*, and numbers in the first part",
        ),
        ({"pagerank": pl.lit(float("inf"))}, "row 0: expected finite numbers that fit in 32 bits in column 'pagerank'"),
        ({"grade": pl.lit(77)}, "row 0: expected an integer from 0 to 31 as the grade"),
        ({"qid": pl.lit(None, dtype=pl.String)}, "row 0: expected a query id in column 'qid', got nothing"),
        ({"qid": pl.lit("q1")}, "both have rows of query 'q1': parts must hold whole queries; sort the rows"),
    ],
)
def test_what_a_part_must_not_hold_is_named(folder, columns, message):
    change(folder, 2, **columns)
    refused(folder, rf"2\.parquet:? {message}")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.drop("pagerank"), r"it lacks 1 of the 5 features of the first part: pagerank$"),
        (lambda frame: frame.drop("grade"), "there is no column 'grade'; it has qid, .*name the column of the grade"),
        (lambda frame: frame.head(0), "the part is empty: it has no rows; leave it out$"),
    ],
)
def test_what_a_part_lacks_is_named(folder, change, message):
    path = folder / "2.parquet"
    change(pl.read_parquet(path)).write_parquet(path)
    refused(folder, rf"2\.parquet: {message}")


@pytest.mark.parametrize(
    ("n_bytes", "message"),
    [(200, "expected a parquet file, got something else or a damaged one"), (0, "the file is empty")],
)
def test_a_damaged_file_in_the_middle_is_named(folder, n_bytes, message):
    (folder / "2.parquet").write_bytes((folder / "2.parquet").read_bytes()[:n_bytes])
    refused(folder, rf"2\.parquet: {message}")


def test_names_that_stand_for_no_file_are_said(tmp_path):
    refused(tmp_path / "none.parquet", r"none\.parquet: there is no such file")
    refused(f"{tmp_path}/*.parquet", r"\*\.parquet: no file matches this name")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", r"the folder has no files of documents")
    refused([], "expected at least one part: got none")
    refused([3], r"part 1 must be a file, a Dataset or a data frame: got int")


@pytest.mark.parametrize(
    ("ranker", "error", "message"),
    [
        (rr.QueryRules(), DataError, "^QueryRules needs the data in memory: .*GlobalRules.*learn from parts$"),
        (rr.GlobalRules(memory_budget=0), TooLargeError, "raise it, lower max_size"),
    ],
)
def test_what_cannot_learn_from_parts_says_so(folder, ranker, error, message):
    refused(folder, message, error, ranker=ranker)


def test_memory_must_be_a_number(folder):
    refused(folder, "memory must be MiB", memory=0)


def test_other_categories_in_a_data_set_are_named():
    data = small_synthetic()
    codes = type(data)(np.zeros((4, 1)), [0, 1, 0, 1], list("aabb"), categories={"f1": ("red",)})
    other = type(data)(np.zeros((4, 1)), [0, 1, 0, 1], list("ccdd"), categories={"f1": ("blue",)})
    refused([codes, other], r"^part 2: the feature 'f1' has the categories blue, and the categories red in the first")


CLICKS = {"position:log": pl.lit(1), "impressions:log": pl.lit(2), "clicks:log": pl.lit(1)}


@pytest.mark.parametrize("number", [0, 3])
def test_a_part_with_clicks_is_named_wherever_it_is(folder, number):
    change(folder, number, **CLICKS, grade=pl.lit(-1))  # which labelled_only would leave out without a word
    said = rf"{number}\.parquet has clicks, and training from clicks needs the data in memory: put them into one table"
    refused(folder, said, labelled_only=True)


def test_clicks_among_data_sets_and_files_of_text_are_named_too(folder):
    parts = cut(small_synthetic(), 4)
    ones = np.ones(len(parts[2]), dtype=int)
    refused(
        [*parts[:2], replace(parts[2], impressions=Impressions(ones, ones, ones))], "^part 3 has clicks, and training"
    )
    change(folder, 2, **CLICKS)
    pl.read_parquet(folder / "2.parquet").write_csv(folder / "2.csv")
    (folder / "2.parquet").unlink()
    refused(folder, r"2\.csv has clicks, and training from clicks needs the data in memory")


def test_a_table_with_clicks_is_scored_and_measured_in_parts_all_the_same(folder):
    ranker = rr.GlobalRules().fit(small_synthetic())
    before = rr.scale.evaluate_partitions(ranker, folder).means
    change(folder, 2, **CLICKS)
    assert rr.scale.evaluate_partitions(ranker, folder).means == before
