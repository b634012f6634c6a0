"""Pages as Markdown."""

from __future__ import annotations

from rulerank.render.document import Cell, Content, Page, Section, Sentences
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
    if page.facts:
        parts.append("\n".join(f"- {_escaped(name)}: {_escaped(value)}" for name, value in page.facts))
    for depth, block in page.in_words():
        parts.append(f"{'#' * depth} {_escaped(block.title)}")
        if isinstance(block, Section):
            parts += [_escaped(block.about)] if block.about else []
        elif isinstance(block, Sentences):
            parts.append("\n".join(f"- {_escaped(sentence)}" for sentence in block.sentences))
        else:
            rows = [[_content(content) for content in row] for row in block.rows]
            parts.append(
                markdown_table([_escaped(name) for name in block.header], rows, block.n_left, block.word_places)
            )
            parts += [_escaped(block.note)] if block.note else []
    return "\n\n".join(parts) + "\n"


def _content(content: Content) -> str:
    if isinstance(content, Cell) and content.strong:
        return f"**{_escaped(content.text)}** {content.mark}".strip()
    return _escaped(str(content))


def _escaped(text: str) -> str:
    """Keep what a name contains from being taken for Markdown or HTML."""
    for char in "\\`*_[]<>":
        text = text.replace(char, f"\\{char}")
    return text
