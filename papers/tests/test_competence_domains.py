import sys
from dataclasses import replace

import numpy as np
import pytest

import rulerank as rr
from papers.competence_figures import average_scores, competence_domains
from rulerank.datasets.ranking import make_ranking
from rulerank.errors import DataError, MissingExtraError


@pytest.fixture(scope="module")
def data():
    return make_ranking(n_queries=12, docs_per_query=8, seed=1)


@pytest.fixture(scope="module")
def ranker(data):
    return rr.Competence(literal=True, max_size=1).fit(data)


def test_distances_stand_beside_the_choice(ranker, data):
    left, right = [axis for axis in competence_domains(ranker, data).axes if axis.images][:2]
    distance = np.abs(ranker.member_scores(data) - data.y[:, None])
    assert np.sort(left.images[0].get_array().compressed()) == pytest.approx(np.sort(distance.ravel()))
    assert right.images[0].get_array().sum() == pytest.approx(len(data))
    assert [text.get_text() for text in left.get_yticklabels()] == list(ranker.names_)
    assert left.get_xlabel() == "documents by grade: 0, 1, 2"


def test_the_mean_score_of_each_grade_has_a_line_per_member(ranker, data):
    axis = average_scores(ranker, data).axes[0]
    assert [line.get_label() for line in axis.lines] == ["the grade itself", *ranker.names_]
    scores = ranker.member_scores(data)
    expected = [scores[data.y == grade, 0].mean() for grade in (0, 1, 2)]
    assert axis.lines[1].get_ydata() == pytest.approx(expected)


def test_mistakes_are_named(ranker, data, monkeypatch):
    with pytest.raises(DataError, match=r"drawn for a fitted Competence\(..., literal=True\).*got GlobalRules"):
        competence_domains(rr.GlobalRules().fit(data), data)
    with pytest.raises(DataError, match="domains of competence need documents with grades: none of these has one"):
        average_scores(ranker, replace(data, y=np.full(len(data), -1)))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"needs matplotlib.*pip install 'rulerank\[figures\]'"):
        average_scores(ranker, data)
