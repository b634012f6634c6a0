"""A curve is what labelling, learning and evaluating by hand gives, in many splits."""

import csv
import io
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from plain.splits import gains_plainly, halves_plainly
from rulerank.dataset import Dataset
from rulerank.errors import DataError, MissingExtraError
from rulerank.experiment import curve as curves
from rulerank.experiment.curve import (
    LabelCurve,
    Point,
    choose,
    label_curve,
    label_curve_figure,
    scores_after,
    split_halves,
)
from rulerank.rankers.pool import PoolLearner
from rulerank.render.figures import figure_bytes
from rulerank.selection.few_labels import few_label_ranker

BASELINE = "bm25_body"
DATA = rr.datasets.make_ranking(n_queries=30, n_features=6, docs_per_query=14, seed=2)


def first_forty(pool, rng):
    return np.arange(40)


def ndcg(data, scores):
    return rr.evaluate(data.y, scores, data.qid, "NDCG@10").means["NDCG@10"]


@pytest.fixture(scope="module")
def curve():
    ways = {"strata": rr.StratifiedSampler(), "SSAR": rr.SSAR(), "first": first_forty}
    rankers = {"from-baseline": None, "QI": few_label_ranker("QI")}
    return label_curve(DATA, rankers, ways, n_splits=3, sizes=[40, 20, 60], baseline=BASELINE)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from("abcdefghij"), min_size=8, max_size=40), st.integers(0, 50))
def test_halves_are_those_of_the_plain_way(names, seed):
    names = [*names, "x", "y", "z", "w"]
    halves = split_halves(Dataset(np.arange(len(names))[:, None], [0] * len(names), names), seed)
    assert [half.X[:, 0].tolist() for half in halves] == [*halves_plainly(names, seed)]


def labelled(pool, rows):
    y = np.full(len(pool), -1)
    y[rows] = pool.y[rows]
    return replace(pool, y=y)


@pytest.mark.parametrize(("ranker", "sampler"), [("from-baseline", "strata"), ("QI", "first")])
def test_a_point_is_what_labelling_and_learning_by_hand_gives(curve, ranker, sampler):
    values, base = [], []
    for number in range(3):
        pool, test = split_halves(DATA, number)
        if sampler == "strata":
            rows = rr.StratifiedSampler(baseline=BASELINE, seed=number).select(
                pool, lambda row, y=pool.y: y[row], budget=40
            )
            learned = rr.select(labelled(pool, rows), baseline=BASELINE).ranker
        else:
            rows = np.random.default_rng([0, number]).permutation(len(pool))[:40]
            learned = PoolLearner(few_label_ranker("QI"), pool).fit(rows, pool.y[rows])
        values.append([ndcg(test, learned.predict(test))])
        base.append(ndcg(test, test.X[:, 0]))
    mean, worst, n_losses = gains_plainly(values, base)
    point = curve.of(ranker, sampler)[1]
    assert (point.n_labels, point.n_asked) == (40, 40)
    assert (point.gain, point.worst) == (pytest.approx(mean), pytest.approx(worst))
    assert (point.n_losses, point.value) == (n_losses, pytest.approx(np.mean(values)))
    assert (curve.baseline, curve.baseline_value) == (BASELINE, pytest.approx(np.mean(base)))


def test_a_sampler_that_stops_by_itself_is_shown_where_it_stopped(curve):
    assert [(point.n_labels, point.n_asked) for point in curve.of("QI", "first")] == [(20, 20), (40, 40), (60, 40)]
    last = curve.of("QI", "first")[-1]
    assert str(last).endswith(" at 40")
    assert last.gain == curve.of("QI", "first")[1].gain


def test_the_table_and_the_csv_have_every_point(curve):
    header, rows = curve.table()
    assert header == ["ranker", "sampler", "20 labels", "40 labels", "60 labels"]
    assert [row[:2] for row in rows[:3]] == [
        ["from-baseline", "strata"],
        ["from-baseline", "SSAR"],
        ["from-baseline", "first"],
    ]
    assert rows[3][2:] == [str(point) for point in curve.of("QI", "strata")]
    assert "baseline bm25_body: NDCG@10 0." in curve.note
    assert "gain over the baseline in 3 splits:\nmean/worst" in curve.note
    points = list(csv.DictReader(io.StringIO(curve.to_csv())))
    assert [float(row["worst"]) for row in points] == [point.worst for point in curve.points]
    assert len(curve.to_dict()["points"]) == len(curve.points)
    assert "<table" in curve._repr_html_()


def test_the_same_seed_gives_the_same_curve_and_another_another():
    def gains(seed):
        found = label_curve(DATA, ["qi"], ["Random"], sizes=[30], n_splits=2, baseline=BASELINE, seed=seed)
        assert (found.rankers, found.samplers) == (["QI"], ["random"])
        return [point.gain for point in found.points]

    assert gains(0) == gains(0)
    assert gains(0) != gains(1)


def test_the_order_of_the_rows_in_the_file_does_not_matter():
    by_grade = DATA[np.argsort(DATA.y, kind="stable")]
    assert (by_grade.y[choose(first_forty, by_grade, 0, 0, BASELINE)] > 0).any()  # the first rows have grade 0


def test_labels_of_one_grade_teach_nothing_and_tie_all():
    pool = DATA[DATA.y == 0]
    scores = scores_after(PoolLearner(few_label_ranker("RE-GR"), pool), pool, np.arange(30), DATA)
    assert scores.tolist() == [0.0] * len(DATA)


def test_ctrl_c_leaves_the_splits_that_are_done(monkeypatch):
    n_asked = []

    def interrupted(*args):
        n_asked.append(args)
        if len(n_asked) == 3:
            raise KeyboardInterrupt
        return choose(*args)

    monkeypatch.setattr(curves, "choose", interrupted)
    curve = label_curve(DATA, ["QI"], ["strata"], n_splits=5, sizes=[20], baseline=BASELINE)
    assert (curve.n_done, curve.n_splits) == (2, 5)
    assert "in 2 splits of 5, then interrupted:" in curve.note
    n_asked[:] = [None]
    with pytest.raises(KeyboardInterrupt):  # one split has no worst among others
        label_curve(DATA, ["QI"], ["strata"], n_splits=5, sizes=[20], baseline=BASELINE)


def test_sizes_are_those_that_the_pools_reach():
    curve = label_curve(DATA, ["Anchored"], ["strata"], n_splits=2, baseline=BASELINE)
    assert [point.n_labels for point in curve.points] == [20, 50, 100, 200]


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("n_splits must be an integer of at least 2: got 1", {"n_splits": 1}),
        (r"sizes must be integers from 1 to \d+, the smallest pool: got 99999", {"sizes": [99999]}),
        ("there is no number of labels to learn from: give sizes", {"sizes": []}),
        ("unknown method 'best'; choose from RE-GR", {"rankers": ["best"]}),
        ("unknown sampler 'best'; choose from strata, SSAR, SSARP, SSAR per query, random", {"samplers": ["best"]}),
        ("expected graded documents of at least 4 queries to split into halves, got 3", {"data": DATA[:42]}),
        ("baseline ranking: there is no feature 'bm26'; the data has bm25_body", {"baseline": "bm26"}),
    ],
)
def test_mistakes_are_named(message, options):
    with pytest.raises(DataError, match=f"^{message}"):
        label_curve(**{"data": DATA, "rankers": ["QI"], "baseline": BASELINE, "n_splits": 2} | options)


def made(n_rankers, n_samplers):
    points = [
        Point(f"ranker {n}", f"way {k}", size, float(size), 0.3, 0.001 * size, 0.001 * size - 0.3 * (n == 0), 0)
        for n in range(n_rankers)
        for k in range(n_samplers)
        for size in (20, 50, 120)
    ]
    return LabelCurve("MAP", "bm25", 0.4, tuple(points), 5000.0, 20, 20)


def test_the_figure_has_the_baseline_at_zero_means_as_lines_and_the_worst_as_thin_ones():
    figure = label_curve_figure(made(2, 1))
    assert [panel.get_title() for panel in figure.axes] == ["ranker 0", "ranker 1"]
    worst, mean, zero = figure.axes[1].lines
    assert mean.get_xydata().tolist() == worst.get_xydata().tolist() == [[20, 0.02], [50, 0.05], [120, 0.12]]
    assert zero.get_ydata() == [0, 0]
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["way 0", "baseline bm25: MAP 0.400", "worst split of each"]
    told = [[text.get_text() for text in panel.texts] for panel in figure.axes]
    assert told == [["worst: \N{MINUS SIGN}0.28"], []], "losses below the axis are told in words"


@pytest.mark.parametrize(("n_rankers", "n_samplers"), [(1, 5), (5, 3)])
def test_the_legend_fits_into_the_picture(n_rankers, n_samplers):
    figure = label_curve_figure(made(n_rankers, n_samplers))
    assert sum(panel.get_visible() for panel in figure.axes) == n_rankers
    figure.draw_without_rendering()
    legend = figure.legends[0].get_window_extent()
    assert figure.bbox.x0 <= legend.x0
    assert legend.x1 <= figure.bbox.x1


def test_a_file_is_the_same_every_time_and_what_to_install_is_told(monkeypatch):
    first, second = (figure_bytes(label_curve_figure(made(1, 1)), ".svg") for _ in range(2))
    assert first == second
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"needs matplotlib.*pip install 'rulerank\[figures\]'"):
        label_curve_figure(made(1, 1))
