"""Fields of documents and the features made of them, by name: `bm25(title)` is a measure of a field.

Fields hold texts, numbers or vectors: found from their values unless kinds are named. One table lists the measures.
"""

from __future__ import annotations

import csv
import datetime
import io
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from rulerank._util.words import listed
from rulerank.dataset import Array
from rulerank.errors import DataError, ReadError
from rulerank.io.columns import codes_of
from rulerank.io.files import read_bytes
from rulerank.io.frames import either
from rulerank.io.texts import Documents

# links are displayed but not searched; ids are ignored; none: displayed, not a feature
KINDS = (
    "title", "text", "long text", "list", "category", "number", "year", "date", "vector", "link", "id", "empty", "none",
)  # fmt: skip
SEARCHED = ("title", "text", "long text", "list", "category")
ALL, BEST = "all", "best"  # every field, where fields are named, and the best of them
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


def find_fields(texts: Documents, named: Any = None) -> tuple[Field, ...]:
    """Return the fields with their kinds: those that are named, or all; a kind that is named is not looked for.

    A field has the same kind whether or not others are named. `all` stands for every field: {"all": None, "year":
    "number"} corrects one kind. A warning counts the values that are not of their field's kind.

    >>> texts = Documents(["1", "2"], {"title": ["Dune", "Alien"], "year": [1984, 1979]})
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
    if isinstance(values, np.ndarray) and values.ndim == 2:
        return "vector"
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
    """Return a value as a number, also if it is written as text; None if it is not one.

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
    """Return a date as days since 1970; None if it is not one.

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


def _title(found: Iterable[Field], texts: Documents, kinds: Mapping[str, str]) -> dict[str, Field]:
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
    if isinstance(values, np.ndarray) and values.ndim == 2:
        if size not in (None, values.shape[1]):
            raise DataError(f"vectors of field {name!r} must have {size} numbers: got {values.shape[1]}")
        return np.ascontiguousarray(values, dtype=np.float32)
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


MATCHING = ("bm25", "cosine", "covered", "exact", "run", "length", "grams")  # measures of a searched field, or of `all`
BY_KIND = {  # measures of other fields
    "number": ("value", "log"),
    "date": ("value", "log"),
    "year": ("value", "log", "near"),
    "category": ("category",),
    "vector": ("vector",),
}
NAMED = {"value": "{}", "category": "{}", "vector": "cosine({})"}  # others: measure(field)
OF_ENGINE = ("engine_rank", "engine_score")
# the readable name of a feature of a field, or of an engine
HUMAN = {
    "bm25": "BM25 match in {}",
    "cosine": "similar words in {}",
    "meaning": "similar meaning in {}",
    "covered": "share of query words in {}",
    "exact": "{} equals the query",
    "run": "longest run of query words in {}",
    "length": "length of {}",
    "grams": "similar spelling in {}",
    "log": "{} (log)",
    "near": "{} near the year in the query",
    "engine_rank": "engine rank",
    "engine_score": "engine score",
}
MATCH = ("bm25", "cosine", "meaning", "covered", "exact", "run", "grams")
MEANING_OF_ALL = f"meaning({ALL})"
FORM = re.compile(r"(\w+)\((.+)\)", re.S)


def human_name(feature: str) -> str:
    """Return the readable name of a text feature; other names stay as they are.

    >>> human_name("grams(title)"), human_name("covered(brand)"), human_name("bm25(all)"), human_name("pagerank")
    ('similar spelling in title', 'share of query words in brand', 'BM25 match in all fields', 'pagerank')
    """
    parts = FORM.fullmatch(feature)
    if parts is None or parts[1] not in HUMAN:
        return HUMAN[feature] if feature in OF_ENGINE else feature
    field = {ALL: "all fields", BEST: "the best field"}.get(parts[2], parts[2])
    return HUMAN[parts[1]].format(field.replace("_", " "))


def read_names(source: str) -> dict[str, str]:
    """Read readable names of features: a csv file with the columns feature and name."""
    content, name = read_bytes(source)
    rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig")))
    if not {"feature", "name"} <= {*(rows.fieldnames or ())}:
        raise ReadError(
            name, 1, f"expected the columns feature and name, got {', '.join(rows.fieldnames or ()) or 'none'}"
        )
    return {row["feature"]: row["name"] for row in rows if row["feature"] and row["name"]}


def match_features(names: Iterable[str]) -> list[str]:
    """Return the features that measure how well a document matches the query: a higher value should never be worse.

    >>> match_features(["bm25(title)", "BM25_body", "length(title)", "price", "bm25x"])
    ['bm25(title)', 'BM25_body']
    """
    return [name for name in names if re.fullmatch(rf"({'|'.join(MATCH)})([^a-z0-9].*)?", name.lower())]


class Feature(NamedTuple):
    """A feature: its name, the measure, and the field that it is of ("" for none)."""

    name: str
    measure: str
    field: str


def feature_of(measure: str, field: str) -> Feature:
    """Return a measure of a field as a feature.

    >>> feature_of("bm25", "title").name, feature_of("value", "price").name
    ('bm25(title)', 'price')
    """
    return Feature(NAMED.get(measure, f"{measure}({{}})").format(field), measure, field)


def available(fields: Sequence[Field], embedded: bool = False) -> dict[str, Feature]:
    """Return every feature that these fields can give, by name; embedded: there is an embedder."""
    searched = [field.name for field in fields if field.searched]
    found = [
        feature_of(measure, name)
        for name in ((*searched, ALL) if searched else ())
        for measure in ((*MATCHING, "meaning") if embedded else MATCHING)
        if (measure, name) != ("grams", ALL)
    ]
    found += [Feature(f"covered({BEST})", "best", ALL)] if searched else []
    found += [feature_of(measure, field.name) for field in fields for measure in BY_KIND.get(field.kind, ())]
    return {feature.name: feature for feature in found}


def default_names(fields: Sequence[Field], skewed: Sequence[str], embedded: bool = False) -> list[str]:
    """Return the short list that is good on any collection; numbers in `skewed` come as logarithms."""
    searched = [field for field in fields if field.searched]
    title = next((field.name for field in searched if field.kind == "title"), None)
    names = [] if title is None else [f"grams({title})", f"bm25({title})", f"length({title})"]
    if searched:
        names += ["bm25(all)", "cosine(all)", "run(all)", "length(all)", "covered(best)"]
        names += [MEANING_OF_ALL] if embedded else []
    names += [f"covered({field.name})" for field in searched if field.name != title]
    for field in fields:
        usual = [measure for measure in BY_KIND.get(field.kind, ()) if measure != "log"]
        names += [feature_of(m, field.name).name for m in (["log"] if field.name in skewed else usual)]
    return names


def features_named(names: Sequence[str], fields: Sequence[Field], embedded: bool = False) -> tuple[Feature, ...]:
    """Return the features of these names, or raise an error that lists the available ones."""
    known = available(fields, embedded)
    for name in names:
        if name not in known:
            raise DataError(_unknown(name, fields, known))
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"features must differ: {twice!r} appears twice")
    return tuple(known[name] for name in names)


def _unknown(name: str, fields: Sequence[Field], known: dict[str, Feature]) -> str:
    parts = FORM.fullmatch(name)
    if parts and parts[2] not in (ALL, BEST, *(field.name for field in fields)):
        return f"unknown feature {name!r}: there is no field {parts[2]!r}, only {listed([f.name for f in fields])}"
    of_field = [one for one, feature in known.items() if parts and feature.field == parts[2]]
    return f"unknown feature {name!r}; choose from {listed(of_field or [*known])}"
