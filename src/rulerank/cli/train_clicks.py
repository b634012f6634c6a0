"""rulerank train of documents that carry clicks: what positions do, and which method foresees clicks best."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rulerank.cli.options import today_of
from rulerank.cli.output import print_json
from rulerank.errors import DataError, ReadError

if TYPE_CHECKING:
    from rulerank.dataset import Dataset


def train_on_clicks(
    data: Dataset,
    source: str,
    out: str,
    method: str,
    given: dict[str, Any],
    propensities: str | None,
    today: str | None,
    as_json: bool,
) -> None:
    """Learn from clicks, write the model, and say what came of it."""
    from rulerank.cli.parameters import used_params
    from rulerank.core.words import listed
    from rulerank.today import suggest_today
    from rulerank.training.from_clicks import learn_from_clicks

    known = None if propensities is None else read_propensities(propensities)
    now = None
    if today is not None or suggest_today(data.feature_names) is not None:
        now = today_of(data.feature_names, today).option
    start = perf_counter()
    learned = learn_from_clicks(data, method=method, params=given, propensities=known, today=now)
    seconds = perf_counter() - start
    learned.ranker.save(out)
    params = used_params(learned.ranker)
    if as_json:
        print_json(
            {"model": out, "method": learned.candidate.method, "trained_on": [source], "rows": len(data)}
            | {"params": params, "clicks": learned.to_dict(), "seconds": round(seconds, 3)}
        )
        return
    print(f"trained on the clicks of {source}: {data!r}")
    print(f"features: {listed(data.feature_names)}")
    for line in learned.lines():
        print(line)
    print(f"{out}: {learned.candidate.method}, learned in {seconds:.1f} s")


def read_propensities(path: str) -> dict[int, float]:
    """Read how likely each position is looked at: lines of a position and a number, or a JSON object of them."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(path, None, f"cannot be read: {error}") from None
    if text.lstrip().startswith("{"):
        try:
            pairs = [*json.loads(text).items()]
        except ValueError as error:
            raise ReadError(path, None, f'expected a JSON object such as {{"1": 1.0, "2": 0.6}}: {error}') from None
        return {_position(path, None, position): _number(path, None, value) for position, value in pairs}
    found = {}
    for number, line in enumerate(text.splitlines(), start=1):
        cells = line.replace("\t", ",").split(",")
        if not line.strip() or (number == 1 and cells[0].strip() == "position"):
            continue
        if len(cells) != 2:
            raise ReadError(path, number, f"expected a position and a propensity, such as 2,0.6: got {line!r}")
        found[_position(path, number, cells[0])] = _number(path, number, cells[1])
    if not found:
        raise DataError(f"{path}: expected lines of a position and a propensity, such as 2,0.6: got none")
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
