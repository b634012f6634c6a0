import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import rulerank.evaluation as library
from rulerank.io.formats import read_any


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("convention", ["standard", "standard-exp", "letor3", "letor4"])
def test_scores_beside_data_give_what_the_library_gives(run, folder, convention):
    data = read_any("test.txt")
    measures = ["NDCG@10", "MAP", "ERR@5", "MRR"]
    expected = library.evaluate(data.y, np.loadtxt("scores.txt"), data.qid, measures, convention=convention)
    done = run("evaluate", "test.txt", "scores.txt", "-m", "NDCG@10,MAP", "-m", "ERR@5", "-m", "mrr",
               "--convention", convention, "--csv")  # fmt: skip
    assert done.code == 0
    [row] = rows_of(done.out)
    assert row["ranking"] == "scores.txt"
    assert {name: float(row[name]) for name in measures} == expected.means
    assert int(row["tied"]) == expected.n_tied


def test_a_feature_ranks_as_its_values_do(run, folder):
    by_scores = run("evaluate", "test.txt", "scores.txt", "--json", "-m", "MAP")
    by_feature = run("evaluate", "test.csv", "--feature", "bm25_body", "--json", "-m", "MAP")
    means = [json.loads(done.out)["rankings"][0]["means"] for done in (by_scores, by_feature)]
    assert means[0] == pytest.approx(means[1])


def test_minus_a_feature_ranks_the_lowest_first_and_missing_values_last(run, folder):
    Path("t.csv").write_text("qid,grade,depth\n1,0,3\n1,0,\n1,1,1\n1,0,2\n")
    done = run("evaluate", "t.csv", "--feature", "-depth", "--feature", "depth", "-m", "MRR", "--csv")
    assert [float(row["MRR"]) for row in rows_of(done.out)] == [1.0, 1 / 3]
    said = "1 of 4 documents have no depth: they are ranked last"
    assert done.err == f"note: -depth: {said}\nnote: depth: {said}\n"
    table = run("evaluate", "t.csv", "--feature", "depth")
    assert table.out.splitlines()[-1] == f"depth: {said}"
    assert table.err == ""
    [ranking] = json.loads(run("evaluate", "t.csv", "--feature", "depth", "--json").out)["rankings"]
    assert ranking["n_missing_values"] == 1


def test_the_column_of_a_table_may_hold_the_score(run, folder):
    Path("t.csv").write_text("q,d,rel,score\n1,a,0,0.1\n1,b,1,0.9\n")
    done = run("evaluate", "t.csv", "--qid", "q", "--docid", "d", "--grade", "rel", "--score-column", "score",
               "-m", "P@1", "--csv")  # fmt: skip
    assert [float(row["P@1"]) for row in rows_of(done.out)] == [1.0]


def test_the_table_says_how_ties_were_resolved_and_how_many_there_are(run, folder):
    Path("zeros.txt").write_text("0\n" * 96)
    done = run("evaluate", "test.txt", "zeros.txt", "-m", "MAP")
    header, row, note = done.out.splitlines()
    assert header.split() == ["ranking", "MAP", "queries", "docs", "tied"]
    assert row.split()[2:] == ["12", "96", "96"]
    assert "ties expected: the exact mean over all orders of the tied documents" in note
    done = run("evaluate", "test.txt", "zeros.txt", "-m", "MAP", "--convention", "letor3")
    assert "convention letor3; ties file: tied documents stay in the order they came" in done.out
    done = run("evaluate", "test.txt", "zeros.txt", "-m", "MAP", "--ties", "docid")
    assert "ties docid" in done.out


def test_per_query_lines_average_to_the_mean(run, folder):
    lines = rows_of(run("evaluate", "test.txt", "scores.txt", "-m", "MAP", "--per-query", "--csv").out)
    [mean] = rows_of(run("evaluate", "test.txt", "scores.txt", "-m", "MAP", "--csv").out)
    assert [line["qid"] for line in lines] == [f"q{i + 1}" for i in range(12)]
    assert np.mean([float(line["AP"]) for line in lines]) == pytest.approx(float(mean["MAP"]))
    payload = json.loads(run("evaluate", "test.txt", "scores.txt", "-m", "MAP", "--per-query", "--json").out)
    assert payload["rankings"][0]["per_query"]["MAP"] == [float(line["AP"]) for line in lines]
    table = run("evaluate", "test.txt", "scores.txt", "-m", "MAP", "--per-query").out
    assert table.splitlines()[0].split() == ["ranking", "qid", "AP"]


def test_runs_stand_side_by_side(run, folder):
    both = run("evaluate", "--qrels", "qrels.txt", "one.run", "two.run", "-m", "MAP", "--csv")
    rows = rows_of(both.out)
    assert [row["ranking"] for row in rows] == ["one.run", "two.run"]
    [alone] = rows_of(run("evaluate", "test.txt", "scores.txt", "-m", "MAP", "--csv").out)
    assert float(rows[0]["MAP"]) == pytest.approx(float(alone["MAP"]))


def test_a_query_that_a_run_lacks_counts_only_with_complete(run, folder):
    kept = [line for line in Path("one.run").read_text().splitlines(keepends=True) if not line.startswith("q1 ")]
    Path("one.run").write_text("".join(kept))
    plain = run("evaluate", "--qrels", "qrels.txt", "one.run", "--csv")
    complete = run("evaluate", "--qrels", "qrels.txt", "one.run", "--csv", "--complete")
    assert [rows_of(done.out)[0]["queries"] for done in (plain, complete)] == ["11", "12"]
    missing = "one.run: 1 of 12 judged queries are not in the run: they"
    assert plain.err == f"note: {missing} are not counted; --complete counts them 0\n"
    assert complete.err == f"note: {missing} count 0\n"
    table = run("evaluate", "--qrels", "qrels.txt", "one.run", "two.run").out
    assert table.splitlines()[-1] == f"{missing} are not counted; --complete counts them 0"
    assert missing in run("evaluate", "--qrels", "qrels.txt", "one.run", "--markdown").out
    one, two = json.loads(run("evaluate", "--qrels", "qrels.txt", "one.run", "two.run", "--json").out)["rankings"]
    assert one["n_queries_not_in_run"] == 1
    assert "n_queries_not_in_run" not in two


def test_a_query_without_judgements_is_said(run, folder):
    with Path("one.run").open("a") as file:
        file.write("other Q0 d1 1 0.5 me\n")
    done = run("evaluate", "--qrels", "qrels.txt", "one.run")
    assert done.out.splitlines()[-1] == "one.run: 1 of 13 queries of the run have no judgements: they are not counted"
    [ranking] = json.loads(run("evaluate", "--qrels", "qrels.txt", "one.run", "--json").out)["rankings"]
    assert (ranking["n_queries"], ranking["n_queries_not_judged"]) == (12, 1)


def test_comparing_runs_agrees_with_comparing_the_scores_they_hold(run, folder):
    data = read_any("test.csv")
    Path("a.txt").write_text("\n".join(map(repr, data.X[:, 0].tolist())))
    Path("b.txt").write_text("\n".join(map(repr, data.X[:, 2].tolist())))
    expected = library.compare(data.y, {"a.txt": data.X[:, 0], "b.txt": data.X[:, 2]}, data.qid, ["MAP", "P@1"])
    measures = ("-m", "MAP", "-m", "P@1", "--compare", "--json")
    by_scores = json.loads(run("evaluate", "test.csv", "a.txt", "b.txt", *measures).out)["pairs"]
    by_runs = json.loads(run("evaluate", "--qrels", "qrels.txt", "one.run", "two.run", *measures).out)["pairs"]
    assert by_scores == expected.to_dict()["pairs"]
    for pair, other in zip(by_scores, by_runs, strict=True):
        assert other | {"a": "a.txt", "b": "b.txt"} == pair


def test_a_comparison_prints_as_a_table_and_as_markdown(run, folder):
    two = ("evaluate", "test.csv", "--feature", "bm25_body", "--feature", "pagerank", "-m", "MAP", "--compare")
    out = run(*two).out
    [header] = [line for line in out.splitlines() if "wins/ties/losses" in line]
    assert "p t  p randomisation" in header
    assert max(map(len, out.splitlines()[:-1])) <= 150  # the last line is prose
    assert run(*two, "--markdown").out.count("\n| --- |") == 2


def test_markdown_holds_the_figures_and_the_note(run, folder):
    out = run("evaluate", "test.txt", "scores.txt", "-m", "MAP", "--markdown").out
    assert out.startswith("| ranking | MAP | queries | docs | tied |\n| --- | ---: |")
    assert "ties expected" in out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("nothere.txt scores.txt", "nothere.txt: there is no such file"),
        ("test.txt nothere.txt", "nothere.txt: there is no such file"),
        (". scores.txt", ".: expected a file, got a directory"),
        ("test.txt", "expected scores for test.txt: name a score file after it, or a column with --feature"),
        ("test.txt short.txt", "short.txt: expected 96 scores, one per document of test.txt: got 3"),
        ("test.txt words.txt", "words.txt:2: expected one finite number, the score of a document: got 'two'"),
        ("test.txt nan.txt", "nan.txt:3: expected one finite number, the score of a document: got 'nan'"),
        ("test.txt empty.txt", "empty.txt: the file is empty: expected one score per line"),
        ("test.txt --feature bm25", "there is no feature 'bm25'; the data has f1, f2, f3,"),
        ("test.txt scores.txt -m NDGC@10", "unknown measure 'NDGC@10'; did you mean NDCG@10? choose from MAP[@k],"),
        ("test.txt scores.txt -m P", "P needs a cutoff: write P@1 or P@10"),
        ("test.txt scores.txt --convention letor5", "unknown convention 'letor5'; choose from standard,"),
        ("test.txt scores.txt --ties any", "unknown tie rule 'any'; choose from expected, file, docid"),
        ("test.txt scores.txt --csv --json", "choose one of --csv and --json"),
        ("test.txt scores.txt --compare", "expected at least two rankings to compare: got 1"),
        ("test.csv --feature clicks --feature pagerank --compare --csv", "--compare has no csv; choose --json or"),
        ("test.txt scores.txt scores.txt", "each file and feature may be named once: 'scores.txt' is there twice"),
        ("- -", "each file and feature may be named once: '-' is there twice"),
        (
            "train.csv --feature clicks",
            "train.csv: there is no column 'qid'; the columns are query, docid, grade,",
        ),
        ("test.txt scores.txt --from word", "unknown format 'word'; choose from letor, csv,"),
        ("--qrels qrels.txt bad.run", "bad.run:1: expected 'qid Q0 docid rank score tag', got 4 columns:"),
        ("--qrels qrels.txt foreign.run", "foreign.run: does not fit qrels.txt: no query is in both"),
        ("--qrels nothere.txt one.run", "nothere.txt: there is no such file"),
        ("--qrels qrels.txt one.run --feature f1", "--feature ranks by a column of the data; TREC runs have none"),
        (
            "one.run scores.txt",
            "one.run: a run holds scores, and neither grades nor features; it is judged beside qrels",
        ),
        ("one.run", "one.run: a run holds scores, and neither grades nor features; it is judged beside qrels (--qrels"),
        ("test.txt model.rulerank", "model.rulerank: this is a rulerank model, not data; use `rulerank rank`"),
        ("model.rulerank scores.txt", "model.rulerank: this is a rulerank model, not data; use `rulerank rank`"),
        ("ids.csv --feature a --ties docid", "--ties docid needs ids of the documents: name their column with --docid"),
        ("some.csv --feature a --unjudged 1", "unjudged must be 0, to count documents without a judgement as not"),
        (
            "none.csv --feature a",
            "none.csv: there is no column 'grade'; the columns are qid, a; name the column of the gr",
        ),
        (
            "semi.csv --feature a",
            "semi.csv:1: expected column names with a comma between them, got 'qid;grade;a': the s",
        ),
    ],
)
def test_a_mistake_is_one_line_on_stderr_and_exit_code_2(run, folder, args, message):
    Path("short.txt").write_text("1\n2\n3\n")
    Path("words.txt").write_text("1\ntwo\n3\n")
    Path("nan.txt").write_text("1\n2\nnan\n")
    Path("empty.txt").write_text("\n")
    Path("bad.run").write_text("q1 Q0 d1 1\n")
    Path("ids.csv").write_text("qid,grade,a\n1,0,0.5\n")
    Path("some.csv").write_text("qid,grade,a\n1,0,0.5\n1,?,0.5\n")
    Path("none.csv").write_text("qid,a\n1,0.5\n")
    Path("semi.csv").write_text("qid;grade;a\n1;0;0,5\n")
    Path("foreign.run").write_text("other Q0 d1 1 0.5 me\n")
    done = run("evaluate", *args.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {message}")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("name", ["letor3-ohsumed.Fold1.ties", "letor4-mq2008.Fold4.rules"])
def test_official_figures_come_out_of_the_command_line(run, letor, official, name):
    data, fold, _ = name.split(".")
    lines = [line for line in csv.DictReader((official / "official.csv").open()) if line["scores"] == name]
    measures = [option for line in lines for option in ("-m", line["measure"])]
    done = run("evaluate", str(letor / data / fold / "test.txt"), str(official / f"{name}.score.gz"),
               "--convention", lines[0]["convention"], "--csv", *measures)  # fmt: skip
    [row] = rows_of(done.out)
    digits = 1e-9 if data.startswith("letor3") else 5.1e-5  # the LETOR 4 script prints four digits
    for line in lines:
        assert float(row[line["measure"]]) == pytest.approx(float(line["value"]), abs=digits)


def test_a_run_and_judged_data_meet_by_ids(run, folder):
    by_qrels = json.loads(run("evaluate", "--qrels", "qrels.txt", "one.run", "--json").out)["rankings"][0]
    for judged in ("test.txt", "test.csv"):
        beside_data = json.loads(run("evaluate", judged, "one.run", "--json").out)["rankings"][0]
        as_qrels = json.loads(run("evaluate", "--qrels", judged, "one.run", "--json").out)["rankings"][0]
        assert beside_data["means"] == as_qrels["means"] == by_qrels["means"]


def test_a_table_of_scores_with_ids_is_a_run(run, folder):
    run("rank", "model.rulerank", "test.txt", "-o", "ranked.csv")
    run("rank", "model.rulerank", "test.txt", "-o", "ranked.run")
    first, second = json.loads(run("evaluate", "test.txt", "ranked.csv", "ranked.run", "--json").out)["rankings"]
    assert first["means"] == second["means"]


def test_scores_runs_and_features_are_compared_in_one_table(run, folder):
    done = run("evaluate", "test.csv", "one.run", "scores.txt", "--feature", "pagerank", "--compare")
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()[1:4]] == ["one.run", "scores.txt", "pagerank"]


def test_measures_with_brackets_and_commas_are_taken_apart_right(run, folder):
    done = run("evaluate", "test.csv", "--feature", "bm25_body", "-m", "RBP(p=0.8),Success(rel=2,judged_only=True)@3",
               "--ties", "file", "--json")  # fmt: skip
    assert done.code == 0, done.err
    assert list(json.loads(done.out)["rankings"][0]["means"]) == ["RBP(p=0.8)", "Success(rel=2,judged_only=True)@3"]
