import sys
from dataclasses import replace

import pytest

from rulerank.errors import DataError, MissingExtraError
from rulerank.experiment.figures.label_curve import draw_label_curve, label_curve_figure
from rulerank.experiment.label_curve.result import LabelCurve, Line, Point
from rulerank.experiment.label_curve.splits import Gains


def point(ranker, sampler, n_labels, value, stop_of=None):
    band = (value - 0.02, value + 0.02, 0.01) if sampler == "random" else (None, None, None)
    return Point(ranker, sampler, n_labels, n_labels / 5000, value, *band, 0.2, stop_of)


@pytest.fixture
def curve():
    points = [
        point(ranker, sampler, n_labels, 0.3 + n_labels / 2000, "SSAR" if n_labels == 120 else None)
        for ranker in ("RE-GR", "QI")
        for sampler in ("SSAR", "random", "top of bm25")
        for n_labels in (20.0, 50.0, 120.0)
    ]
    lines = (
        Line("RE-GR, all labels", "RE-GR", 0.44),
        Line("QI, all labels", "QI", 0.45),
        Line("best single feature", None, 0.4),
    )
    return LabelCurve("MAP", tuple(points), lines, ("bm25",) * 5, 5000.0, 0.3, 5, 20)


def test_there_is_a_panel_per_ranker_with_readable_axes(curve):
    figure = label_curve_figure(curve)
    assert [panel.get_title() for panel in figure.axes] == ["RE-GR", "QI"]
    assert figure.axes[0].get_ylabel() == "MAP on the test queries"
    assert figure.axes[1].get_xlabel() == "labels (of 5,000 documents)"
    assert figure.axes[0].get_xscale() == "log"
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == [
        "random, 95 % of 20 draws",
        "SSAR",
        "top of bm25",
        "all labels",
        "best single feature",
        "stops by itself",
    ]


@pytest.mark.parametrize("n_rankers", [1, 2])
def test_the_legend_fits_into_the_picture(curve, n_rankers):
    points = tuple(p for p in curve.points if p.ranker in ("QI", "RE-GR")[:n_rankers])
    named = [replace(p, sampler="top of best single feature") for p in points if p.sampler == "top of bm25"]
    others = [replace(p, sampler="SSAR per query") for p in points if p.sampler == "SSAR"]
    figure = label_curve_figure(replace(curve, points=(*points, *named, *others)))
    figure.draw_without_rendering()
    legend = figure.legends[0].get_window_extent()
    assert figure.bbox.x0 <= legend.x0
    assert legend.x1 <= figure.bbox.x1


def test_curves_band_stop_and_lines_are_drawn_where_the_points_are(curve):
    panel = label_curve_figure(curve).axes[1]
    drawn = {line.get_label(): line for line in panel.lines}
    assert drawn["SSAR"].get_xydata().tolist() == [[p.n_labels, p.value] for p in curve.of("QI", "SSAR")]
    assert drawn["all labels"].get_ydata()[0] == 0.45
    assert drawn["best single feature"].get_ydata()[0] == 0.4
    rings = [line for line in panel.lines if line.get_markersize() > 8]
    assert [ring.get_xydata().tolist() for ring in rings] == [[[120.0, curve.of("QI", "SSAR")[-1].value]]]
    low = min(p.low for p in curve.of("QI", "random"))
    assert panel.collections[0].get_paths()[0].vertices[:, 1].min() == pytest.approx(low)


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_files_are_what_their_names_say_and_the_same_every_time(curve, suffix, tmp_path):
    files = [tmp_path / f"{n}.{suffix}" for n in range(2)]
    for file in files:
        draw_label_curve(curve, file)
    assert files[0].read_bytes().startswith(b"\x89PNG" if suffix == "png" else b"<?xml")
    assert files[0].read_bytes() == files[1].read_bytes()


def test_one_ranker_and_many_samplers_can_be_drawn(curve):
    points = tuple(point("QI", f"way {n}", 50.0, 0.4) for n in range(9)) + tuple(curve.of("QI", "random"))
    figure = label_curve_figure(replace(curve, points=points))
    assert len(figure.axes) == 1


@pytest.fixture
def gains(curve):
    def with_gains(one):
        mean = one.value - 0.3
        return replace(one, gains=Gains(mean, mean - 0.3 * (one.ranker == "RE-GR"), 0, 20), low=None, high=None)

    lines = (Line("today, bm25", None, 0.4),)
    points = tuple(map(with_gains, curve.points))
    return replace(curve, points=points, lines=lines, today="bm25", n_splits=20, n_folds=20)


def test_gains_have_today_at_zero_means_as_lines_and_the_worst_as_thin_ones(gains):
    figure = label_curve_figure(gains)
    assert [panel.get_title() for panel in figure.axes] == ["RE-GR", "QI"]
    assert figure.axes[0].get_ylabel() == "MAP minus today's"
    assert figure.axes[1].get_xlabel() == "labels (of 5,000 documents)"
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == [
        "SSAR",
        "random",
        "top of bm25",
        "worst split of each",
        "today, bm25: MAP 0.400",
        "stops by itself",
    ]
    rows, panel = {}, figure.axes[1]
    for line in panel.lines:
        rows.setdefault((line.get_color(), line.get_linewidth()), line.get_xydata().tolist())
    expected = [[p.n_labels, p.gains.mean] for p in gains.of("QI", "SSAR")]
    assert rows["#0072b2", 2.0] == expected
    assert rows["#0072b2", 0.9] == expected  # in QI the worst is as good as the mean
    assert panel.lines[0].get_ydata() == [0, 0]


def test_losses_below_the_axis_are_told_in_words(gains):
    panels = label_curve_figure(gains).axes
    assert [[text.get_text() for text in panel.texts] for panel in panels] == [["worst: \N{MINUS SIGN}0.29"], []]
    assert -0.12 < panels[0].get_ylim()[0] < -0.05


def test_five_learners_are_drawn_in_two_rows(gains):
    points = tuple(replace(p, ranker=f"{p.ranker} {n}") for n in range(3) for p in gains.points)[:45]
    figure = label_curve_figure(replace(gains, points=points))
    assert sum(panel.get_visible() for panel in figure.axes) == 5
    figure.draw_without_rendering()
    legend = figure.legends[0].get_window_extent()
    assert figure.bbox.x0 <= legend.x0
    assert legend.x1 <= figure.bbox.x1


def test_mistakes_are_named(curve, tmp_path, monkeypatch):
    with pytest.raises(DataError, match=r"a figure is written as .png, .svg or .pdf: got 'curve.gif'"):
        draw_label_curve(curve, "curve.gif")
    with pytest.raises(DataError, match="its directory does not exist"):
        draw_label_curve(curve, tmp_path / "nowhere" / "curve.png")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"needs matplotlib.*pip install 'rulerank\[figures\]'"):
        label_curve_figure(curve)
