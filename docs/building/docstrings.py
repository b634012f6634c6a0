"""Docstrings of the library as the Markdown of its reference.

In the sources, parameters stand as `name: what it is` under a heading of NumPy's style and examples wherever they help.
Types and defaults come from the signature.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

SECTION = re.compile(r"^(Parameters|Attributes)\n-{3,}\n(.*?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \w+)*)\s*: +", re.MULTILINE)
EXAMPLES = re.compile(r"^Examples\n-{3,}\n", re.MULTILINE)
DOCTEST = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)


class AsMarkdown(griffe.Extension):
    """Rewrite every docstring before it is shown."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrite one."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """Return a docstring of the house as Markdown: lists of parameters, fenced examples.

    >>> print(as_markdown('''Rank.
    ...
    ... Parameters
    ... ----------
    ... size: how many, at the
    ...     most.
    ... '''))
    Rank.
    <BLANKLINE>
    **Parameters**
    <BLANKLINE>
    - `size`: how many, at the most.
    """
    text = SECTION.sub(lambda found: f"**{found[1]}**\n\n{entries(found[2])}", text.strip())
    text = EXAMPLES.sub("", text)
    return DOCTEST.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```", text)


def entries(body: str) -> str:
    """Return `name: text`, and the further lines of each, as a list."""
    _, *found = ENTRY.split(body)
    texts = (" ".join(text.split()) for text in found[1::2])
    return "\n".join(f"- `{name}`: {text}" for name, text in zip(found[::2], texts, strict=True))
