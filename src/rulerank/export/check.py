"""Compare the scores of another system with predict: how much each differs, and why.

Answers of the system are lines of JSON objects, each with `features` (names and numbers; null or absent if the engine
had no value) and `score`; `id`, if given, names the row. A category is given by its name, or by the code that the
export has for it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rulerank._util.words import counted
from rulerank.dataset import Array
from rulerank.errors import DataError

CLOSE = 1e-6  # of the largest score: what sums in float32 are apart
SHOWN = 10
MISSING_AS_ZERO = "missing values were taken for 0: train with 0 in their place, or have the engine leave them out"
ROUNDED = "values were rounded to float32, across a cut: train on float32 values"
UNKNOWN = "no reason is known: the features may not be those that the engine scored, or the model is another one"


class Answer(NamedTuple):
    """One row: the score of the system, that of predict, and why they differ."""

    id: str
    answered: float
    predicted: float
    why: str  # "" where they agree to what float32 can hold


@dataclass(frozen=True)
class Check:
    """How much the scores of a system differ from predict."""

    answers: tuple[Answer, ...]

    @property
    def largest_gap(self) -> float:
        """The largest difference, relative to the largest score."""
        scale = max((abs(one.predicted) for one in self.answers), default=0.0) or 1.0
        return max((abs(one.answered - one.predicted) for one in self.answers), default=0.0) / scale

    @property
    def same(self) -> bool:
        """Whether all scores agree."""
        return all(not one.why for one in self.answers)

    @property
    def n_reversed(self) -> int:
        """Number of pairs of rows that the system ranks in the opposite order."""
        predicted = np.array([one.predicted for one in self.answers])
        answered = np.array([one.answered for one in self.answers])
        order = np.sign(predicted[:, None] - predicted) * np.sign(answered[:, None] - answered)
        return int((order < 0).sum()) // 2

    def lines(self) -> list[str]:
        """Return the result in sentences."""
        wrong = [one for one in self.answers if one.why]
        rows = counted(len(self.answers), "row")
        first = f"{rows}: the largest difference is {self.largest_gap:.2g} of the largest score; "
        first += f"{counted(self.n_reversed, 'pair')} in a different order"
        if not wrong:
            return [first, "all scores equal those of predict"]
        shown = [f"{one.id}: answered {one.answered:.9g}, predict {one.predicted:.9g}: {one.why}" for one in wrong]
        more = [f"... and {len(wrong) - SHOWN} more"] if len(wrong) > SHOWN else []
        return [first, f"{counted(len(wrong), 'row')} of {len(self.answers)} differ:", *shown[:SHOWN], *more]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        return {
            "n_rows": len(self.answers),
            "largest_gap": self.largest_gap,
            "n_reversed": self.n_reversed,
            "same": self.same,
            "rows": [one._asdict() for one in self.answers],
        }


def read_answers(text: str) -> list[Any]:
    """Read answers, one JSON object per line.

    >>> read_answers('{"features": {"a": 1}, "score": 2}\\n{"features": {}, "score": 0}')[0]["score"]
    2
    """
    return [_read_line(line, number) for number, line in enumerate(text.splitlines(), 1) if line.strip()]


def _read_line(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise DataError(
            f"line {number} is not JSON ({error}); "
            'expected an object such as {"features": {"bm25": 1.5}, "score": 0.2}'
        ) from None


def check_answers(ranker: Any, answers: Sequence[Any]) -> Check:
    """Compare answers with predict, row by row.

    >>> import rulerank as rr
    >>> ranker = rr.QueryIntercepts().fit([[0, 1], [1, 0], [1, 1], [0, 0], [1, 1]], [0, 0, 1, 1, 0], qid=[1] * 5)
    >>> score = float(ranker.predict([[1, 1]])[0])
    >>> check_answers(ranker, [{"features": {"f1": 1, "f2": 1}, "score": score}]).same
    True
    """
    X = np.array([_row(answer, number, ranker) for number, answer in enumerate(answers, 1)])
    if not len(X):
        return Check(())
    scores = _predict(ranker, X)
    with np.errstate(over="ignore"):
        narrow = X.astype(np.float32).astype(np.float64)
    guesses = {MISSING_AS_ZERO: _predict(ranker, np.where(np.isnan(X), 0.0, X)), ROUNDED: _predict(ranker, narrow)}
    close = CLOSE * (float(np.nanmax(np.abs(scores))) or 1.0)
    found = []
    for row, answer in enumerate(answers):
        score, why = _number(answer["score"], row + 1, "score"), ""
        if not abs(score - scores[row]) <= close:
            known = (text for text, other in guesses.items() if abs(score - other[row]) <= close)
            why = next(known, UNKNOWN)
        found.append(Answer(str(answer.get("id", f"row {row + 1}")), score, float(scores[row]), why))
    return Check(tuple(found))


def _predict(ranker: Any, X: Array) -> Array:
    try:
        return ranker.predict_codes(X)
    except DataError:  # a linear ranker refuses missing values
        scores = np.full(len(X), math.nan)
        whole = ~np.isnan(X).any(axis=1)
        if whole.any():
            scores[whole] = ranker.predict_codes(X[whole])
        return scores


def _row(answer: Any, number: int, ranker: Any) -> list[float]:
    names, kinds = ranker.feature_names_, ranker.categories_
    if not isinstance(answer, dict) or not isinstance(answer.get("features"), dict) or "score" not in answer:
        raise DataError(
            f"line {number} must be an object with features and a score, such as "
            f'{{"features": {{"{names[0]}": 1.5}}, "score": 0.2}}: got {str(answer)[:60]}'
        )
    found = answer["features"]
    unknown = sorted({*found} - {*names})
    if unknown:
        raise DataError(f"line {number} has a feature {unknown[0]!r} that the model does not have")
    return [
        _code(found.get(name), number, name, kinds[name]) if name in kinds else _number(found.get(name), number, name)
        for name in names
    ]


def _code(value: Any, number: int, name: str, names: tuple[str, ...]) -> float:
    """Return the code of a category, given by its name or as the export codes it: names, then others, then missing."""
    if isinstance(value, str):
        return float(names.index(value)) if value in names else math.nan if value == "" else float(len(names))
    code = _number(value, number, name)
    if code == len(names) + 1:
        return math.nan
    if not (math.isnan(code) or code in range(len(names) + 1)):
        raise DataError(
            f"line {number}: {name} must be the name of a category, or its code from 0 to {len(names) + 1}: "
            f"got {value!r}"
        )
    return code


def _number(value: Any, number: int, name: str) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(f"line {number}: {name} must be a number or null: got {value!r}")
    return float(value)
