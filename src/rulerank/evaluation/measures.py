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
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from rulerank._util.parameters import is_whole
from rulerank.errors import DataError


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
            raise DataError(f"the cutoff of {self.name} must be a whole number from 1: got {self.cutoff!r}")
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
            raise DataError(f"the cutoff of {measure.name} must be a whole number from 1: got {text!r}")
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


def as_measures(measures: str | Measure | Iterable[str | Measure]) -> tuple[Measure, ...]:
    """Return measures given as text or as values, one or several, each once.

    >>> as_measures(["MAP", NDCG @ 10, "AP", "R@50"])
    (MAP, NDCG@10, Recall@50)
    """
    several = [measures] if isinstance(measures, str | Measure) else list(measures)
    for measure in several:
        if not isinstance(measure, str | Measure):
            raise DataError(f"measures are written as 'NDCG@10' or NDCG @ 10: got {measure!r}")
    if not several:
        raise DataError(f"expected at least one measure, got none; choose from {_choices()}")
    return tuple(dict.fromkeys(Measure.parse(m) if isinstance(m, str) else m.complete() for m in several))


@dataclass(frozen=True, slots=True)
class Convention:
    """How NDCG is computed, and how ties are broken by default."""

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
    return f"unknown measure {text!r}; choose from {_choices()}"
