"""Scores and measures of parts are those of all rows together."""

import numpy as np
import pytest

import rulerank as rr
from parts_worlds import cut, small_world
from rulerank.errors import DataError, ReadError
from rulerank.scale.score import rank_parts

RANKERS = [rr.GlobalRules(), rr.QueryIntercepts(missing="mean", normalize="zscore")]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "parts").mkdir()
    for number, part in enumerate(cut(small_world(), 3)):
        rr.write_table(part, tmp_path / "parts" / f"{number}.parquet")
    return tmp_path


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_the_scores_of_parts_are_those_of_predict(ranker, folder):
    data = small_world()
    ranker.fit(data)
    assert rank_parts(ranker, folder / "parts", folder / "out") == len(data)
    lines = [line for number in range(3) for line in (folder / "out" / f"{number}.txt").read_text().splitlines()]
    assert [*map(float, lines)] == ranker.predict(data).tolist()


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_measures_of_parts_are_those_of_evaluate(ranker, folder):
    data = small_world()
    ranker.fit(data)
    expected = rr.evaluate(data.y, ranker.predict(data), data.qid, ["NDCG@10", "ERR@5"])
    found = rr.evaluate_parts(ranker, folder / "parts", ["NDCG@10", "ERR@5"])
    assert found.means == expected.means
    assert found.note == expected.note
    assert found.queries.tolist() == expected.queries.tolist()


def test_documents_without_grades_and_text_files_are_scored(folder):
    data = small_world()
    ranker = rr.GlobalRules().fit(data)
    for number, part in enumerate(cut(data, 3)):
        rr.to_frame(part).drop("grade").write_csv(folder / f"{number}.csv")
    assert rank_parts(ranker, f"{folder}/*.csv", folder / "out", to="csv") == len(data)
    assert (folder / "out" / "2.csv").read_text().startswith("qid,docid,score\n")


def test_a_damaged_part_leaves_no_folder_behind(folder):
    ranker = rr.GlobalRules().fit(small_world())
    (folder / "parts" / "1.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(ReadError, match=r"1\.parquet: expected a parquet file"):
        rank_parts(ranker, folder / "parts", folder / "out")
    assert [path.name for path in folder.iterdir()] == ["parts"]


def test_a_folder_that_holds_something_is_not_written_to(folder):
    ranker = rr.GlobalRules().fit(small_world())
    with pytest.raises(DataError, match=r"parts: it is there already, and not an empty folder"):
        rank_parts(ranker, folder / "parts", folder / "parts")
    with pytest.raises(DataError, match="there is no directory"):
        rank_parts(ranker, folder / "parts", folder / "no" / "out")


def test_a_part_without_a_feature_of_the_model_is_named(folder):
    ranker = rr.GlobalRules().fit(small_world())
    data = small_world()
    fewer = type(data)(data.X[:, :2], data.y, data.qid, data.docid, data.feature_names[:2])
    rr.write_table(fewer, folder / "fewer.parquet")
    with pytest.raises(ReadError, match=r"fewer\.parquet: there is no column"):
        rank_parts(ranker, folder / "fewer.parquet", folder / "out")


def test_queries_must_be_whole_where_documents_are_compared(folder):
    data = small_world()
    ranker = rr.QueryIntercepts(missing="mean", normalize="zscore").fit(data)
    with pytest.raises(DataError, match=r"part 1 and part 2 both have rows of \d+ queries, such as"):
        rank_parts(ranker, [data[::2], data[1::2]], folder / "out")
    plain = rr.GlobalRules().fit(data)
    assert rank_parts(plain, [data[::2], data[1::2]], folder / "out") == len(data)


def test_parts_without_any_grade_cannot_be_measured(folder):
    data = small_world()
    none = type(data)(data.X, np.full(len(data), -1), data.qid, data.docid, data.feature_names)
    with pytest.raises(DataError, match="no document has a grade, so there is nothing to measure"):
        rr.evaluate_parts(rr.GlobalRules().fit(data), [none])
