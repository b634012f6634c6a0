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
from rulerank.rankers.query_rules import QueryRules


@pytest.fixture
def model(folder):
    """A model of the LETOR file, saved where the examples look for it."""
    QueryRules(max_size=1).fit(read_any("train.txt")).save("query.rulerank")


def test_the_command_is_there():
    assert figure in COMMANDS


def test_mistakes_end_in_one_line(run, model):
    for args, message in [
        (
            ("loud", "query.rulerank", "test.txt", "-o", "map.png"),
            "unknown figure 'loud'; choose from curves, differences, labels, effects",
        ),
        (("effects", "query.rulerank", "test.txt", "-o", "map.gif"), "a figure is written as .png, .svg or .pdf"),
        (("effects", "none.rulerank", "test.txt", "-o", "map.png"), "there is no such file"),
    ]:
        done = run("figure", *args)
        assert done.code == 2
        assert done.err.startswith("error: ")
        assert message in done.err


def text_of(name):
    """The names that stand in an SVG, as Matplotlib notes them beside the letters it draws."""
    return re.findall("<!-- (.*?) -->", Path(name).read_text())


def test_curves_show_the_first_systems_or_those_that_are_named(run, folder):
    assert run("figure", "curves", "small", "-o", "curves.svg").out == "curves.svg: curves of small\n"
    assert {"RE-GR", "QI", "FR+"} <= set(text_of("curves.svg"))
    assert run("figure", "curves", "small", "--method", "qi", "-o", "curves.svg").code == 0
    assert "QI" in text_of("curves.svg")
    assert "FR+" not in text_of("curves.svg")


def test_differences_are_drawn_by_the_measure_that_is_named(run, folder):
    assert run("figure", "differences", "small", "-m", "ndcg@10", "-o", "d.svg").code == 0
    assert "NDCG@10 less that of RE-GR" in text_of("d.svg")


def test_labels_are_drawn_from_the_json_of_a_curve(run, folder):
    done = run("curve", "train.txt", "--method", "QI", "--draws", "2", "--sizes", "10,20", "--json")
    Path("curve.json").write_text(done.out)
    assert run("figure", "labels", "curve.json", "-o", "one.svg").out == "one.svg: labels of curve.json\n"
    assert Path("one.svg").read_bytes().startswith(b"<?xml")


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
        (("curves", "train.csv"), "train.csv: expected the columns system, measure, fold, value"),
        (("curves", "small", "--method", "x"), "the report has no system 'x'; it has RE-GR, QI, FR+"),
        (("curves", "small", "test.txt"), "curves are drawn from SOURCE alone: leave out 'test.txt'"),
        (("differences", "small", "-m", "ERR"), "differences.csv has no ERR; it has MAP, NDCG@1, "),
        (("differences", "small", "-m", "loud"), "unknown measure 'loud'"),
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
