import csv
import io
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from plain.splits import gains_plainly, halves_plainly, thin_plainly
from rulerank.errors import DataError
from rulerank.experiment.label_curve import stages
from rulerank.experiment.label_curve.curve import label_curve
from rulerank.experiment.label_curve.result import LabelCurve
from rulerank.experiment.label_curve.simulation import thin
from rulerank.experiment.label_curve.splits import Gains, HalfSplits
from rulerank.training.from_today import learn_from_today
from rulerank.worlds import make_world

TODAY = "bm25_body"


@pytest.fixture(scope="module")
def data():
    return make_world(n_queries=30, n_features=6, docs_per_query=14, seed=2)


@pytest.fixture(scope="module")
def curve(data):
    return label_curve(
        data, ["from-today", "QI"], ["strata", "SSAR", "random"], n_splits=3, sizes=[20, 40], n_draws=2, today=TODAY
    )


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from("abcdefghij"), min_size=8, max_size=40), st.integers(0, 50))
def test_halves_are_those_of_the_plain_way(names, seed):
    names = [*names, "x", "y", "z", "w"]
    split = HalfSplits(rr.Dataset(np.arange(len(names))[:, None], [0] * len(names), names), 2, seed=seed)[1]
    pool, test = halves_plainly(names, seed + 1)
    assert split.train.X[:, 0].tolist() == pool
    assert split.test.X[:, 0].tolist() == test


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 2), min_size=1, max_size=60), st.integers(1, 4), st.integers(0, 20))
def test_thinning_is_that_of_the_plain_way(grades, keep_one_in, seed):
    grades = [*grades, *[1] * 4]
    data = rr.Dataset(np.arange(len(grades))[:, None], grades, ["q"] * len(grades))
    assert thin(data, keep_one_in, seed).X[:, 0].tolist() == thin_plainly(grades, keep_one_in, seed)


@given(st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=2), min_size=1, max_size=8), st.data())
def test_gains_are_those_of_the_plain_way(new, draw):
    today = draw.draw(st.lists(st.floats(0, 1), min_size=len(new), max_size=len(new)))
    found = Gains.of(value - before for values, before in zip(new, today, strict=True) for value in values)
    mean, worst, losses = gains_plainly(new, today)
    assert (found.mean, found.worst) == (pytest.approx(mean, abs=1e-12), worst)
    assert (found.n_losses, found.n) == (losses, 2 * len(new))


def test_no_query_is_both_labelled_and_tested_on_and_pools_are_thinned_one_by_one(data):
    splits = HalfSplits(data, 3, keep_one_in=4, seed=5)
    for number, split in enumerate(splits):
        assert not set(split.train.qid) & set(split.test.qid)
        assert set(split.train.qid) | set(split.test.qid) <= set(data.qid)
        rows = halves_plainly(data.qid, 5 + number)[0]
        kept = thin_plainly(data.y[rows], 4, 5 + number)
        assert split.train.docid.tolist() == data.docid[rows][kept].tolist()
        assert (split.test.y > 0).sum() == (data.y[halves_plainly(data.qid, 5 + number)[1]] > 0).sum()
    assert [split.name for split in splits[1:]] == ["split 2", "split 3"]
    assert splits[-1].train.docid.tolist() == splits[2].train.docid.tolist()


def test_a_point_is_what_the_road_by_hand_gives(curve, data):
    values, base = [], []
    for number, split in enumerate(HalfSplits(data, 3)):
        rows = rr.Strata(today=TODAY, seed=number).select(split.train, lambda row, y=split.train.y: y[row], budget=40)
        y = np.full(len(split.train), -1)
        y[rows] = split.train.y[rows]
        ranker = learn_from_today(replace(split.train, y=y), TODAY).ranker
        for scores, found in ((ranker.predict(split.test), values), (split.test.X[:, 0], base)):
            found.append(rr.evaluate(split.test.y, scores, split.test.qid, "NDCG@10").means["NDCG@10"])
    mean, worst, losses = gains_plainly([[value] for value in values], base)
    point = curve.of("from-today", "strata")[-1]
    assert point.n_labels == 40
    assert point.gains == Gains(pytest.approx(mean), pytest.approx(worst), losses, 3)
    assert point.value == pytest.approx(np.mean(values))
    assert curve.lines[-1].value == pytest.approx(np.mean(base))


def test_a_curve_hands_over_where_the_road_does(data, monkeypatch):
    for module in ("experiment.label_curve.learners", "training.from_today"):
        monkeypatch.setattr(f"rulerank.{module}.HAND_OVER", {"QI": 60})
    monkeypatch.setattr(  # any lead will do, and which folds there are decides it
        "rulerank.training.from_today.compare_tops",
        lambda new, old, grades, queries: SimpleNamespace(
            low=rr.evaluate(grades, new, queries).values[1].sum() - rr.evaluate(grades, old, queries).values[1].sum()
        ),
    )
    curve = label_curve(data, ["from-today"], ["strata"], n_splits=4, sizes=[60, 120, 180], today=TODAY)
    n_others, values = 0, {60: [], 120: [], 180: []}
    for number, split in enumerate(HalfSplits(data, 4)):
        order = rr.Strata(today=TODAY, seed=number).select(split.train, lambda row, y=split.train.y: y[row], budget=180)
        for size, found in values.items():
            y = np.full(len(split.train), -1)
            y[order[:size]] = split.train.y[order[:size]]
            learned = learn_from_today(replace(split.train, y=y), TODAY)
            n_others += learned.method != "Anchored"
            scores = learned.ranker.predict(split.test)
            found.append(rr.evaluate(split.test.y, scores, split.test.qid, "NDCG@10").means["NDCG@10"])
    assert [point.value for point in curve.points] == [pytest.approx(np.mean(found)) for found in values.values()]
    assert 0 < n_others < 12
    assert n_others == sum(int(point.took_over.split()[2]) for point in curve.points if point.took_over)


def test_every_draw_counts_and_a_sampler_ends_at_its_stop(curve):
    assert {point.gains.n for point in curve.of("QI", "random")} == {6}
    assert [point.stop_of for point in curve.of("QI", "strata")] == [None, None]
    stops = [point.stop_of for point in curve.of("QI", "SSAR")]
    assert stops[-1] == "SSAR"
    assert stops[:-1] == [None] * (len(stops) - 1)


def test_the_table_has_mean_and_worst_of_every_size(curve):
    header, rows = curve.table("QI")
    assert header == ["QI", "20 labels", "40 labels", "at its stop"]
    assert [row[0] for row in rows] == ["strata", "SSAR", "random"]
    assert rows[0][1] == str(curve.of("QI", "strata")[0].gains)
    assert rows[1][-1].endswith(str(curve.of("QI", "SSAR")[-1].gains))
    assert curve.note(4).startswith("today, bm25_body: NDCG@10 0.")
    assert "one relevant document in 4 kept" in curve.note(4)


def test_csv_and_json_hold_the_gains(curve):
    rows = list(csv.DictReader(io.StringIO(curve.to_csv())))
    assert [float(row["worst_gain"]) for row in rows[:-1]] == [point.gains.worst for point in curve.points]
    assert {row["n_runs"] for row in rows[:-1]} == {"3", "6"}
    assert rows[-1]["sampler"] == "today, bm25_body"
    assert LabelCurve.from_json(curve.to_json()) == curve
    assert json.loads(curve.to_json())["today"] == TODAY


def test_what_takes_over_is_said(data, monkeypatch):
    monkeypatch.setattr("rulerank.experiment.label_curve.learners.HAND_OVER", {"QI": 30})
    monkeypatch.setattr("rulerank.training.from_today.HAND_OVER", {"QI": 30})
    monkeypatch.setattr(
        "rulerank.training.from_today.compare_tops",
        lambda *given: SimpleNamespace(low=0.1),
    )
    curve = label_curve(data, ["from-today"], ["strata"], n_splits=2, sizes=[20, 40], today=TODAY)
    assert [point.took_over for point in curve.points] == [None, "QueryIntercepts in 2 of 2"]
    assert curve.verdict("from-today") == "took over: strata, 40 labels: QueryIntercepts in 2 of 2"


def test_ctrl_c_leaves_the_splits_that_are_done(data, monkeypatch):
    learn, n_asked = stages._learn, []

    def interrupted(*args):
        n_asked.append(args)
        if len(n_asked) == 3:
            raise KeyboardInterrupt
        return learn(*args)

    monkeypatch.setattr(stages, "_learn", interrupted)
    curve = label_curve(data, ["QI"], ["strata"], n_splits=5, sizes=[20], today=TODAY)
    assert (curve.n_folds, curve.n_splits) == (2, 5)
    assert curve.points[0].gains.n == 2
    assert "in 2 splits of the 5 asked for, as it was interrupted:" in curve.note()
    n_asked[:] = [None]
    with pytest.raises(KeyboardInterrupt):  # one split has no worst among others
        label_curve(data, ["QI"], ["strata"], n_splits=5, sizes=[20], today=TODAY)


def test_sizes_are_those_that_the_pools_reach(data):
    curve = label_curve(data, ["Anchored"], ["strata"], n_splits=2, today=TODAY)
    assert [point.n_labels for point in curve.points] == [20, 50, 100, 200]


def test_mistakes_are_named(data):
    for message, options in {
        "n_splits must be a whole number from 2, for a worst one among them: got 1": {"n_splits": 1, "today": TODAY},
        "splits show gains over today's ranking: say which feature it is, such as today='bm25'": {"n_splits": 3},
        "keep_one_in thins the pools of splits: say n_splits, or thin folds by thin_folds": {"keep_one_in": 3},
        "unknown sampler 'best'; choose from strata, SSAR, SSARP, SSAR per query, random": {
            "samplers": ["best"],
            "today": TODAY,
        },
        "strata are those of today's ranking: say which feature it is": {"samplers": ["strata"]},
        "from-today starts from today's ranking: say which feature it is": {"rankers": ["from-today"]},
        "n_draws must be a whole number from 1: got 0": {"n_draws": 0, "n_splits": 3, "today": TODAY},
        "there is no number of labels to learn from: give sizes": {
            "sizes": [],
            "samplers": ["strata"],
            "n_splits": 3,
            "today": TODAY,
        },
        "today: there is no feature 'bm26'; the data has bm25_body": {"n_splits": 3, "today": "bm26"},
    }.items():
        with pytest.raises(DataError, match=f"^{message}"):
            label_curve(data, **options)
    with pytest.raises(DataError, match="n_splits splits graded documents: give them as one Dataset, not as folds"):
        label_curve(rr.make_folds(data), n_splits=3, today=TODAY)
    with pytest.raises(DataError, match="expected graded documents of at least 4 queries to split into halves, got 3"):
        label_curve(make_world(n_queries=3), n_splits=3, today=TODAY)
