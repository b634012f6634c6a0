"""Every command shows examples, and every example runs."""

import io
import shlex

import pytest
import typer

from rulerank.cli import app

COMMANDS = typer.main.get_command(app).commands


def examples(command):
    return [line.strip() for line in command.epilog.splitlines() if line.strip().startswith("rulerank ")]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_ends_with_an_example(name, run):
    done = run(name, "--help")
    assert done.code == 0
    *_, last = done.out.strip().splitlines()
    assert last.strip().startswith(f"rulerank {name}")
    assert "Example:" in done.out


@pytest.mark.parametrize("example", [line for command in COMMANDS.values() for line in examples(command)])
def test_every_example_runs(example, run, folder, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))  # whoever is asked quits
    done = run(*shlex.split(example)[1:])
    assert (done.code, done.err.count("error")) == (0, 0), done.err
    assert done.out


def test_an_option_means_the_same_in_every_command():
    helps = {}
    for command in COMMANDS.values():
        for parameter in command.params:
            for option in parameter.opts:
                if option in ("--json", "--qid", "--docid", "--grade", "--seed", "--queries"):
                    helps.setdefault(option, set()).add(parameter.help)
                if option == "--features" and command.name != "world":
                    helps.setdefault(option, set()).add(parameter.help)
    assert helps["--json"] == {"Print JSON."}
    assert all(len(texts) == 1 for texts in helps.values())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_print_json(name):
    assert "--json" in [option for parameter in COMMANDS[name].params for option in parameter.opts]
