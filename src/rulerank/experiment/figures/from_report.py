"""Figures of a report that was written before, drawn once more from its csv files, with other systems or measures."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rulerank.core.words import listed
from rulerank.errors import DataError, ReadError
from rulerank.evaluation.measures import Measure
from rulerank.experiment.figures.comparison import Span, difference_plot, rank_curves
from rulerank.experiment.label_curve.result import LabelCurve
from rulerank.io.delimited import unguarded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALPHA = 0.05
MOST = 10  # lines that look different


def curves_figure(report: str, systems: Sequence[str] = ()) -> Figure:
    """Draw P and NDCG at the first ten places of some systems, by default the first ten."""
    means: dict[str, dict[str, float]] = {}
    for row in _read(report, "results.csv", ("system", "measure", "fold", "value")):
        if row["fold"] == "mean":
            means.setdefault(row["system"], {})[row["measure"]] = _number(row["value"], report)
    shown = _chosen(systems, list(means)) if systems else list(means)[:MOST]
    ranks = range(1, 11)
    try:
        curves = {kind: {name: [means[name][f"{kind}@{k}"] for k in ranks] for name in shown} for kind in ("P", "NDCG")}
    except KeyError as error:
        raise ReadError(
            _path(report, "results.csv"), None, f"expected P and NDCG at 1 to 10: {error} is missing"
        ) from None
    return rank_curves(curves)


def differences_figure(report: str, measure: str = "MAP", systems: Sequence[str] = ()) -> Figure:
    """Draw how far each system lies from the one compared with, and the interval of that."""
    label = str(Measure.parse(measure))
    columns = ("system", "against", "measure", "difference", "low", "high", "p_holm")
    rows = _read(report, "differences.csv", columns)
    found = [row for row in rows if row["measure"] == label]
    if not found:
        known = listed(list(dict.fromkeys(row["measure"] for row in rows)))
        raise DataError(f"{_path(report, 'differences.csv')} has no {label}; it has {known or 'no differences'}")
    kept = _chosen(systems, [row["system"] for row in found]) if systems else [row["system"] for row in found]
    spans = []
    for row in found:
        if row["system"] in kept:
            difference, low, high, p = (_number(row[name], report) for name in ("difference", "low", "high", "p_holm"))
            mark = "" if p >= ALPHA or math.isnan(p) else "▲" if difference > 0 else "▼"
            spans.append(Span(row["system"], difference, low, high, mark))
    return difference_plot(spans, found[0]["against"], label)


def labels_figure(source: str) -> Figure:
    """Draw the label curve that `rulerank curve --json` wrote."""
    from rulerank.experiment.figures.label_curve import label_curve_figure

    path = Path(source)
    try:
        return label_curve_figure(LabelCurve.from_json(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ReadError(str(path), None, f"cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, UnicodeDecodeError):
        raise ReadError(str(path), None, "expected a label curve as rulerank curve --json writes it") from None


def _chosen(asked: Iterable[str], known: Sequence[str]) -> list[str]:
    bare = {name.lower(): name for name in known}
    for name in asked:
        if name.lower() not in bare:
            raise DataError(f"the report has no system {name!r}; it has {', '.join(known)}")
    return [bare[name.lower()] for name in dict.fromkeys(asked)]


def _path(report: str, name: str) -> str:
    return str(Path(report) / name if Path(report).is_dir() else Path(report))


def _read(report: str, name: str, columns: Sequence[str]) -> list[dict[str, str]]:
    path = _path(report, name)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ReadError(
            path, None, f"expected the folder of a report, with {name}: rulerank compare writes one"
        ) from None
    rows = list(csv.DictReader(io.StringIO(text)))
    if not rows or any(column not in rows[0] for column in columns):
        raise ReadError(path, None, f"expected the columns {', '.join(columns)}, as rulerank compare writes them")
    return [{key: unguarded(value or "") for key, value in row.items() if key is not None} for row in rows]


def _number(text: str, report: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ReadError(report, None, f"expected a number, got {text!r}") from None
