"""What MkDocs calls while it builds the site: pages that are made, and small repairs of those that are written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from commands import commands_page
from notebooks import NAMES, page_of

ROOT = Path(__file__).parents[2]
ABOVE = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}  # files above docs/ that are pages too
COMMAND = r"(?:rulerank|pip|make|curl|git|python|RULERANK_\w+=\S+|NUMBA_\w+=\S+|\.venv/bin/\w+) .*"
SHELL = re.compile(rf"(?:^|(?<=\n\n))(?P<lines>(?: {{4}}{COMMAND}\n(?: {{5,}}.*\n)*)+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie elsewhere or are made."""
    for name, above in ABOVE.items():
        files.append(File.generated(config, name, content=(ROOT / above).read_text()))
    files.append(File.generated(config, "commands.md", content=commands_page()))
    for name in NAMES:
        notebook = nbformat.read(ROOT / "docs" / "notebooks" / f"{name}.ipynb", as_version=4)
        files.append(File.generated(config, f"notebooks/{name}.md", content=page_of(notebook, name)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Colour sessions and commands, and let links to files above docs/ lead to their pages."""
    return linked(coloured(markdown), page.file.src_uri)


def coloured(markdown: str) -> str:
    """Call Python with prompts a session, and indented commands shell.

    >>> print(coloured("Text:\\n\\n    rulerank demo   # now\\n\\nMore."))
    Text:
    <BLANKLINE>
    ```sh
    rulerank demo   # now
    ```
    <BLANKLINE>
    More.
    """
    markdown = markdown.replace("```python\n>>> ", "```pycon\n>>> ")
    return SHELL.sub(lambda found: "```sh\n" + re.sub(r"(?m)^ {4}", "", found["lines"]) + "```\n", markdown)


def linked(markdown: str, page: str) -> str:
    """Point links to CONTRIBUTING.md and CHANGELOG.md at their pages, and links on these two at docs' own.

    >>> linked("[how](../CONTRIBUTING.md)", "architecture.md"), linked("[map](docs/architecture.md)", "contributing.md")
    ('[how](contributing.md)', '[map](architecture.md)')
    """
    if page in ABOVE:
        return markdown.replace("](docs/", "](")
    for name, above in ABOVE.items():
        markdown = re.sub(rf"\]\((?:\.\./)+{above}", f"]({'../' * page.count('/')}{name}", markdown)
    return markdown


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Check that a page loads nothing from elsewhere."""
    loaded = re.findall(
        r"""<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=["']?(https?://[^"'\s>]+)""", output
    )
    if loaded:
        raise ValueError(f"{page.file.src_uri} would load {', '.join(loaded)}: the site must work offline")
    return output


__all__: list[Any] = ["on_files", "on_page_markdown", "on_post_page"]
