"""rulerank train of a table that carries clicks."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import rulerank as rr
from rulerank.cli import app


@pytest.fixture(scope="module")
def synthetic():
    made = rr.datasets.make_ranking(n_queries=40, n_features=3, seed=0)
    return replace(made, docid=[f"d{row}" for row in range(len(made))])


@pytest.fixture(scope="module")
def pool(synthetic, tmp_path_factory):
    path = tmp_path_factory.mktemp("clicks") / "pool.parquet"
    rr.io.write_table(rr.clicks.simulate_clicks(synthetic, synthetic.X[:, 0], n_impressions=12_000, seed=0), path)
    return path


@pytest.fixture(scope="module")
def noise(pool):
    """The same lists, clicked whatever stands there."""
    seen = rr.read_table(pool)
    clicks = np.random.default_rng(0).binomial(seen.impressions.count, 0.3 / seen.impressions.position)
    path = pool.parent / "noise.parquet"
    rr.io.write_table(replace(seen, impressions=replace(seen.impressions, clicks=clicks)), path)
    return path


@pytest.fixture(scope="module")
def labels(synthetic, pool):
    """Grades of some documents that were shown."""
    true = dict(zip(zip(synthetic.qid, synthetic.docid, strict=True), synthetic.y.tolist(), strict=True))
    seen = rr.read_table(pool)
    shown = [*dict.fromkeys(zip(seen.qid, seen.docid, strict=True))][::9]
    path = pool.parent / "labels.csv"
    path.write_text("qid,docid,grade\n" + "".join(f"{q},{d},{true[q, d]}\n" for q, d in shown))
    return path


def call(*words):
    return CliRunner().invoke(app, ["train", *map(str, words)])


def said(result):
    return str(result.exception or "") + result.output


def test_clicks_are_recognised_and_what_was_found_is_said(pool, synthetic, tmp_path):
    result = call(pool, "-o", tmp_path / "m.rulerank", "--method", "QI", "--baseline", "bm25_title")
    assert result.exit_code == 0, result.output
    assert all(text in result.output for text in ("12,000 impressions", "selected method: ", "estimated from"))
    ranker = rr.load(tmp_path / "m.rulerank")
    assert ranker.positions().effects[-1] > 0
    baseline = rr.evaluate(synthetic, synthetic.X[:, 0]).means["NDCG@10"]
    assert rr.evaluate(synthetic, ranker.predict(synthetic)).means["NDCG@10"] > baseline


def test_the_baseline_is_kept_where_clicks_do_not_say_otherwise(noise, synthetic, tmp_path):
    result = call(noise, "-o", tmp_path / "m.rulerank", "--json")
    assert "Using bm25_body as the baseline ranking (guessed from its name" in result.stderr
    result = call(noise, "-o", tmp_path / "m.rulerank", "--baseline", "bm25_title", "--json")
    found = json.loads(result.stdout)
    assert (found["method"], found["saved"], found["clicks"]["keep_baseline"]) == ("Anchored", "baseline", True)
    kept = rr.load(tmp_path / "m.rulerank").predict(synthetic)
    title = synthetic.feature_names.index("bm25_title")
    for query in dict.fromkeys(synthetic.qid):
        own = synthetic.qid == query
        assert (np.argsort(kept[own]) == np.argsort(synthetic.X[own, title])).all()


def test_the_baseline_may_be_a_model_which_is_kept_as_it_is(noise, synthetic, tmp_path):
    now, out = tmp_path / "now.rulerank", tmp_path / "m.rulerank"
    rr.GlobalRules(max_size=1).fit(synthetic).save(now)
    result = call(noise, "-o", out, "--baseline", now)
    assert result.exit_code == 0, result.output
    assert "(a GlobalRules model)" in result.output
    assert "the unchanged baseline ranking is saved, not the new one\n" in result.output
    assert (rr.load(out).predict(synthetic) == rr.load(now).predict(synthetic)).all()


def test_a_model_that_does_not_go_with_the_clicks_is_said(pool, synthetic, tmp_path):
    now, out = tmp_path / "now.rulerank", tmp_path / "m.rulerank"
    assert "now.rulerank: there is no such file" in said(call(pool, "-o", out, "--baseline", now))
    rr.QueryIntercepts().fit(replace(synthetic, feature_names=("a", "b", "c"))).save(now)
    result = call(pool, "-o", out, "--baseline", now)
    assert "this QueryIntercepts needs a, b, c, which the data lacks" in said(result)
    assert not out.exists()


def test_clicks_and_labels_together_start_from_what_the_clicks_say(pool, labels, synthetic, tmp_path):
    both, clicks, steps = (tmp_path / f"{name}.rulerank" for name in ("both", "clicks", "steps"))
    result = call(pool, "--labels", labels, "--baseline", "bm25_body", "-o", both)
    assert result.exit_code == 0, result.output
    assert "\nLabels refine the click model: on labels of " in result.stdout
    # the same as in two steps over the documents that were shown
    assert call(pool, "--baseline", "bm25_body", "-o", clicks).exit_code == 0
    seen = rr.read_table(pool)
    first = [*{pair: row for row, pair in reversed([*enumerate(zip(seen.qid, seen.docid, strict=True))])}.values()]
    shown = tmp_path / "shown.parquet"
    rr.io.write_table(replace(seen, impressions=None)[np.sort(first)], shown)
    assert call(shown, "--labels", labels, "--baseline", clicks, "-o", steps).exit_code == 0
    assert (rr.load(both).predict(synthetic) == rr.load(steps).predict(synthetic)).all()


def test_labels_start_from_the_baseline_where_clicks_keep_it(noise, labels, tmp_path):
    result = call(noise, "--labels", labels, "-o", tmp_path / "m.rulerank", "--method", "Anchored", "--json")
    found = json.loads(result.stdout)
    assert (found["method"], found["clicks"]["keep_baseline"]) == ("Anchored", True)
    assert (found["few_labels"]["baseline"], found["start"]["start"]) == ("bm25_body", "baseline")
