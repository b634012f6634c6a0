"""A curve is what labelling, learning and evaluating by hand gives, in folds and in splits."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from plain.splits import gains_plainly, halves_plainly, thin_plainly
from rulerank.dataset import Dataset, Fold
from rulerank.errors import DataError
from rulerank.experiment.label_curve import curve as curves
from rulerank.experiment.label_curve.curve import label_curve
from rulerank.experiment.label_curve.result import Gains
from rulerank.experiment.label_curve.simulation import HalfSplits, choose, scores_after, thin
from rulerank.rankers.pool import PoolLearner
from rulerank.training.few_labels import compare_tops, few_label_ranker

TODAY = "bm25_body"
DATA = rr.make_ranking(n_queries=30, n_features=6, docs_per_query=14, seed=2)
FOLDS = rr.make_folds(DATA, 3)


def first_forty(pool, rng):
    return np.arange(40)


def mean_of(measure, data, scores):
    return rr.evaluate(data.y, scores, data.qid, measure).means[measure]


@pytest.fixture(scope="module")
def folded():
    return label_curve(FOLDS, ["QI"], {"first": first_forty}, sizes=[20, 30, 80], n_draws=4, today=TODAY)


@pytest.fixture(scope="module")
def split():
    return label_curve(
        DATA, ["from-today", "QI"], ["strata", "SSAR", "random"], n_splits=3, sizes=[20, 40], n_draws=2, today=TODAY
    )


def test_each_sampler_has_the_sizes_it_reaches_and_chance_also_its_stop(folded):
    sizes = {name: [(point.n_labels, point.stop_of) for point in folded.of("QI", name)] for name in folded.samplers}
    assert sizes == {
        "first": [(20, None), (30, None), (40, "first")],
        "random": [(20, None), (30, None), (40, "first"), (80, None)],
    }


def test_a_point_of_folds_is_what_training_by_hand_gives(folded):
    values, relevant = [], []
    for place, fold in enumerate(FOLDS):
        rows = choose(first_forty, fold.train, seed=0, place=place)
        relevant.append((fold.train.y[rows] > 0).mean())
        ranker = PoolLearner(few_label_ranker("QI"), fold.train).fit(rows, fold.train.y[rows])
        values.append(mean_of("MAP", fold.test, ranker.predict(fold.test)))
    last = folded.of("QI", "first")[-1]
    assert last.value == pytest.approx(np.mean(values))
    assert last.share_relevant == pytest.approx(np.mean(relevant))
    assert last.share == pytest.approx(np.mean([40 / len(fold.train) for fold in FOLDS]))
    assert (last.low, last.high, last.error) == (None, None, None)
    for point in folded.of("QI", "random"):
        assert point.low <= point.value <= point.high
        assert point.error > 0


def test_lines_are_all_labels_and_todays_ranking(folded):
    assert [line.name for line in folded.lines] == ["QI, all labels", f"today, {TODAY}"]
    by_hand = [mean_of("MAP", fold.test, fold.test.X[:, 0]) for fold in FOLDS]
    assert folded.lines[1].value == pytest.approx(np.mean(by_hand))


def test_the_same_seed_gives_the_same_curve_and_another_another():
    def values(seed):
        curve = label_curve(FOLDS, ["QI"], {}, sizes=[30], n_draws=2, seed=seed)
        return [point.value for point in curve.points]

    assert values(0) == values(0)
    assert values(0) != values(1)


def test_the_order_of_the_rows_in_the_file_does_not_matter_to_chance():
    by_grade = [replace(fold, train=fold.train[np.argsort(fold.train.y, kind="stable")]) for fold in FOLDS]
    point = label_curve(by_grade, ["QI"], {"first": first_forty}, sizes=[], n_draws=2).of("QI", "first")[0]
    assert point.share_relevant > 0.1  # the first rows of the file have grade 0


def test_labels_of_one_grade_teach_nothing_and_tie_all():
    pool = DATA[DATA.y == 0]
    scores = scores_after(PoolLearner(few_label_ranker("RE-GR"), pool), np.arange(30), DATA)
    assert scores.tolist() == [0.0] * len(DATA)


def test_by_default_the_three_ways_are_compared_at_their_stops():
    curve = label_curve(FOLDS[:1], ["QI"], sizes=[], n_draws=2)
    assert curve.samplers == ["SSAR", "SSARP", "SSAR per query", "random"]
    assert {point.stop_of for point in curve.of("QI", "random")} == {"SSAR", "SSARP", "SSAR per query"}
    header, rows = curve.table("QI")
    assert header[-1] == "at random"
    assert rows[-1][0] == "QI, all labels"


def test_one_file_of_documents_is_split_by_query_and_thinned():
    ranker = {"mine": few_label_ranker("QI")}
    curve = label_curve(rr.make_ranking(n_queries=10, n_features=4), ranker, {}, sizes=[20], n_draws=2, keep_one_in=4)
    assert (curve.n_folds, curve.rankers) == (5, ["mine"])
    assert curve.share_relevant < 0.12
    assert "means over 5 folds; one relevant document in 4 kept; at random: mean of 2 draws" in curve.note(4)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from("abcdefghij"), min_size=8, max_size=40), st.integers(0, 50))
def test_halves_are_those_of_the_plain_way(names, seed):
    names = [*names, "x", "y", "z", "w"]
    half = HalfSplits(Dataset(np.arange(len(names))[:, None], [0] * len(names), names), 2, seed=seed)[1]
    pool, test = halves_plainly(names, seed + 1)
    assert half.train.X[:, 0].tolist() == pool
    assert half.test.X[:, 0].tolist() == test


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 2), min_size=1, max_size=60), st.integers(1, 4), st.integers(0, 20))
def test_thinning_is_that_of_the_plain_way(grades, keep_one_in, seed):
    grades = [*grades, *[1] * 4]
    data = Dataset(np.arange(len(grades))[:, None], grades, ["q"] * len(grades))
    assert thin(data, keep_one_in, seed).X[:, 0].tolist() == thin_plainly(grades, keep_one_in, seed)


@given(st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=2), min_size=1, max_size=8), st.data())
def test_gains_are_those_of_the_plain_way(new, draw):
    today = draw.draw(st.lists(st.floats(0, 1), min_size=len(new), max_size=len(new)))
    found = Gains.of(value - before for values, before in zip(new, today, strict=True) for value in values)
    mean, worst, losses = gains_plainly(new, today)
    assert (found.mean, found.worst) == (pytest.approx(mean, abs=1e-12), worst)
    assert (found.n_losses, found.n) == (losses, 2 * len(new))


def test_no_query_is_both_labelled_and_tested_on_and_pools_are_thinned_one_by_one():
    for number, half in enumerate(HalfSplits(DATA, 3, keep_one_in=4, seed=5)):
        assert half.name == f"split {number + 1}"
        assert not set(half.train.qid) & set(half.test.qid)
        rows, others = halves_plainly(DATA.qid, 5 + number)
        kept = thin_plainly(DATA.y[rows], 4, 5 + number)
        assert half.train.docid.tolist() == DATA.docid[rows][kept].tolist()
        assert half.test.docid.tolist() == DATA.docid[others].tolist()


def labelled_by_strata(half, number, budget):
    """Yield the pool with the labels of the first so many rows that `Strata` asks for, by their number."""
    order = rr.Strata(today=TODAY, seed=number).select(
        half.train, lambda row, y=half.train.y: y[row], budget=max(budget)
    )
    for size in budget:
        y = np.full(len(half.train), -1)
        y[order[:size]] = half.train.y[order[:size]]
        yield size, replace(half.train, y=y)


def test_a_point_of_splits_is_what_the_road_by_hand_gives(split):
    values, base = [], []
    for number, half in enumerate(HalfSplits(DATA, 3)):
        [(_, pool)] = labelled_by_strata(half, number, [40])
        values.append(mean_of("NDCG@10", half.test, rr.select(pool, today=TODAY).ranker.predict(half.test)))
        base.append(mean_of("NDCG@10", half.test, half.test.X[:, 0]))
    mean, worst, losses = gains_plainly([[value] for value in values], base)
    point = split.of("from-today", "strata")[-1]
    assert point.n_labels == 40
    assert point.gains == Gains(pytest.approx(mean), pytest.approx(worst), losses, 3)
    assert point.value == pytest.approx(np.mean(values))
    assert split.lines[-1].value == pytest.approx(np.mean(base))


def test_a_curve_hands_over_where_the_road_does(monkeypatch):
    for module in ("experiment.label_curve.simulation", "training.few_labels"):
        monkeypatch.setattr(f"rulerank.{module}.HAND_OVER", {"QI": 60})
    monkeypatch.setattr(  # any lead will do, and which folds there are decides it
        "rulerank.training.few_labels.compare_tops",
        lambda names, *given: replace(compare_tops(names, *given), low=compare_tops(names, *given).difference, least=0),
    )
    curve = label_curve(DATA, ["from-today"], ["strata"], n_splits=4, sizes=[60, 120, 180], today=TODAY)
    n_others, values = 0, {60: [], 120: [], 180: []}
    for number, half in enumerate(HalfSplits(DATA, 4)):
        for size, pool in labelled_by_strata(half, number, [*values]):
            learned = rr.select(pool, today=TODAY)
            n_others += learned.method != "Anchored"
            values[size].append(mean_of("NDCG@10", half.test, learned.ranker.predict(half.test)))
    assert [point.value for point in curve.points] == [pytest.approx(np.mean(found)) for found in values.values()]
    assert 0 < n_others < 12


def test_every_draw_counts_and_a_sampler_ends_at_its_stop(split):
    assert {point.gains.n for point in split.of("QI", "random")} == {6}
    assert [point.stop_of for point in split.of("QI", "strata")] == [None, None]
    stops = [point.stop_of for point in split.of("QI", "SSAR")]
    assert stops == [None] * (len(stops) - 1) + ["SSAR"]


def test_the_table_has_mean_and_worst_of_every_size(split):
    header, rows = split.table("QI")
    assert header == ["QI", "20 labels", "40 labels", "at its stop"]
    assert [row[0] for row in rows] == ["strata", "SSAR", "random"]
    assert rows[0][1] == str(split.of("QI", "strata")[0].gains)
    assert rows[1][-1].endswith(str(split.of("QI", "SSAR")[-1].gains))
    assert split.note(4).startswith("today, bm25_body: NDCG@10 0.")
    assert "one relevant document in 4 kept" in split.note(4)


def test_csv_and_json_hold_every_point(folded, split):
    for curve in (folded, split):
        rows = list(csv.DictReader(io.StringIO(curve.to_csv())))
        points, lines = rows[: len(curve.points)], rows[len(curve.points) :]
        assert [float(row["value"]) for row in points] == [point.value for point in curve.points]
        assert [float(row["worst_gain"]) for row in points] == [point.gains.worst for point in curve.points]
        assert [row["sampler"] for row in lines] == [line.name for line in curve.lines]
        assert len(json.loads(curve.to_json())["points"]) == len(curve.points)


def test_ctrl_c_leaves_the_splits_that_are_done(monkeypatch):
    learn, n_asked = curves.learn, []

    def interrupted(*args):
        n_asked.append(args)
        if len(n_asked) == 3:
            raise KeyboardInterrupt
        return learn(*args)

    monkeypatch.setattr(curves, "learn", interrupted)
    curve = label_curve(DATA, ["QI"], ["strata"], n_splits=5, sizes=[20], today=TODAY)
    assert (curve.n_folds, curve.n_splits) == (2, 5)
    assert curve.points[0].gains.n == 2
    assert "in 2 splits of the 5 asked for, as it was interrupted:" in curve.note()
    n_asked[:] = [None]
    with pytest.raises(KeyboardInterrupt):  # one split has no worst among others
        label_curve(DATA, ["QI"], ["strata"], n_splits=5, sizes=[20], today=TODAY)


def test_sizes_are_those_that_the_pools_reach():
    curve = label_curve(DATA, ["Anchored"], ["strata"], n_splits=2, today=TODAY)
    assert [point.n_labels for point in curve.points] == [20, 50, 100, 200]


EMPTY = DATA[:0]
SPLITS = {"n_splits": 3, "today": TODAY}


@pytest.mark.parametrize(
    ("message", "data", "options"),
    [
        ("expected at least one fold to draw a curve from: got none", [], {}),
        ("n_draws must be a whole number from 2, as a band needs several: got 1", FOLDS, {"n_draws": 1}),
        (r"sizes must be whole numbers from 1 to \d+, the smallest pool: got 99999", FOLDS, {"sizes": [99999]}),
        ("unknown method 'best'; choose from RE-GR", FOLDS, {"rankers": ["best"]}),
        (
            "F: a curve needs graded documents to choose from, and there are none",
            [Fold("F", EMPTY, EMPTY, DATA)],
            {"samplers": {}},
        ),
        (
            "F: a curve needs graded documents to test on, and there are none",
            [Fold("F", DATA, EMPTY, EMPTY)],
            {"samplers": {}},
        ),
        ("n_splits must be a whole number from 2, for a worst one among them: got 1", DATA, SPLITS | {"n_splits": 1}),
        ("splits show gains over today's ranking: say which feature it is, such as", DATA, {"n_splits": 3}),
        ("n_splits splits graded documents: give them as one Dataset, not as folds", FOLDS, SPLITS),
        ("expected graded documents of at least 4 queries to split into halves, got 3", DATA[:42], SPLITS),
        (
            "unknown sampler 'best'; choose from strata, SSAR, SSARP, SSAR per query, random",
            DATA,
            SPLITS | {"samplers": ["best"]},
        ),
        ("strata are those of today's ranking: say which feature it is", DATA, {"samplers": ["strata"]}),
        ("from-today starts from today's ranking: say which feature it is", DATA, {"rankers": ["from-today"]}),
        ("n_draws must be a whole number from 1: got 0", DATA, SPLITS | {"n_draws": 0}),
        (
            "there is no number of labels to learn from: give sizes",
            DATA,
            SPLITS | {"sizes": [], "samplers": ["strata"]},
        ),
        ("today: there is no feature 'bm26'; the data has bm25_body", DATA, SPLITS | {"today": "bm26"}),
        ("keep_one_in must be a whole number from 1: got 0", FOLDS, {"keep_one_in": 0}),
        ("one in 900 of .* relevant documents is none: keep more, or take more data", FOLDS, {"keep_one_in": 900}),
    ],
)
def test_mistakes_are_named(message, data, options):
    with pytest.raises(DataError, match=f"^{message}"):
        label_curve(data, **{"rankers": ["QI"], "n_draws": 2, **options})
