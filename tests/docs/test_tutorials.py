"""Tutorials, word for word: each from its first line to its last in an empty folder."""

import pytest

from document_blocks import ROOT, blocks_of
from document_reader import Reader

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("[!i]*.md"))


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_runs_and_prints_what_it_shows(page, run, tmp_path, monkeypatch):
    reader = Reader(run, tmp_path, monkeypatch)
    reader.follow(blocks_of(page))
    assert reader.n_typed + sum(block.kind == "session" for block in blocks_of(page)) >= 5
