"""What each feature adds, by value: the tables' own votes, centred; whole counts; the same picture every time."""

import json
import math
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from rulerank.errors import DataError
from rulerank.explain.curves import WIDE, count_values
from rulerank.explain.figures import about_curves, curves_figure, drawn_kinds
from rulerank.render.figures import inline_svg

KINDS = ("Drama", "War", "Noir", "Comedy", "Western", "Short", "Music", "Sport", "News", "a$b")


@pytest.fixture(scope="module")
def data():
    """A synthetic set with missing values, and a feature that names kinds."""
    synthetic = rr.datasets.make_ranking(n_queries=40, docs_per_query=20, n_features=6, seed=1)
    rng = np.random.default_rng(0)
    X = synthetic.X.copy()
    X[rng.random(len(X)) < 0.2, 1] = math.nan
    genre = np.minimum(rng.integers(0, 10, len(X)), np.where(synthetic.y > 0, 3, 9)).astype(X.dtype)
    names = (*synthetic.feature_names, "genre")
    return rr.Dataset(
        np.column_stack([X, genre]), synthetic.y, synthetic.qid, synthetic.docid, names, categories={"genre": KINDS}
    )


@pytest.fixture(scope="module")
def numbers(data):
    """The same without kinds, which linear rankers do not take."""
    return rr.Dataset(data.X[:, :6], data.y, data.qid, data.docid, data.feature_names[:6])


@pytest.fixture(scope="module")
def fitted(data):
    return rr.FittedRules().fit(data)


@pytest.fixture(scope="module")
def curves(fitted, data):
    return fitted.curves(data)


@pytest.mark.parametrize(
    "ranker",
    [
        rr.FittedRules(max_pairs=0),
        rr.GlobalRules(max_size=1),
        rr.QueryIntercepts(missing="mean"),
        rr.Anchored(baseline="bm25_body"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_without_pairs_the_curves_add_up_to_the_scores(ranker, numbers):
    scores = ranker.fit(numbers).predict(numbers)
    X = ranker.check_rows(numbers, None)
    found = ranker.curves(numbers, most=99)
    adds = sum(curve.adds(X[:, numbers.feature_names.index(curve.feature)]) for curve in found.curves)
    np.testing.assert_allclose(adds, scores - scores.mean(), atol=1e-9 * max(1.0, np.abs(scores).max()))
    for curve in found.curves:
        own = curve.adds(X[:, numbers.feature_names.index(curve.feature)])
        assert own.mean() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("max_size", [2, 3])
def test_rules_of_several_features_are_in_as_their_mean_over_the_documents(data, max_size):
    ranker = rr.GlobalRules(max_size=max_size, drop_weakest=0).fit(data)
    tables, X = ranker.additive(), ranker.check_rows(data, None).astype(np.float64)
    found = ranker.curves(data)
    assert found.how == WIDE
    for curve in found.curves:
        feature = data.feature_names.index(curve.feature)
        values = np.array([-1e9, *curve.cuts[:3], math.nan]) if curve.kinds is None else np.array([0.0, 5.0])
        plain = []
        for value in values.tolist():
            changed = X.copy()
            changed[:, feature] = value
            plain.append(tables.score(changed).mean())
        adds = curve.adds(values)
        np.testing.assert_allclose(adds - adds[0], np.array(plain) - plain[0], atol=1e-12)


def test_lines_have_the_standard_errors_of_their_weights(numbers):
    ranker = rr.QueryIntercepts(missing="mean").fit(numbers)
    X = ranker.check_rows(numbers, None)
    for curve in ranker.curves(numbers).curves:
        feature = numbers.feature_names.index(curve.feature)
        ends = np.array([0.0, 1.0])
        assert np.diff(curve.adds(ends))[0] == pytest.approx(ranker.coef_[feature])
        away = np.abs(ends - np.nanmean(X[:, feature].astype(np.float64)))
        np.testing.assert_allclose(curve.unsure(ends), ranker.standard_errors_[feature] * away)
        assert curve.adds(np.array([math.nan])) == pytest.approx(curve.adds(ranker.fill_[[feature]]))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.floats(-1e6, 1e6), st.just(0.0), st.just(math.nan)), min_size=1, max_size=200))
def test_bars_count_every_value_once(values):
    found = count_values(np.array(values), None)
    known = [value for value in values if not math.isnan(value)]
    assert found.n_docs == len(values)
    assert np.all(np.diff(found.edges) > 0)
    edges = found.edges.tolist()
    inner = [sum(low <= value < high for value in known) for low, high in pairwise(edges[1:-1])]
    assert found.counts[1:-1].tolist() == inner


def test_the_most_important_feature_comes_first(fitted, data, curves):
    order = np.argsort(-fitted.importances(data), kind="stable")
    assert [curve.feature for curve in curves.curves] == [data.feature_names[f] for f in order[: len(curves.curves)]]
    overview = fitted.overview(data)
    drawn = [curve.feature for curve in overview.curves.curves]
    assert drawn == [one.feature for one in overview.features[: len(drawn)]]


def test_every_feature_has_a_panel_on_one_scale_with_its_counts_below(curves, data):
    figure = curves_figure(curves)
    uppers = [axis for axis in figure.axes if axis.get_title()]
    lowers = [axis for axis in figure.axes if not axis.get_title()]
    assert [axis.get_title().replace(r"\$", "$") for axis in uppers] == [
        f"{c.feature} (8 of 10 categories)" if c.kinds else c.feature for c in curves.curves
    ]
    assert len({axis.get_ylim() for axis in uppers}) == 1
    for curve, upper, lower in zip(curves.curves, uppers, lowers, strict=True):
        assert upper.get_xlim() == lower.get_xlim()
        heights = [round(bar.get_height()) for bar in lower.patches]
        if curve.kinds is None:
            assert sum(heights) == len(data)
            assert ("missing" in [text.get_text() for text in lower.get_xticklabels()]) is (curve.counts.missing > 0)
        else:
            kinds = drawn_kinds(curve)
            assert heights == curve.counts.counts[kinds].tolist()
            assert [bar.get_height() for bar in upper.patches] == curve.adds(kinds).tolist()


def test_pages_and_notebooks_show_the_curves_and_say_what_they_are(fitted, data, curves):
    overview = fitted.overview(data)
    few = fitted.curves(data, most=5)
    for text in (overview.to_html(), few._repr_html_()):
        assert text.count("<svg") >= 5
        assert f"Centred: the mean over {len(data)} documents is 0." in text
        assert "whose value is missing" in text
    assert "Band: two standard deviations" in about_curves(curves)
    assert "bm25_body" in str(curves)
    assert "<svg" not in str(curves)
    told = json.loads(overview.to_json())["curves"][0]
    assert told["feature"] == overview.curves.curves[0].feature
    assert sum(told["counts"]) + told["n_missing"] == len(data)


def test_without_matplotlib_pages_have_numbers_alone(curves, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "<svg" not in curves.to_html()
    assert "highest" in curves.to_html()


@pytest.mark.parametrize("make", [rr.StableRules, rr.Competence, lambda: rr.GlobalRules(votes="mean")])
def test_where_what_a_feature_adds_depends_on_others_a_curve_is_its_mean(make, numbers):
    ranker = make().fit(numbers)
    found = ranker.curves(numbers)
    X = ranker.check_rows(numbers, None)
    shares = ranker.contributions(numbers).by_feature(7)
    for curve in found.curves:
        column = numbers.feature_names.index(curve.feature)
        adds = curve.adds(X[:, column])
        assert adds.mean() == pytest.approx(0, abs=1e-9)
        low = X[:, column] < curve.cuts[0]
        own = shares[:, column]
        assert adds[low] == pytest.approx(own[low].mean() - own.mean())
    assert "Each step is a mean over the documents with such values" in about_curves(found)


def test_names_with_dollars_are_names_and_no_formulas(numbers):
    name = r"a$\badcmd{x}$b"
    named = rr.Dataset(numbers.X[:, :2], numbers.y, numbers.qid, feature_names=(name, "$"))
    assert name in inline_svg(curves_figure(rr.GlobalRules().fit(named).curves(named)), "curves")


def test_without_documents_training_rows_are_counted(fitted):
    found = fitted.curves()
    assert f"the mean over {found.n_docs:,} training rows is 0" in about_curves(found)


def test_what_cannot_be_drawn_is_said(fitted, data, tmp_path):
    with pytest.raises(
        DataError, match="most, the number of features to draw, must be an integer of at least 1: got 0"
    ):
        fitted.curves(data, most=0)
    for nothing in (data.X, data[np.zeros(len(data), dtype=bool)]):
        with pytest.raises(DataError, match="curves need a Dataset with at least one document"):
            fitted.curves(nothing)
    fitted.save(tmp_path / "model.rulerank")
    with pytest.raises(DataError, match="this FittedRules has no training rows: give documents, "):
        rr.load(tmp_path / "model.rulerank").curves()
    flat = rr.QueryIntercepts(l2=1.0).fit(np.zeros((4, 2)), [0, 1, 0, 1], qid=[1, 1, 2, 2])
    with pytest.raises(DataError, match="there is no curve to draw: no feature moves the scores of this Query"):
        flat.curves()
