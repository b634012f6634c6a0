"""Every command shows examples, and every example runs; no help is longer than two screens."""

import io
import shlex

import pytest
import typer

from rulerank._util.parameters import parameters_of
from rulerank.cli import app
from rulerank.methods import METHODS, method_named

COMMANDS = typer.main.get_command(app).commands


def examples(command):
    return [line.strip() for line in command.epilog.splitlines() if line.strip().startswith("rulerank ")]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_ends_with_examples_and_fits_two_screens(name, run):
    done = run(name, "--help")
    assert done.code == 0
    *_, last = done.out.strip().splitlines()
    assert last.strip().startswith(f"rulerank {name}")
    assert 2 <= len(examples(COMMANDS[name])) <= 5
    assert len(done.out.splitlines()) <= 90
    assert "\nGeneral:\n" in done.out  # options are in panels
    assert "Examples:" in done.out
    options = [parameter for parameter in COMMANDS[name].params if parameter.param_type_name == "option"]
    assert len(options) <= 15
    assert "--json" in [option for parameter in options for option in parameter.opts]


def test_there_are_few_parameters_and_each_means_the_same_in_every_command():
    assert sum(len(command.params) for command in COMMANDS.values()) <= 180
    helps = {}
    for command in COMMANDS.values():
        for parameter in command.params:
            for option in parameter.opts:
                if option in ("--json", "--qid", "--docid", "--grade", "--features", "--queries", "--host", "--token"):
                    helps.setdefault(option, set()).add(parameter.help)
    assert all(len(texts) == 1 for texts in helps.values())


@pytest.mark.parametrize("example", [line for command in COMMANDS.values() for line in examples(command)])
def test_every_example_runs(example, run, folder, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    done = run(*shlex.split(example)[1:])
    assert (done.code, done.err.count("error")) == (0, 0), done.err
    assert done.out


def test_methods_are_listed_by_class_with_their_codes_and_parameters(run):
    listed = run.json("methods")
    assert {row["method"]: row["alias"] for row in listed} == {one.class_name: one.name for one in METHODS.values()}
    for method in METHODS.values():
        assert method_named(method.short) is method_named(method.name.lower()) is method_named(method.class_name)
    lines = run("methods", "FR").out.splitlines()
    assert lines[0].split() == ["parameter", "default", "values", "description"]
    assert [line.split()[0] for line in lines[1:]] == list(parameters_of(method_named("fitted").ranker_class()))
