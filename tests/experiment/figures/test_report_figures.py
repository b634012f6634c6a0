"""The report's own figures show what they are given."""

from rulerank.experiment.figures.comparison import BETTER, SAME, WORSE, Span, difference_plot, rank_curves
from rulerank.render.figures import inline_svg


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
