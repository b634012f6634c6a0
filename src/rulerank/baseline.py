"""The baseline ranking, the one that users see now: a feature, a sum of features, a model, a run, or scores.

`find_baseline` reads all of them, from Python and from the command line, and `Baseline.scores(data)` ranks by them.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulerank._util.parameters import Checked, is_whole, shown
from rulerank._util.words import listed
from rulerank.dataset import Array, Dataset, check_column, query_index
from rulerank.errors import DataError
from rulerank.normalize import normalize_by_query

if TYPE_CHECKING:
    from rulerank.io.trec import Run
    from rulerank.rankers.base import Ranker

RANKS = ("rank", "ranking", "position", "pos")  # a name that ends in one of these words is a rank: 1 is the best
# names of features that are usually the ranking of now, the surest first
USUAL = (
    r"(baseline|engine|search|es|solr|elastic|elasticsearch|opensearch|vespa)[_ .-]?(score|rank|position)?",
    r"_?score|rank|position",
    r"bm25[^a-z0-9]?(all|full|total|whole|sum)?[^a-z0-9]?",
    r"bm25.*",
    r".*bm25.*",
)
MISSING = -3.0  # z-score of a missing value in a sum: below nearly all others
FORMS = "'bm25', '-price' (lowest first), 'bm25 + clicks' (z-scores, added), a model file or a run file"


class Baseline(ABC):
    """A ranking of the documents of each query, by a score of each."""

    @abstractmethod
    def scores(self, data: Dataset) -> Array:
        """Return the baseline score of each row, float64, the best highest; rows without one come last."""

    @property
    @abstractmethod
    def option(self) -> Any:
        """Return the value for `baseline=` that gives it again."""

    @property
    def text(self) -> str:
        """Return the option as text, for JSON and label stores."""
        return self.option if isinstance(self.option, str) else str(self)


@dataclass(frozen=True, slots=True)
class FeatureBaseline(Baseline):
    """Documents ranked by one feature.

    >>> str(FeatureBaseline("engine_rank", 3, -1))
    'engine_rank, lowest first'
    """

    feature: str
    column: int
    sign: int  # 1: the highest value comes first, -1: the lowest

    def __str__(self) -> str:
        return self.feature if self.sign > 0 else f"{self.feature}, lowest first"

    @property
    def option(self) -> str:
        if self.sign == usual_sign(self.feature):
            return self.feature
        return f"{'+' if self.sign > 0 else '-'}{self.feature}"

    def scores(self, data: Dataset) -> Array:
        """Return the values, negated where the lowest comes first.

        >>> data = Dataset([[2.0], [np.nan], [1.0]], [0, 0, 0], ["q"] * 3, feature_names=["bm25"])
        >>> FeatureBaseline("bm25", 0, 1).scores(data).argsort().tolist()  # from worst to best
        [1, 2, 0]
        """
        values = self.values(data)
        missing = np.isnan(values)
        values[missing] = np.nextafter(values[~missing].min(initial=0.0), -np.inf)
        return values

    def values(self, data: Dataset) -> Array:
        """Return the values as scores, where missing ones are NaN."""
        if self.feature not in data.feature_names:
            raise DataError(_no_feature(self.feature, data.feature_names))
        if self.feature in data.categories:
            raise DataError(
                f"baseline ranking: {self.feature!r} holds categories, which have no order; name a feature with numbers"
            )
        return self.sign * data.X[:, data.feature_names.index(self.feature)].astype(np.float64)


@dataclass(frozen=True, slots=True)
class SumBaseline(Baseline):
    """Documents ranked by a sum of features, each as z-scores by query: mean 0 and deviation 1 in each query.

    A missing value counts as three deviations below the mean.

    >>> str(SumBaseline((FeatureBaseline("bm25", 0, 1), FeatureBaseline("price", 1, -1))))
    'bm25 - price'
    """

    parts: tuple[FeatureBaseline, ...]

    def __str__(self) -> str:
        words = self.parts[0].option
        for part in self.parts[1:]:
            words += f" - {part.feature}" if part.sign < usual_sign(part.feature) else f" + {part.option}"
        return words

    @property
    def option(self) -> str:
        return str(self)

    def scores(self, data: Dataset) -> Array:
        values = np.column_stack([part.values(data) for part in self.parts])
        return sum_of_zscores(values, query_index(data.qid)[0])


@dataclass(frozen=True, eq=False)
class ModelBaseline(Baseline):
    """Documents ranked by a fitted ranker."""

    ranker: Ranker
    path: str = ""  # of its file, where it was read from one

    def __str__(self) -> str:
        if self.path:
            return Path(self.path).name
        kind = type(self.ranker).__name__
        return f"{'an' if kind.startswith('A') else 'a'} {kind} model"

    @property
    def option(self) -> Ranker:
        return self.ranker

    @property
    def text(self) -> str:
        return self.path or str(self)

    def scores(self, data: Dataset) -> Array:
        places_in(self.ranker, data.feature_names, data.categories)
        return np.asarray(self.ranker.predict(data), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class RunBaseline(Baseline):
    """Documents ranked by a run, which meets them by the ids of query and document; others come last."""

    run: Run
    path: str = ""

    def __str__(self) -> str:
        return Path(self.path).name if self.path else "a run"

    @property
    def option(self) -> RunBaseline:
        return self

    @property
    def text(self) -> str:
        return self.path or str(self)

    def scores(self, data: Dataset) -> Array:
        run = self.run
        if data.docid is None:
            raise DataError(f"baseline: {self} ranks documents by their ids, which the data lacks: name their column")
        ids = zip(map(str, run.qid.tolist()), map(str, run.docid.tolist()), strict=True)
        known = dict(zip(ids, run.score.tolist(), strict=True))
        last = min(known.values(), default=0.0) - 1.0
        pairs = list(zip(map(str, data.qid.tolist()), map(str, data.docid.tolist()), strict=True))
        ranked = {query for query, _ in known}
        lacking = sorted({query for query, _ in pairs} - ranked)
        if lacking:
            raise DataError(
                f"baseline: {self} has no documents for query {listed(lacking)}; it must rank every query of the data"
            )
        return np.array([known.get(pair, last) for pair in pairs], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class ScoresBaseline(Baseline):
    """Documents ranked by a score of each row of one data set."""

    values: Array

    def __str__(self) -> str:
        return "given scores"

    @property
    def option(self) -> Array:
        return self.values

    def scores(self, data: Dataset) -> Array:
        return check_scores(self.values, len(data))


def find_baseline(
    names: Sequence[str], baseline: Any, categories: Mapping[str, tuple[str, ...]] | None = None
) -> Baseline:
    """Return the baseline ranking that a value means, among features of these names.

    baseline: a feature by its name or column number; "-name" for lowest first; a sum of features, "bm25 + clicks"; a
        fitted ranker or the path of its file; a run or the path of its file; a score of each row; a `Baseline`.
        The highest value of a feature comes first, except for names that end in the word rank or position, such as
        engine_rank, where 1 is the best; "+name" means highest first there. An exact name comes before all else.

    >>> find_baseline(["bm25", "engine_rank"], "engine_rank")
    FeatureBaseline(feature='engine_rank', column=1, sign=-1)
    >>> find_baseline(["bm25", "engine_rank"], 0)
    FeatureBaseline(feature='bm25', column=0, sign=1)
    >>> str(find_baseline(["bm25", "price", "a+b"], "bm25 + a+b - price"))
    'bm25 + a+b - price'
    """
    check_baseline(baseline)
    names = list(names)
    if isinstance(baseline, FeatureBaseline | SumBaseline):
        baseline = baseline.option
    if isinstance(baseline, str):
        found = _named(names, baseline) or _of_file(names, baseline)
    elif is_whole(baseline, 0):
        if baseline >= len(names):
            raise DataError(f"baseline must be a feature, a column from 0 to {len(names) - 1}: got {baseline}")
        found = FeatureBaseline(names[baseline], int(baseline), usual_sign(names[baseline]))
    else:
        found = as_baseline(baseline)
    coded = next((part.feature for part in parts_of(found) if part.feature in (categories or ())), None)
    if coded is not None:
        raise DataError(
            f"baseline ranking: {coded!r} holds categories, which have no order; name a feature with numbers"
        )
    return found


def as_baseline(value: Any) -> Baseline:
    """Return a baseline that is not named by text: a ranker, a run or scores."""
    if isinstance(value, Baseline):
        return value
    if _is_ranker(value):
        return ModelBaseline(value)
    if _is_run(value):
        return RunBaseline(value)
    return ScoresBaseline(np.asarray(value))


def check_baseline(baseline: Any) -> None:
    """Refuse what cannot be a baseline ranking."""
    if _is_ranker(baseline):
        check_fitted(baseline)
    elif hasattr(baseline, "predict"):
        raise DataError(
            "baseline must be a feature, or a fitted ranker of this library, such as QueryIntercepts: "
            f"got {shown(baseline)}; add the scores of another model to the data as a feature, and name that"
        )
    elif not (
        (isinstance(baseline, str) and baseline)
        or is_whole(baseline, 0)
        or isinstance(baseline, Baseline | list | np.ndarray)
        or _is_run(baseline)
    ):
        raise DataError(
            f"baseline must be the ranking that users see now, such as {FORMS}; or a column number from 0, a fitted "
            f"ranker, a Run, or a score of each row: got {shown(baseline)}"
        )


def check_fitted(model: Ranker) -> None:
    """Refuse a ranker that has learned nothing yet."""
    if not model.__sklearn_is_fitted__():
        raise DataError(f"baseline: this {type(model).__name__} is not fitted: fit it first, or read it with rr.load")


def check_scores(scores: Any, n_rows: int) -> Array:
    """Return the baseline score of each row as floats, or say which is not a number.

    >>> check_scores([2, 1], 2)
    array([2., 1.])
    """
    column = check_column("baseline", scores, n_rows)
    try:
        found = column.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError("baseline: scores must be numbers, one per row: got other values") from None
    if not np.isfinite(found).all():
        row = int((~np.isfinite(found)).argmax())
        raise DataError(f"the baseline scores must be finite numbers: got {found[row]} at row {row}")
    return found


def places_in(model: Ranker, names: Sequence[str] | None, categories: Mapping[str, tuple[str, ...]]) -> list[int]:
    """Return the columns that a model reads among those of the data; names None: the data has no names."""
    check_fitted(model)
    own, kind = model.feature_names_, type(model).__name__
    missing = [] if names is None or not model.has_names_ else [name for name in own if name not in names]
    if missing:
        raise DataError(
            f"baseline: this {kind} needs {listed(missing)}, which the data lacks (it has "
            f"{listed(list(names or ()))}); add these features to the data, or name a model trained on its features"
        )
    others = [name for name, kinds in model.categories_.items() if categories.get(name) != kinds]
    if others:
        raise DataError(
            f"baseline: this {kind} has different categories of {listed(others)} from the data: train it on this data"
        )
    if names is None or not model.has_names_:
        return list(range(len(own)))
    place = {name: column for column, name in enumerate(names)}
    return [place[name] for name in own]


def suggest_baseline(names: Sequence[str]) -> FeatureBaseline | None:
    """Return the feature whose name is usual for the baseline ranking, None when there is no such name.

    >>> suggest_baseline(["length", "bm25(title)", "bm25(all)"]).feature
    'bm25(all)'
    >>> suggest_baseline(["length", "pagerank"]) is None
    True
    """
    for pattern in USUAL:
        for column, name in enumerate(names):
            if re.fullmatch(pattern, name.lower()):
                return FeatureBaseline(name, column, usual_sign(name))
    return None


def usual_sign(name: str) -> int:
    """Return -1 for a name that ends in a word for a rank, where the lowest is the best, and else 1.

    >>> usual_sign("engine_rank"), usual_sign("pagerank"), usual_sign("bm25")
    (-1, 1, 1)
    """
    return -1 if re.split(r"[^a-z0-9]+", name.lower().rstrip(")_ "))[-1] in RANKS else 1


def sum_of_zscores(values: Array, queries: Array) -> Array:
    """Return the sum of columns as z-scores by query; a missing value is three deviations below the mean.

    >>> sum_of_zscores(np.array([[1.0, 0.0], [3.0, np.nan]]), np.array([0, 0])).round(6).tolist()
    [-1.0, -2.0]
    """
    scaled = normalize_by_query(values, queries, "zscore")
    total: Array = np.where(np.isnan(scaled), MISSING, scaled).sum(axis=1)
    return total


class Term(NamedTuple):
    """A feature of a sum with the sign before it."""

    sign: str  # "+", "-" or ""
    name: str


def terms_of(names: Sequence[str], text: str) -> list[Term] | None:
    """Return the features of a sum, None where the text is not one of these names with + or - between them.

    >>> terms_of(["a", "a+b", "c d"], "a+b - c d")
    [Term(sign='', name='a+b'), Term(sign='-', name='c d')]
    """
    text = text.strip()
    sign = text[0] if text[:1] in ("+", "-") and text not in names else ""
    rest = text[len(sign) :].lstrip()
    for name in sorted((name for name in names if rest.startswith(name)), key=len, reverse=True):
        after = rest[len(name) :].lstrip()
        if not after:
            return [Term(sign, name)]
        if after[0] not in "+-":
            continue
        more = terms_of(names, after[1:].lstrip() if after[0] == "+" else after)
        if more is not None:
            return [Term(sign, name), *more]
    return None


def _named(names: list[str], text: str) -> Baseline | None:
    """Return the feature or the sum of features that a text names."""
    if text in names:
        return FeatureBaseline(text, names.index(text), usual_sign(text))
    terms = terms_of(names, text)
    if terms is None:
        return None
    twice = next((term.name for term in terms if [one.name for one in terms].count(term.name) > 1), None)
    if twice is not None:
        raise DataError(f"baseline {text!r}: {twice!r} is in the sum twice")
    signs = {"": None, "+": 1, "-": -1}
    parts = [
        FeatureBaseline(term.name, names.index(term.name), signs[term.sign] or usual_sign(term.name)) for term in terms
    ]
    return parts[0] if len(parts) == 1 else SumBaseline(tuple(parts))


def _of_file(names: list[str], text: str) -> Baseline:
    """Return the model or the run in a file."""
    from rulerank.io.formats import read_scored
    from rulerank.model_file import is_model_file, load_ranker

    if names_model(text) or is_model_file(text):
        return ModelBaseline(load_ranker(text), text)
    if os.path.isfile(text):
        return RunBaseline(read_scored(text), text)
    raise DataError(_no_feature(text, names))


def names_model(text: str) -> bool:
    """Tell whether a text is the name of a model file, whether it exists or not.

    >>> names_model("clicks.rulerank"), names_model("bm25")
    (True, False)
    """
    return Path(text).suffix == ".rulerank"


def parts_of(found: Baseline) -> tuple[FeatureBaseline, ...]:
    """Return the features that a baseline is made of; a model, a run or scores have none."""
    return found.parts if isinstance(found, SumBaseline) else (found,) if isinstance(found, FeatureBaseline) else ()


def _no_feature(text: str, names: Sequence[str]) -> str:
    terms = re.split(r"\s+[+-]\s+", text.strip()) if re.search(r"\s[+-]\s", text) else text.split("+")
    terms = [term.strip().removeprefix("-").removeprefix("+").strip() for term in terms]
    unknown = [repr(term) for term in terms if term not in names]
    if not set(terms) & set(names):
        unknown = [repr(text)]
    return (
        f"baseline ranking: there is no feature {listed(unknown)}; the data has {listed(list(names)) or 'none'}; a sum "
        "of these, a model file or a run file may be the baseline, too"
    )


def _is_ranker(value: Any) -> bool:
    from rulerank.rankers.base import Ranker

    return isinstance(value, Ranker)


def _is_run(value: Any) -> bool:
    from rulerank.io.trec import Run

    return isinstance(value, Run)


BASELINE = Checked(
    check_baseline,
    f"the ranking that users see now: {FORMS}, a column number, a fitted ranker, a Run, or a score of each row",
    meaning="the ranking that users see now",
    none="required by fit",
)
