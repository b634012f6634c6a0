"""Figures show what they are given, and are the same whenever they are drawn."""

import sys
from dataclasses import replace

import pytest

from rulerank.errors import MissingExtraError
from rulerank.experiment.figures import (
    BETTER,
    SAME,
    WORSE,
    Span,
    difference_plot,
    label_curve_figure,
    rank_curves,
)
from rulerank.experiment.label_curve.result import Gains, LabelCurve, Line, Point
from rulerank.render.figures import figure_bytes, inline_svg


def test_curves_have_a_line_per_system_and_a_panel_per_measure():
    figure = rank_curves({"P": {"a": [0.5, 0.4], "b": [0.6, 0.5]}, "NDCG": {"a": [0.1, 0.2], "b": [0.3, 0.4]}})
    left, right = figure.axes
    assert [line.get_ydata().tolist() for line in right.lines] == [[0.1, 0.2], [0.3, 0.4]]
    assert [line.get_xdata().tolist() for line in left.lines] == [[1, 2], [1, 2]]


def test_differences_are_sorted_and_coloured_by_significance():
    spans = [
        Span("worse", -0.02, -0.03, -0.01, "▼"),
        Span("same", 0.0, -0.01, 0.01, ""),
        Span("up", 0.02, 0.01, 0.03, "▲"),
    ]
    [axis] = difference_plot(spans, "base", "MAP").axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ["up", "same", "worse"]
    dots = [line for line in axis.lines if line.get_marker() == "o"]
    assert [dot.get_color() for dot in dots] == [BETTER, SAME, WORSE]
    assert axis.get_xlabel() == "MAP less that of base"


def test_a_difference_far_off_is_written_at_the_edge():
    spans = [Span(str(n), 0.001 * n, 0.0, 0.002 * n, "") for n in range(8)] + [Span("far", -0.9, -1.0, -0.8, "▼")]
    [axis] = difference_plot(spans, "base", "MAP").axes
    assert [text.get_text() for text in axis.texts] == ["-0.900"]
    assert axis.get_xlim()[0] > -0.1


def test_svg_is_the_same_text_every_time_and_keeps_its_ids_apart():
    def draw():
        return rank_curves({"P": {"a & b": [0.5, 0.4]}})

    one, again, other = inline_svg(draw(), "one"), inline_svg(draw(), "one"), inline_svg(draw(), "other")
    assert one == again
    assert one.startswith("<svg viewBox=")
    assert 'id="one-' in one
    assert 'id="one-' not in other
    assert "a &amp; b" in one
    assert "<style" not in one
    assert "<metadata" not in one


def point(ranker, sampler, n_labels, value, stop_of=None):
    band = (value - 0.02, value + 0.02, 0.01) if sampler == "random" else (None, None, None)
    return Point(ranker, sampler, n_labels, n_labels / 5000, value, *band, 0.2, stop_of)


@pytest.fixture
def curve():
    points = [
        point(ranker, sampler, n_labels, 0.3 + n_labels / 2000, "SSAR" if n_labels == 120 else None)
        for ranker in ("RE-GR", "QI")
        for sampler in ("SSAR", "random", "mine")
        for n_labels in (20.0, 50.0, 120.0)
    ]
    lines = (Line("RE-GR, all labels", "RE-GR", 0.44), Line("QI, all labels", "QI", 0.45))
    return LabelCurve("MAP", tuple(points), (*lines, Line("today, bm25", None, 0.4)), 5000.0, 0.3, 5, 20)


@pytest.fixture
def gains(curve):
    def with_gains(one):
        mean = one.value - 0.3
        return replace(one, gains=Gains(mean, mean - 0.3 * (one.ranker == "RE-GR"), 0, 20), low=None, high=None)

    points = tuple(map(with_gains, curve.points))
    return replace(curve, points=points, lines=curve.lines[-1:], today="bm25", n_splits=20, n_folds=20)


def legend_of(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_there_is_a_panel_per_ranker_with_readable_axes(curve, gains):
    for shown, quality in ((curve, "MAP on the test queries"), (gains, "MAP minus today's")):
        figure = label_curve_figure(shown)
        assert [panel.get_title() for panel in figure.axes] == ["RE-GR", "QI"]
        assert figure.axes[0].get_ylabel() == quality
        assert figure.axes[1].get_xlabel() == "labels (of 5,000 documents)"
        assert figure.axes[0].get_xscale() == "log"


def test_curves_band_stop_and_lines_are_drawn_where_the_points_are(curve):
    figure = label_curve_figure(curve)
    panel = figure.axes[1]
    drawn = {line.get_label(): line for line in panel.lines}
    assert drawn["SSAR"].get_xydata().tolist() == [[p.n_labels, p.value] for p in curve.of("QI", "SSAR")]
    assert drawn["all labels"].get_ydata()[0] == 0.45
    assert drawn["today, bm25"].get_ydata()[0] == 0.4
    rings = [line for line in panel.lines if line.get_markersize() > 8]
    assert [ring.get_xydata().tolist() for ring in rings] == [[[120.0, curve.of("QI", "SSAR")[-1].value]]]
    low = min(p.low for p in curve.of("QI", "random"))
    assert panel.collections[0].get_paths()[0].vertices[:, 1].min() == pytest.approx(low)
    names = ["SSAR", "random, 95 % of 20 draws", "mine", "all labels", "today, bm25", "stops by itself"]
    assert legend_of(figure) == names


def test_gains_have_today_at_zero_means_as_lines_and_the_worst_as_thin_ones(gains):
    figure = label_curve_figure(gains)
    names = ["SSAR", "random", "mine", "today, bm25: MAP 0.400", "worst split of each", "stops by itself"]
    assert legend_of(figure) == names
    panel = figure.axes[1]
    drawn = {(line.get_color(), line.get_linewidth()): line.get_xydata().tolist() for line in panel.lines[::-1]}
    expected = [[p.n_labels, p.gains.mean] for p in gains.of("QI", "SSAR")]
    assert drawn["#0072b2", 1.8] == expected
    assert drawn["#0072b2", 0.9] == expected  # in QI the worst is as good as the mean
    assert next(line for line in panel.lines if line.get_label().startswith("today")).get_ydata() == [0, 0]


def test_losses_below_the_axis_are_told_in_words(gains):
    panels = label_curve_figure(gains).axes
    assert [[text.get_text() for text in panel.texts] for panel in panels] == [["worst: \N{MINUS SIGN}0.29"], []]
    assert -0.12 < panels[0].get_ylim()[0] < -0.05


@pytest.mark.parametrize(("n_rankers", "n_samplers"), [(1, 5), (2, 9), (5, 3)])
def test_the_legend_fits_into_the_picture(gains, n_rankers, n_samplers):
    points = tuple(
        replace(p, ranker=f"ranker {n}", sampler=f"a way to choose {k}")
        for n in range(n_rankers)
        for k in range(n_samplers)
        for p in gains.of("QI", "SSAR")
    )
    figure = label_curve_figure(replace(gains, points=points))
    assert sum(panel.get_visible() for panel in figure.axes) == n_rankers
    figure.draw_without_rendering()
    legend = figure.legends[0].get_window_extent()
    assert figure.bbox.x0 <= legend.x0
    assert legend.x1 <= figure.bbox.x1


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_files_are_what_their_names_say_and_the_same_every_time(curve, suffix, start):
    first, second = (figure_bytes(label_curve_figure(curve), suffix) for _ in range(2))
    assert first.startswith(start)
    assert first == second


def test_what_to_install_is_told(curve, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"needs matplotlib.*pip install 'rulerank\[figures\]'"):
        label_curve_figure(curve)
