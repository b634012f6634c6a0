"""Which file is what: one table of formats, and how a file's name or first bytes tell which one it has."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rulerank.errors import DataError, ReadError
from rulerank.io.letor import read_letor, write_letor
from rulerank.io.quepid import is_header, read_quepid, write_quepid
from rulerank.io.streams import Source, format_suffix
from rulerank.io.tables import TABLE_FORMATS, read_table, write_table
from rulerank.io.trec import read_qrels, read_run, write_qrels, write_run

HEAD = 1 << 16  # bytes that are enough to tell a format
SVMLIGHT = re.compile(r"[+-]?[0-9.]+( [0-9]+:[^ :]+)+( #.*)?")  # without qid: LightGBM's has queries in another file
UNSURE = (".txt", ".dat")  # LETOR by custom, but TREC files are often named so too


@dataclass(frozen=True)
class Format:
    """How one kind of file is read and written, and how its name ends."""

    read: Callable[..., Any]
    write: Callable[..., None]
    suffixes: tuple[str, ...] = ()


FORMATS = {
    "letor": Format(read_letor, write_letor, (".letor", ".svm", *UNSURE)),
    **{
        name: Format(partial(read_table, format=name), partial(write_table, format=name), (f".{name}",))
        for name in TABLE_FORMATS
    },
    "run": Format(read_run, write_run, (".run",)),
    "qrels": Format(read_qrels, write_qrels, (".qrels",)),
    "quepid": Format(read_quepid, write_quepid),
}


def detect(path: str | os.PathLike[str], head: bytes) -> str:
    """Return the format of a file by its name, or by its first bytes when the name leaves it open.

    >>> detect("train.txt", b"2 qid:1 1:0.5"), detect("robust.txt", b"301 0 FBIS3-10082 1"), detect("-", b"qid,grade")
    ('letor', 'qrels', 'csv')
    """
    suffix = format_suffix(path)
    known = next((name for name, format in FORMATS.items() if suffix in format.suffixes), None)
    if known and suffix not in UNSURE and known != "csv":
        return known
    seen = sniff(head)
    if known == "csv":
        return "quepid" if seen == "quepid" else "csv"
    if seen or known:
        return str(seen or known)
    raise ReadError(
        os.fspath(path), None, f"cannot tell the format; name it: {', '.join(FORMATS)} (command line: --from)"
    )


def sniff(head: bytes) -> str | None:
    """Return the format that the first bytes look like, if any.

    >>> sniff(b"2 qid:1 1:0.5"), sniff(b"301 Q0 FBIS3-10082 1 9.5 bm25"), sniff(b"hello")
    ('letor', 'run', None)
    """
    if head.startswith(b"PAR1"):
        return "parquet"
    text = head.decode("utf-8-sig", errors="replace")
    line = next((line for line in text.split("\n") if line.strip() and not line.startswith("#")), "")
    words = line.split()
    if len(words) > 1 and (words[1].startswith("qid:") or SVMLIGHT.fullmatch(" ".join(words))):
        return "letor"
    if is_header(line.split(",")):
        return "quepid"
    if len(words) == 6 and _is_number(words[4]):
        return "run"
    if len(words) == 4 and _is_number(words[3]):
        return "qrels"
    return "csv" if "," in line else "tsv" if "\t" in line else None


def output_format(target: Source, format: str | None = None) -> str:
    """Return the format to write: the one that is named, or that the target's name ends in.

    >>> output_format("run.csv.gz"), output_format("-", "qrels")
    ('csv', 'qrels')
    """
    if format:
        return known_format(format)
    suffix = format_suffix(target) if isinstance(target, str | os.PathLike) else ""
    for name, known in FORMATS.items():
        if suffix in known.suffixes:
            return name
    choices = ", ".join(FORMATS)
    raise DataError(
        f"cannot tell the format to write from the name {str(target)!r}; name one: {choices} (command line: --to)"
    )


def known_format(format: str) -> str:
    """Return the name of a format, or say which there are."""
    if format not in FORMATS:
        raise DataError(f"unknown format {format!r}; choose from {', '.join(FORMATS)}")
    return format


def format_in_name(path: str | os.PathLike[str]) -> str | None:
    """Return the TREC format that a file is named after, whatever its ending.

    >>> format_in_name("qrels.txt"), format_in_name("bm25-run.txt"), format_in_name("trunk.txt")
    ('qrels', 'run', None)
    """
    words = re.split(r"[^a-z]+", Path(path).name.lower())
    return "qrels" if {"qrels", "qrel"} & {*words} else "run" if "run" in words else None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
