"""Frames of pandas and Polars with names, dates and gaps: one rule for from_frame, fit and predict."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.io.columns import numeric_frame

N = 300
rng = np.random.default_rng(0)
BRAND = [None if rng.random() < 0.1 else str(rng.choice(["lg", "sony", "tcl"])) for _ in range(N)]
PRICE = rng.random(N).astype(np.float32)
DAY = [datetime.date(2020, 1, 1) + datetime.timedelta(days=int(days)) for days in rng.integers(0, 2000, N)]
GRADE = [(one in ("tcl", None)) + int(day.year > 2022) for one, day in zip(BRAND, DAY, strict=True)]
QID = np.repeat(np.arange(N // 10), 10)
COLUMNS = {"brand": BRAND, "price": PRICE, "day": DAY, "sale": [True, False, None] * (N // 3)}

FRAMES = {
    "polars": pl.DataFrame(COLUMNS),
    "polars Categorical": pl.DataFrame(COLUMNS).with_columns(pl.col("brand").cast(pl.Categorical)),
    "polars Enum": pl.DataFrame(COLUMNS).with_columns(pl.col("brand").cast(pl.Enum(["tcl", "new", "lg", "sony"]))),
    "polars lazy": pl.LazyFrame(COLUMNS),
    "polars empty text": pl.DataFrame(COLUMNS).with_columns(pl.col("brand").fill_null("")),
    "polars dates as text": pl.DataFrame(COLUMNS).with_columns(pl.col("day").cast(pl.String)),
    "polars times": pl.DataFrame(COLUMNS).with_columns(pl.col("day").cast(pl.Datetime("ms"))),
    "pandas": pd.DataFrame(COLUMNS),
    "pandas category": pd.DataFrame(COLUMNS | {"brand": pd.Categorical(BRAND, ["sony", "new", "tcl", "lg"])}),
    "pandas nullable": pd.DataFrame(COLUMNS | {"sale": pd.array(COLUMNS["sale"], dtype="boolean")}),
    "pandas nullable numbers": pd.DataFrame(COLUMNS | {"sale": pd.array([1, 0, None] * (N // 3), dtype="Int64")}),
    "pandas times": pd.DataFrame(COLUMNS | {"day": pd.to_datetime(DAY)}),
    "pandas objects": pd.DataFrame(COLUMNS).astype({"brand": object}),
}


@pytest.fixture(scope="module")
def ranker():
    return rr.GlobalRules().fit(FRAMES["polars Categorical"], GRADE, qid=QID)


def test_fit_knows_names_and_dates(ranker):
    assert ranker.categories_ == {"brand": ("lg", "sony", "tcl")}
    assert ranker.dates_ == ("day",)
    assert ranker.feature_names_ == ("brand", "price", "day", "sale")
    assert ranker.score(FRAMES["polars"], GRADE, QID) > 0.9  # names as text


@pytest.mark.parametrize("kind", FRAMES)
def test_predict_matches_names_whatever_their_type_or_codes(ranker, kind):
    expected = ranker.predict(FRAMES["polars"])
    assert len({*expected.tolist()}) > 5
    assert np.array_equal(ranker.predict(FRAMES[kind]), expected)


def test_new_names_are_known_to_be_new_and_missing_ones_missing(ranker):
    frame = pl.DataFrame({"brand": ["never seen", "another", None, ""], "price": [0.5] * 4, "day": [DAY[0]] * 4,
                          "sale": [True] * 4})  # fmt: skip
    codes = numeric_frame(frame, ranker.categories_, ranker.dates_)[0]["brand"].to_list()
    assert np.array_equal(codes, [3, 3, np.nan, np.nan], equal_nan=True)
    new, other, missing, empty = ranker.predict(frame).tolist()
    assert new == other != missing == empty
    nothing = frame.with_columns(brand=pl.lit(None))
    assert ranker.predict(nothing).tolist() == [missing] * 4
    assert ranker.predict(nothing.with_columns(brand=pl.lit(float("nan")))).tolist() == [missing] * 4


KNOWS = r"the model knows 'brand' as a category \('lg', 'sony', 'tcl'\): give names, not numbers"

DATES = "the model expects dates in 'day': give a column of dates, or of texts such as 2026-11-18, null if missing"


def asked(**changed):
    return FRAMES["polars"].with_columns(**{name: pl.lit(value) for name, value in changed.items()})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda: asked(brand=2), rf"^{KNOWS}: the column holds Int32$"),
        (lambda: asked(brand=True), rf"^{KNOWS}: the column holds Boolean$"),
        (lambda: FRAMES["pandas"].assign(brand=1.0), rf"^{KNOWS}: the column holds Float64$"),
        (lambda: asked(price="cheap"), r"^the model expects numbers in 'price': the column holds String, such as 'ch"),
        (lambda: asked(price=[1.0]), r"^the model expects numbers in 'price': the column holds List\(Float64\)"),
        (lambda: asked(price=DAY[0]), r"^the model expects numbers in 'price': the column holds Date, such as '202"),
        (lambda: asked(price="2026-11-18"), r"^the model expects numbers in 'price': the column holds String, such as"),
        (lambda: asked(day=2026), rf"^{DATES}; the column holds Int32, such as '2026'$"),
        (lambda: FRAMES["pandas"].assign(day=1.8e9), rf"^{DATES}; the column holds Float64, such as '1800000000.0'"),
        (lambda: FRAMES["polars"].with_columns(day=pl.Series([None, "2026-11-18", "n/a"] * (N // 3))),
         rf"^{DATES}; the column holds String, such as 'n/a'$"),
        (lambda: np.zeros((2, 4)), rf"^{KNOWS}, in a data frame or a Dataset: got an array$"),
        (
            lambda: rr.Dataset(np.zeros((2, 4)), [0, 0], [1, 1], feature_names=("brand", "price", "day", "sale")),
            rf"^{KNOWS}: the data has numbers there; .* in a csv by the column's name, brand:category$",
        ),
    ],
)  # fmt: skip
def test_numbers_for_names_and_names_for_numbers_are_refused_by_predict(ranker, given, message):
    with pytest.raises(DataError, match=message):
        ranker.predict(given())


def test_a_data_set_with_names_where_the_model_learned_numbers_is_refused():
    numbers = rr.Dataset([[0.0], [1.0]], [0, 1], [1, 1], feature_names=("brand",))
    names = rr.Dataset([[0.0], [1.0]], [0, 1], [1, 1], feature_names=("brand",), categories={"brand": ("lg", "tcl")})
    with pytest.raises(DataError, match=r"^the model expects numbers in 'brand': the data has names there, such as"):
        rr.QueryIntercepts(l2=1.0).fit(numbers).predict(names)


@pytest.mark.parametrize(
    ("column", "dtype"), [(["12", "7"] * (N // 2), "String"), ([["a"]] * N, r"List\(String\)")], ids=["text", "lists"]
)
@pytest.mark.parametrize("kind", ["polars Categorical", "pandas category"])
def test_a_column_that_cannot_be_used_is_named_by_fit(column, dtype, kind):
    frame = FRAMES[kind]
    frame = frame.assign(x=column) if kind.startswith("pandas") else frame.with_columns(x=pl.Series(column))
    expected = rf"^column 'x' holds {dtype}, which cannot be a feature: leave it out, or convert it to numbers"
    with pytest.raises(DataError, match=expected):
        rr.GlobalRules().fit(frame, GRADE, qid=QID)


@pytest.mark.parametrize("made", [rr.GlobalRules(), rr.FittedRules()], ids=repr)
@pytest.mark.parametrize("minutes", [60, 3 * 1440, 365 * 1440])
def test_times_of_day_score_equally_in_frames_data_sets_and_dicts(made, minutes):
    after = np.random.default_rng(minutes).uniform(0, minutes * 60, 600).astype(int).tolist()
    times = [datetime.datetime(2026, 11, 18, 10) + datetime.timedelta(seconds=one) for one in after]
    frame, qid = pl.DataFrame({"time": times}), np.repeat(np.arange(60), 10)
    made.fit(frame, [int(one > minutes * 30) for one in after], qid=qid)
    scores = made.predict(frame)
    assert len({*scores.tolist()}) > 1
    for other in (frame.to_pandas(), frame.select(pl.col("time").dt.strftime("%Y-%m-%dT%H:%M:%S"))):
        assert np.array_equal(made.predict(other), scores)
    data = rr.from_frame(frame.with_columns(qid=pl.Series(qid)))
    assert np.array_equal(made.predict(data), scores)
    served = rr.Reranker(made).rank(docs=[{"time": time.isoformat()} for time in times], top=None)
    assert [one.score for one in sorted(served, key=lambda one: one.place)] == scores.tolist()
