"""Tutorials and how-to pages, word for word: each from its first line to its last in an empty folder."""

import pytest

from document_blocks import ROOT, blocks_of
from document_reader import Reader

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("[!i]*.md"))
HOW_TO = sorted((ROOT / "docs" / "how-to").glob("[!i]*.md"))


def n_tried(page, reader):
    """Follow a page, and count its commands and sessions."""
    reader.follow(blocks_of(page))
    return reader.n_typed + sum(block.kind == "session" for block in blocks_of(page))


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_runs_and_prints_what_it_shows(page, run, tmp_path, monkeypatch):
    assert n_tried(page, Reader(run, tmp_path, monkeypatch)) >= 5


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_a_how_to_page_runs_and_prints_what_it_shows(page, run, files, monkeypatch):
    assert n_tried(page, Reader(run, files, monkeypatch)) >= 1
