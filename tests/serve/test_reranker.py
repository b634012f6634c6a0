"""A reranker gives the ranker's own scores, in order, with reasons that add up."""

import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from rulerank.errors import DataError
from served_rankers import EXPLAINED, RANKERS


def as_dataset(synthetic, rows):
    return rr.Dataset(rows, np.zeros(len(rows)), np.zeros(len(rows)), feature_names=synthetic.feature_names)


values = st.one_of(
    st.none(),
    st.just(math.nan),
    st.integers(-1000, 1000),
    st.floats(-1e30, 1e30),
    st.floats(-3, 3),
    st.sampled_from([np.float32(0.3), np.float64(0.1), np.int64(2), True]),
)


@pytest.mark.parametrize("name", RANKERS)
@settings(max_examples=10)
@given(cells=st.lists(st.lists(values, min_size=6, max_size=6), min_size=1, max_size=12), data=st.data())
def test_scores_are_those_of_predict_bit_for_bit(rerankers, synthetic, name, cells, data):
    reranker = rerankers(name)
    X = [[math.nan if value is None else float(value) for value in row] for row in cells]
    expected = reranker.ranker.predict(as_dataset(synthetic, X), qid=np.zeros(len(X)))
    docs = [dict(zip(synthetic.feature_names, row, strict=True)) for row in cells]
    if data.draw(st.booleans()):
        docs = [{"id": number, "features": doc} for number, doc in enumerate(docs)]
    found = reranker.rank("any", docs, top=None)
    assert [expected[result.place] for result in found] == found.scores
    plain = sorted(range(len(X)), key=lambda place: -expected[place])  # sorted() is stable
    assert [result.place for result in found] == plain
    assert [result.rank for result in found] == list(range(1, len(X) + 1))
    assert reranker.rank("any", docs, top=3).ids == found.ids[:3]


@pytest.mark.parametrize("name", ["GlobalRules", "GlobalRules, rank", "Anchored"])
def test_frames_and_data_sets_score_as_the_data_set_of_their_rows(rerankers, synthetic, name):
    reranker = rerankers(name)
    one = synthetic[synthetic.qid == synthetic.qid[0]]
    expected = reranker.ranker.predict(one)
    columns = dict(zip(one.feature_names, one.X.T, strict=True))
    shuffled = one.feature_names[::-1]
    polars = pl.DataFrame(columns).select(shuffled).with_columns(pl.lit("x").alias("id"))
    for docs in (one, pd.DataFrame(columns)[[*shuffled]], polars):
        found = reranker.rank("", docs, top=None)
        assert [expected[result.place] for result in found] == found.scores
        best = {name: column[found[0].place] for name, column in columns.items()}
        assert found[0].features == {name: None if np.isnan(value) else value for name, value in best.items()}
        by_baseline = [result.place for result in sorted(found, key=lambda result: result.baseline_rank)]
        first = np.argsort(-one.X[:, 0], kind="stable") if name == "Anchored" else np.arange(len(one))
        assert by_baseline == first.tolist()


@pytest.mark.parametrize("name", EXPLAINED)
def test_reasons_add_up_to_the_score(rerankers, dicts, name):
    found = rerankers(name).rank("", dicts, top=None)
    for result in found:
        reasons = result.reasons
        assert reasons
        assert abs(sum(reason.adds for reason in reasons) - result.score) < 1e-9
        for n in (0, 1, 3, 100):
            short = result.top_reasons(n)
            assert abs(sum(reason.adds for reason in short) - result.score) < 1e-9
            assert [reason.text for reason in short[: n + 1]] == [reason.text for reason in reasons[: n + 1]]
            assert len(short) <= n + 2
        _, *parts = [reason["adds"] for reason in result.to_dict(n_reasons=1)["reasons"]]
        assert abs(parts[-1]) <= max(map(abs, parts[:-1]), default=abs(parts[-1]))  # the rest is not the largest


@pytest.mark.parametrize("name", EXPLAINED)
def test_reasons_are_the_shares_of_the_explanation(rerankers, dicts, name):
    reranker = rerankers(name)
    result = reranker.rank("", dicts)[0]
    why = reranker.explain("", result.id, docs=dicts)
    assert why.document == result.id
    assert why.score == pytest.approx(result.score, abs=1e-12)
    places = {share.feature: f"{share.feature} {share.value}, {share.standing}" for share in why.features if share.adds}
    assert {reason.feature: reason.text for reason in result.reasons[1:]} == places
    shares = {share.feature: share.adds for share in why.features if share.adds}
    assert {reason.feature: reason.adds for reason in result.reasons[1:]} == pytest.approx(shares, abs=1e-12)
    assert result.reasons[0].text == why.base_text
    assert result.reasons[0].adds == why.base


def test_a_ranker_that_gives_no_reasons_says_so_when_asked_to_explain(rerankers, dicts):
    reranker = rerankers("RankBoost")
    assert reranker.rank("", dicts)[0].reasons == ()
    assert reranker.rank("", dicts).to_dict()["results"][0]["reasons"] == []
    with pytest.raises(DataError, match="RankBoost gives no explanation: its score is not a sum of parts"):
        reranker.explain("", "d0", docs=dicts)


def test_equal_scores_keep_the_order_in_which_documents_came(rerankers, dicts):
    docs = [dicts[0] | {"id": name} for name in "cab"]
    found = rerankers("GlobalRules").rank("", docs)
    assert found.ids == ["c", "a", "b"]
    assert len(set(found.scores)) == 1


def test_a_list_of_nothing_gives_nothing(rerankers, reranker, synthetic):
    for docs in ([], (), pl.DataFrame({name: [] for name in synthetic.feature_names})):
        found = rerankers("GlobalRules, rank").rank("", docs)
        assert list(found) == []
        assert found.n_docs == 0
    assert len(reranker.rank("tent", [])) == 0
    assert len(reranker.rank("")) == 0
    assert len(reranker.rank("zzzzzz")) == 0


@pytest.mark.parametrize("top", [0, 1, 5, 10**30, None])
def test_top_cuts_the_list(rerankers, dicts, top):
    found = rerankers("GlobalRules").rank("", dicts, top)
    assert len(found) == min(len(dicts), len(dicts) if top is None else top)
    assert found.n_docs == len(dicts)


def test_an_answer_is_a_list_and_plain_values(rerankers, dicts):
    import json

    found = rerankers("GlobalRules").rank("tent", dicts, 3)
    assert [result.id for result in found] == found.ids
    assert found[:2] == (found[0], found[1])
    assert found[-1] is found[2]
    plain = found.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["query"] == "tent"
    assert plain["version"] == rerankers("GlobalRules").version
    assert plain["n_docs"] == len(dicts)
    first = plain["results"][0]
    assert list(first) == ["id", "score", "rank", "baseline_rank", "features", "reasons"]
    assert first["features"] == {name: dicts[found[0].place][name] for name in first["features"]}
    assert found[0].document == dicts[found[0].place]
    assert "reasons" not in found[0].to_dict(n_reasons=0)
    assert "features" not in found[0].to_dict(features=False)
    assert repr(found).startswith(f"Ranking({found[0].id} ")


def test_documents_without_ids_are_called_by_their_places(rerankers, dicts):
    docs = [{name: value for name, value in doc.items() if name != "id"} for doc in dicts[:3]]
    docs[1]["id"] = 0
    found = rerankers("GlobalRules").rank("", docs, top=None)
    assert {result.place: result.id for result in found} == {0: "0", 1: "0", 2: "2"}
    with pytest.raises(DataError, match="the document '0' is in docs 2 times: give each document its own id"):
        rerankers("GlobalRules").explain("", "0", docs=docs)
    assert rerankers("GlobalRules").explain("", "2", docs=docs).document == "2"


def test_a_reranker_that_was_fitted_to_a_frame_is_warmed_without_a_word(synthetic):
    import warnings

    frame = pd.DataFrame(synthetic.X, columns=synthetic.feature_names)
    reranker = rr.Reranker(rr.GlobalRules().fit(frame, synthetic.y, qid=synthetic.qid))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reranker.warm()


def test_a_ranker_that_starts_from_a_model_serves_with_the_order_of_the_list_as_baseline(tmp_path):
    synthetic = rr.datasets.make_ranking(n_queries=10, n_features=3, seed=0)
    clicks = rr.QueryIntercepts(l2=1.0, missing="mean").fit(synthetic)
    model = rr.Reranker(rr.Anchored(baseline=clicks).fit(synthetic[:50]))
    assert model.baseline is None
    model.save(tmp_path / "model.rulerank")
    docs = [dict(zip(synthetic.feature_names, row, strict=True)) for row in np.nan_to_num(synthetic.X[:5]).tolist()]
    again = rr.load(tmp_path / "model.rulerank")
    assert [one.score for one in again.rank("q", docs)] == [one.score for one in model.rank("q", docs)]


DAYS = ["2026-07-18", "2020-01-01"] * 20


@pytest.mark.parametrize(
    "read",
    [
        lambda frame: frame.lazy(),
        lambda frame: pd.DataFrame(frame.to_dict()).assign(
            added=pd.to_datetime(DAYS), price=pd.array([1, None] * 20, dtype="Int64")
        ),
    ],
    ids=["lazy", "pandas"],
)
def test_a_frame_shows_the_features_and_reasons_that_dicts_show(read):
    frame = pl.DataFrame({"brand": ["lg", ""] * 20, "added": DAYS, "price": [1, None] * 20})
    typed = frame.with_columns(pl.col("brand").cast(pl.Categorical), pl.col("added").str.to_date())
    reranker = rr.Reranker(rr.GlobalRules().fit(typed, [1, 0] * 20, qid=[1, 1, 2, 2] * 10))
    by_dicts, by_frame = (reranker.rank(docs=docs, top=None) for docs in (frame.to_dicts(), read(frame)))
    assert by_dicts[0].features == {"brand": "lg", "added": "2026-07-18", "price": 1.0}
    assert by_dicts[-1].features == {"brand": None, "added": "2020-01-01", "price": None}
    assert [one.features for one in by_frame] == [one.features for one in by_dicts]
    assert [one.reasons for one in by_frame] == [one.reasons for one in by_dicts]


@pytest.mark.parametrize("added", ["soon", "2026-13-45", 2026, 1_795_000_000, 46344, True, [18262]])
def test_what_is_not_a_date_is_refused_where_the_model_reads_dates(added):
    frame = pl.DataFrame({"added": ["2026-11-18", "2020-01-01"] * 20}).with_columns(pl.col("added").str.to_date())
    reranker = rr.Reranker(rr.GlobalRules().fit(frame, [1, 0] * 20, qid=[1, 1, 2, 2] * 10))
    wanted = "^document 1: added must be a date such as 2026-11-18, or days since 1970-01-01 as a number"
    with pytest.raises(
        DataError, match=rf"{wanted} from 3652 \(1980\) to 40176 \(2079\): got {re.escape(repr(added))}$"
    ):
        reranker.rank(docs=[{"added": None}, {"added": added}])


def test_a_time_of_day_is_shown_to_five_minutes_which_float32_can_hold():
    frame = pl.DataFrame({"added": ["2026-02-03T10:17", "2026-02-03T09:55"] * 20})
    typed = frame.with_columns(pl.col("added").str.to_datetime())
    reranker = rr.Reranker(rr.GlobalRules().fit(typed, [1, 0] * 20, qid=[1, 1, 2, 2] * 10))
    for docs in (frame[:2], frame[:2].to_dicts()):
        shown = [one.features["added"] for one in reranker.rank(docs=docs)]
        assert shown == ["2026-02-03 10:15", "2026-02-03 09:55"]
