import io
import json
import re
import sys
from decimal import Decimal

import numpy as np
import pytest

import rulerank as rr
from rulerank.cli.explain import write
from rulerank.explain import lift_of


def test_a_document_is_explained(run, folder):
    done = run("explain", "model.rulerank", "test.txt", "--query", "q1", "--doc", "q1-d3")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Why q1-d3 scores ")
    assert "Feature by feature" in done.out


def numbers_below(title, table):
    """The numbers of a column, which end where its title ends; cells of words may take several lines."""
    _, header, *lines = table.splitlines()
    end = header.index(title) + len(title)
    found = [re.search(r"  ([+-]\d+\.\d+)$", line[:end]) for line in lines if len(line) >= end]
    return [Decimal(number[1]) for number in found if number]


def test_the_text_of_a_few_label_model_names_the_baseline_ranking_and_adds_up(run, folder):
    data = rr.make_ranking(n_queries=8, docs_per_query=12, n_features=16, seed=4)
    rr.write_table(data, "pool.csv")
    rr.Anchored(today="bm25_body").fit(data[:40]).save("few.rulerank")
    out = run("explain", "few.rulerank", "pool.csv", "--query", "q1", "--doc", "q1-d2", "--versus", "q1-d5").out
    table = out[out.index("Feature by feature") : out.index("These add up to the difference, ")]
    numbers = numbers_below("difference", table)
    total = Decimal(re.search(r"These add up to the difference, ([\d.]+)\.\s", out)[1])
    assert sum(numbers) == total
    high, low, difference = map(Decimal, re.search(r"scores (\S+) and \S+ (\S+): (\S+) between", out).groups())
    assert high - low == difference == total
    assert "\nbaseline ranking" in table
    assert re.search(r"\n\d+ smaller parts", table)
    one = run("explain", "few.rulerank", "pool.csv", "--query", "q1", "--doc", "q1-d2").out
    table = one[one.index("Feature by feature") : one.index("these add up to ")]
    numbers = numbers_below("adds", table)
    assert len(numbers) == 11
    assert sum(numbers) == Decimal(re.match(r"Why q1-d2 scores (\S+)", one)[1])


def test_a_table_with_clicks_has_each_document_once(run, folder):
    world = rr.make_ranking(n_queries=5, n_features=3, seed=0)
    seen = rr.simulate_clicks(world, world.X[:, 0], n_impressions=500, seed=0)
    rr.write_table(seen, "seen.parquet")
    rr.QueryIntercepts(l2=10.0).fit(seen).save("clicks.rulerank")
    own = seen[seen.qid == "q1"]
    n_documents = len({*own.docid})
    assert n_documents < len(own)
    done = run("explain", "clicks.rulerank", "seen.parquet", "--query", "q1", "--ranking")
    assert (done.code, done.err) == (0, "")
    assert f"{n_documents} documents" in done.out
    assert f"of {n_documents}" in run("explain", "clicks.rulerank", "seen.parquet", "--query", "q1").out


def test_two_documents_are_compared_and_what_would_lift_the_lower_is_said(run, folder):
    ranker, data = rr.load("model.rulerank"), rr.read_letor("test.txt")
    own = data[data.qid == "q1"]
    scores = ranker.predict(own)
    low, high = (str(own.docid[i]) for i in (scores.argmin(), scores.argmax()))
    done = run("explain", "model.rulerank", "test.txt", "--doc", low, "--versus", high, "--what-if")
    assert done.out.startswith(f"Why {high} is above {low}")
    assert f"What would lift {low} above {scores.max():.3f}" in done.out
    payload = json.loads(run("explain", "model.rulerank", "test.txt", "--doc", low, "--what-if", "--json").out)
    assert payload["kind"] == "explanation"
    assert payload["what_if"]["above"] == min(scores[scores > scores.min()])


def test_a_query_alone_explains_its_first_document(run, folder):
    ranker, data = rr.load("model.rulerank"), rr.read_letor("test.txt")
    own = data[data.qid == "q2"]
    best = own.docid[ranker.predict(own).argmax()]
    assert run("explain", "model.rulerank", "test.txt", "--query", "q2").out.startswith(f"Why {best} scores ")


def test_without_a_document_the_model_is_explained(run, folder):
    assert run("explain", "model.rulerank", "test.txt").out.startswith("What the model does")
    assert json.loads(run("explain", "query.rulerank", "test.txt", "--json").out)["kind"] == "overview"


@pytest.mark.parametrize(("name", "start"), [("a.html", "<!DOCTYPE"), ("a.md", "# Why"), ("a.json", "{"), ("a", "Why")])
def test_the_name_of_the_file_says_the_format(run, folder, name, start):
    done = run("explain", "model.rulerank", "test.txt", "--doc", "q1-d3", "-o", name)
    assert done.out.startswith(f"{name}: Why q1-d3 scores ")
    assert (folder / name).read_text().startswith(start)


def test_a_format_can_be_named(run, folder):
    args = ("explain", "model.rulerank", "test.txt", "--doc", "q1-d3")
    assert run(*args, "--to", "markdown").out.startswith("# Why")
    done = run(*args, "-o", "why.html", "--json")
    assert json.loads(done.out) == {"file": "why.html", "format": "html"}


def test_documents_without_ids_go_by_their_number(run, folder):
    lines = (folder / "test.txt").read_text().splitlines()
    (folder / "bare.txt").write_text("".join(line.partition("#")[0] + "\n" for line in lines))
    done = run("explain", "model.rulerank", "bare.txt", "--query", "q1", "--doc", "3", "--what-if")
    assert done.out.startswith("Why row 3 scores")
    assert run("explain", "model.rulerank", "bare.txt", "--doc", "row 3", "--what-if") == done
    last = len(lines)
    done = run("explain", "model.rulerank", "bare.txt", "--doc", str(last))
    assert done.out.startswith(f"Why row {last} scores")
    done = run("explain", "model.rulerank", "bare.txt", "--query", "q1", "--doc", str(last))
    assert done.err.startswith(f"error: no document 'row {last}' in query q1: it has row 1, row 2, ")
    done = run("explain", "model.rulerank", "bare.txt", "--doc", str(last + 1))
    assert done.err == f"error: document 'row {last + 1}' is in no query of the data\n"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--versus", "q1-d3"], "--versus and --what-if need the document that is meant: name it with --doc"),
        (["--query", "q99"], "no query 'q99' in the data: it has q1, q2"),
        (["--query", "q1", "--doc", "d99"], "no document 'd99' in query q1: it has q1-d1"),
        (["--doc", "d99"], "document 'd99' is in no query of the data"),
        (["--doc", "q1-d3", "--versus", "x"], "no document 'x' in query q1"),
        (["--doc", "q1-d3", "--versus", "q1-d3"], "--doc and --versus name the same document, 'q1-d3': choose two"),
        (["--doc", "q1-d3", "--to", "pdf"], "unknown format 'pdf'; choose from text, markdown, html, json"),
        (
            ["--doc", "q1-d3", "-o", "why.svg"],
            "cannot tell the format from the name 'why.svg'; end it in one of .txt, .md",
        ),
    ],
)
def test_mistakes_are_named(run, folder, args, message):
    done = run("explain", "model.rulerank", "test.txt", *args)
    assert done.code == 2
    assert done.err.startswith(f"error: {message}")


def test_model_and_data_in_the_wrong_order_are_told_with_this_command(run, folder):
    done = run("explain", "test.txt", "model.rulerank")
    assert done == (2, "", "error: MODEL comes first, then DATA: rulerank explain model.rulerank test.txt\n")


def test_a_document_in_two_queries_needs_its_query(run, folder):
    (folder / "twice.csv").write_text("qid,docid,f1\na,d,1\nb,d,2\n")
    rr.GlobalRules().fit([[0.0], [1.0]] * 5, [0, 1] * 5, qid=[1] * 10).save("one.rulerank")
    done = run("explain", "one.rulerank", "twice.csv", "--doc", "d")
    assert done.err == "error: document 'd' is in queries a, b: choose one with --query\n"


def test_the_score_to_beat_is_that_of_the_other_or_of_the_one_before(folder):
    data = rr.read_letor("test.txt")
    own = data[data.qid == "q1"][:4]
    scores, ranker = np.array([0.5, 0.9, 0.7, 0.7]), rr.load("model.rulerank")
    expected = {(0, None): 0.7, (1, None): None, (0, 1): 0.9, (1, 0): None, (2, 3): 0.7}
    for (row, other), above in expected.items():
        lift = lift_of(ranker, own, scores, row, other)
        assert (None if lift is None else lift.above) == above


def test_a_terminal_gets_colours(folder, monkeypatch):
    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self):
            return True

    data = rr.read_letor("test.txt")
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("COLUMNS", "100")
    write(rr.load("model.rulerank").explain(data, 0), "text", "-")
    assert "Feature by feature" in sys.stdout.getvalue()


def test_the_whole_ranking_of_a_query_is_a_page(run, folder):
    done = run("explain", "model.rulerank", "test.txt", "--query", "q1", "--ranking", "-o", "why.html")
    assert (done.code, done.out) == (0, "why.html: The ranking for query q1\n")
    found = json.loads(run("explain", "model.rulerank", "test.txt", "--query", "q1", "--ranking", "--first", "3",
                           "--today", "-f1", "--json").out)  # fmt: skip
    assert (found["today"], len(found["documents"])) == ("f1, lowest first", 3)
    none = run("explain", "model.rulerank", "test.txt", "--query", "q1", "--ranking", "--today", "none", "--json")
    assert json.loads(none.out)["today"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--ranking",), "error: --ranking needs the query that is meant: name it with --query"),
        (("--ranking", "--query", "q1", "--doc", "q1-d3"), "error: --ranking explains all documents of a query: leave"),
        (("--query", "q1", "--today", "f1"), "error: --today and --first belong to --ranking"),
        (("--query", "q1", "--ranking", "--first", "0"), "error: n must be a whole number from 1 on"),
        (("--query", "q1", "--ranking", "--today", "fame"), "error: today: there is no feature 'fame'"),
    ],
)
def test_mistakes_about_a_ranking_are_named(run, folder, options, message):
    done = run("explain", "model.rulerank", "test.txt", *options)
    assert done.code != 0
    assert done.err.startswith(message)
