import sys

import pytest

import rulerank as rr
from rulerank.errors import DataError, MissingExtraError
from rulerank.explain.figures import decision_figure, effects_figure
from rulerank.render.figures import inline_svg


@pytest.fixture(scope="module")
def world():
    return rr.make_ranking(n_queries=20, docs_per_query=12, n_features=6, seed=1)


def test_the_steps_of_a_decision_lead_from_one_score_to_the_other(world):
    ranker = rr.GlobalRules(drop_weakest=0).fit(world)
    scores = ranker.predict(world)
    versus = ranker.explain(world, int(scores.argmax()), versus=int(scores.argmin()))
    (axis,) = decision_figure(versus).axes
    bars = axis.patches
    assert bars[0].get_x() == pytest.approx(versus.low.score)
    assert sum(bar.get_width() for bar in bars) == pytest.approx(versus.difference, abs=0.01 * versus.difference)
    few = decision_figure(versus, most=1).axes[0]
    assert few.get_yticklabels()[-1].get_text() == "everything else"


def test_every_feature_with_a_curve_has_a_panel(world):
    overview = rr.GlobalRules(drop_weakest=0).fit(world).overview(world)
    figure = effects_figure(overview, most=4)
    titles = [axis.get_title() for axis in figure.axes if axis.get_title()]
    assert titles == [effect.feature for effect in overview.features[:4]]


def test_a_model_without_curves_cannot_be_drawn(world):
    overview = rr.Competence(["confidence", "yule_q"]).fit(world).overview(world)
    with pytest.raises(DataError, match="there are no effects to draw"):
        effects_figure(overview)


def test_matplotlib_is_named_when_it_is_missing(world, monkeypatch):
    versus = rr.GlobalRules().fit(world).explain(world, 0, versus=7)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match="this needs matplotlib"):
        decision_figure(versus)


def test_names_with_dollars_are_names_and_no_formulas():
    name = r"a$\badcmd{x}$b"
    world = rr.make_ranking(n_queries=20, docs_per_query=12, n_features=3, seed=1)
    named = rr.Dataset(world.X, world.y, world.qid, [name + doc for doc in world.docid], (name, f"{name}2", "$"))
    ranker = rr.GlobalRules().fit(named)
    assert name in inline_svg(effects_figure(ranker.overview(named)), "effects")
    assert name in inline_svg(decision_figure(ranker.explain(named, 0, versus=1)), "decision")
