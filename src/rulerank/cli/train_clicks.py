"""rulerank train of documents that carry clicks: what positions do, and which method foresees clicks best."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from time import perf_counter
from typing import Any

from rulerank.cli.clicks_said import saved_in_words
from rulerank.cli.options import start_of
from rulerank.cli.output import print_json
from rulerank.cli.parameters import make_ranker, used_params
from rulerank.cli.train_asked import Asked
from rulerank.core.words import listed
from rulerank.dataset import Dataset
from rulerank.errors import DataError, ReadError
from rulerank.rankers.anchored.today_model import TodayModel
from rulerank.today import Today, suggest_today
from rulerank.training.from_clicks import learn_from_clicks


def train_on_clicks(asked: Asked, data: Dataset) -> None:
    """Learn from clicks, write the model, and say what came of it."""
    source, out = asked.source, asked.out
    if asked.tune or asked.vali is not None or asked.judge is not None:
        raise DataError(f"{source} holds clicks, which choose by themselves: leave out --tune, --vali and --judge")
    if not asked.auto:
        make_ranker(asked.method.ranker_class(), asked.given)  # says what it does not take
    known = None if asked.propensities is None else read_propensities(asked.propensities)
    now, method = todays_ranking(asked, data), "auto" if asked.auto else asked.method.name
    today = None if now is None else now.option
    start = perf_counter()
    learned = learn_from_clicks(data, method=method, params=asked.given, propensities=known, today=today)
    seconds = perf_counter() - start
    learned.ranker.save(out)
    params = used_params(learned.ranker)
    if asked.as_json:
        print_json(
            {"model": out, "method": learned.candidate.method, "trained_on": [source], "rows": len(data)}
            | {"saved": "today" if learned.is_today else "new"}
            | {"params": params, "clicks": learned.to_dict(), "seconds": round(seconds, 3)}
        )
        return
    print(f"trained on the clicks of {source}: {data!r}")
    print(f"features: {listed(data.feature_names)}")
    for line in learned.lines():
        print(line)
    print("\n".join(saved_in_words(asked, learned, data.feature_names, seconds)))


def todays_ranking(asked: Asked, log: Dataset) -> Today | TodayModel | None:
    """Return today's ranking as it was named, or as the name of a feature says; None: it is not known."""
    if asked.today is None and suggest_today(log.feature_names) is None:
        return None
    return start_of(log.feature_names, asked.today)


def read_propensities(path: str) -> dict[int, float]:
    """Read how likely each position is looked at: lines of a position and a number, or a JSON object of them."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(path, None, f"cannot be read: {error}") from None
    if text.lstrip().startswith("{"):
        try:
            pairs = json.loads(text, object_pairs_hook=list)  # a position may be there twice
        except ValueError as error:
            raise ReadError(path, None, f'expected a JSON object such as {{"1": 1.0, "2": 0.6}}: {error}') from None
        return _each_once(path, [(None, position, value) for position, value in pairs])
    lines = []
    for number, line in enumerate(text.splitlines(), start=1):
        cells = line.replace("\t", ",").split(",")
        if not line.strip() or (number == 1 and cells[0].strip() == "position"):
            continue
        if len(cells) != 2:
            raise ReadError(path, number, f"expected a position and a propensity, such as 2,0.6: got {line!r}")
        lines.append((number, cells[0], cells[1]))
    if not lines:
        raise DataError(f"{path}: expected lines of a position and a propensity, such as 2,0.6: got none")
    return _each_once(path, lines)


def _each_once(path: str, pairs: Iterable[tuple[int | None, Any, Any]]) -> dict[int, float]:
    """Return propensities by position, from their lines in the file."""
    found: dict[int, float] = {}
    for line, position, value in pairs:
        place = _position(path, line, position)
        if place in found:
            raise ReadError(path, line, f"position {place} is there twice")
        found[place] = _number(path, line, value)
    return found


def _position(path: str, line: int | None, value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise ReadError(path, line, f"expected a position, a whole number from 1: got {value!r}") from None


def _number(path: str, line: int | None, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ReadError(path, line, f"expected a propensity, above 0 and at most 1: got {value!r}") from None
