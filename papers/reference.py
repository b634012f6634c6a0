"""Published figures, to print beside ours: facts from the papers, each with its source, in reference.csv."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rulerank.dataset import Fold, query_index
from rulerank.errors import DataError

OHSUMED = {45: "OHSUMED, LETOR 3.0", 25: "OHSUMED, LETOR 2.0"}  # by number of features
SIZES = {  # queries and documents of a collection; the papers' training parts hold three fifths of them
    (106, 16_140): "OHSUMED",
    (50, 49_058): "TD2003",
    (75, 74_146): "TD2004",
    (150, 148_657): "NP2003",
    (75, 73_834): "NP2004",
    (150, 147_606): "HP2003",
    (75, 74_409): "HP2004",
}
WEB = ("TD2003", "TD2004", "NP2003", "NP2004", "HP2003", "HP2004")
N_FEATURES = {64: "LETOR 3.0", 44: "LETOR 2.0"}  # of the web collections
CHOICES = ("auto", "ohsumed", *map(str.lower, WEB), "none")


@dataclass(frozen=True, slots=True)
class Published:
    """One figure of a paper."""

    collection: str
    system: str
    measure: str  # MAP, NDCG@10, ...; "seconds per query", "seconds" over all queries
    fold: str  # 1 to 5, or mean
    value: float
    source: str


@cache
def published() -> tuple[Published, ...]:
    """Return all figures.

    >>> next(figure for figure in published() if figure.system == "RE-QR" and figure.fold == "mean").value
    0.465
    """
    text = Path(__file__).with_name("reference.csv").read_text(encoding="utf-8")
    return tuple(
        Published(collection, system, measure, fold, float(value), source)
        for collection, system, measure, fold, value, source in list(csv.reader(text.splitlines()))[1:]
    )


def collection_of(folds: Sequence[Fold], source: str = "") -> str | None:
    """Return which published collection the folds are, by their size, such as 106 queries, 16,140 documents.

    source: where they lie; a web collection is also known by the name LETOR gives its folder, as 2003_td_dataset, if
        it has as many features.
    """
    queries = {query for fold in folds for query in query_index(fold.test.qid)[1].tolist()}
    n_docs = sum(len(fold.test) for fold in folds)
    n_features = folds[0].train.X.shape[1] if folds else 0
    name = SIZES.get((len(queries), n_docs)) if len(folds) == 5 else None
    if name == "OHSUMED":
        return OHSUMED.get(n_features)
    name = name or web_name(source)
    version = N_FEATURES.get(n_features)
    return f"{name}, {version}" if name and version else None


def web_name(source: str) -> str | None:
    """Return the web collection that a path names in LETOR's way or the papers', the last one if several do.

    >>> web_name("data/2003_td_dataset"), web_name("/gov/NP2004/"), web_name("OHSUMED")
    ('TD2003', 'NP2004', None)
    """
    words = re.findall(r"(?:(200[34])_(td|hp|np))|(?:(td|hp|np)[-_]?(200[34]))", source.lower())
    found = [f"{(a or b).upper()}{year or other}" for year, a, b, other in words]
    return found[-1] if found else None


def choose_reference(asked: str, folds: Sequence[Fold], source: str = "") -> str | None:
    """Return the collection whose published figures are shown, None for none.

    >>> choose_reference("none", [])
    """
    if asked not in CHOICES:
        raise DataError(f"unknown reference {asked!r}; choose from {', '.join(CHOICES)}")
    if asked == "none":
        return None
    found = collection_of(folds, source)
    if asked == "auto" or (found is not None and found.lower().startswith(asked)):
        return found
    return OHSUMED[45] if asked == "ohsumed" else f"{asked.upper()}, LETOR 3.0"
