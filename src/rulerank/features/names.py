"""The features by name: `bm25(title)` is a measure of a field. One table says what each measure is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from rulerank.core.words import listed
from rulerank.errors import DataError
from rulerank.features.fields import Field

MATCHING = {  # measures of a searched field, or of all of them: `all`
    "bm25": "BM25 of the field; of all, its fields weighted",
    "cosine": "cosine of the tf-idf vectors of query and field",
    "covered": "share of the query's idf that the field has words of",
    "terms": "share of the query's words that the field has",
    "exact": "1: the field, or an item of its list, is the query word by word",
    "prefix": "1: the field, or an item of its list, begins with the query",
    "phrase": "1: the query stands in the field, word after word",
    "pairs": "share of the pairs of neighbours in the query that are neighbours in the field, in order",
    "run": "most words of the query that stand in the field one after the other, in order",
    "close": "number of the query's words found, by the size of the smallest window that holds them all; needs two",
    "first": "place of the first word of the query in the field, from 1",
    "length": "number of words of the field",
    "grams": "share of character 3-grams that query and field have in common (Jaccard): forgives misspelling",
}
OF_NUMBERS = {
    "log": "ln(1 + value)",
    "rank": "place among the query's documents, the highest value 1, equal ones the mean of theirs",
}
OF_QUERY = {
    "query_terms": "number of different words of the query",
    "query_idf": "mean idf of the query's words",
}
OF_ENGINE = {
    "engine_rank": "rank that the engine gave",
    "engine_score": "score that the engine gave",
}
ALL, BEST = "all", "best"
FORM = re.compile(r"(\w+)\((.+)\)", re.S)


class Feature(NamedTuple):
    """A feature: its name, the measure, and the field that it is of ("" for none)."""

    name: str
    measure: str
    field: str


def available(fields: Sequence[Field]) -> dict[str, Feature]:
    """Return every feature that these fields can give, by name."""
    found = []
    searched = [field.name for field in fields if field.searched]
    for name in (*searched, ALL) if searched else ():
        found += [Feature(f"{m}({name})", m, name) for m in MATCHING if not (m == "grams" and name == ALL)]
    if searched:
        found.append(Feature(f"covered({BEST})", "best", ALL))
    for field in fields:
        if field.kind in ("number", "year", "date"):
            found.append(Feature(field.name, "value", field.name))
            found += [Feature(f"{measure}({field.name})", measure, field.name) for measure in OF_NUMBERS]
        if field.kind == "year":
            found.append(Feature(f"near({field.name})", "near", field.name))
        if field.kind == "category":
            found.append(Feature(field.name, "category", field.name))
        if field.kind == "vector":
            found.append(Feature(f"cosine({field.name})", "vector", field.name))
    found += [Feature(name, name, "") for name in OF_QUERY]
    return {feature.name: feature for feature in found}


def default_names(fields: Sequence[Field], skewed: Sequence[str]) -> list[str]:
    """Return the short list that is good on any collection; numbers in `skewed` come as logarithms."""
    searched = [field for field in fields if field.searched]
    title = next((field.name for field in searched if field.kind == "title"), None)
    names = []
    if title is not None:
        names += [f"grams({title})", f"bm25({title})", f"length({title})"]
    if searched:
        names += ["bm25(all)", "cosine(all)", "run(all)", "covered(best)"]
    names += [f"covered({field.name})" for field in searched if field.name != title]
    for field in fields:
        if field.kind in ("number", "date"):
            names.append(f"log({field.name})" if field.name in skewed else field.name)
        elif field.kind == "year":
            names += [field.name, f"near({field.name})"]
        elif field.kind == "category":
            names.append(field.name)
        elif field.kind == "vector":
            names.append(f"cosine({field.name})")
    return names


def features_named(names: Sequence[str], fields: Sequence[Field]) -> tuple[Feature, ...]:
    """Return the features of these names, or say which there are."""
    known = available(fields)
    for name in names:
        if name not in known:
            raise DataError(_unknown(name, fields, known))
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"features must differ: {twice!r} is there twice")
    return tuple(known[name] for name in names)


def _unknown(name: str, fields: Sequence[Field], known: dict[str, Feature]) -> str:
    parts = FORM.fullmatch(name)
    if parts and parts[2] not in (ALL, BEST, *(field.name for field in fields)):
        return f"unknown feature {name!r}: there is no field {parts[2]!r}, only {listed([f.name for f in fields])}"
    of_field = [one for one, feature in known.items() if parts and feature.field == parts[2]]
    return f"unknown feature {name!r}; choose from {listed(of_field or [*known])}"
