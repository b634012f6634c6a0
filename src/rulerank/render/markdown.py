"""Pages as Markdown."""

from __future__ import annotations

from rulerank.render.document import Page, Sentences
from rulerank.render.tables import markdown_table


def render_markdown(page: Page) -> str:
    """Write a page as Markdown.

    >>> print(render_markdown(Page("Why", ("Because.",), (Sentences("More", ("a < b.",)),))))
    # Why
    <BLANKLINE>
    Because.
    <BLANKLINE>
    ## More
    <BLANKLINE>
    - a \\< b.
    <BLANKLINE>
    """
    parts = [f"# {_escaped(page.title)}", *map(_escaped, page.lead)]
    for block in page.blocks:
        parts.append(f"## {_escaped(block.title)}")
        if isinstance(block, Sentences):
            parts.append("\n".join(f"- {_escaped(sentence)}" for sentence in block.sentences))
            continue
        rows = [[_escaped(str(cell)) for cell in row] for row in block.rows]
        parts.append(markdown_table([_escaped(name) for name in block.header], rows, block.n_left))
        if block.note:
            parts.append(_escaped(block.note))
    return "\n\n".join(parts) + "\n"


def _escaped(text: str) -> str:
    """Keep what a name contains from being taken for Markdown or HTML."""
    for char in "\\`*_[]<>":
        text = text.replace(char, f"\\{char}")
    return text
