"""python -m papers: from folds to the table and the report."""

import pytest

import rulerank as rr
from papers.__main__ import main
from papers.letter import FORMS

TABLE_OF_DOCS = {"RE-GR": 0.4458, "RE-SR, every query (as published)": 0.3680, "QI": 0.4371}  # OHSUMED, LETOR 3.0


@pytest.fixture
def data(tmp_path):
    synthetic = rr.datasets.make_ranking(n_queries=15, docs_per_query=8, n_features=4, seed=1)
    for fold in rr.datasets.make_folds(synthetic, n_folds=3):
        folder = tmp_path / "sets" / "small" / fold.name
        folder.mkdir(parents=True)
        for part in ("train", "vali", "test"):
            rr.io.write_letor(getattr(fold, part), folder / f"{part}.txt")
    return tmp_path / "sets"


def test_it_prints_the_table_and_writes_the_report(data, tmp_path, capsys):
    code = main([str(data), "-o", str(tmp_path / "out"), "--method", "RRF", "--jobs", "1", "--to", "markdown,csv"])
    out = capsys.readouterr().out
    assert code == 0
    assert [line for line in FORMS if line not in out] == []
    made = {path.name for path in (tmp_path / "out" / "small").iterdir()}
    assert {"letter.txt", "report.md", "results.csv", "cells"} <= made
    assert (tmp_path / "out" / "small" / "letter.txt").read_text() in out
    assert "Relative Confidence" in (tmp_path / "out" / "small" / "results.csv").read_text()


def test_mistakes_end_in_one_line(data, tmp_path, capsys):
    for more, message in [
        ([str(tmp_path / "nowhere")], "expected a folder with Fold1, Fold2, ..., or folders that have them"),
        ([str(data), "--method", "x"], "unknown system 'x'; choose from RE-GR, "),
        ([str(data), "--to", "pdf"], "unknown format 'pdf'"),
        ([str(data), "--feature", "bm26"], "bm26"),
    ]:
        assert main([*more, "-o", str(tmp_path / "out")]) == 2
        err = capsys.readouterr().err
        assert err.startswith("error: ")
        assert message in err


@pytest.mark.parametrize("form", TABLE_OF_DOCS)
def test_a_figure_of_the_docs_comes_out_to_the_digit(form, letor):
    values = []
    for fold in rr.read_folds(letor / "letor3-ohsumed"):
        scores = FORMS[form]().fit(fold.train).predict(fold.test)
        values.append(rr.evaluate(fold.test.y, scores, fold.test.qid, "MAP").means["MAP"])
    assert round(sum(values) / 5, 4) == TABLE_OF_DOCS[form]
