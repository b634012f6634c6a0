"""rulerank explain: documents, rankings and models, on a terminal and in files."""

import io
import re
import sys

import pytest

import rulerank as rr
from rulerank.cli.output import print_page

EXPLAIN = ("explain", "test.txt", "model.rulerank")


def test_a_table_with_clicks_has_each_document_once(run, folder):
    seen = rr.read_table("pool-with-clicks.parquet")
    own = seen[seen.qid == "q1"]
    assert len({*own.docid}) < len(own)
    done = run("explain", "pool-with-clicks.parquet", "clicks.rulerank", "--query", "q1")
    assert done.code == 0
    assert f"{len({*own.docid})} documents" in done.out


@pytest.fixture
def scored(folder):
    """The scores of query q1, and its lowest and highest document."""
    data = rr.read_letor("test.txt")
    own = data[data.qid == "q1"]
    scores = rr.load("model.rulerank").predict(own)
    return scores, str(own.docid[scores.argmin()]), str(own.docid[scores.argmax()])


def test_two_documents_are_compared_and_what_would_lift_the_lower_is_said(run, scored):
    scores, low, high = scored
    done = run(*EXPLAIN, "--doc", low, "--versus", high, "--what-if")
    assert done.out.startswith(f"Why {high} is above {low}")
    assert f"What would lift {low} above {scores.max():.3f}" in done.out
    payload = run.json(*EXPLAIN, "--doc", low, "--what-if")
    assert payload["kind"] == "explanation"
    assert payload["what_if"]["above"] == min(scores[scores > scores.min()])


def test_a_document_on_top_has_nothing_to_change_and_the_page_says_so(run, scored):
    _, low, high = scored
    assert f"It already ranks above {low}." in run(*EXPLAIN, "--doc", high, "--versus", low, "--what-if").out
    assert "It already ranks above all others." in run(*EXPLAIN, "--doc", high, "--what-if").out
    payload = run.json(*EXPLAIN, "--doc", high, "--what-if")
    assert payload["what_if"]["note"] == "It already ranks above all others."


def test_names_of_features_are_kept_by_the_model_file(run, folder):
    (folder / "names.csv").write_text("feature,name\nf10,match in the title\n")
    rr.load("model.rulerank").name_features("names.csv").save("named.rulerank")
    assert "match in the title" in run("explain", "test.txt", "named.rulerank").out


def test_documents_that_are_there_only_because_they_are_judged_are_not_ranked(run, folder):
    (folder / "extra.csv").write_text(
        "qid,docid,f1,grade,judged:qrels,base:qrels\na,x,1,1,yes,0:1 1:2\na,y,2,0,yes,0:1 1:2\na,z,3,1,extra,0:1 1:2\n"
        "b,x,1,0,extra,0:1 1:1\nb,y,2,1,yes,0:1 1:1\n"
    )
    rr.GlobalRules().fit([[0.0], [1.0]] * 5, [0, 1] * 5, qid=[1] * 10).save("one.rulerank")
    found = run.json("explain", "extra.csv", "one.rulerank", "--query", "a")
    assert {doc["document"] for doc in found["documents"]} == {"x", "y"}
    assert run("explain", "extra.csv", "one.rulerank", "--doc", "z").out.startswith("Why z scores")
    why = run("explain", "extra.csv", "one.rulerank", "--query", "a", "--doc", "x").out
    assert "lowest of 2" in why  # x is extra in another query only


def test_a_query_alone_explains_its_ranking_and_nothing_the_model(run, folder):
    done = run(*EXPLAIN, "--query", "q1", "-o", "why.html")
    assert (done.code, done.out) == (0, "why.html: The ranking for query q1\n")
    found = run.json(*EXPLAIN, "--query", "q1", "--top", "3", "--baseline", "-f1")
    assert (found["baseline"], len(found["documents"])) == ("f1, lowest first", 3)
    assert run.json(*EXPLAIN, "--query", "q1", "--baseline", "none")["baseline"] is None
    assert run(*EXPLAIN).out.startswith("What the model does")
    assert run.json("explain", "test.txt", "query.rulerank")["kind"] == "overview"


@pytest.mark.parametrize(
    ("name", "start"), [("a.html", "<!DOCTYPE"), ("a.md", "# Wh"), ("a.json", "{"), ("a.txt", "Wh")]
)
def test_the_name_of_the_file_says_the_format_of_a_page_and_of_a_release_page(run, folder, name, start):
    assert run(*EXPLAIN, "--doc", "q1-d3", "-o", name).out.startswith(f"{name}: Why q1-d3 scores ")
    assert (folder / name).read_text().startswith(start)
    done = run(*EXPLAIN, "--baseline", "f1 + f2", "--report", name)
    assert done == (0, f"{name}: What changes with model.rulerank\n", "")
    assert re.match(rf"{re.escape(start)}[^$]*f1 \+ f2", (folder / name).read_text())


def test_a_release_page_takes_labels_from_a_file(run, folder):
    release = (*EXPLAIN, "--baseline", "f1", "--labels")
    data = rr.read_letor("test.txt")
    lines = [f"{query},{doc},{grade}" for query, doc, grade in zip(data.qid, data.docid, data.y, strict=True)]
    (folder / "same.csv").write_text("\n".join(["qid,docid,grade", *lines]))
    (folder / "few.csv").write_text("\n".join(["qid,docid,grade", *lines[::2], "q1,elsewhere,1"]))
    (folder / "other.csv").write_text("qid,docid,grade\nq1,elsewhere,1\nq1,nowhere,0\n")
    same, own = run.json(*release, "same.csv"), run.json(*EXPLAIN, "--baseline", "f1")
    assert (same["comparisons"], same["entered"]) == (own["comparisons"], own["entered"])
    assert 0 < run.json(*release, "few.csv")["n_labelled"] < same["n_labelled"]
    wrong = "error: other.csv has no label of a document in test.txt: check the query and document ids\n"
    assert run(*release, "other.csv").err == wrong
    done = run(*EXPLAIN, "--labels", "same.csv")
    assert done.err == "error: --labels is for the report on all queries: add --baseline, leave out --query and --doc\n"


@pytest.mark.parametrize("model", ["model.rulerank", "query.rulerank"])  # sums of tables, and not
def test_what_a_model_has_learned_is_drawn(run, folder, model):
    pytest.importorskip("matplotlib", reason="needs the extra: figures")
    for name in ("curves.svg", "again.svg"):
        assert run.json("explain", "test.txt", model, "-o", name) == {"file": name, "rows": 96}
    assert b"<svg" in (folder / "curves.svg").read_bytes() == (folder / "again.svg").read_bytes()


def test_documents_without_ids_go_by_their_number(run, folder):
    lines = (folder / "test.txt").read_text().splitlines()
    (folder / "bare.txt").write_text("".join(line.partition("#")[0] + "\n" for line in lines))
    bare = ("explain", "bare.txt", "model.rulerank")
    done = run(*bare, "--query", "q1", "--doc", "3")
    assert done.out.startswith("Why row 3 scores")
    assert run(*bare, "--doc", "row 3") == done
    assert run(*bare, "--doc", str(len(lines))).out.startswith(f"Why row {len(lines)} scores")
    done = run(*bare, "--query", "q1", "--doc", str(len(lines)))
    assert done.err.startswith(f"error: no document 'row {len(lines)}' in query q1: it has row 1, row 2, ")


def test_a_document_in_two_queries_needs_its_query(run, folder):
    (folder / "twice.csv").write_text("qid,docid,f1\na,d,1\nb,d,2\n")
    rr.GlobalRules().fit([[0.0], [1.0]] * 5, [0, 1] * 5, qid=[1] * 10).save("one.rulerank")
    done = run("explain", "twice.csv", "one.rulerank", "--doc", "d")
    assert done.err == "error: document 'd' is in queries a, b: choose one with --query\n"


def test_a_terminal_gets_colours(folder, monkeypatch):
    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self):
            return True

    monkeypatch.setenv("COLUMNS", "100")
    print_page(rr.load("model.rulerank").explain(rr.read_letor("test.txt"), 0).page(), terminal := Terminal())
    assert "Feature by feature" in terminal.getvalue()
    assert sys.stdout is not terminal
