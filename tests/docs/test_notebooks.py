"""The notebooks are those of the pages, and show tables and bars instead of arrays and control characters."""

import re

import pytest

from document_blocks import ROOT

nbformat = pytest.importorskip("nbformat", reason="needs the extra: docs")
pytest.importorskip("ipykernel", reason="needs the extra: docs")
notebooks = pytest.importorskip("notebooks", reason="needs the extra: docs")
# what moves a cursor; colours of a command's own terminal, and its line ends, Jupyter understands
MOVES = re.compile(r"\x1b\[[0-9;?]*[A-Zac-ln-z]|\r(?!\n)|\x08")


def texts_of(cell) -> list[str]:
    """What a cell shows as text, where nothing better is shown."""
    shown = [output for output in cell.get("outputs", []) if "text/html" not in output.get("data", {})]
    return [output.get("text") or output["data"].get("text/plain", "") for output in shown]


@pytest.mark.parametrize("name", notebooks.NAMES)
def test_a_notebook_is_its_page(name):  # whose code test_tutorials.py runs
    kept = nbformat.read(ROOT / "docs" / "notebooks" / f"{name}.ipynb", as_version=4)
    made = notebooks.notebook_of((ROOT / "docs" / "tutorials" / f"{name}.md").read_text())
    same = [cell.source for cell in made.cells] == [cell.source for cell in kept.cells]
    assert same, "the page has changed: python docs/building/notebooks.py"
    nbformat.validate(kept)
    for text in (text for cell in kept.cells for text in texts_of(cell)):
        assert not MOVES.search(text)
        assert "array(" not in text
        assert not re.search(r"<[\w.]+ object at 0x", text)


def test_tables_and_explanations_are_shown_as_parts_of_a_page():
    kept = nbformat.read(ROOT / "docs" / "notebooks" / "judged-data.ipynb", as_version=4)
    shown = [output.get("data", {}) for cell in kept.cells for output in cell.get("outputs", [])]
    pages = [data["text/html"] for data in shown if "text/html" in data]
    assert len(pages) >= 5
    assert all("rulerank" in page for page in pages)
    assert any('class="bar both"' in page for page in pages)
