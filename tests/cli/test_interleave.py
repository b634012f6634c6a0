"""rulerank interleave: mixed lists, and who wins."""

import json
from pathlib import Path

import pytest

import rulerank as rr


def test_mixed_lists_are_written_one_a_line(run, folder):
    done = run("interleave", "one.run", "two.run", "-o", "mixed.jsonl", "--lists", "3", "--top", "4")
    assert (done.code, done.out) == (0, "mixed.jsonl: 36 lists of 12 queries\n")
    lines = [json.loads(line) for line in Path("mixed.jsonl").read_text().splitlines()]
    assert lines[1].keys() == {"query", "session", "docs", "teams"}
    assert lines[1]["session"] == "2"
    assert len(lines[1]["docs"]) == len(lines[1]["teams"]) == 4
    again = run("interleave", "one.run", "two.run", "-o", "-", "--lists", "3", "--top", "4")
    assert again.out == Path("mixed.jsonl").read_text()
    other = run("interleave", "one.run", "two.run", "-o", "-", "--lists", "3", "--top", "4", "--seed", "1")
    assert other.out != again.out


def test_sessions_come_from_a_file(run, folder):
    Path("sessions.txt").write_text("ann\nbob\n")
    done = run("interleave", "one.run", "two.run", "-o", "-", "--keys", "sessions.txt")
    assert [json.loads(line)["session"] for line in done.out.splitlines()[:2]] == ["ann", "bob"]


def test_clicks_say_who_wins(run, folder):
    assert sum(json.loads(run("interleave", "--clicks", "teams.csv", "--json").out)["won"].values()) == 60
    said = run("interleave", "--clicks", "teams.csv", "--name-a", "today", "--name-b", "new")
    assert said.code == 0
    assert said.out.startswith("No clear difference: new won ")
    assert rr.read_contest("teams.csv").n_trials == 60


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("interleave one.run -o x.jsonl", "name two rankings: rulerank interleave A B -o mixed.jsonl"),
        ("interleave -o x.jsonl", "name two rankings: rulerank interleave A B -o mixed.jsonl"),
        ("interleave one.run two.run", "say what to do: -o FILE writes mixed lists, --clicks LOG says who wins"),
        ("interleave one.run two.run -o x --clicks y", "say what to do: -o FILE writes mixed lists"),
        ("interleave one.run two.run -o x --lists 0", "--lists must be a whole number from 1: got 0"),
        ("interleave one.run two.run -o x --top 0", "top must be a whole number from 1: got 0"),
        ("interleave one.run two.run -o one.run", "one.run is an input, which would be lost; write to another file"),
    ],
)
def test_a_mistake_is_one_line(run, folder, command, message):
    done = run(*command.split())
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1
