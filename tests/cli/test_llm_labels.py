"""LLM labels on the command line: estimates from files and stores, sampled documents, and what is refused."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import rulerank as rr
from rulerank.io.formats import write_any
from rulerank.judging import LabelStore


@pytest.fixture
def judged(tmp_path, monkeypatch):
    """A pool of 60 queries in pool.csv, gpt.csv of a lenient LLM, human.csv of 25 queries, and two rankings."""
    monkeypatch.chdir(tmp_path)
    data = rr.datasets.make_ranking(n_queries=60, docs_per_query=12, seed=5)
    rng = np.random.default_rng(0)
    llm = np.minimum(2, data.y + (rng.random(len(data)) < 0.3))
    human = np.where(np.isin(data.qid, rng.permutation(np.unique(data.qid))[:25]), data.y, -1)
    bare = replace(data, X=data.X[:, :0], feature_names=())
    write_any(replace(data, y=np.full(len(data), -1)), "pool.csv")
    write_any(replace(bare, y=llm), "gpt.csv")
    write_any(replace(bare, y=human)[np.flatnonzero(human >= 0)], "human.csv")
    new = data.X[:, 0] + data.X[:, 1]
    np.savetxt("new.txt", new, fmt="%.9g")
    for name, scores in (("new", new), ("old", data.X[:, 2])):
        rr.io.write_run(rr.io.run_from_scores(data, scores, name), f"{name}.run")
    expected = rr.evaluation.estimate_with_llm(
        replace(data, y=llm), {"new.txt": new, data.feature_names[2]: data.X[:, 2]}, human
    )
    return data, data.feature_names[2], expected


def test_a_difference_and_both_levels_are_estimated(run, judged):
    _, old, expected = judged
    asked = "evaluate", "pool.csv", "new.txt", "--feature", old, "--labels", "human.csv", "--llm-labels", "gpt.csv"
    lines = run(*asked).out.splitlines()
    assert lines[: len(expected.lines())] == expected.lines()
    assert [line.split(":")[0] for line in lines if ": NDCG@10 " in line] == [f"new.txt - {old}", "new.txt", old]
    assert (
        f"LLM labels alone {expected.llm:+.3f}; as precise as {expected.as_precise_as} human queries instead of 25"
        in lines[0]
    )
    first = run.json(*asked, "-m", "MAP")["estimates"][0]
    assert (first["measure"], first["n_human"], first["n_queries"]) == ("MAP", 25, 60)
    assert first["estimate"]["low"] < first["estimate"]["value"] < first["estimate"]["high"]


def test_runs_alone_give_the_same(run, judged):
    *_, expected = judged
    found = run.json("evaluate", "new.run", "old.run", "--qrels", "human.csv", "--llm-labels", "gpt.csv")["estimates"][
        0
    ]
    assert found["estimate"] == pytest.approx(expected.to_dict()["estimate"], abs=1e-6)


def test_one_label_store_with_both_kinds_gives_the_same(run, judged):
    _, old, expected = judged
    run("labels", "judged.db", "--import", "human.csv", "--rater", "ann")
    run("labels", "judged.db", "--import", "gpt.csv", "--rater", "gpt", "--kind", "llm")
    found = run.json("evaluate", "pool.csv", "new.txt", "--feature", old, "--labels", "judged.db")["estimates"][0]
    assert found["estimate"] == expected.to_dict()["estimate"]


def test_sampled_documents_keep_their_probabilities_in_files_and_stores(run, judged):
    data, old, _ = judged
    asked = "sample", "pool.csv", "--for-comparison", "new.txt", "--baseline", old
    done = run(*asked, "-n", "30", "-o", "to-judge.csv")
    assert done.out == "to-judge.csv: 30 documents, one per query; 0 labelled\n"
    grade = dict(zip(zip(data.qid, data.docid, strict=True), data.y.tolist(), strict=True))
    sample = pl.read_csv("to-judge.csv")
    assert sample.columns == ["qid", "docid", "grade", "probability"]
    graded = sample.with_columns(grade=pl.Series([grade[pair] for pair in sample.select("qid", "docid").iter_rows()]))
    graded.write_csv("sampled.csv")
    run("labels", "judged.db", "--import", "sampled.csv", "--rater", "ann")
    run("labels", "judged.db", "-o", "each.csv", "--combine", "none")
    compared = "evaluate", "pool.csv", "new.txt", "--feature", old, "--llm-labels", "gpt.csv", "--labels"
    from_file, from_store, again = (run.json(*compared, name) for name in ("sampled.csv", "judged.db", "each.csv"))
    assert from_file == from_store == again
    assert [(one["measure"], one["n_human"]) for one in from_file["estimates"]] == [("SDCG@10", 30)]
    assert "human documents" in run(*compared, "sampled.csv").out
    with LabelStore("judged.db") as store:
        assert store.labels()[0].page.startswith("sampled with probability 0.")
    more = run(*asked, "-n", "50", "--labels", "sampled.csv", "-o", "more.csv")  # the same 30 and 20 others
    assert more.out == "more.csv: 50 documents, one per query; 30 labelled\n"
    assert pl.read_csv("more.csv").drop_nulls().equals(graded.with_columns(pl.col("grade").cast(pl.Int64)))
    other = "evaluate", "pool.csv", "new.txt", "--feature", data.feature_names[3], "--llm-labels", "gpt.csv"
    assert "were sampled to compare other rankings than new.txt and" in run(*other, "--labels", "sampled.csv").err


def test_a_table_shows_where_the_llm_errs(run, judged):
    _, old, _ = judged
    asked = "evaluate", "pool.csv", "new.txt", "--feature", old, "--labels", "human.csv", "--llm-labels", "gpt.csv"
    out = run(*asked).out
    assert f"Agreement of the LLM with people (ranks of {old})" in out
    assert "Kendall's tau of 22 systems (rankings and features) by human and by LLM labels: 0." in out
    found = run.json(*asked)
    (rows,) = found["raters"].values()
    assert [row["documents"] for row in rows] == [
        "all", "human grade 0", "human grade 1", "human grade 2", "queries with at most 3 relevant documents",
        "queries with more than 3 relevant documents", "ranks 1 to 10", "ranks from 11",
    ]  # fmt: skip
    assert rows[0]["n_docs"] == 300
    assert 0 < found["kendall_tau"]["low"] <= found["kendall_tau"]["value"] <= 1


def test_check_and_agreement_use_a_store_with_both_kinds(run, judged):
    data, old, _ = judged
    rr.QueryIntercepts(missing="mean", l2=100.0).fit(data).save("model.rulerank")
    run("labels", "judged.db", "--import", "human.csv", "--rater", "ann")
    asked = "check", "pool.csv", "model.rulerank", "--labels", "judged.db", "--baseline", old
    assert "LLM labels" not in run(*asked).out
    run("labels", "judged.db", "--import", "gpt.csv", "--rater", "gpt", "--kind", "llm")
    assert "new - baseline: NDCG@10 +0." in run(*asked).out
    assert run.json(*asked)["with_llm_labels"]["n_human"] == 25
    assert "Agreement of gpt with people" in run("labels", "judged.db", "--agreement").out
    human = pl.read_csv("human.csv")
    human[:24].write_csv("few.csv")
    run("labels", "few.db", "--import", "few.csv", "--rater", "ann")
    run("labels", "few.db", "--import", "gpt.csv", "--rater", "gpt", "--kind", "llm")
    done = run("check", "pool.csv", "model.rulerank", "--labels", "few.db", "--baseline", old)
    assert "LLM labels not used: expected at least 10 queries with human grades, sampled at random: got 2" in done.out


def test_several_llms_are_averaged(run, judged):
    _, old, expected = judged
    for name in ("gpt", "other"):
        run("labels", "judged.db", "--import", "gpt.csv", "--rater", name, "--kind", "llm")
    run("labels", "judged.db", "--import", "human.csv", "--rater", "ann")
    found = run.json("evaluate", "pool.csv", "new.txt", "--feature", old, "--labels", "judged.db")["estimates"][0]
    assert found["estimate"] == expected.to_dict()["estimate"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("new.txt --llm-labels gpt.csv", "--llm-labels are corrected by human labels: name their file with --labels"),
        ("--labels human.csv --llm-labels gpt.csv", "expected scores for pool.csv: name a score file after it"),
        ("new.txt --labels human.csv --llm-labels gpt.csv --compare", "estimates with LLM labels have intervals"),
        ("new.txt --labels people.db", "people.db: no labels of a rater of kind llm: name their file"),
        ("short.txt --labels human.csv --llm-labels gpt.csv", "expected 720 scores, one per document of pool.csv: g"),
        ("new.txt --labels part.csv --llm-labels gpt.csv", "has human grades for 1 of its 12 documents"),
        ("new.txt --labels few.csv --llm-labels gpt.csv", "expected at least 10 queries with human grades"),
        ("new.txt --labels odd.csv --llm-labels gpt.csv", "odd.csv:2: expected a probability above 0 and at most 1"),
    ],
)  # fmt: skip
def test_mistakes_are_named(run, judged, words, message):
    human = pl.read_csv("human.csv")
    human[:1].write_csv("part.csv")
    human[:24].write_csv("few.csv")
    human[:1].with_columns(probability=pl.lit(2.0)).write_csv("odd.csv")
    np.savetxt("short.txt", [1.0, 2.0])
    run("labels", "people.db", "--import", "human.csv", "--rater", "ann")
    done = run("evaluate", "pool.csv", *words.split())
    assert done.code == 2
    assert message in done.err


def test_a_sample_for_a_comparison_refuses_other_formats_and_samplers(run, judged):
    asked = "sample", "pool.csv", "--for-comparison", "new.txt", "--baseline", judged[1]
    assert "which only csv can hold: got -o a.qrels" in run(*asked, "-o", "a.qrels").err
    assert "--for-comparison samples in its own way" in run(*asked, "--sampler", "ssar").err
    assert "n must be an integer of at least 1: got 0" in run(*asked, "-n", "0").err
