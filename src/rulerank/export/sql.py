"""A model as one SQL query that DuckDB, SQLite, PostgreSQL and others run.

A first query finds the bins; votes are whole numbers on a grid, looked up as fixed-width digits in a text, so that
their sum is exact; one multiplication at the end makes a score of it. A missing value is NULL, or NaN where a database
sorts it above all numbers. A category is a column of its names; an empty text is missing unless it is one of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from rulerank.dataset import Array
from rulerank.export import Export, Names
from rulerank.export.form import Form
from rulerank.export.trees import LARGEST64
from rulerank.rules.additive import DOUBLE_BITS, AdditiveTables

MOST_CUTS = 254  # that are compared one after the other; the baseline ranking of Anchored has more
GROUP = 40  # terms between two brackets: SQLite nests expressions 1,000 deep at most


def export(form: Form, names: Names) -> Export:
    """Return the query over a table of the feature set's name, a column for each feature."""
    table = quoted(names.feature_set)
    columns = [quoted(name) for name in form.feature_names]
    weights = form.linear("a database", fills=True)
    if weights is None:
        form = form.on_grid()
        kinds = {form.feature_names.index(name): own for name, own in form.categories.items()}
        text = _over_bins(form.tables, table, columns, kinds)
    else:
        source = table
        if form.categories:
            coded, columns = _coded(form, columns)
            source = f"(SELECT {table}.*,\n{coded}\nFROM {table}) AS {table}"
        score = _weighted_sum(weights, form.tables.fill, columns)
        text = f"SELECT {table}.*,\n{score} AS score\nFROM {source};\n"
    head = f"-- {form.kind} by rulerank: the score of each row of {names.feature_set}\n".replace("\r", " ")
    notes = tuple(
        f"the column {name!r} must hold the names of categories as text, as the model knows them "
        f"({', '.join(map(repr, own[:3]))}{', ...' if len(own) > 3 else ''})"
        for name, own in form.categories.items()
        if name in form.used
    )
    return Export(f"run the query; it reads the table {names.feature_set}", head + text, notes=notes)


def quoted(name: str) -> str:
    """Return a name as SQL quotes it.

    >>> print(quoted('a"b'))
    "a""b"
    """
    return '"' + name.replace('"', '""') + '"'


def number(value: float) -> str:
    """Write a number so that it is a double everywhere: without an exponent it would be a decimal in some databases.

    >>> number(0.5), number(-1e300)
    ('5.0e-1', '-1.0e300')
    """
    return np.format_float_scientific(value, trim="0", exp_digits=1).replace("e+", "e")


def missing(column: str) -> str:
    """Tell a missing value: NaN lies above all numbers in databases that have it."""
    return f"{column} IS NULL OR {column} > {number(LARGEST64)}"


def name_case(column: str, names: Sequence[str], results: Sequence[int], other: int, missing: str) -> str:
    """Return what stands for a category: the result of its name, or one for other names and one where it is missing.

    >>> print(name_case('"brand"', ["lg", "o'neill", "tcl"], [0, 1, 0], 2, "3"))
    CASE WHEN "brand" IN ('lg', 'tcl') THEN 0 WHEN "brand" = 'o''neill' THEN 1 WHEN "brand" IS NULL OR "brand" = '' \
THEN 3 ELSE 2 END
    """
    parts = []
    for result in sorted({*results} - {other}):
        own = [text(name) for name, found in zip(names, results, strict=True) if found == result]
        known = f"= {own[0]}" if len(own) == 1 else f"IN ({', '.join(own)})"
        parts.append(f"WHEN {column} {known} THEN {result}")
    if "" in names:
        parts.append(f"WHEN {column} IS NULL THEN {missing}")
    else:
        parts.append(f"WHEN {column} IS NULL OR {column} = '' THEN {missing}")
    return f"CASE {' '.join(parts)} ELSE {other} END"


def text(value: str) -> str:
    """Return a text as SQL quotes it."""
    return "'" + value.replace("'", "''") + "'"


def _coded(form: Form, columns: Sequence[str]) -> tuple[str, list[str]]:
    """Return the codes of categories as columns of their own, and all columns as a sum over numbers reads them."""
    cases, read = [], list(columns)
    for number_of, (name, names) in enumerate(form.categories.items()):
        place = form.feature_names.index(name)
        read[place] = f"_code{number_of}"
        case = name_case(columns[place], names, range(len(names)), len(names), "NULL")
        cases.append(f"{case} AS {read[place]}")
    return ",\n".join(cases), read


def _over_bins(
    model: AdditiveTables, table: str, columns: Sequence[str], categories: Mapping[int, Sequence[str]]
) -> str:
    """Return the query that finds bins, looks votes up and adds them."""
    largest = abs(model.base) + sum(float(np.abs(own.votes).max(initial=0.0)) for own in model.tables)
    unit = math.ldexp(1.0, max((math.frexp(largest)[1] if largest else 0) - DOUBLE_BITS, -1000))
    whole = [np.rint(own.votes / unit).astype(np.int64) for own in model.tables]
    base = round(model.base / unit)
    shared = math.gcd(base, *(int(np.gcd.reduce(votes, axis=None)) for votes in whole)) or 1  # fewer digits
    axes: dict[tuple[int, bytes], str] = {}
    cases, terms = [], []
    for own, votes in zip(model.tables, whole, strict=True):
        place = []
        for feature, cuts in zip(own.features, own.cuts, strict=True):
            key = (feature, cuts.tobytes())
            if key not in axes:
                axes[key] = f"_bin{len(axes)}"
                case = _bin_case(columns[feature], cuts, categories.get(feature))
                cases.append(f"{case} AS {axes[key]}")
            place.append(axes[key])
        votes = votes // shared
        low = int(votes.min())
        width = len(str(int(votes.max()) - low))
        digits = "".join(f"{vote - low:0{width}d}" for vote in votes.ravel().tolist())
        cell = place[0]
        for axis, size in zip(place[1:], votes.shape[1:], strict=True):
            cell = f"({cell} * {size} + {axis})"
        terms.append(f"CAST(substr('{digits}', {cell} * {width} + 1, {width}) AS BIGINT)")
        base += low * shared
    inner = ",\n".join([f"{table}.*", *cases])
    total = _added([str(base // shared), *terms])
    # materialized: else some databases write the bins out once more for each of their uses
    bins = f"WITH _binned AS MATERIALIZED (\nSELECT {inner}\nFROM {table}\n)"
    return f"{bins}\nSELECT _binned.*,\n{number(unit * shared)} * ({total}) AS score\nFROM _binned;\n"


def _bin_case(column: str, cuts: Array, names: Sequence[str] | None) -> str:
    if names is not None:
        bins = np.searchsorted(cuts, np.arange(len(names) + 1), side="right").tolist()
        return name_case(column, names, bins[:-1], bins[-1], str(len(cuts) + 1))
    return f"CASE WHEN {missing(column)} THEN {len(cuts) + 1} {_search(column, cuts.tolist(), 0)} END"


def _search(column: str, cuts: list[float], first: int) -> str:
    """Return the end of a CASE that finds a bin, numbered from `first`; among many cuts by halves."""
    if len(cuts) <= MOST_CUTS:
        parts = [f"WHEN {column} < {number(cut)} THEN {first + bin} " for bin, cut in enumerate(cuts)]
        return f"{''.join(parts)}ELSE {first + len(cuts)}"
    half = len(cuts) // 2
    below, above = _search(column, cuts[:half], first), _search(column, cuts[half + 1 :], first + half + 1)
    return f"WHEN {column} < {number(cuts[half])} THEN CASE {below} END ELSE CASE {above} END"


def _weighted_sum(weights: Array, fill: Array | None, columns: Sequence[str]) -> str:
    values = list(columns)
    if fill is not None:
        values = [
            f"CASE WHEN {missing(column)} THEN {number(own)} ELSE {column} END"
            for column, own in zip(columns, fill.tolist(), strict=True)
        ]
    return " + ".join(f"{number(weight)} * {value}" for value, weight in zip(values, weights.tolist(), strict=True))


def _added(terms: Sequence[str]) -> str:
    """Add terms up in groups, so that brackets do not nest as deep as there are terms."""
    groups = [" + ".join(terms[start : start + GROUP]) for start in range(0, len(terms), GROUP)]
    return groups[0] if len(groups) == 1 else _added([f"({group})" for group in groups])
