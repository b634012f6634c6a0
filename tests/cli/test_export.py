import json
from pathlib import Path

import pytest

from rulerank.export import TARGETS, export_model
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.linear.query_intercepts import QueryIntercepts
from rulerank.worlds import make_world

world = make_world(n_queries=12, n_features=3, seed=0)


@pytest.fixture
def linear(folder):
    """A linear model, saved where the examples look for it."""
    ranker = QueryIntercepts(l2=1).fit(world)
    ranker.save("linear.rulerank")
    return ranker


@pytest.mark.parametrize("engine", TARGETS)
def test_the_document_goes_to_stdout_and_where_to_send_it_to_stderr(run, linear, engine):
    done = run("export", "linear.rulerank", "--to", engine)
    made = export_model(linear, engine)
    assert done == (0, made.to_json() + "\n", f"send this with: {made.request}\n")


def test_names_and_a_file_can_be_given(run, linear):
    names = ["--feature-set", "films", "--model-name", "mine"]
    done = run("export", "linear.rulerank", "--to", "opensearch-ltr", *names, "-o", "model.json")
    assert done == (0, "send model.json with: POST /_ltr/_featureset/films/_createmodel\n", "")
    made = export_model(linear, "opensearch-ltr", feature_set="films", model_name="mine")
    assert json.loads(Path("model.json").read_text()) == made.document
    done = run("export", "linear.rulerank", "--to", "opensearch-ltr", *names, "-o", "model.json", "--json")
    assert json.loads(done.out) == {"engine": "opensearch-ltr", "request": made.request, "document": "model.json"}


def test_mistakes_end_in_one_line(run, linear):
    done = run("export", "linear.rulerank", "--to", "vespa")
    assert done == (
        2,
        "",
        "error: unknown search engine 'vespa'; choose from opensearch-ltr, elasticsearch-ltr, solr-ltr\n",
    )
    GlobalRules().fit(world).save("rules.rulerank")
    done = run("export", "rules.rulerank", "--to", "solr-ltr")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: GlobalRules cannot be exported exactly: its score is not a weighted sum")
