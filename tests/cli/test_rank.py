import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import rulerank as rr
from rulerank.dataset import Dataset
from rulerank.io.formats import read_any, write_any
from rulerank.io.trec import read_run, read_scores
from rulerank.judging.pool import read_pool
from rulerank.rankers.global_rules import GlobalRules


@pytest.fixture
def model(folder):
    """The model of the LETOR file, where the examples look for it."""
    return rr.load("model.rulerank")


def test_scores_come_one_per_line_with_all_digits(run, model):
    done = run("rank", "model.rulerank", "test.txt")
    assert (done.code, done.err) == (0, "")
    Path("ranked.txt").write_text(done.out)
    assert np.array_equal(read_scores("ranked.txt"), model.predict(read_any("test.txt")))


@pytest.mark.parametrize(
    ("name", "options", "says", "begins"),
    [
        ("one.run", [], "as a TREC run", "q1 Q0 q1-d"),
        ("one.csv", [], "as csv", "qid,docid,score\n"),
        ("one.csv", ["--format", "scores"], "one per line", ""),
        ("one.txt", ["--to", "RUN"], "as a TREC run", "q1 Q0 q1-d"),
        ("one.scores", [], "one per line", ""),
    ],
)
def test_the_ending_of_the_file_chooses_the_format_unless_it_is_named(run, model, name, options, says, begins):
    done = run("rank", "model.rulerank", "test.txt", "-o", name, *options)
    assert done == (0, f"{name}: {len(read_any('test.txt'))} scores, {says}\n", "")
    content = Path(name).read_text()
    assert content.startswith(begins)
    assert begins or len(read_scores(name)) == len(read_any("test.txt"))


def test_json_holds_the_scores_unless_a_file_does(run, model):
    data = read_any("test.txt")
    done = run("rank", "model.rulerank", "test.txt", "--json")
    assert done.err == ""
    expected = {"rows": len(data), "format": "scores", "scores": model.predict(data).tolist()}
    assert json.loads(done.out) == expected
    done = run("rank", "model.rulerank", "test.txt", "-o", "ranked.txt", "--json")
    assert json.loads(done.out) == {"rows": len(data), "format": "scores"}


def test_a_run_has_the_best_first(run, model):
    assert run("rank", "model.rulerank", "test.txt", "-o", "model.run").code == 0
    data, found = read_any("test.txt"), read_run("model.run")
    score = dict(zip(zip(data.qid, data.docid, strict=True), model.predict(data), strict=True))
    assert {(q, d): s for q, d, s in zip(found.qid, found.docid, found.score, strict=True)} == score
    for query in set(found.qid):
        assert (np.diff(found.score[found.qid == query]) <= 0).all()


def test_csv_and_runs_have_the_ids_of_the_documents_or_their_keys(run, model):
    data = read_any("test.txt")
    first, second, *_ = run("rank", "model.rulerank", "test.txt", "--format", "csv").out.splitlines()
    assert first == "qid,docid,score"
    assert second == f"{data.qid[0]},{data.docid[0]},{model.predict(data)[0]!r}".replace("np.float64(", "").rstrip(")")
    write_any(Dataset(data.X, data.y, data.qid), "nameless.txt")
    lines = run("rank", "model.rulerank", "nameless.txt", "--format", "csv").out.splitlines()
    keys = read_pool("nameless.txt").pairs  # those that their labels have
    assert [tuple(line.split(",")[:2]) for line in lines] == [("qid", "docid"), *keys]
    assert run("rank", "model.rulerank", "nameless.txt", "-o", "nameless.run").code == 0
    found = read_run("nameless.run")
    assert sorted(zip(found.qid, found.docid, strict=True)) == sorted(keys)


def test_stdin_is_read(run, model, monkeypatch):
    content = Path("test.txt").read_bytes()
    expected = run("rank", "model.rulerank", "test.txt").out
    stdin = SimpleNamespace(buffer=SimpleNamespace(read=lambda: content))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert run("rank", "model.rulerank", "-").out == expected


def test_a_letor_file_without_the_last_features_has_zeros_there(run, folder):
    data = read_any("train.txt")
    ranker = GlobalRules(votes="mean").fit(data)
    ranker.save("model.rulerank")
    narrow = read_any("test.txt")
    write_any(Dataset(narrow.X[:, :-2], narrow.y, narrow.qid), "narrow.txt")
    X = narrow.X.copy()
    X[:, -2:] = 0
    done = run("rank", "model.rulerank", "narrow.txt")
    assert done.err == "warning: narrow.txt has 18 features and 20 are needed: the last 2 are taken as 0\n"
    Path("ranked.txt").write_text(done.out)
    assert np.array_equal(read_scores("ranked.txt"), ranker.predict(Dataset(X, narrow.y, narrow.qid)))


def test_a_table_that_lacks_a_feature_is_refused_by_its_name(run, folder):
    table = read_any("test.csv")
    GlobalRules().fit(table).save("model.rulerank")
    names = table.feature_names
    write_any(Dataset(table.X[:, 1:], table.y, table.qid, feature_names=names[1:]), "less.csv")
    done = run("rank", "model.rulerank", "less.csv")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: less.csv: the data lacks 1 of the {len(names)} features ")
    assert f": {names[0]}; " in done.err
    write_any(Dataset(table.X[:, 1:], table.y, table.qid), "less.txt")
    done = run("rank", "model.rulerank", "less.txt")  # no zeros for features of another name
    assert done.err.startswith(f"error: less.txt: the data lacks {len(names)} of the {len(names)} features ")
    assert f": {', '.join(names[:5])}, ..." in done.err


def test_features_are_matched_by_name_in_any_order(run, folder):
    table = read_any("test.csv")
    GlobalRules().fit(table).save("model.rulerank")
    order = np.random.default_rng(0).permutation(len(table.feature_names))
    names = [table.feature_names[i] for i in order]
    X = np.column_stack([table.X[:, order], np.ones(len(table))])
    write_any(Dataset(X, table.y, table.qid, feature_names=(*names, "more")), "mixed.csv")
    assert run("rank", "model.rulerank", "mixed.csv").out == run("rank", "model.rulerank", "test.csv").out


def test_a_model_that_normalises_gets_the_queries_of_the_file(run, folder):
    data = read_any("test.txt")
    ranker = GlobalRules(normalize="rank").fit(data)
    ranker.save("model.rulerank")
    Path("ranked.txt").write_text(run("rank", "model.rulerank", "test.txt").out)
    assert np.array_equal(read_scores("ranked.txt"), ranker.predict(data.X, qid=data.qid))


def test_mistakes_end_in_one_line(run, model):
    assert run("rank", "model.rulerank", "test.txt", "--format", "json") == (
        2,
        "",
        "error: unknown format 'json'; choose from scores, run, csv\n",
    )
    done = run("rank", "test.txt", "model.rulerank")
    assert done == (2, "", "error: MODEL comes first, then DATA: rulerank rank model.rulerank test.txt\n")
    done = run("rank", "model.rulerank", "model.rulerank")
    assert done.err.startswith("error: model.rulerank: this is a rulerank model, not data; use `rulerank rank`")
    done = run("rank", "model.rulerank", "test.txt", "--json", "--format", "run")
    assert done.err == "error: --json prints the scores as JSON: leave out --format, or name a file for it with -o\n"
    done = run("rank", "train.txt", "test.txt")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: train.txt: is not a rulerank model: it begins with ")
    assert run("rank", "none.rulerank", "test.txt").err == "error: none.rulerank: there is no such file\n"


def test_a_run_of_a_table_with_clicks_names_the_pool(run, folder):
    world = rr.make_ranking(n_queries=5, n_features=3, seed=0)
    seen = rr.simulate_clicks(world, world.X[:, 0], n_impressions=500, seed=0)
    rr.write_table(seen, "seen.parquet")
    rr.QueryIntercepts(l2=10.0).fit(seen).save("clicks.rulerank")
    done = run("rank", "clicks.rulerank", "seen.parquet", "-o", "new.run")
    assert done.code == 2
    assert "seen.parquet has a row for each position that a document was shown at, and a run has each" in done.err
    assert "rank the pool that the log was joined with" in done.err
