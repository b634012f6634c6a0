"""Measures beyond our own, by the notation of ir_measures: `RBP(p=0.8)` here, others by that package where installed.

RBP has a closed form over ties like our own. What ir_measures computes needs one order of the documents: with
`ties="expected"` it is refused as soon as documents are tied, instead of a figure that depends on chance.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np

from rulerank.dataset import Array
from rulerank.errors import DataError, MissingExtraError
from rulerank.evaluation.measures import MAX_CUTOFF, Measure

RBP = re.compile(r"rbp(?:\((?:\s*p\s*=\s*([0-9.]+)\s*)?\))?(?:@(\d+))?", re.IGNORECASE)
PERSISTENCE = 0.8  # of RBP when not given, as in ir_measures
# what ir_measures has beside ours: so known that the package is worth naming when it is not there
KNOWN = {
    "accuracy", "alpha_dcg", "alpha_ndcg", "bpm", "bpref", "compat", "err_ia", "infap", "insq", "inst", "iprec",
    "judged", "nerr8", "nerr9", "nerr10", "nerr11", "nrbp", "rprec", "sdcg", "setap", "setf", "setp", "setr", "setrelp",
    "strecall", "success",
}  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class OtherMeasure(Measure):
    """A measure that the compiled loops do not know; its name is its whole notation."""

    persistence: float | None = None  # of RBP
    theirs: Any = None  # the measure of ir_measures

    def __post_init__(self) -> None:
        return

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OtherMeasure) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def complete(self) -> Measure:
        """Return the measure itself: its notation has all it needs."""
        return self

    @property
    def per_query(self) -> str:
        """The label of one query's value."""
        return str(self)


def other_measure(text: str) -> OtherMeasure | None:
    """Return a measure by its notation, or None if nobody knows it.

    >>> other_measure("rbp(p=0.5)@10"), other_measure("Fame@10")
    (RBP(p=0.5)@10, None)
    """
    text = text.strip()
    found = RBP.fullmatch(text)
    if found:
        p, cutoff = float(found[1] or PERSISTENCE), found[2] and int(found[2])
        if not 0 < p < 1 or cutoff == 0 or (cutoff or 0) > MAX_CUTOFF:
            raise DataError(f"RBP needs a persistence between 0 and 1 and a cutoff from 1 on, if any: got {text!r}")
        return OtherMeasure(f"RBP(p={p:g})", cutoff or None, persistence=p)
    name = re.split(r"[@(]", text)[0].lower()
    if name not in KNOWN and "(" not in text:
        return None
    package = ir_measures()
    try:
        theirs = package.parse_measure(text)
        name = str(theirs)
        can = any(one.is_available() and one.supports(theirs) for one in package.DefaultPipeline.providers)
    except NameError:
        return None
    except (ValueError, AssertionError, KeyError) as error:
        raise DataError(f"ir_measures cannot read the measure {text!r}: {error}") from None
    if not isinstance(theirs.aggregator(), package.measures.MeanAgg):
        raise DataError(f"{name} counts over all queries: it is no measure of a ranking")
    if not can:
        raise DataError(
            f"ir_measures knows {name}, and nothing that it finds installed computes it; "
            "its documentation names the package to install for each measure"
        )
    return OtherMeasure(name, theirs=theirs)


def ir_measures() -> ModuleType:
    """Load the package, or say how to install it."""
    try:
        import ir_measures as package
    except ImportError:
        raise MissingExtraError("measures", "ir-measures") from None
    return package


def other_values(
    measure: OtherMeasure,
    grades: Array,
    scores: Array,
    ranked: Array,
    judged: Array | None,
    starts: Array,
    ties: str,
    relevant_from: int,
) -> Array:
    """Return a measure's value for each query; rows stand query by query, in the order that ties keep.

    starts: where each query begins, and the end; judged: False for documents without a judgement (None: all have one)
    """
    if measure.persistence is not None:
        return np.array(
            [
                biased_precision(measure, grades[a:b] >= relevant_from, scores[a:b], ranked[a:b], ties == "expected")
                for a, b in pairwise(starts.tolist())
            ]
        )
    if relevant_from != 1:
        raise DataError(f"{measure} says by itself what is relevant: write (rel={relevant_from}) into its name")
    return by_ir_measures(measure, grades, scores, ranked, judged, starts, ties)


def biased_precision(measure: OtherMeasure, relevant: Array, scores: Array, ranked: Array, expected: bool) -> float:
    """Return rank-biased precision of one query: (1 - p) times the sum of p^(rank - 1) over relevant documents.

    Tied documents have the mean weight of their places: the exact mean over all their orders.
    """
    p, cutoff = measure.persistence, measure.cutoff
    assert p is not None
    relevant, scores = relevant[ranked], scores[ranked]
    order = np.argsort(-scores, kind="stable")
    weights = (1 - p) * p ** np.arange(len(order), dtype=np.float64)
    if cutoff is not None:
        weights[cutoff:] = 0.0
    if expected and len(order):
        groups = np.cumsum(np.concatenate([[False], np.diff(scores[order]) != 0]))
        weights = (np.bincount(groups, weights) / np.bincount(groups))[groups]
    return float((weights * relevant[order]).sum())


def by_ir_measures(
    measure: OtherMeasure, grades: Array, scores: Array, ranked: Array, judged: Array | None, starts: Array, ties: str
) -> Array:
    """Let ir_measures compute a measure: places become scores, so that it has no tie to break."""
    package = ir_measures()
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    known = np.ones(len(grades), dtype=bool) if judged is None else judged
    n_tied = 0
    for query, (a, b) in enumerate(pairwise(starts.tolist())):
        rows = a + np.flatnonzero(ranked[a:b])
        order = rows[np.argsort(-scores[rows], kind="stable")].tolist()
        n_tied += len(rows) - len(np.unique(scores[rows]))
        qrels[str(query)] = {str(row): int(grades[row]) for row in range(a, b) if known[row]}
        run[str(query)] = {str(row): float(len(order) - place) for place, row in enumerate(order)}
    if n_tied and ties == "expected":
        raise DataError(
            f"{measure} comes from ir_measures, which knows no mean over ties, and documents are tied: choose "
            "ties='file' (as they come) or ties='docid' (trec_eval's rule), and say so beside the figure"
        )
    values = np.zeros(len(starts) - 1)
    for found in package.iter_calc([measure.theirs], qrels, run):
        values[int(found.query_id)] = found.value
    return values
