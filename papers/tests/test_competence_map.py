import sys
from dataclasses import replace

import numpy as np
import pytest

import rulerank as rr
from papers.competence_figures import competence_map, competence_panels, shrink_to
from rulerank.datasets.ranking import make_ranking
from rulerank.errors import DataError, MissingExtraError
from rulerank.rankers.query_rules import QueryRules


@pytest.fixture(scope="module")
def data():
    return make_ranking(n_queries=12, docs_per_query=8, seed=1)


@pytest.fixture(scope="module")
def ranker(data):
    return QueryRules(max_size=1, literal=True).fit(data)


def test_there_is_a_panel_per_grade_with_readable_axes(ranker, data):
    figure = competence_map(ranker, data)
    *panels, bar = [axis for axis in figure.axes if axis.get_visible()]
    assert [axis.get_title().split(":")[0] for axis in panels] == [f"grade {g}" for g in np.unique(data.y)]
    assert panels[0].get_xlabel() == "documents, best judged first"
    assert panels[0].get_ylabel() == "training queries, most competent first"
    assert "light where competent" in bar.get_ylabel()
    for axis, grade in zip(panels, np.unique(data.y), strict=True):
        assert axis.images[0].get_array().shape == (12, (data.y == grade).sum())
    assert panels[0].images[0].get_cmap()(0.0)[:3] > panels[0].images[0].get_cmap()(1.0)[:3]  # light is close


def test_the_map_shows_the_distances_to_the_grades(ranker, data):
    deltas = np.abs(ranker.rank_by_query(data) - data.y[:, None])
    images = [axis.images[0] for axis in competence_map(ranker, data).axes if axis.images]
    shown = np.concatenate([image.get_array().compressed() for image in images])
    assert np.sort(shown) == pytest.approx(np.sort(deltas[~np.isnan(deltas)]))


def test_the_best_come_first_and_grades_count_alike():
    deltas = np.array([[0.0, 0.1], [0.0, 0.1], [0.0, 0.1], [0.9, 0.2]])  # one document of grade 1 against three
    panels = competence_panels(deltas, np.array([0, 0, 0, 1]))
    assert panels[1].tolist() == [[0.2, 0.9]]
    abstaining = competence_panels(np.array([[np.nan, 0.5], [1.0, 0.25]]), np.array([0, 0]))
    assert np.array_equal(abstaining[0], [[0.25, 1.0], [0.5, np.nan]], equal_nan=True)


def test_documents_without_grades_are_left_out(ranker, data):
    some = replace(data, y=np.where(np.arange(len(data)) < 5, data.y, -1))
    shown = [axis.images[0].get_array().shape[1] for axis in competence_map(ranker, some).axes if axis.images]
    assert sum(shown) == 5


def test_more_documents_than_pixels_are_averaged():
    panel = np.arange(12.0).reshape(6, 2)
    panel[5] = np.nan
    assert shrink_to(panel, 3).tolist() == [[1, 2], [5, 6], [8, 9]]
    panel[4] = np.nan
    assert np.isnan(shrink_to(panel, 3)[2]).all()


def test_mistakes_are_named(ranker, data, monkeypatch):
    with pytest.raises(DataError, match=r"shows the queries of a QueryRules model \(RE-QR\): got GlobalRules"):
        competence_map(rr.GlobalRules().fit(data), data)
    with pytest.raises(DataError, match="needs documents with grades: none of these has one"):
        competence_map(ranker, replace(data, y=np.full(len(data), -1)))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"needs matplotlib.*pip install 'rulerank\[figures\]'"):
        competence_map(ranker, data)
