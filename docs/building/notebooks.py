"""Tutorials as notebooks: python docs/building/notebooks.py makes them of the pages, runs them and keeps the outputs.

The site shows the outputs that were kept; the tests run the cells and look whether they are those of the pages.
"""

from __future__ import annotations

import doctest
import html
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

DOCS = Path(__file__).parents[1]
NAMES = ("judged-data", "paper")  # of the tutorials that are notebooks too
FENCED = re.compile(r'^```(\w*)(?: title="([^"]*)")?\n(.*?)^```\n', re.MULTILINE | re.DOTALL)
CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\x08")


def main() -> None:
    """Write the notebooks with their outputs."""
    (DOCS / "notebooks").mkdir(exist_ok=True)
    for name in NAMES:
        made = run(notebook_of((DOCS / "tutorials" / f"{name}.md").read_text()))
        nbformat.write(made, DOCS / "notebooks" / f"{name}.ipynb")


def notebook_of(page: str) -> nbformat.NotebookNode:
    """Return a page's text and code as the cells of a notebook, without outputs.

    >>> made = notebook_of("# Sum\\n\\n```python\\n>>> 1 + 1\\n2\\n>>> a = 2\\n```\\n\\n```\\nshown\\n```\\n")
    >>> [(cell.cell_type, cell.source) for cell in made.cells]
    [('markdown', '# Sum'), ('code', '1 + 1'), ('code', 'a = 2')]
    """
    cells, begun = [], 0
    for block in FENCED.finditer(page):
        cells += words(page[begun : block.start()]) + code(*block.groups())
        begun = block.end()
    cells += words(page[begun:])
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # the same each time
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def words(text: str) -> list[Any]:
    """Return text as a cell; links to other tutorials go to their folder."""
    text = re.sub(r"\]\(([\w-]+\.md)", r"](../tutorials/\1", text.strip())
    return [nbformat.v4.new_markdown_cell(text)] if text else []


def code(language: str, title: str | None, body: str) -> list[Any]:
    """Return the cells of a block: one for each statement that shows something; what pages show is left out."""
    if title:
        return [nbformat.v4.new_code_cell(f"%%writefile {title}\n{body.strip()}")]
    if language == "sh":
        lines = [line for line in body.splitlines() if line.startswith("rulerank ")]
        return [nbformat.v4.new_code_cell("\n".join(f"!{line}" for line in lines))] if lines else []
    if language != "python":
        return []
    cells, source = [], ""
    for example in doctest.DocTestParser().get_examples(body):
        source += example.source
        if example.want:
            cells.append(nbformat.v4.new_code_cell(source.strip()))
            source = ""
    return cells + ([nbformat.v4.new_code_cell(source.strip())] if source else [])


def run(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Run the cells in an empty folder, with the programs that lie beside this Python, and return the notebook."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PATH": programs, "COLUMNS": "120", "RULERANK_PROGRESS": "off"}
        client = NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": folder}})
        client.execute(env=environment)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times: other ones each time
    notebook.metadata.pop("language_info", None)
    return notebook


def page_of(notebook: nbformat.NotebookNode, name: str) -> str:
    """Return a notebook as a page of the site: text, code and what it showed."""
    parts = [f"[Download this notebook]({name}.ipynb) · [the same as a page](../tutorials/{name}.md)"]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        parts += [shown(output) for output in cell.outputs]
    first, *rest = parts[1:]  # the title comes first
    return "\n\n".join([first, parts[0], *rest]) + "\n"


def shown(output: nbformat.NotebookNode) -> str:
    """Return one output as a part of a page."""
    data = output.get("data", {})
    if "text/html" in data:
        page = re.sub(r"\n\s*\n", "\n", data["text/html"])
        return f'<div class="output">{page}</div>' if page else ""
    text = CONTROLS.sub("", output.get("text") or data.get("text/plain", ""))
    return f'<pre class="output">{html.escape(text.rstrip())}</pre>'


if __name__ == "__main__":
    main()
