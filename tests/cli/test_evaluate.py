"""rulerank evaluate: what the library measures, from files and into files."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import rulerank.evaluation as library
from rulerank.io.formats import read_any


def rows_of(run, *words):
    """The rows of the csv that a command writes, and what it says on stderr."""
    done = run("evaluate", *words, "-o", "figures.csv")
    assert done.code == 0, done.err
    return list(csv.DictReader(Path("figures.csv").open())), done.err


def rankings_of(run, *words):
    return run.json("evaluate", *words)["rankings"]


@pytest.mark.parametrize("convention", ["standard", "standard-exp", "letor3", "letor4"])
def test_scores_beside_data_give_what_the_library_gives(run, folder, convention):
    data, measures = read_any("test.txt"), ["NDCG@10", "MAP", "ERR@5", "MRR"]
    expected = library.evaluate(data.y, np.loadtxt("scores.txt"), data.qid, measures, convention=convention)
    words = ("test.txt", "scores.txt", "-m", "NDCG@10,MAP", "-m", "ERR@5", "-m", "mrr", "--convention", convention)
    [row], _ = rows_of(run, *words)
    assert row["ranking"] == "scores.txt"
    assert {name: float(row[name]) for name in measures} == expected.means
    assert int(row["tied"]) == expected.n_tied


def test_settings_of_a_convention_are_the_library_s(run, folder):
    data, scores = read_any("test.txt"), np.loadtxt("scores.txt").round(1)
    np.savetxt("rounded.txt", scores)
    given = {"ties": "docid", "relevant_from": 2, "max_grade": 4}
    words = ("test.txt", "rounded.txt", "--convention", "standard:ties=docid,relevant_from=2,max_grade=4")
    expected = library.evaluate(data.y, scores, data.qid, ["MAP", "ERR@5"], docid=data.docid, **given)
    assert rankings_of(run, *words, "-m", "MAP,ERR@5")[0]["means"] == expected.means


def test_minus_a_feature_ranks_the_lowest_first_and_missing_values_last(run, folder):
    Path("t.csv").write_text("q,d,rel,depth\n1,a,0,3\n1,b,0,\n1,c,1,1\n1,d,0,2\n")
    columns = ("--qid", "q", "--docid", "d", "--grade", "rel")
    rows, err = rows_of(run, "t.csv", *columns, "--feature", "-depth", "--feature", "depth", "-m", "MRR")
    assert [float(row["MRR"]) for row in rows] == [1.0, 1 / 3]
    said = "1 of 4 documents have no depth: they are ranked last"
    assert err == f"note: -depth: {said}\nnote: depth: {said}\n"
    assert run("evaluate", "t.csv", *columns, "--feature", "depth").out.splitlines()[-1] == f"depth: {said}"
    assert rankings_of(run, "t.csv", *columns, "--feature", "depth")[0]["n_missing_values"] == 1


def test_the_table_says_how_ties_were_resolved_and_how_many_there_are(run, folder):
    Path("zeros.txt").write_text("0\n" * 96)
    header, row, note = run("evaluate", "test.txt", "zeros.txt", "-m", "MAP").out.splitlines()
    assert header.split() == ["ranking", "MAP", "queries", "docs", "tied"]
    assert row.split()[2:] == ["12", "96", "96"]
    assert "ties expected: the exact mean over all orders of the tied documents" in note
    done = run("evaluate", "test.txt", "zeros.txt", "-m", "MAP", "--convention", "letor3")
    assert "convention letor3; ties file: tied documents stay in the order they came" in done.out


def test_per_query_lines_average_to_the_mean(run, folder):
    words = ("test.txt", "scores.txt", "-m", "MAP")
    lines, _ = rows_of(run, *words, "--per-query")
    [mean], _ = rows_of(run, *words)
    assert [line["qid"] for line in lines] == [f"q{i + 1}" for i in range(12)]
    assert np.mean([float(line["AP"]) for line in lines]) == pytest.approx(float(mean["MAP"]))
    assert rankings_of(run, *words, "--per-query")[0]["per_query"]["MAP"] == [float(line["AP"]) for line in lines]
    assert run("evaluate", *words, "--per-query").out.splitlines()[0].split() == ["ranking", "qid", "AP"]


def test_runs_scores_and_judged_data_meet(run, folder):
    [by_qrels, _] = rankings_of(run, "--qrels", "qrels.txt", "one.run", "two.run")
    for words in (["test.txt", "one.run"], ["test.csv", "one.run"], ["--qrels", "test.csv", "one.run"]):
        assert rankings_of(run, *words)[0]["means"] == by_qrels["means"]
    assert rankings_of(run, "test.txt", "scores.txt")[0]["means"] == pytest.approx(by_qrels["means"])
    run("rank", "test.txt", "model.rulerank", "-o", "ranked.csv")
    run("rank", "test.txt", "model.rulerank", "-o", "ranked.run")
    first, second = rankings_of(run, "test.txt", "ranked.csv", "ranked.run")
    assert first["means"] == second["means"]


def test_a_query_that_a_run_lacks_counts_only_in_a_complete_convention(run, folder):
    kept = [line for line in Path("one.run").read_text().splitlines(keepends=True) if not line.startswith("q1 ")]
    Path("one.run").write_text("".join(kept) + "other Q0 d1 1 0.5 me\n")
    plain, said = rows_of(run, "--qrels", "qrels.txt", "one.run")
    complete, also = rows_of(run, "--qrels", "qrels.txt", "one.run", "--convention", "standard:complete=true")
    assert [rows[0]["queries"] for rows in (plain, complete)] == ["11", "12"]
    missing = "one.run: 1 of 12 judged queries are not in the run: they"
    assert f"note: {missing} are not counted; " in said
    assert f"note: {missing} count 0\n" in also
    assert "one.run: 1 of 12 queries of the run have no judgements: they are not counted" in said
    one, two = rankings_of(run, "--qrels", "qrels.txt", "one.run", "two.run")
    assert (one["n_queries_not_in_run"], one["n_queries_not_judged"]) == (1, 1)
    assert "n_queries_not_in_run" not in two


def test_comparing_runs_agrees_with_comparing_the_scores_they_hold(run, folder):
    data = read_any("test.csv")
    for name, column in (("a.txt", 0), ("b.txt", 2)):
        Path(name).write_text("\n".join(map(repr, data.X[:, column].tolist())))
    expected = library.compare(data.y, {"a.txt": data.X[:, 0], "b.txt": data.X[:, 2]}, data.qid, ["MAP", "P@1"])
    words = ("-m", "MAP", "-m", "P@1", "--compare")
    by_scores = run.json("evaluate", "test.csv", "a.txt", "b.txt", *words)["pairs"]
    by_runs = run.json("evaluate", "--qrels", "qrels.txt", "one.run", "two.run", *words)["pairs"]
    assert by_scores == json.loads(json.dumps(expected.to_dict()))["pairs"]
    for pair, other in zip(by_scores, by_runs, strict=True):
        assert other | {"a": "a.txt", "b": "b.txt"} == pair


def test_a_comparison_prints_as_a_table_and_is_written_as_markdown(run, folder):
    words = ("evaluate", "test.csv", "one.run", "scores.txt", "--feature", "pagerank", "-m", "MAP", "--compare")
    out = run(*words).out
    assert [line.split()[0] for line in out.splitlines()[1:4]] == ["one.run", "scores.txt", "pagerank"]
    [header] = [line for line in out.splitlines() if "wins/ties/losses" in line]
    assert "p t  p randomisation" in header
    assert run(*words, "-o", "table.md").out == "table.md: 3 rankings\n"
    written = Path("table.md").read_text()
    assert written.startswith("| ranking | MAP | queries | docs | tied |\n| --- | ---: |")
    assert written.count("\n| --- |") == 2
    assert "ties expected" in written


@pytest.mark.parametrize("name", ["letor3-ohsumed.Fold1.ties", "letor4-mq2008.Fold4.rules"])
def test_official_figures_come_out_of_the_command_line(run, letor, official, name):
    data, fold, _ = name.split(".")
    lines = [line for line in csv.DictReader((official / "official.csv").open()) if line["scores"] == name]
    measures = [option for line in lines for option in ("-m", line["measure"])]
    words = (str(letor / data / fold / "test.txt"), str(official / f"{name}.score.gz"))
    [found] = rankings_of(run, *words, "--convention", lines[0]["convention"], *measures)
    digits = 1e-9 if data.startswith("letor3") else 5.1e-5  # the LETOR 4 script prints four digits
    for line in lines:
        assert found["means"][line["measure"]] == pytest.approx(float(line["value"]), abs=digits)
