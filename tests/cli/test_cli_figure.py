import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rulerank
from rulerank.cli import COMMANDS
from rulerank.cli.figure import figure
from rulerank.io.convert import read_any
from rulerank.rankers.fitted.fitted_rules import FittedRules
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.query_rules import QueryRules


@pytest.fixture
def model(folder):
    """A model of the LETOR file, saved where the examples look for it."""
    QueryRules(max_size=1).fit(read_any("train.txt")).save("query.rulerank")


def test_the_command_is_there():
    assert figure in COMMANDS


@pytest.mark.parametrize("name", ["map.png", "map.svg", "map.pdf"])
def test_a_map_is_written_and_reported(run, model, name):
    n_rows = len(read_any("test.txt"))
    done = run("figure", "competence", "query.rulerank", "test.txt", "-o", name)
    assert done == (0, f"{name}: competence map of {n_rows} documents\n", "")
    assert Path(name).stat().st_size > 1000
    done = run("figure", "competence", "query.rulerank", "test.txt", "-o", name, "--json")
    assert json.loads(done.out) == {"figure": name, "kind": "competence", "rows": n_rows}


def test_the_figures_of_the_competence_paper_come_from_a_saved_model(run, folder):
    done = run(
        "train", "train.txt", "-o", "dc3a.rulerank", "--method", "competence", "--literal", "--set", "max_size=1"
    )
    assert done.code == 0
    n_rows = len(read_any("test.txt"))
    done = run("figure", "competence", "dc3a.rulerank", "test.txt", "-o", "one.svg")
    assert done == (0, f"one.svg: competence map of {n_rows} documents\n", "")
    assert "p(member" in Path("one.svg").read_text()
    done = run("figure", "scores", "dc3a.rulerank", "test.txt", "-o", "two.svg")
    assert done == (0, f"two.svg: mean scores of {n_rows} documents\n", "")
    assert "the grade itself" in Path("two.svg").read_text()
    QueryRules(max_size=1).fit(read_any("train.txt")).save("query.rulerank")
    done = run("figure", "scores", "query.rulerank", "test.txt", "-o", "two.svg")
    assert done.err.startswith("error: domains of competence are drawn for a fitted Competence(..., literal=True)")


def test_mistakes_end_in_one_line(run, model):
    GlobalRules().fit(read_any("train.txt")).save("global.rulerank")
    for args, message in [
        (
            ("loud", "query.rulerank", "test.txt", "-o", "map.png"),
            "unknown figure 'loud'; choose from curves, differences, labels",
        ),
        (("competence", "query.rulerank", "test.txt", "-o", "map.gif"), "a figure is written as .png, .svg or .pdf"),
        (("competence", "global.rulerank", "test.txt", "-o", "map.png"), "got GlobalRules"),
        (("competence", "none.rulerank", "test.txt", "-o", "map.png"), "there is no such file"),
    ]:
        done = run("figure", *args)
        assert done.code == 2
        assert done.err.startswith("error: ")
        assert message in done.err


def text_of(name):
    """The names that stand in an SVG, as Matplotlib notes them beside the letters it draws."""
    return re.findall("<!-- (.*?) -->", Path(name).read_text())


def test_curves_show_the_papers_systems_or_those_that_are_named(run, folder):
    assert run("figure", "curves", "small", "-o", "curves.svg").out == "curves.svg: curves of small\n"
    assert {"RE-GR", "RankSVM"} <= set(text_of("curves.svg"))
    assert "QI" not in text_of("curves.svg")
    assert run("figure", "curves", "small", "--method", "qi", "-o", "curves.svg").code == 0
    assert "QI" in text_of("curves.svg")
    assert "RankSVM" not in text_of("curves.svg")


def test_differences_are_drawn_by_the_measure_that_is_named(run, folder):
    assert run("figure", "differences", "small", "-m", "ndcg@10", "-o", "d.svg").code == 0
    assert "NDCG@10 less that of RE-GR" in text_of("d.svg")


def test_labels_are_drawn_from_a_report_or_the_json_of_a_curve(run, folder):
    done = run("curve", "train.txt", "--method", "QI", "--draws", "2", "--sizes", "10,20", "--json")
    Path("curve.json").write_text(done.out)
    assert run("figure", "labels", "curve.json", "-o", "one.svg").out == "one.svg: labels of curve.json\n"
    (folder / "small" / "cells").mkdir()
    (folder / "small" / "cells" / "label-curve-0.json").write_text(done.out)
    assert run("figure", "labels", "small", "-o", "two.svg").code == 0
    assert Path("one.svg").read_bytes() == Path("two.svg").read_bytes()


def test_effects_are_drawn_for_a_model_and_documents(run, folder):
    done = run("figure", "effects", "model.rulerank", "test.txt", "-o", "effects.pdf")
    assert done == (0, "effects.pdf: effects of 96 documents\n", "")
    assert Path("effects.pdf").read_bytes().startswith(b"%PDF")


def test_effects_of_fitted_rules_need_no_documents(run, folder):
    FittedRules().fit(read_any("train.txt")).save("fitted.rulerank")
    done = run("figure", "effects", "fitted.rulerank", "-o", "effects.svg")
    assert done == (0, "effects.svg: effects without documents\n", "")
    assert Path("effects.svg").read_bytes().startswith(b"<?xml")


def test_a_score_that_is_no_sum_is_drawn_by_its_mean(run, model):
    assert run("figure", "effects", "query.rulerank", "test.txt", "-o", "effects.svg").code == 0
    done = run("figure", "effects", "query.rulerank", "-o", "effects.svg")
    assert done.code == 2
    assert "QueryRules is not additive" in done.err


@pytest.mark.parametrize("name", ["a.svg", "a.pdf"])
def test_another_process_draws_the_same_bytes(run, folder, name):
    run("figure", "curves", "small", "-o", name)
    command = [sys.executable, "-m", "rulerank", "figure", "curves", "small", "-o", f"again-{name}"]
    source = str(Path(rulerank.__file__).parent.parent)
    env = os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": source}
    subprocess.run(command, check=True, capture_output=True, env=env)
    assert Path(f"again-{name}").read_bytes() == Path(name).read_bytes()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ("curves", "nowhere"),
            "nowhere: expected the folder of a report, with results.csv: rulerank compare writes one",
        ),
        (("curves", "train.csv"), "train.csv: expected the columns system, group, measure, fold, value"),
        (("curves", "small", "--method", "x"), "the report has no system 'x'; it has RE-GR, QI, RankSVM"),
        (("curves", "small", "test.txt"), "curves are drawn from the folder of a report alone: leave out 'test.txt'"),
        (("differences", "small", "-m", "ERR"), "differences.csv has no ERR; it has MAP, NDCG@1, "),
        (("differences", "small", "-m", "loud"), "unknown measure 'loud'"),
        (("labels", "small"), "small has no label curve: rulerank compare draws one when SSAR is among its systems"),
        (("labels", "train.csv"), "train.csv: expected a label curve as rulerank curve --json writes it"),
        (("labels", "nothing.json"), "nothing.json: cannot be read: No such file or directory"),
        (("labels", "small", "--method", "x"), "--method chooses systems of curves and differences"),
        (("effects", "model.rulerank"), "rules of GlobalRules speak of several features together, and what one adds"),
    ],
)
def test_what_cannot_be_drawn_is_told_in_a_line(run, folder, args, message):
    done = run("figure", *args, "-o", "x.svg")
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
