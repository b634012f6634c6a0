"""The README's command lines, one after the other in an empty folder, as a reader types them."""

import json

import pytest

from document_blocks import ROOT, blocks_of
from document_reader import Reader

BLOCKS = blocks_of(ROOT / "README.md")


def test_the_command_lines_of_the_readme_run_and_print_what_it_shows(run, tmp_path, monkeypatch):
    reader = Reader(run, tmp_path, monkeypatch)
    explanation, *rest = BLOCKS
    reader.follow(rest)
    assert reader.n_typed >= 8
    reader.printed += "\n".join(reader.names["why"].lines())  # of the model that `train` made, as on top of the page
    reader.compare(explanation, "README.md")
    assert reader.n_compared >= 9
    answer = next(line for line in reader.printed.splitlines() if line.startswith('{"query"'))
    assert len(json.loads(answer)["results"]) == 3


def test_the_explanation_on_top_adds_up():
    first, *parts = BLOCKS[0].lines
    assert sum(float(line.split()[0]) for line in parts) == pytest.approx(
        float(first.split()[-1].rstrip(".")), abs=0.002
    )


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) < 150


def test_from_texts_to_a_service_takes_six_commands():
    block = next(block for block in BLOCKS if any(line.startswith("rulerank make-data shop") for line in block.lines))
    assert [line.split()[0] for line in block.commands] == ["pip", *["rulerank"] * 4, "curl"]
