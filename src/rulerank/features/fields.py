"""What the fields of documents hold, by looking unless kinds are named, and their values: texts, numbers, vectors."""

from __future__ import annotations

import datetime
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rulerank.core.words import listed
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.io.columns import codes_of
from rulerank.io.tables import either
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
    "none": "shown, and no feature",
}
SEARCHED = ("title", "text", "long text", "list", "category")
ALL = "all"  # every field, where fields are named
TITLES = ("title", "name", "headline", "subject")
LINK = re.compile(r"(?:https?://|www\.|//)\S+$|data:image/", re.I)
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?$")
WORD = re.compile(r"\w+")
LARGEST = float(np.finfo(np.float32).max)
EPOCH = datetime.date(1970, 1, 1).toordinal()
SKEWED = 50  # the highest value is so many times the median: a few documents have nearly all of it


@dataclass(frozen=True)
class Field:
    """A field, what it holds, the share of documents that have it, and how many values are not of its kind.

    >>> print(Field("title", "title", 1.0))
    title: title, in 100 % of the documents
    """

    name: str
    kind: str
    coverage: float  # share of documents with a value that can be read
    n_unread: int = 0  # values that are there and cannot be read, as "abc" where numbers are

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

    A field has the same kind whether or not others are named. `all` stands for every field: {"all": None, "year":
    "number"} corrects one kind. A warning counts the values that are not of their field's kind.

    >>> texts = Texts(["1", "2"], {"title": ["Dune", "Alien"], "year": [1984, 1979]})
    >>> [field.kind for field in find_fields(texts)]
    ['title', 'year']
    """
    check_fields(named)
    kinds = {name: kind for name, kind in named.items() if kind} if isinstance(named, Mapping) else {}
    wanted = [*texts.fields] if named is None else [*dict.fromkeys(named)]
    if ALL in wanted and ALL not in texts.fields:
        wanted = [*texts.fields, *(name for name in wanted if name not in texts.fields and name != ALL)]
    for name in wanted:
        if name not in texts.fields:
            raise DataError(f"there is no field {name!r}; the documents have {listed([*texts.fields]) or 'none'}")
    found = {name: _field(name, kinds.get(name), values) for name, values in texts.fields.items()}
    if not any(field.kind == "title" for field in found.values()):
        found |= _title(found.values(), texts, kinds)
    for name in wanted:
        if found[name].n_unread:
            _warn_unread(found[name], texts.fields[name])
    return tuple(found[name] for name in wanted)


def _field(name: str, kind: str | None, values: Sequence[Any]) -> Field:
    kind = kind or kind_of(name, values)
    filled = [value for value in values if value is not None]
    n_unread = sum(READ[kind](value) is None for value in filled) if kind in READ else 0
    return Field(name, kind, (len(filled) - n_unread) / max(1, len(values)), n_unread)


def _warn_unread(field: Field, values: Sequence[Any]) -> None:
    filled = [value for value in values if value is not None]
    first = next(value for value in filled if READ[field.kind](value) is None)
    written = "dates are written 2026-11-18" if field.kind == "date" else "numbers are written 1234.5"
    warnings.warn(
        f"field {field.name!r} is read as {field.kind}: {field.n_unread:,} of {len(filled):,} values cannot be read "
        f"and count as missing, such as {first!r:.40}; {written}; to name another kind: {either('fields')}",
        stacklevel=4,
    )


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
    fits = abs(found) <= LARGEST  # which is false of NaN
    return found if fits and not (isinstance(value, str) and "_" in value) else None


def days(value: Any) -> float | None:
    """Return a date as days since 1970; None: it is none.

    >>> days("1970-01-03"), days("1969-12-31T23:59"), days("May 1970")
    (2.0, -1.0, None)
    """
    try:
        return float(datetime.date.fromisoformat(str(value)[:10]).toordinal() - EPOCH)
    except ValueError:
        return None


READ: Mapping[str, Callable[[Any], float | None]] = {"number": number, "year": number, "date": days}


def _is_id(name: str, texts: Sequence[str | None], n_words: Sequence[int]) -> bool:
    parts = re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
    if name.lower() in TITLES:
        return False
    if {"id", "key", "sku", "isbn", "uuid", "docno"} & {*parts}:
        return True
    plain = all(text is not None and number(text) is None for text in texts)
    return len(texts) >= 20 and plain and max(n_words) == 1  # of a few documents any word may be the only one


def _title(found: Iterable[Field], texts: Texts, kinds: Mapping[str, str]) -> dict[str, Field]:
    """Take the first short text that nearly all documents have, each its own, for the title."""
    for field in found:
        if field.kind == "text" and field.name not in kinds and field.coverage > 0.9:
            filled = [value for value in texts.fields[field.name] if value is not None]
            if len({*map(str, filled)}) > 0.8 * len(filled):
                return {field.name: replace(field, kind="title")}
    return {}


def as_texts(values: Sequence[Any]) -> list[str | list[str] | None]:
    """Return the values of a searched field as texts; a number is written out."""
    return [
        value if value is None or isinstance(value, str) else [str(item) for item in value] if isinstance(value, list)
        else f"{value:g}" if isinstance(value, float) else str(value)
        for value in values
    ]  # fmt: skip


def as_numbers(kind: str, values: Sequence[Any]) -> Array:
    """Return numbers, years, or dates as days since 1970; NaN where there is none."""
    read = READ[kind]
    numbers = (None if value is None else read(value) for value in values)
    return np.array([np.nan if one is None else one for one in numbers], dtype=np.float64)


def is_skewed(values: Array) -> bool:
    """Tell whether the logarithm says more: counts and sums of money, where a few documents have nearly all.

    >>> is_skewed(np.array([0.0, 1.0, 2.0, 5000.0])), is_skewed(np.array([1.0, 2.0, 3.0]))
    (True, False)
    """
    known = values[~np.isnan(values)]
    return bool(known.size and known.min() >= 0 and known.max() > SKEWED * np.median(known))


def as_codes(values: Sequence[Any], kinds: Sequence[str]) -> Array:
    """Return the place of each value among the kinds; NaN where there is none."""
    return codes_of([None if value is None else _kind(value) for value in values], kinds)


def kinds_of(values: Sequence[Any]) -> tuple[str, ...]:
    """Return the different values of a category, in order of the alphabet."""
    return tuple(sorted({_kind(value) for value in values if value is not None}))


def as_vectors(name: str, values: Sequence[Any], size: int | None = None) -> Array:
    """Return vectors of one size as float32 rows; a row of zeros where there is none."""
    filled = [value for value in values if value is not None]
    if any(not isinstance(value, list) or any(isinstance(item, str) for item in value) for value in filled):
        raise DataError(f"field {name!r} must hold a list of numbers in every document")
    sizes = {len(value) for value in filled} | ({size} if size is not None else set())
    if len(sizes) > 1:
        raise DataError(f"vectors of field {name!r} must all be of one size: got {', '.join(map(str, sorted(sizes)))}")
    rows = np.zeros((len(values), max(sizes, default=0)), dtype=np.float32)
    for row, value in enumerate(values):
        if value is not None:
            rows[row] = value
    return rows


def _kind(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).strip()
