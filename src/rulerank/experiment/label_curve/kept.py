"""The label-efficiency curve of an experiment, kept beside its cells."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from rulerank.dataset import Fold
from rulerank.experiment.cells import cell_key, fold_digest
from rulerank.experiment.label_curve.curve import RANKERS, SAMPLERS, label_curve
from rulerank.experiment.label_curve.result import LabelCurve, Line, Point
from rulerank.io.streams import write_bytes

N_DRAWS = 20


def kept_label_curve(folds: Sequence[Fold], directory: Path, n_draws: int = N_DRAWS) -> LabelCurve:
    """Return the curve, from the directory if it was drawn there before; a curve of other folds there goes."""
    what = {"draws": n_draws, "rankers": list(RANKERS), "samplers": list(SAMPLERS)}
    key = cell_key("label curve", what, "".join(map(fold_digest, folds)), {}, "MAP")
    path = directory / f"label-curve-{key}.json"
    try:
        return curve_from_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError):
        pass  # not there, or not whole
    curve = label_curve(folds, n_draws=n_draws)
    write_bytes(path, curve.to_json().encode())
    for old in directory.glob("label-curve-*.json"):
        if old != path:
            old.unlink(missing_ok=True)
    return curve


def curve_from_json(text: str) -> LabelCurve:
    """Return the curve that `LabelCurve.to_json` wrote."""
    found: dict[str, Any] = json.loads(text)
    known = {field.name: found[field.name] for field in fields(LabelCurve)}
    known["points"] = tuple(Point(**point) for point in known["points"])
    known["lines"] = tuple(Line(**line) for line in known["lines"])
    known["features"] = tuple(known["features"])
    return LabelCurve(**known)
