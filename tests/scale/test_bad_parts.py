"""What is wrong with a part is said before long work, with the part's name, and nothing is half learned."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import rulerank as rr
from parts_worlds import cut, small_world
from rulerank.errors import DataError, ReadError, TooLargeError
from rulerank.shown import Shown


@pytest.fixture
def folder(tmp_path):
    for number, part in enumerate(cut(small_world(), 4)):
        rr.write_table(part, tmp_path / f"{number}.parquet")
    return tmp_path


def refused(folder, match, error=DataError, ranker=None, **options):
    ranker = rr.GlobalRules() if ranker is None else ranker
    with pytest.raises(error, match=match):
        rr.fit_parts(ranker, folder, **options)
    assert not hasattr(ranker, "params_")


def change(folder, number, **columns):
    path = folder / f"{number}.parquet"
    pl.read_parquet(path).with_columns(**columns).write_parquet(path)


def test_a_part_without_a_feature_is_named(folder):
    frame = pl.read_parquet(folder / "2.parquet")
    frame.drop("pagerank").write_parquet(folder / "2.parquet")
    refused(folder, r"2\.parquet: it lacks 1 of the 5 features of the first part: pagerank$")


def test_a_part_whose_column_holds_text_is_named(folder):
    change(folder, 2, pagerank=pl.lit("high"))
    refused(folder, r"2\.parquet: column 'pagerank' must hold numbers: it holds String$", ReadError)


def test_a_part_whose_column_holds_categories_is_named(folder):
    change(folder, 1, pagerank=pl.lit("high", dtype=pl.Enum(["high"])))
    refused(folder, r"1\.parquet: the feature 'pagerank' has the categories .*, and numbers in the first part")


def test_a_part_without_grades_is_named(folder):
    pl.read_parquet(folder / "3.parquet").drop("grade").write_parquet(folder / "3.parquet")
    refused(folder, r"3\.parquet: there is no column 'grade'; it has qid, .*name the column of the grade", ReadError)


def test_a_damaged_file_in_the_middle_is_named(folder):
    (folder / "2.parquet").write_bytes((folder / "2.parquet").read_bytes()[:200])
    refused(folder, r"2\.parquet: expected a parquet file, got something else or a damaged one", ReadError)


def test_an_empty_file_is_named(folder):
    (folder / "2.parquet").write_bytes(b"")
    refused(folder, r"2\.parquet: the file is empty", ReadError)


def test_a_part_without_rows_is_named(folder):
    pl.read_parquet(folder / "2.parquet").head(0).write_parquet(folder / "2.parquet")
    refused(folder, r"2\.parquet: the part is empty: it has no rows; leave it out$")


def test_a_query_in_two_parts_is_named_with_both(folder):
    change(folder, 3, qid=pl.lit("q1"))
    refused(folder, r"0\.parquet and .*3\.parquet both have rows of query 'q1': parts must hold whole queries; ask for")


def test_an_infinite_value_is_named_by_part_and_column(folder):
    change(folder, 2, pagerank=pl.lit(float("inf")))
    refused(folder, r"2\.parquet: row 0: expected finite numbers that fit in 32 bits in column 'pagerank'", ReadError)


def test_a_grade_that_is_none_is_named(folder):
    change(folder, 2, grade=pl.lit(77))
    refused(folder, r"2\.parquet: row 0: expected a whole number from 0 to 31 as the grade", ReadError)


def test_a_query_without_an_id_is_named(folder):
    change(folder, 2, qid=pl.lit(None, dtype=pl.String))
    refused(folder, r"2\.parquet: row 0: expected a query id in column 'qid', got nothing", ReadError)


def test_names_that_stand_for_no_file_are_said(tmp_path):
    refused(tmp_path / "none.parquet", r"none\.parquet: there is no such file", ReadError)
    refused(f"{tmp_path}/*.parquet", r"\*\.parquet: no file has such a name")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", r"the folder holds no files of documents")
    refused([], "expected at least one part: got none")
    refused([3], r"part 1 must be a file, a Dataset or a data frame: got int")


def test_a_ranker_that_needs_all_rows_says_so(folder):
    refused(folder, r"^QueryRules needs the data in memory: .*GlobalRules.*learn from parts$", ranker=rr.QueryRules())


def test_a_discretizer_that_needs_all_rows_says_so(folder):
    from sklearn.preprocessing import KBinsDiscretizer

    ranker = rr.GlobalRules(discretizer=KBinsDiscretizer(encode="ordinal"))
    refused(folder, "^KBinsDiscretizer looks at all rows at once", ranker=ranker)


def test_tables_beyond_the_budget_are_refused(folder):
    ranker = rr.GlobalRules(memory_budget=0)
    refused(folder, "the tables of all .* raise it, lower max_size", TooLargeError, ranker=ranker)


def test_memory_must_be_a_number(folder):
    refused(folder, "memory must be MiB", memory=0)


def test_other_categories_in_a_data_set_are_named():
    data = small_world()
    codes = type(data)(np.zeros((4, 1)), [0, 1, 0, 1], list("aabb"), categories={"f1": ("red",)})
    other = type(data)(np.zeros((4, 1)), [0, 1, 0, 1], list("ccdd"), categories={"f1": ("blue",)})
    refused([codes, other], r"^part 2: the feature 'f1' has the categories blue, and the categories red in the first")


CLICKS = {"position:log": pl.lit(1), "impressions:log": pl.lit(2), "clicks:log": pl.lit(1)}


@pytest.mark.parametrize("number", [0, 2, 3])
@pytest.mark.parametrize("regroup", [False, True])
def test_a_part_with_clicks_is_named_wherever_it_is(folder, number, regroup):
    change(folder, number, **CLICKS, grade=pl.lit(-1))  # which labelled_only would leave out without a word
    said = rf"{number}\.parquet carries clicks, which are learned from in memory only: put them into one table"
    refused(folder, said, labelled_only=True, regroup=regroup)


def test_clicks_among_data_sets_and_files_of_text_are_named_too(folder):
    parts = cut(small_world(), 4)
    ones = np.ones(len(parts[2]), dtype=int)
    refused([*parts[:2], replace(parts[2], shown=Shown(ones, ones, ones))], "^part 3 carries clicks, which are learned")
    change(folder, 2, **CLICKS)
    pl.read_parquet(folder / "2.parquet").write_csv(folder / "2.csv")
    (folder / "2.parquet").unlink()
    refused(folder, r"2\.csv carries clicks, which are learned from in memory only")


def test_a_table_with_clicks_is_scored_and_measured_in_parts_all_the_same(folder):
    ranker = rr.GlobalRules().fit(small_world())
    before = rr.evaluate_parts(ranker, folder).means
    change(folder, 2, **CLICKS)
    assert rr.evaluate_parts(ranker, folder).means == before
