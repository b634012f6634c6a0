"""The measures and the conventions they are computed by, in the notation of the field.

| convention     | gain of grade g | discount at rank r       | NDCG@k of fewer than k docs | ties     |
| -------------- | --------------- | ------------------------ | --------------------------- | -------- |
| `standard`     | g               | 1 / log2(r + 1)          | as if padded with grade 0   | expected |
| `standard-exp` | 2^g - 1         | 1 / log2(r + 1)          | as if padded with grade 0   | expected |
| `letor3`       | 2^g - 1         | 1, then 1 / log2(r)      | as if padded with grade 0   | file     |
| `letor4`       | 2^g - 1         | 1, then 1 / log2(r)      | 0                           | file     |

`standard` is trec_eval's, `letor3` and `letor4` are those of the LETOR evaluation scripts. In all of them a query
without a relevant document counts 0 in every measure and stays in the mean: that is what the LETOR scripts print, and
what trec_eval does for a query that is in the qrels. A `Result` says how many such queries there were.

Measures beyond our own have the notation of ir_measures: `RBP(p=0.8)` is computed here, others by that package where it
is installed. RBP has a closed form over ties like our own. ir_measures needs one order of the documents: with
`ties="expected"` it is refused as soon as documents are tied, instead of a value that depends on chance.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from types import ModuleType
from typing import Any, Literal

import numpy as np

from rulerank._util.parameters import is_whole
from rulerank.dataset import Array
from rulerank.errors import DataError, MissingExtraError


@dataclass(frozen=True, slots=True)
class Kind:
    """What a measure is called for one query, whether it takes a cutoff, and what it says."""

    per_query: str
    cutoff: Literal["needed", "optional", "none"]
    about: str


MAX_CUTOFF = 1_000_000_000  # far beyond any ranking, and safe as a 64-bit integer
KINDS = {  # the kernels number them in this order
    "MAP": Kind("AP", "optional", "precision at each relevant document, averaged over all relevant ones"),
    "P": Kind("P", "needed", "share of the first k documents that are relevant"),
    "NDCG": Kind("NDCG", "optional", "discounted gain, divided by that of the best possible ranking"),
    "MeanNDCG": Kind("MeanNDCG", "none", "mean of NDCG@k over k = 1, 2, ... up to the query's number of documents"),
    "MRR": Kind("RR", "optional", "one over the rank of the first relevant document"),
    "ERR": Kind(
        "ERR", "optional", "expected reciprocal rank at which a reader stops, chance (2^g - 1) / 2^max_grade each"
    ),
    "Recall": Kind("Recall", "optional", "share of the relevant documents that are among the first k"),
}
_NAMES = {kind.lower(): kind for kind in KINDS} | {kind.per_query.lower(): name for name, kind in KINDS.items()}
_NAMES["r"] = "Recall"  # as ir_measures writes it
_SPELLINGS = _NAMES | {"precision": "P", "prec": "P", "reciprocalrank": "MRR"}  # for "did you mean"


@dataclass(frozen=True, slots=True, repr=False)
class Measure:
    """A measure and its cutoff.

    >>> NDCG @ 10
    NDCG@10
    >>> Measure.parse("ndcg@10") == NDCG @ 10
    True
    >>> Measure.parse("AP"), Measure.parse("AP").per_query
    (MAP, 'AP')
    """

    name: str
    cutoff: int | None = None

    def __post_init__(self) -> None:
        if self.name not in KINDS:
            raise DataError(_unknown(self.name))
        if self.cutoff is None:
            return
        if not is_whole(self.cutoff, 1, MAX_CUTOFF):
            raise DataError(f"the cutoff of {self.name} must be an integer of at least 1: got {self.cutoff!r}")
        object.__setattr__(self, "cutoff", int(self.cutoff))  # NumPy's integers too
        if KINDS[self.name].cutoff == "none":
            raise DataError(f"{self.name} takes no cutoff: got {self.name}@{self.cutoff}; write {self.name}")

    @staticmethod
    def parse(text: str) -> Measure:
        """Read a measure from its notation; capitals do not matter.

        >>> Measure.parse("recall@5")
        Recall@5
        """
        name, at, cutoff = text.strip().partition("@")
        if name.lower() not in _NAMES:
            raise DataError(_unknown(text))
        measure = Measure(_NAMES[name.lower()])
        if not at:
            return measure.complete()
        if not (cutoff.isascii() and cutoff.isdigit()):
            raise DataError(f"the cutoff of {measure.name} must be an integer of at least 1: got {text!r}")
        return measure @ int(cutoff)

    @staticmethod
    def of(value: object) -> Measure:
        """Return the one measure that is given as such, or in its notation.

        >>> Measure.of("ndcg@5"), Measure.of(NDCG @ 5)
        (NDCG@5, NDCG@5)
        """
        if not isinstance(value, str | Measure):
            raise DataError(_unknown(str(value)[:60]))
        return Measure.parse(str(value))

    def complete(self) -> Measure:
        """Return the measure itself once it is sure that no cutoff is missing."""
        if self.cutoff is None and KINDS[self.name].cutoff == "needed":
            raise DataError(f"{self.name} needs a cutoff: write {self.name}@1 or {self.name}@10")
        return self

    def __matmul__(self, cutoff: int) -> Measure:
        return replace(self, cutoff=cutoff)

    def __str__(self) -> str:
        return self._label(self.name)

    __repr__ = __str__

    @property
    def per_query(self) -> str:
        """The label of one query's value: AP for MAP, RR for MRR."""
        return self._label(KINDS[self.name].per_query)

    def _label(self, name: str) -> str:
        return name if self.cutoff is None else f"{name}@{self.cutoff}"


MAP, P, NDCG, MeanNDCG, MRR, ERR, Recall = map(Measure, KINDS)


def as_measures(measures: str | Measure | Iterable[str | Measure], *, others: bool = False) -> tuple[Measure, ...]:
    """Return measures given as text, as values, one or several, each once; others: also those that are not ours.

    >>> as_measures(["MAP", NDCG @ 10, "AP", "R@50"])
    (MAP, NDCG@10, Recall@50)
    """
    several = [measures] if isinstance(measures, str | Measure) else list(measures)
    for measure in several:
        if not isinstance(measure, str | Measure):
            raise DataError(f"measures are written as 'NDCG@10' or NDCG @ 10: got {measure!r}")
    if not several:
        raise DataError(f"expected at least one measure, got none; choose from {_choices()}")

    def read(text: str) -> Measure:
        ours = text.strip().partition("@")[0].lower() in _NAMES
        return (other_measure(text) if others and not ours else None) or Measure.parse(text)

    return tuple(dict.fromkeys(read(m) if isinstance(m, str) else m.complete() for m in several))


def split_names(texts: Iterable[str]) -> list[str]:
    """Return measures that were written with commas between them; those in brackets belong to a measure.

    >>> split_names(["MAP,P@5", "RBP(p=0.8,rel=1)"])
    ['MAP', 'P@5', 'RBP(p=0.8,rel=1)']
    """
    return [name for text in texts for name in re.split(r",(?![^(]*\))", text)]


@dataclass(frozen=True, slots=True)
class Convention:
    """How NDCG is computed and, how ties are broken by default."""

    name: str
    exponential_gain: bool
    rank_shift: int  # the discount at a rank is 1 / log2(max(2, rank + rank_shift))
    short_is_zero: bool  # NDCG@k of a query with fewer than k documents is 0
    ties: str


CONVENTIONS = {
    convention.name: convention
    for convention in (
        Convention("standard", False, rank_shift=1, short_is_zero=False, ties="expected"),
        Convention("standard-exp", True, rank_shift=1, short_is_zero=False, ties="expected"),
        Convention("letor3", True, rank_shift=0, short_is_zero=False, ties="file"),
        Convention("letor4", True, rank_shift=0, short_is_zero=True, ties="file"),
    )
}
TIE_RULES = {
    "expected": "the exact mean over all orders of the tied documents",
    "file": "tied documents stay in the order they came (the LETOR scripts' rule)",
    "docid": "tied documents by id, compared as text, the last first (trec_eval's rule)",
}


def convention_named(name: str) -> Convention:
    """Return a convention by its name.

    >>> convention_named("letor3").ties
    'file'
    """
    if name not in CONVENTIONS:
        raise DataError(f"unknown convention {name!r}; choose from {', '.join(CONVENTIONS)}")
    return CONVENTIONS[name]


def _choices() -> str:
    cutoffs = {"needed": "@k", "optional": "[@k]", "none": ""}
    return ", ".join(name + cutoffs[kind.cutoff] for name, kind in KINDS.items())


def _unknown(text: str) -> str:
    meant = _close_to(text)
    return f"unknown measure {text!r}; {f'did you mean {meant}? ' if meant else ''}choose from {_choices()}"


def _close_to(text: str) -> str | None:
    """Return the measure that was probably meant: letters swapped, or written as trec_eval and others do.

    >>> _close_to("NCDG@10"), _close_to("ndcg_cut_10"), _close_to("p10"), _close_to("F1")
    ('NDCG@10', 'NDCG@10', 'P@10', None)
    """
    written = re.fullmatch(r"([a-z]+?)(?:cut|at)?([1-9]\d{0,5})?", re.sub(r"[\W_]+", "", text.lower()))
    if not written:
        return None
    found = difflib.get_close_matches(written[1], _SPELLINGS, n=1, cutoff=0.7)
    if not found:
        return None
    name, cutoff = _SPELLINGS[found[0]], written[2]
    allowed = KINDS[name].cutoff
    if allowed == "none" or not (cutoff or allowed == "needed"):
        return name
    return f"{name}@{cutoff or 10}"


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
            raise DataError(f"RBP needs a persistence between 0 and 1 and, if any, a cutoff from 1: got {text!r}")
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
        raise DataError(f"{name} counts over all queries: it is not a measure of one ranking")
    if not can:
        raise DataError(
            f"ir_measures supports {name}, but no installed provider computes it; "
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
    """Return a measure's value for each query; rows are grouped by query, in the order that ties keep.

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
        raise DataError(f"{measure} sets its own relevance level: write (rel={relevant_from}) into its name")
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
            f"{measure} comes from ir_measures, which cannot average over ties, and documents are tied: choose "
            "ties='file' (as they come) or ties='docid' (trec_eval's rule), and report which one beside the value"
        )
    values = np.zeros(len(starts) - 1)
    for found in package.iter_calc([measure.theirs], qrels, run):
        values[int(found.query_id)] = found.value
    return values
