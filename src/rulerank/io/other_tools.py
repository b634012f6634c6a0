"""Files as other tools write them: LightGBM's sizes of queries are read; of others, errors say how to get them in."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Sequence
from shlex import quote

from rulerank.errors import ReadError
from rulerank.io.streams import read_bytes

QUERY_SIZES = (".query", ".group")  # files beside the data, one number of rows a query: LightGBM's and XGBoost's
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
FRACTION = re.compile(r"[+-]?[0-9]*\.[0-9]+")
LONG_NAME = 60  # characters: a longer first cell is a text, not the name of a column
MOST_NAMES = 8


def with_qids(content: bytes, name: str) -> bytes:
    """Return svmlight text with the query ids that a file of sizes beside it gives; other text as it is.

    The rows of the first query have qid:1, and so on.
    """
    sizes_name = sizes_beside(name)
    if sizes_name is None:
        return content
    lines = content.split(b"\n")
    rows = [number for number, line in enumerate(lines) if line.strip() and not line.lstrip().startswith(b"#")]
    words = lines[rows[0]].split(None, 2) if rows else []
    if len(words) < 2 or words[1].startswith(b"qid:"):
        return content
    sizes = _sizes(sizes_name)
    if sum(sizes) != len(rows):
        raise ReadError(
            sizes_name, None, f"the sizes of its queries add up to {sum(sizes):,} rows, but {name} has {len(rows):,}"
        )
    qids = itertools.chain.from_iterable(itertools.repeat(qid, size) for qid, size in enumerate(sizes, start=1))
    for row, qid in zip(rows, qids, strict=True):
        grade, *features = lines[row].split(None, 1)
        lines[row] = b" ".join([grade, b"qid:%d" % qid, *features])
    return b"\n".join(lines)


def sizes_beside(name: str) -> str | None:
    """Return the file of the sizes of queries that is beside a file of data, if there is one."""
    return next((name + ending for ending in QUERY_SIZES if os.path.isfile(name + ending)), None)


def no_header_hint(columns: Sequence[str], name: str) -> str:
    r"""Return what to type where the first line of a file seems to hold values, not names of columns; else nothing.

    >>> print(no_header_hint(["q1", "d7", "0.5"], "judged.csv"))
    ; the first line seems to hold values: write names above it, such as (echo qid,docid,f1; cat judged.csv) > named.csv
    """
    numbers = [column for column in columns if NUMBER.fullmatch(column.strip())]
    texts = [column for column in columns if "://" in column or len(column) > LONG_NAME]
    if not texts and len(numbers) < len(columns) and not any("." in number for number in numbers):
        return ""
    said, sizes = "; the first line seems to hold values: write names above it", sizes_beside(name)
    if sizes and len(numbers) == len(columns):  # as LightGBM reads csv: the grade, then the features
        names = f"qid,grade,$(seq -s, -f f%g {len(columns) - 1})"
        rows = f"awk '{{for (i = 0; i < $1; i++) print NR}}' {quote(sizes)} | paste -d, - {quote(name)}"
        return f'{said}, and the queries of {sizes} beside it: (echo "{names}"; {rows}) > named.csv'
    known = ["id", "url", "title", "text"] if texts else ["qid", "docid"]
    known += [f"f{number}" for number in range(1, max(1, len(columns) - len(known) + 1))]
    names = ",".join(known[: len(columns)] if len(columns) <= MOST_NAMES else [*known[:3], "..."])
    if name.removesuffix(".gz").endswith(".tsv"):
        return f"{said}, such as (echo {names} | tr , '\\t'; cat {quote(name)}) > named.tsv"
    return f"{said}, such as (echo {names}; cat {quote(name)}) > named.csv"


def fraction_hint(grade: object, command: str) -> str:
    """Return how to make whole grades where one is a fraction; else nothing.

    >>> fraction_hint("1.5", "awk ...")
    '; to make fractional grades whole: awk ...'
    """
    return f"; to make fractional grades whole: {command}" if FRACTION.fullmatch(str(grade).strip()) else ""


def _sizes(name: str) -> list[int]:
    sizes = []
    for line, text in enumerate(read_bytes(name)[0].split(b"\n"), start=1):
        if text.strip():
            if not text.strip().isdigit():
                came = text.strip()[:40].decode(errors="replace")
                raise ReadError(name, line, f"expected the number of rows of a query, got {came!r}")
            sizes.append(int(text))
    return sizes
