"""Named features are matched by name: a data frame may have its columns in any order, and others among them."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rulerank as rr
from rulerank.errors import DataError

DATA = rr.datasets.make_ranking(n_queries=10, docs_per_query=8, n_features=6, seed=4)
FILLED = rr.Dataset(np.nan_to_num(DATA.X), DATA.y, DATA.qid, DATA.docid, DATA.feature_names)
RANKERS = [rr.GlobalRules(), rr.QueryIntercepts(l2=1.0), rr.GlobalRules(normalize="rank")]


FRAMES = pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame])


def turned(more=()):
    """The columns of the data from the last to the first, and others."""
    columns = {name: FILLED.X[:, i] for i, name in reversed([*enumerate(FILLED.feature_names)])}
    return {"title": ["a"] * len(FILLED)} | columns | dict.fromkeys(more, np.ones(len(FILLED)))


def from_data_set(ranker, folder):
    return ranker.fit(FILLED)


def from_model_file(ranker, folder):
    ranker.fit(FILLED).save(folder / "m.rulerank")
    return rr.load(folder / "m.rulerank")


def from_frame(ranker, folder):
    return ranker.fit(pl.DataFrame(FILLED.X, schema=list(FILLED.feature_names)), FILLED.y, qid=FILLED.qid)


@FRAMES
@pytest.mark.parametrize("learned", [from_data_set, from_model_file, from_frame])
@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_a_frame_with_columns_in_another_order_is_scored_by_name(ranker, learned, frame, tmp_path):
    fitted = learned(ranker, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fitted.predict(frame(turned(more=["another"])), qid=FILLED.qid)
        assert np.array_equal(found, fitted.predict(FILLED))


@FRAMES
@pytest.mark.parametrize("learned", [from_data_set, from_model_file, from_frame])
def test_a_column_that_is_missing_or_renamed_is_named(learned, frame, tmp_path):
    fitted = learned(rr.GlobalRules(), tmp_path)
    columns = turned()
    columns["BM25"] = columns.pop("bm25_body")
    with pytest.raises(DataError, match=r"the data lacks 1 of the 6 features the model was trained on: bm25_body"):
        fitted.predict(frame(columns))


def test_a_frame_goes_by_position_where_the_ranker_knows_no_names(tmp_path):
    ranker = rr.GlobalRules().fit(FILLED.X, FILLED.y, qid=FILLED.qid)
    ranker.save(tmp_path / "m.rulerank")
    for fitted in (ranker, rr.load(tmp_path / "m.rulerank")):
        with pytest.warns(UserWarning, match="fitted without feature names"):
            found = fitted.predict(pl.DataFrame(FILLED.X, schema=list(FILLED.feature_names)))
        assert np.array_equal(found, ranker.predict(FILLED.X))


def test_a_name_that_is_there_twice_is_refused():
    frame = pd.DataFrame(FILLED.X[:, [0, 0, 1, 2, 3, 4, 5]], columns=[FILLED.feature_names[0], *FILLED.feature_names])
    with pytest.raises(DataError, match="column names must differ: 'bm25_body' appears twice"):
        rr.GlobalRules().fit(FILLED).predict(frame)
