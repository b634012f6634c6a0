"""What the fields of documents hold: kinds are found by looking, unless they are named."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank.core.words import listed
from rulerank.errors import DataError
from rulerank.io.texts import Texts

KINDS = {
    "title": "short text that names the document",
    "text": "short text",
    "long text": "text of many words",
    "list": "several short texts",
    "category": "one of a few values",
    "number": "a number",
    "year": "a year",
    "date": "a date",
    "vector": "a list of numbers, such as an embedding",
    "link": "an address of a page or picture, shown and not searched",
    "id": "names the document and says nothing",
    "empty": "no document has it",
    "none": "left out",
}
SEARCHED = ("title", "text", "long text", "list", "category")
TITLES = ("title", "name", "headline", "subject")
LINK = re.compile(r"(?:https?://|www\.|//)\S+$|data:image/", re.I)
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?$")
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Field:
    """A field, what it holds, and the share of documents that have it.

    >>> print(Field("title", "title", 1.0))
    title: title, in 100 % of the documents
    """

    name: str
    kind: str
    coverage: float

    def __str__(self) -> str:
        return f"{self.name}: {self.kind}, in {100 * self.coverage:.0f} % of the documents"

    @property
    def searched(self) -> bool:
        """Whether its words are looked for."""
        return self.kind in SEARCHED


def check_fields(fields: Any) -> object:
    """Raise an error unless fields are None, a list of names, or a dict of kinds by name."""
    if fields is None:
        return None
    if isinstance(fields, str) or not isinstance(fields, Mapping | Sequence):
        raise DataError(f"fields must be a list of names, or a dict of kinds by name: got {fields!r:.60}")
    if not all(isinstance(name, str) for name in fields):
        raise DataError("fields must be named by text")
    if isinstance(fields, Mapping):
        for name, kind in fields.items():
            if kind is not None and kind not in KINDS:
                raise DataError(f"unknown kind {kind!r} of field {name!r}; choose from {', '.join(KINDS)}")
    return fields


def find_fields(texts: Texts, named: Any = None) -> tuple[Field, ...]:
    """Return the fields with their kinds: those that are named, or all; a kind that is named is not looked for.

    >>> texts = Texts(["1", "2"], {"title": ["Dune", "Alien"], "year": [1984, 1979]})
    >>> [field.kind for field in find_fields(texts)]
    ['title', 'year']
    """
    check_fields(named)
    wanted = dict.fromkeys(texts.fields) if named is None else dict.fromkeys(named)
    kinds = dict(named) if isinstance(named, Mapping) else {}
    for name in wanted:
        if name not in texts.fields:
            raise DataError(f"there is no field {name!r}; the documents have {listed([*texts.fields]) or 'none'}")
    found = []
    for name in wanted:
        values = texts.fields[name]
        kind = kinds.get(name) or kind_of(name, values)
        n_filled = sum(value is not None for value in values)
        found.append(Field(name, kind, n_filled / max(1, len(values))))
    if not any(field.kind == "title" for field in found):
        found = _with_title(found, texts, kinds)
    return tuple(found)


def kind_of(name: str, values: Sequence[Any]) -> str:
    """Return what a field holds, by all its values; the first kind that fits."""
    filled = [value for value in values if value is not None]
    if not filled:
        return "empty"
    if sum(isinstance(value, list) for value in filled) > len(filled) / 2:
        numbers = all(not isinstance(item, str) for value in filled if isinstance(value, list) for item in value)
        return "vector" if numbers else "list"
    texts = [value if isinstance(value, str) else None for value in filled]
    distinct = {value if not isinstance(value, list) else tuple(value) for value in filled}
    n_words = [1 if text is None else len(WORD.findall(text)) for text in texts]
    if len(distinct) == len(values) and _is_id(name, texts, n_words):
        return "id"
    numbers_of = [number(value) for value in filled]
    known = np.array([value for value in numbers_of if value is not None])
    if known.size > 0.99 * len(filled):
        whole = (known == np.floor(known)).mean()
        return "year" if whole == 1 and ((known >= 1800) & (known <= 2100)).mean() > 0.99 else "number"
    checks: tuple[tuple[str, Callable[[str], Any]], ...] = (("link", LINK.match), ("date", DATE.match))
    for kind, fits in checks:
        if sum(text is not None and fits(text.strip()) is not None for text in texts) > 0.9 * len(filled):
            return kind
    few = len(distinct) < len(filled) / 2 and len(distinct) <= max(50, 0.005 * len(values))
    if few and max(n_words) <= 4:
        return "category"
    if np.median(n_words) >= 25:
        return "long text"
    return "title" if name.lower() in TITLES else "text"


def number(value: Any) -> float | None:
    """Return a number, also one that is written as text; None: it is none.

    >>> number("1.5"), number(3), number("ten"), number("nan")
    (1.5, 3.0, None, None)
    """
    if isinstance(value, list):
        return None
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if np.isfinite(found) and not (isinstance(value, str) and "_" in value) else None


def _is_id(name: str, texts: Sequence[str | None], n_words: Sequence[int]) -> bool:
    parts = re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
    if name.lower() in TITLES:
        return False
    if {"id", "key", "sku", "isbn", "uuid", "docno"} & {*parts}:
        return True
    plain = all(text is not None and number(text) is None for text in texts)
    return len(texts) >= 20 and plain and max(n_words) == 1  # of a few documents any word may be the only one


def _with_title(found: list[Field], texts: Texts, kinds: Mapping[str, str]) -> list[Field]:
    """Take the first short text that nearly all documents have, each its own, for the title."""
    for place, field in enumerate(found):
        if field.kind == "text" and field.name not in kinds and field.coverage > 0.9:
            filled = [value for value in texts.fields[field.name] if value is not None]
            if len({*map(str, filled)}) > 0.8 * len(filled):
                return [*found[:place], Field(field.name, "title", field.coverage), *found[place + 1 :]]
    return found
