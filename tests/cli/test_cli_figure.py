import json
from pathlib import Path

import pytest

from rulerank.cli import COMMANDS
from rulerank.cli.figure import figure
from rulerank.io.convert import read_any
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.query_rules import QueryRules


@pytest.fixture
def model(folder):
    """A model of the LETOR file, saved where the examples look for it."""
    QueryRules(max_size=1).fit(read_any("train.txt")).save("query.rulerank")


def test_the_command_is_there():
    assert figure in COMMANDS


@pytest.mark.parametrize("name", ["map.png", "map.svg"])
def test_a_map_is_written_and_reported(run, model, name):
    n_rows = len(read_any("test.txt"))
    done = run("figure", "competence", "query.rulerank", "test.txt", "-o", name)
    assert done == (0, f"{name}: competence map of {n_rows} documents\n", "")
    assert Path(name).stat().st_size > 1000
    done = run("figure", "competence", "query.rulerank", "test.txt", "-o", name, "--json")
    assert json.loads(done.out) == {"figure": name, "rows": n_rows}


def test_mistakes_end_in_one_line(run, model):
    GlobalRules().fit(read_any("train.txt")).save("global.rulerank")
    for args, message in [
        (("loud", "query.rulerank", "test.txt", "-o", "map.png"), "unknown figure 'loud'; choose from competence"),
        (("competence", "query.rulerank", "test.txt", "-o", "map.gif"), "a figure is written as .png or .svg"),
        (("competence", "global.rulerank", "test.txt", "-o", "map.png"), "got GlobalRules"),
        (("competence", "none.rulerank", "test.txt", "-o", "map.png"), "there is no such file"),
    ]:
        done = run("figure", *args)
        assert done.code == 2
        assert done.err.startswith("error: ")
        assert message in done.err
