import csv
import io
import json

import numpy as np
import pytest

import rulerank as rr
from rulerank.dataset import Dataset, Fold
from rulerank.errors import DataError
from rulerank.evaluation.single_feature import feature_scores
from rulerank.experiment.label_curve.curve import label_curve
from rulerank.experiment.label_curve.simulation import Simulation, by_rules, random_order, shuffled, top_of
from rulerank.training.few_labels import few_label_ranker
from rulerank.training.in_pool import PoolLearner
from rulerank.worlds import make_folds, make_world


@pytest.fixture(scope="module")
def folds():
    return make_folds(make_world(n_queries=30, n_features=6, docs_per_query=12, seed=2), 3)


def first_forty(pool, rng):
    return np.arange(40)


@pytest.fixture(scope="module")
def curve(folds):
    return label_curve(folds, ["QI"], {"first": first_forty}, sizes=[20, 30, 80], n_draws=4, feature="pagerank")


def test_each_sampler_has_the_sizes_it_reaches_and_the_others_also_its_stop(curve):
    sizes = {name: [(point.n_labels, point.stop_of) for point in curve.of("QI", name)] for name in curve.samplers}
    assert sizes == {
        "first": [(20, None), (30, None), (40, "first")],
        "random": [(20, None), (30, None), (40, "first"), (80, None)],
        "top of pagerank": [(20, None), (30, None), (40, "first"), (80, None)],
    }


def test_a_point_is_what_training_by_hand_gives(curve, folds):
    values, relevant = [], []
    for place, fold in enumerate(folds):
        pool = shuffled(fold, [0, place])
        relevant.append((pool.y[:40] > 0).mean())
        ranker = PoolLearner(few_label_ranker("QI"), pool).fit(np.arange(40), pool.y[:40])
        values.append(rr.evaluate(fold.test.y, ranker.predict(fold.test), fold.test.qid, "MAP").means["MAP"])
    last = curve.of("QI", "first")[-1]
    assert last.value == pytest.approx(np.mean(values))
    assert last.share_relevant == pytest.approx(np.mean(relevant))
    assert last.share == pytest.approx(np.mean([40 / len(fold.train) for fold in folds]))
    assert (last.low, last.high, last.error) == (None, None, None)


def test_the_band_holds_the_mean_of_the_draws(curve):
    for point in curve.of("QI", "random"):
        assert point.low <= point.value <= point.high
        assert point.error > 0


def test_lines_are_all_labels_and_the_feature(curve, folds):
    assert [line.name for line in curve.lines] == ["QI, all labels", "by pagerank"]
    by_hand = [
        rr.evaluate(fold.test.y, feature_scores(fold.test, "pagerank"), fold.test.qid, "MAP").means["MAP"]
        for fold in folds
    ]
    assert curve.lines[1].value == pytest.approx(np.mean(by_hand))
    assert curve.features == ("pagerank",) * 3


def test_csv_and_json_hold_every_point(curve):
    rows = list(csv.DictReader(io.StringIO(curve.to_csv())))
    assert len(rows) == len(curve.points) + len(curve.lines)
    assert [float(row["value"]) for row in rows[:-2]] == [point.value for point in curve.points]
    assert rows[-1]["sampler"] == "by pagerank"
    assert len(json.loads(curve.to_json())["points"]) == len(curve.points)


def test_the_same_seed_gives_the_same_curve_and_another_another(folds):
    def values(seed):
        curve = label_curve(folds, ["QI"], {}, sizes=[30], n_draws=2, feature="pagerank", seed=seed)
        return [point.value for point in curve.points]

    assert values(0) == values(0)
    assert values(0) != values(1)


def test_the_order_of_the_rows_in_the_file_does_not_matter_to_chance(folds):
    by_grade = [
        Fold(fold.name, fold.train[np.argsort(fold.train.y, kind="stable")], fold.vali, fold.test) for fold in folds
    ]
    point = label_curve(by_grade, ["QI"], {"first": first_forty}, sizes=[], n_draws=2).of("QI", "first")[0]
    assert point.share_relevant > 0.1  # the first rows of the file have grade 0


def test_labels_of_one_grade_teach_nothing_and_count_as_chance(folds):
    fold = folds[0]
    nothing = Fold("Fold1", fold.train[fold.train.y == 0], fold.vali, fold.test)
    simulation = Simulation("Fold1", nothing.train, fold.test, {}, "MAP")
    expected = rr.evaluate(fold.test.y, np.zeros(len(fold.test)), fold.test.qid, "MAP").means["MAP"]
    assert simulation.learn(PoolLearner(few_label_ranker("RE-GR"), nothing.train), np.arange(30)) == expected


def test_ssar_orders_are_those_of_ssar(folds):
    pool = folds[0].train
    rows = by_rules(max_size=1, per_query=True)(pool, np.random.default_rng(0))
    expected = rr.SSAR(max_size=1, per_query=True).select(pool, lambda row: pool.y[row])
    assert np.array_equal(rows, expected)
    assert len(rows) < len(pool)


def test_by_default_the_three_ways_are_compared_at_their_stops(folds):
    curve = label_curve(folds[:1], ["QI"], sizes=[], n_draws=2)
    assert curve.samplers == ["SSAR", "SSARP", "SSAR per query", "random", "top of best single feature"]
    assert {point.stop_of for point in curve.of("QI", "random")} == {"SSAR", "SSARP", "SSAR per query"}
    header, rows = curve.table("QI")
    assert header[-1] == "at random"
    assert [row[0] for row in rows[-2:]] == ["QI, all labels", "best single feature"]


def test_one_file_of_documents_is_split_by_query():
    curve = label_curve(
        make_world(n_queries=10, n_features=4), {"mine": few_label_ranker("QI")}, {}, sizes=[20], n_draws=2
    )
    assert curve.n_folds == 5
    assert curve.rankers == ["mine"]


def test_the_top_of_a_feature_has_missing_values_last():
    pool = Dataset([[1.0], [np.nan], [3.0]], [0, 0, 1], ["q"] * 3, feature_names=["age"])
    rng = np.random.default_rng(0)
    assert top_of("age")(pool, rng).tolist() == [2, 0, 1]
    assert top_of("-age")(pool, rng).tolist() == [0, 2, 1]
    assert sorted(random_order(pool, rng).tolist()) == [0, 1, 2]


def test_mistakes_are_named(folds):
    with pytest.raises(DataError, match="expected at least one fold to draw a curve from: got none"):
        label_curve([])
    with pytest.raises(DataError, match="n_draws must be a whole number from 2, as a band needs several: got 1"):
        label_curve(folds, n_draws=1)
    with pytest.raises(DataError, match=r"sizes must be whole numbers from 1 to \d+, the smallest pool: got 99999"):
        label_curve(folds, ["QI"], {}, sizes=[99999], n_draws=2)
    with pytest.raises(DataError, match="there is no feature 'bm25'; the data has bm25_body, "):
        label_curve(folds, ["QI"], {}, feature="bm25", n_draws=2)
    with pytest.raises(DataError, match="unknown method 'best'; choose from RE-GR"):
        label_curve(folds, ["best"])
    empty = folds[0].train[:0]
    with pytest.raises(DataError, match="Fold1: a curve needs graded documents to choose from, and there are none"):
        label_curve([Fold("Fold1", empty, empty, folds[0].test)])
    with pytest.raises(DataError, match="Fold1: a curve needs graded documents to test on, and there are none"):
        label_curve([Fold("Fold1", folds[0].train, empty, empty)], samplers={})
