"""rulerank train of a table that carries clicks."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import rulerank as rr
from rulerank.cli import app


@pytest.fixture(scope="module")
def world():
    found = rr.make_ranking(n_queries=40, n_features=3, seed=0)
    return replace(found, docid=[f"d{row}" for row in range(len(found))])


@pytest.fixture(scope="module")
def pool(world, tmp_path_factory):
    path = tmp_path_factory.mktemp("clicks") / "pool.parquet"
    rr.write_table(rr.simulate_clicks(world, world.X[:, 0], n_impressions=12_000, seed=0), path)
    return path


@pytest.fixture(scope="module")
def noise(pool):
    """The same lists, clicked whatever stands there."""
    seen = rr.read_table(pool)
    clicks = np.random.default_rng(0).binomial(seen.shown.impressions, 0.3 / seen.shown.position)
    rr.write_table(replace(seen, shown=replace(seen.shown, clicks=clicks)), pool.parent / "noise.parquet")
    return pool.parent / "noise.parquet"


def call(*words):
    return CliRunner().invoke(app, ["train", *map(str, words)])


def test_clicks_are_recognised_and_what_was_found_is_said(pool, world, tmp_path):
    result = call(pool, "-o", tmp_path / "m.rulerank", "--method", "QI", "--today", "bm25_title")
    assert result.exit_code == 0, result.output
    assert "trained on the clicks of" in result.output
    assert "12,000 impressions" in result.output
    assert "method chosen: " in result.output
    assert "estimated from" in result.output
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
        ("1,1\n1,0.5\n", "position 1 is there twice"),
        ('{"1": 1, "1": 0.5}', "position 1 is there twice"),
        ("\ufeffposition,propensity\n1,1\n", "position 2 is missing"),
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
    assert "does not learn from clicks; QueryIntercepts (QI) does" in str(result.exception or "") + result.output
    plain = tmp_path / "plain.parquet"
    rr.write_table(world, plain)
    result = call(plain, "-o", tmp_path / "m.rulerank", "--propensities", plain)
    assert "--propensities is for clicks, and " in str(result.exception or "") + result.output
    parts = tmp_path / "parts"
    parts.mkdir()
    rr.write_table(world, parts / "one.parquet")
    result = call(parts, "-o", tmp_path / "m.rulerank", "--method", "QI", "--propensities", plain)
    assert "clicks, which are learned from in memory: give one file, not a folder" in str(result.exception or "")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--set", "foo=1"], "QueryIntercepts takes no --foo; it takes "),
        (["--max-size", "3"], "QueryIntercepts takes no --max-size; it takes "),
        (["--set", "l2=abc"], "l2 must be "),
        (["--set", "l2=none"], "l2 must be "),
    ],
)
def test_what_the_method_does_not_take_is_said_in_a_line(pool, tmp_path, more, message):
    result = call(pool, "-o", tmp_path / "m.rulerank", "--method", "QI", *more)
    assert isinstance(result.exception, rr.errors.DataError)
    assert message in str(result.exception)


def test_what_was_tried_is_kept_and_few_clicks_choose_nothing(world):
    seen = rr.simulate_clicks(world, world.X[:, 0], n_impressions=6000, seed=1)
    learned = rr.select(seen)
    assert [trial.params["l2"] for trial in learned.table] == [300]
    few = rr.select(rr.simulate_clicks(world, world.X[:, 0], n_impressions=300, seed=1))
    assert few.ranker.l2 == 300
    assert "the only one to choose from" in few.reason


def test_todays_ranking_is_kept_where_clicks_do_not_say_otherwise(pool, noise, world, tmp_path):
    result = call(noise, "-o", tmp_path / "m.rulerank", "--json")
    assert result.exit_code == 0, result.output
    assert "today's ranking is taken to be bm25_body, by its name" in result.stderr
    result = call(noise, "-o", tmp_path / "m.rulerank", "--today", "bm25_title", "--json")
    found = json.loads(result.stdout)
    assert found["method"] == "Anchored"
    assert found["saved"] == "today"
    assert found["clicks"]["keep_today"] is True
    assert found["clicks"]["against_today"]["today"] == "bm25_title"
    kept = rr.load(tmp_path / "m.rulerank").predict(world)
    title = world.feature_names.index("bm25_title")
    for query in dict.fromkeys(world.qid):
        own = world.qid == query
        assert (np.argsort(kept[own]) == np.argsort(world.X[own, title])).all()
    result = call(pool, "-o", tmp_path / "m.rulerank", "--today", "nothing")
    assert "there is no feature 'nothing'" in str(result.exception or "") + result.output


def test_todays_ranking_may_be_a_model_which_is_kept_as_it_is(noise, pool, world, tmp_path):
    now, out = tmp_path / "now.rulerank", tmp_path / "m.rulerank"
    rr.GlobalRules(max_size=1).fit(world).save(now)
    result = call(noise, "-o", out, "--today", now, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["method"] == "RE-GR"
    assert found["clicks"]["against_today"]["today"] == "a GlobalRules model"
    assert (rr.load(out).predict(world) == rr.load(now).predict(world)).all()
    said = call(noise, "-o", out, "--today", now).output
    assert "better than today's (a GlobalRules model): keep today's" in said
    assert said.endswith("m.rulerank: RE-GR, today's ranking as it was; no new ranking is saved\n")


def test_a_model_that_does_not_go_with_the_clicks_is_said(pool, world, tmp_path):
    now, out = tmp_path / "now.rulerank", tmp_path / "m.rulerank"
    result = call(pool, "-o", out, "--today", now)
    assert "now.rulerank: there is no such file" in str(result.exception or "") + result.output
    rr.QueryIntercepts().fit(replace(world, feature_names=("a", "b", "c"))).save(now)
    result = call(pool, "-o", out, "--today", now)
    assert "this QueryIntercepts reads a, b, c, which the data lacks" in str(result.exception or "") + result.output
    result = call(pool, "-o", now, "--today", now)
    assert "now.rulerank is an input, which would be lost" in str(result.exception or "") + result.output
    assert not out.exists()
    assert rr.load(now).feature_names_ == ("a", "b", "c")  # not written over


@pytest.fixture(scope="module")
def labels(world, pool):
    """Grades of some documents that were shown."""
    true = dict(zip(zip(world.qid, world.docid, strict=True), world.y.tolist(), strict=True))
    seen = rr.read_table(pool)
    shown = [*dict.fromkeys(zip(seen.qid, seen.docid, strict=True))][::9]
    path = pool.parent / "labels.csv"
    path.write_text("qid,docid,grade\n" + "".join(f"{q},{d},{true[q, d]}\n" for q, d in shown))
    return path


def test_clicks_and_labels_together_start_from_what_the_clicks_say(pool, labels, world, tmp_path):
    both, clicks, steps = (tmp_path / f"{name}.rulerank" for name in ("both", "clicks", "steps"))
    result = call(pool, "--labels", labels, "--today", "bm25_body", "-o", both)
    assert result.exit_code == 0, result.output
    assert "\nLabels start from the model of the clicks: the clicks' model has " in result.stdout
    assert "say that it is better than today's ranking (bm25_body)" in result.stdout
    assert "Starts from today's ranking (a " in result.stdout  # a model
    # the same as in two steps over the documents that were shown
    assert call(pool, "--today", "bm25_body", "-o", clicks).exit_code == 0
    seen = rr.read_table(pool)
    first = [*{pair: row for row, pair in reversed([*enumerate(zip(seen.qid, seen.docid, strict=True))])}.values()]
    shown = tmp_path / "shown.parquet"
    rr.write_table(replace(seen, shown=None)[np.sort(first)], shown)
    assert call(shown, "--labels", labels, "--today", clicks, "-o", steps).exit_code == 0
    assert (rr.load(both).predict(world) == rr.load(steps).predict(world)).all()


def test_labels_start_from_todays_ranking_where_clicks_keep_it(noise, labels, tmp_path):
    result = call(noise, "--labels", labels, "--today", "bm25_title", "-o", tmp_path / "both.rulerank")
    assert "\nLabels start from today's ranking: the clicks' model has " in result.stdout
    assert "Starts from today's ranking (bm25_title); " in result.stdout
    result = call(noise, "--labels", labels, "-o", tmp_path / "m.rulerank", "--method", "AnchoredRules", "--json")
    found = json.loads(result.stdout)
    assert found["method"] == "AnchoredRules"
    assert found["clicks"]["keep_today"] is True
    assert found["few_labels"]["today"] == "bm25_body"
    assert found["start"]["start"] == "today"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            ["--method", "QI"],
            "learn Anchored and AnchoredRules, which start from what clicks say: leave out --method QI",
        ),
        (["--method", "Anchored", "--set", "today=pagerank"], "leave out --set today=..."),
        (["--tune"], "--labels is for few labels"),
    ],
)
def test_what_clicks_and_labels_together_do_not_go_with_is_refused(pool, labels, tmp_path, more, message):
    result = call(pool, "--labels", labels, "-o", tmp_path / "m.rulerank", *more)
    assert message in str(result.exception or "") + result.output
    assert not (tmp_path / "m.rulerank").exists()


def test_other_judges_do_not_learn_beside_clicks(pool, labels, tmp_path):
    head, *lines = labels.read_text().splitlines()
    judged = tmp_path / "judged.csv"
    who = [",ann,person"] * (len(lines) - 3) + [",gpt,llm"] * 3
    judged.write_text(f"{head},rater,kind\n" + "".join(f"{a}{b}\n" for a, b in zip(lines, who, strict=True)))
    result = call(pool, "--labels", judged, "--judges", "gpt", "-o", tmp_path / "m.rulerank")
    assert "which start from what clicks say: leave out --judges" in str(result.exception or "") + result.output


def test_a_label_of_what_was_never_shown_names_the_two_steps(pool, labels, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(labels.read_text() + "q1,never,1\n")
    result = call(pool, "--labels", other, "-o", tmp_path / "m.rulerank")
    said = str(result.exception or "") + result.output
    assert "document 'never' of query 'q1' is not in " in said
    assert "which has what was shown and nothing else; learn in two steps: rulerank train " in said
    assert "rulerank train POOL --labels LABELS --today clicks.rulerank -o both.rulerank" in said


def test_where_todays_ranking_is_not_known_it_is_said_what_was_saved_and_what_to_type(pool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rr.write_table(replace(rr.read_table(pool), feature_names=("f1", "f2", "f3")), "no name.parquet")
    result = call("no name.parquet", "-o", "m.rulerank", "--method", "QI")
    assert result.exit_code == 0, result.output
    *_, saved, named, again, otherwise, rank, interleave = result.stdout.splitlines()
    assert saved.startswith("m.rulerank: QI, learned in ")
    assert saved.endswith(" s; a new ranking, and nothing says yet that it is better than today's")
    assert named == (
        "If a feature (f1, f2, f3) or a saved model ranks the documents now, name it: it is kept unless clicks say "
        "otherwise."
    )
    assert again == "    rulerank train 'no name.parquet' --today NAME -o m.rulerank"
    assert otherwise == "If neither does, let people compare what they see now, as a run, with the new ranking:"
    assert rank == "    rulerank rank m.rulerank POOL -o new.run"
    assert interleave == "    rulerank interleave today.run new.run -o mixed.jsonl"
    assert json.loads(call("no name.parquet", "-o", "m.rulerank", "--method", "QI", "--json").stdout)["saved"] == "new"


def test_a_method_that_was_named_is_saved_and_it_is_said_that_nothing_speaks_for_it(noise, tmp_path):
    result = call(noise, "-o", tmp_path / "m.rulerank", "--method", "QI", "--today", "bm25_title")
    *_, saved, keep, compare, _, _ = result.stdout.splitlines()
    assert saved.endswith("a new ranking, and nothing says yet that it is better than today's")
    assert keep == "To keep today's ranking until clicks say otherwise, leave out --method QI."
    assert compare == "To let people compare the two:"


def test_one_label_is_no_reason_to_say_that_all_scores_are_the_same(pool, labels, tmp_path, recwarn):
    one = tmp_path / "one.csv"
    one.write_text("\n".join(labels.read_text().splitlines()[:2]) + "\n")
    result = call(pool, "--labels", one, "--today", "bm25_body", "-o", tmp_path / "m.rulerank")
    assert result.exit_code == 0, result.output
    assert not [one for one in recwarn if "the same score" in str(one.message)]
