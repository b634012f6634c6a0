"""Measures of parts are those of all rows together."""

import numpy as np
import pytest

import rulerank as rr
from parts_data import cut, small_synthetic
from rulerank.errors import DataError, ReadError


@pytest.mark.parametrize("as_files", [False, True])
@pytest.mark.parametrize("ranker", [rr.GlobalRules(), rr.QueryIntercepts(missing="mean", normalize="zscore")], ids=str)
def test_measures_of_parts_are_those_of_evaluate(ranker, as_files, tmp_path):
    data = small_synthetic()
    ranker.fit(data)
    parts = cut(data, 3)
    if as_files:
        for number, part in enumerate(parts):
            rr.io.write_table(part, tmp_path / f"{number}.parquet")
        parts = tmp_path
    expected = rr.evaluate(data.y, ranker.predict(data), data.qid, ["NDCG@10", "ERR@5"])
    found = rr.scale.evaluate_partitions(ranker, parts, ["NDCG@10", "ERR@5"])
    assert found.means == expected.means
    assert found.note == expected.note
    assert found.queries.tolist() == expected.queries.tolist()


def test_what_cannot_be_measured_is_named(tmp_path):
    data = small_synthetic()
    ranker = rr.GlobalRules().fit(data)
    fewer = type(data)(data.X[:, :2], data.y, data.qid, data.docid, data.feature_names[:2])
    rr.io.write_table(fewer, tmp_path / "fewer.parquet")
    with pytest.raises((DataError, ReadError), match=r"fewer\.parquet: it lacks 3 of the 5 features"):
        rr.scale.evaluate_partitions(ranker, tmp_path / "fewer.parquet")
    none = type(data)(data.X, np.full(len(data), -1), data.qid, data.docid, data.feature_names)
    with pytest.raises(DataError, match="no document has a grade, so nothing can be measured"):
        rr.scale.evaluate_partitions(ranker, [none])
    with pytest.raises(DataError, match=r"part 1 and part 2 both have rows of \d+ queries, such as"):
        rr.scale.evaluate_partitions(ranker, [data[::2], data[1::2]])
