import json
from pathlib import Path

import pytest

import rulerank as rr

synthetic = rr.datasets.make_ranking(n_queries=12, n_features=3, seed=0)


@pytest.mark.parametrize(
    ("target", "how"),
    [
        ("opensearch-ltr", "send this with"),
        ("solr-ltr", "send this with"),
        ("xgboost", "load this with"),
        ("sql", "this"),
        ("python", "this"),
        ("vespa", "this"),
        ("lightgbm", "load this with"),
    ],
)
def test_the_document_goes_to_stdout_and_what_to_do_with_it_to_stderr(run, folder, target, how):
    done = run("export", "linear.rulerank", "--to", target)
    made = rr.export_model(rr.load("linear.rulerank"), target)
    said = [f"{how}: {made.request}", *(f"note: {note}" for note in made.notes)]
    assert done == (0, made.to_bytes().decode(), "\n".join(said) + "\n")


def test_names_and_files_can_be_given(run, folder):
    words = ("export", "linear.rulerank", "--to", "opensearch-ltr", "--feature-set", "films", "-o", "model.json")
    done = run(*words, "--model-name", "mine")
    made = rr.export_model(rr.load("linear.rulerank"), "opensearch-ltr", feature_set="films", model_name="mine")
    assert done.out.startswith("send model.json with: POST /_ltr/_featureset/films/_createmodel\n")
    assert json.loads(Path("model.json").read_text()) == made.document
    given = {"engine": "opensearch-ltr", "request": made.request, "document": "model.json"}
    assert run.json(*words).items() >= (given | {"features": list(made.features)}).items()


def test_answers_are_checked(run, folder):
    ranker = rr.FittedRules().fit(synthetic)
    ranker.save("rules.rulerank")
    row = dict(zip(synthetic.feature_names, synthetic.X[0].tolist(), strict=True))
    good, bad = ({"features": row, "score": float(ranker.predict(synthetic)[0]) + gap} for gap in (0, 5))
    words = ("export", "rules.rulerank", "--check", "answers.jsonl")
    for answers, code, said in (([good], 0, "all scores equal those of predict"), ([good, bad], 1, "row 2: answered ")):
        Path("answers.jsonl").write_text("\n".join(map(json.dumps, answers)))
        done = run(*words)
        assert (done.code, done.err, said in done.out) == (code, "", True)
    done = run(*words, "--json")
    assert [bool(one["why"]) for one in json.loads(done.out)["rows"]] == [False, True]
