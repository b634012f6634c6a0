"""rulerank train of a table that carries clicks."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import rulerank as rr
from rulerank.cli import app
from rulerank.training.from_clicks import learn_from_clicks


@pytest.fixture(scope="module")
def world():
    return rr.make_world(n_queries=40, n_features=3, seed=0)


@pytest.fixture(scope="module")
def pool(world, tmp_path_factory):
    path = tmp_path_factory.mktemp("clicks") / "pool.parquet"
    rr.write_table(rr.simulate_clicks(world, world.X[:, 0], n_impressions=4000, seed=0), path)
    return path


def call(*words):
    return CliRunner().invoke(app, ["train", *map(str, words)])


def test_clicks_are_recognised_and_what_was_found_is_said(pool, world, tmp_path):
    result = call(pool, "-o", tmp_path / "m.rulerank", "--method", "QI", "--today", "bm25_title")
    assert result.exit_code == 0, result.output
    assert "trained on the clicks of" in result.output
    assert "4,000 impressions" in result.output
    assert "method chosen: " in result.output
    assert "log-odds; estimated from" in result.output
    ranker = rr.load(tmp_path / "m.rulerank")
    assert ranker.positions().effects[-1] > 0
    today = rr.evaluate(world, world.X[:, 0]).means["NDCG@10"]
    assert rr.evaluate(world, ranker.predict(world)).means["NDCG@10"] > today


def test_propensities_are_taken_from_a_file(pool, tmp_path):
    lines = tmp_path / "looked.csv"
    lines.write_text("position,propensity\n" + "".join(f"{k},{1 / k}\n" for k in range(1, 11)))
    whole = tmp_path / "looked.json"
    whole.write_text(json.dumps({str(k): 1 / k for k in range(1, 11)}))
    for path in (lines, whole):
        result = call(pool, "-o", tmp_path / "m.rulerank", "--method", "QI", "--propensities", path, "--json")
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)["clicks"]
        assert found["source"] == "given"
        assert found["positions"][1]["effect"] == pytest.approx(0.6931, abs=1e-3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1;1\n", "expected a position and a propensity, such as 2,0.6: got '1;1'"),
        ("x,1\n", "expected a position, a whole number from 1: got 'x'"),
        ("1,high\n", "expected a propensity, above 0 and at most 1: got 'high'"),
        ("", "expected lines of a position and a propensity"),
        ("{", "expected a JSON object such as"),
        ("1,1\n", "position 2 is missing"),
    ],
)
def test_wrong_propensities_are_named(pool, tmp_path, text, message):
    path = tmp_path / "looked.csv"
    path.write_text(text)
    result = call(pool, "-o", tmp_path / "m.rulerank", "--method", "QI", "--propensities", path)
    assert result.exit_code != 0
    assert message in str(result.exception or "") + result.output


def test_what_clicks_do_not_go_with_is_refused(pool, world, tmp_path):
    result = call(pool, "-o", tmp_path / "m.rulerank", "--tune")
    assert "holds clicks, which choose by themselves" in str(result.exception or "") + result.output
    result = call(pool, "-o", tmp_path / "m.rulerank", "--method", "RE-GR")
    assert "does not learn from clicks; choose from QI, FR" in str(result.exception or "") + result.output
    plain = tmp_path / "plain.parquet"
    rr.write_table(world, plain)
    result = call(plain, "-o", tmp_path / "m.rulerank", "--propensities", plain)
    assert "--propensities is for clicks" in str(result.exception or "") + result.output


def test_what_was_tried_is_kept_and_few_clicks_choose_nothing(world):
    seen = rr.simulate_clicks(world, world.X[:, 0], n_impressions=6000, seed=1)
    learned = learn_from_clicks(seen, method="QI")
    assert len(learned.losses) == 3
    assert learned.candidate is learned.losses[0][0]
    few = learn_from_clicks(rr.simulate_clicks(world, world.X[:, 0], n_impressions=300, seed=1))
    assert few.candidate.params["l2"] == 1000
    assert "too few to choose by" in few.reason
    with pytest.raises(rr.errors.DataError, match=r"expected a Dataset that carries clicks.*got one without"):
        learn_from_clicks(world)


def test_todays_ranking_is_kept_where_clicks_do_not_say_otherwise(pool, world, tmp_path):
    seen = rr.read_table(pool)
    noise = np.random.default_rng(0).binomial(seen.shown.impressions, 0.3 / seen.shown.position)
    rr.write_table(replace(seen, shown=replace(seen.shown, clicks=noise)), tmp_path / "noise.parquet")
    result = call(tmp_path / "noise.parquet", "-o", tmp_path / "m.rulerank", "--json")
    assert result.exit_code == 0, result.output
    assert "today's ranking is taken to be bm25_body, by its name" in result.stderr
    result = call(tmp_path / "noise.parquet", "-o", tmp_path / "m.rulerank", "--today", "bm25_title", "--json")
    found = json.loads(result.stdout)
    assert found["method"] == "Anchored"
    assert found["clicks"]["keep_today"] is True
    assert found["clicks"]["against_today"]["today"] == "bm25_title"
    kept = rr.load(tmp_path / "m.rulerank").predict(world)
    title = world.feature_names.index("bm25_title")
    for query in dict.fromkeys(world.qid):
        own = world.qid == query
        assert (np.argsort(kept[own]) == np.argsort(world.X[own, title])).all()
    result = call(pool, "-o", tmp_path / "m.rulerank", "--today", "nothing")
    assert "there is no feature 'nothing'" in str(result.exception or "") + result.output
