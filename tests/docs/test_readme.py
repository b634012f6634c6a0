"""The README's command lines, one after the other in an empty folder, as a reader types them."""

import json

from document_blocks import ROOT, blocks_of
from document_reader import Reader

BLOCKS = blocks_of(ROOT / "README.md")


def test_the_command_lines_of_the_readme_run_and_print_what_it_shows(run, tmp_path, monkeypatch):
    reader = Reader(run, tmp_path, monkeypatch)
    reader.follow(block for block in BLOCKS if block.kind != "session")  # sessions run as doctests
    assert reader.n_typed >= 7
    assert reader.n_compared >= 3
    answer = next(line for line in reader.printed.splitlines() if line.startswith('{"query"'))
    assert len(json.loads(answer)["results"]) == 3


def test_from_texts_to_a_service_takes_six_commands():
    block = next(block for block in BLOCKS if any(line.startswith("rulerank make-data shop") for line in block.lines))
    assert [line.split()[0] for line in block.commands] == ["pip", *["rulerank"] * 4, "curl"]
