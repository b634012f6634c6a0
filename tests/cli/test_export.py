import json
from pathlib import Path

import pytest

import rulerank as rr
from rulerank.datasets.ranking import make_ranking
from rulerank.export import export_model
from rulerank.rankers.fitted.fitted_rules import FittedRules

synthetic = make_ranking(n_queries=12, n_features=3, seed=0)


@pytest.fixture
def linear(folder):
    """The linear model, where the examples look for it."""
    return rr.load("linear.rulerank")


@pytest.mark.parametrize("target", ["opensearch-ltr", "solr-ltr", "xgboost", "sql", "python", "vespa", "lightgbm"])
def test_the_document_goes_to_stdout_and_what_to_do_with_it_to_stderr(run, linear, target):
    done = run("export", "linear.rulerank", "--to", target)
    made = export_model(linear, target)
    said = [f"send this with: {made.request}", *(f"note: {note}" for note in made.notes)]
    assert done == (0, made.to_bytes().decode(), "\n".join(said) + "\n")


def test_names_and_files_can_be_given(run, linear):
    names = ["--feature-set", "films", "--model-name", "mine"]
    files = ["-o", "model.json"]
    done = run("export", "linear.rulerank", "--to", "opensearch-ltr", *names, *files)
    made = export_model(linear, "opensearch-ltr", feature_set="films", model_name="mine")
    assert done.out.startswith("send model.json with: POST /_ltr/_featureset/films/_createmodel\n")
    assert json.loads(Path("model.json").read_text()) == made.document
    done = run("export", "linear.rulerank", "--to", "opensearch-ltr", *names, *files, "--json")
    payload = json.loads(done.out)
    assert (payload["engine"], payload["request"]) == ("opensearch-ltr", made.request)
    assert (payload["document"], payload["features"]) == ("model.json", list(made.features))


def test_answers_are_checked(run, folder):
    ranker = FittedRules().fit(synthetic)
    ranker.save("rules.rulerank")
    row = dict(zip(synthetic.feature_names, synthetic.X[0].tolist(), strict=True))
    good, bad = ({"features": row, "score": float(ranker.predict(synthetic)[0]) + gap} for gap in (0, 5))
    Path("answers.jsonl").write_text(json.dumps(good) + "\n")
    done = run("export", "rules.rulerank", "--check", "answers.jsonl")
    assert (done.code, done.err) == (0, "")
    assert "all scores equal those of predict" in done.out
    Path("answers.jsonl").write_text(json.dumps(good) + "\n" + json.dumps(bad) + "\n")
    done = run("export", "rules.rulerank", "--check", "answers.jsonl")
    assert done.code == 1
    assert "row 2: answered " in done.out
    done = run("export", "rules.rulerank", "--check", "answers.jsonl", "--json")
    assert [bool(one["why"]) for one in json.loads(done.out)["rows"]] == [False, True]
