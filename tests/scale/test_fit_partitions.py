"""The model from parts is the model from memory, byte for byte, whatever the parts."""

import os
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rulerank as rr
from parts_data import cut, model_bytes, small_synthetic
from rulerank.dataset import has_contrast, query_index
from rulerank.errors import DataError
from rulerank.io.tables import write_table

RANKERS = [
    rr.GlobalRules(),
    rr.GlobalRules(max_size=1),
    rr.GlobalRules(votes="mean", discretizer="equal_frequency"),
    rr.GlobalRules(discretizer="tube", normalize="zscore"),
    rr.GlobalRules(discretizer=rr.discretize.TUBE(n_bins=6), normalize="rank", min_support=0.02),
    rr.StableRules(),
    rr.StableRules(literal=True, discretizer="equal_width"),
    rr.StableRules(normalize="minmax"),
    rr.QueryIntercepts(missing="mean", l2=1.0),
    rr.QueryIntercepts(missing="mean", normalize="zscore"),
    rr.FittedRules(),
]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Let blocks be smaller than the synthetic_sets, so that they lie across parts."""
    monkeypatch.setattr("rulerank.rankers.linear.likelihood.BLOCK_ROWS", 37)


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_any_number_of_parts_gives_the_bytes_of_the_model_in_memory(ranker, tmp_path):
    data = small_synthetic()
    expected = model_bytes(rr.scale.fit_partitions(ranker, [data]).fit(data), tmp_path)
    for k in (1, 2, 7, 100):
        assert model_bytes(rr.scale.fit_partitions(ranker, cut(data, k)), tmp_path) == expected, k


@settings(max_examples=15, deadline=None)
@pytest.mark.filterwarnings("ignore:no query has documents", "ignore:the grades are separable")
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 30), st.sampled_from(RANKERS[:1] + RANKERS[5:]))
def test_synthetic_sets_cut_anywhere_give_the_same_model(tmp_path_factory, seed, k, n_queries, ranker):
    folder = tmp_path_factory.mktemp("parts")
    data = small_synthetic(seed, n_queries, n_features=3)
    assume(has_contrast(data.y, query_index(data.qid)[0]))  # else both refuse, which test_bad_parts.py looks at
    parts = cut(data, k)
    expected = model_bytes(ranker.fit(data), folder)
    assert model_bytes(rr.scale.fit_partitions(ranker, parts), folder) == expected
    if not isinstance(ranker, rr.QueryIntercepts):  # whose blocks are in the order of the parts
        shuffled = [parts[i] for i in np.random.default_rng(seed).permutation(len(parts))]
        assert model_bytes(rr.scale.fit_partitions(ranker, shuffled), folder) == expected


@pytest.mark.parametrize("memory", [1, 1024])
@pytest.mark.parametrize("format", ["parquet", "csv", "txt"])
def test_files_of_every_format_give_the_model_of_their_rows(format, memory, tmp_path):
    data = small_synthetic(missing=0 if format == "txt" else 0.1)
    for number, part in enumerate(cut(data, 3)):
        rr.io.convert(rr.io.to_frame(part), tmp_path / f"{number}.{format}") if format != "txt" else rr.io.write_letor(
            part, tmp_path / f"{number}.txt"
        )
    whole = rr.Dataset.concat([rr.read_letor(tmp_path / f"{i}.txt") for i in range(3)]) if format == "txt" else data
    expected = model_bytes(rr.GlobalRules().fit(whole), tmp_path)
    found = rr.scale.fit_partitions(rr.GlobalRules(), os.fspath(tmp_path / f"*.{format}"), memory=memory)
    assert model_bytes(found, tmp_path) == expected


def test_a_large_file_is_cut_between_queries(tmp_path, monkeypatch):
    monkeypatch.setattr("rulerank.scale.part.FEWEST_ROWS", 20)
    from rulerank.scale.part import Columns, open_parts

    data = small_synthetic()
    write_table(data, tmp_path / "all.parquet")
    parts = open_parts(tmp_path / "all.parquet", Columns(), max_values=1)
    assert len(parts) > 3
    assert parts[1].name.startswith(f"{tmp_path}/all.parquet (rows ")
    queries = [query for part in parts for query in part.keys().query_ids]
    assert queries == [*dict.fromkeys(data.qid)]
    expected = model_bytes(rr.StableRules().fit(data), tmp_path)
    assert model_bytes(rr.scale.fit_partitions(rr.StableRules(), parts), tmp_path) == expected


def test_queries_that_lie_scattered_within_a_part_are_found(tmp_path):
    data = small_synthetic()
    mixed = data[np.random.default_rng(0).permutation(len(data))]
    write_table(mixed, tmp_path / "mixed.parquet")
    for ranker in (rr.GlobalRules(), rr.StableRules(), rr.QueryIntercepts(missing="mean")):
        expected = model_bytes(ranker.fit(mixed), tmp_path)
        assert model_bytes(rr.scale.fit_partitions(ranker, tmp_path / "mixed.parquet", memory=1), tmp_path) == expected


def test_categories_are_binned_by_kind(tmp_path):
    data = small_synthetic()
    kinds = np.array(["red", "green", "blue"])[np.arange(len(data)) % 3]
    frame = rr.io.to_frame(data).with_columns(pl.Series("colour", kinds, dtype=pl.Enum(["blue", "green", "red"])))
    expected = model_bytes(rr.GlobalRules().fit(rr.from_frame(frame)), tmp_path)
    numbers = np.unique(data.qid, return_inverse=True)[1] % 2
    for part in (0, 1):
        frame.filter(pl.Series(numbers == part)).write_parquet(tmp_path / f"{part}.parquet")
    assert (
        model_bytes(rr.scale.fit_partitions(rr.GlobalRules(), f"{tmp_path}/*.parquet", memory=1), tmp_path) == expected
    )


def test_rows_without_a_grade_are_left_out_when_asked(tmp_path):
    data = small_synthetic()
    y = data.y.copy()
    y[::5] = -1
    some = type(data)(data.X, y, data.qid, data.docid, data.feature_names)
    expected = model_bytes(rr.StableRules().fit(some.labelled()), tmp_path)
    assert (
        model_bytes(rr.scale.fit_partitions(rr.StableRules(), cut(some, 3), labelled_only=True), tmp_path) == expected
    )
    with pytest.raises(DataError, match=r"^part 1: \d+ of \d+ rows are not labelled \(grade -1\); leave them"):
        rr.scale.fit_partitions(rr.StableRules(), cut(some, 3))


def test_a_part_none_of_whose_rows_count_changes_nothing(tmp_path):
    data = small_synthetic()
    parts = cut(data, 3)
    parts.insert(1, replace(cut(small_synthetic(1), 9)[0], y=np.full(len(cut(small_synthetic(1), 9)[0]), -1)))
    parts[1] = replace(parts[1], qid=np.array([f"other {one}" for one in parts[1].qid]))
    for ranker in (rr.GlobalRules(), rr.QueryIntercepts(missing="mean")):
        expected = model_bytes(ranker.fit(data), tmp_path)
        assert model_bytes(rr.scale.fit_partitions(ranker, parts, labelled_only=True), tmp_path) == expected


def test_importances_of_a_sample_are_those_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("rulerank.rankers.rows.MOST_ROWS", 50)  # of 160
    data = small_synthetic()
    expected = model_bytes(rr.GlobalRules().fit(data), tmp_path)
    assert model_bytes(rr.scale.fit_partitions(rr.GlobalRules(), cut(data, 4)[::-1]), tmp_path) == expected


def test_bin_numbers_need_no_cuts(tmp_path):
    data = small_synthetic(missing=0)
    bins = type(data)(np.clip(np.nan_to_num(np.abs(data.X)) * 3, 0, 9).astype(int), data.y, data.qid)
    ranker = rr.GlobalRules(discretizer=None)
    expected = model_bytes(ranker.fit(bins), tmp_path)
    assert model_bytes(rr.scale.fit_partitions(ranker, cut(bins, 4)), tmp_path) == expected


def fitted_synthetic():
    """Return a synthetic set that is large enough for rounds and pairs, with a feature that names kinds."""
    data = small_synthetic(n_queries=80, n_features=4)
    X = np.column_stack([data.X, np.arange(len(data)) % 3])
    kinds = {"colour": ("blue", "green", "red")}
    return rr.Dataset(X, data.y, data.qid, data.docid, (*data.feature_names, "colour"), categories=kinds)


@pytest.mark.parametrize("normalize", [None, "zscore"])
def test_fitted_rules_with_rounds_and_pairs_come_out_the_same(normalize, tmp_path):
    data = fitted_synthetic()
    ranker = rr.FittedRules(max_pairs=3, n_folds=2, normalize=normalize).fit(data)
    assert ranker.n_rounds_
    expected = model_bytes(ranker, tmp_path)
    parts = cut(data, 5)
    order = [3, 0, 4, 2, 1] if normalize is None else range(5)
    assert model_bytes(rr.scale.fit_partitions(ranker, [parts[i] for i in order], memory=1), tmp_path) == expected
