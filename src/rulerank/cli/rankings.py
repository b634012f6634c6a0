"""What `rulerank evaluate` is asked to judge: scores beside data, features of the data, or TREC runs beside qrels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError, ReadError
from rulerank.io.convert import read_any
from rulerank.io.scores import read_scores
from rulerank.io.trec import join, read_qrels, read_run


class Ranking(NamedTuple):
    """A ranking by its name, and the arguments `rulerank.evaluate` takes for it."""

    name: str
    y: Array
    scores: Array
    qid: Array
    docid: Array | None
    retrieved: Array | None = None


def from_data(data_file: str, score_files: Sequence[str], features: Sequence[str], **reading: Any) -> list[Ranking]:
    """Return the documents of a data file ranked by each score file and by each feature named."""
    if not score_files and not features:
        raise DataError(f"expected scores for {data_file}: name a score file after it, or a column with --feature")
    data = read_any(data_file, **reading)
    scores = {name: read_scores_of(data, name, data_file) for name in score_files}
    scores |= {name: scores_by_feature(data, name) for name in features}
    return [Ranking(name, data.y, values, data.qid, data.docid) for name, values in scores.items()]


def from_runs(qrels_file: str, run_files: Sequence[str], *, complete: bool) -> list[Ranking]:
    """Return each TREC run beside the same judgements."""
    qrels = read_qrels(qrels_file)
    rankings = []
    for name in run_files:
        run = read_run(name)
        try:
            both = join(run, qrels, complete)
        except DataError as error:  # says what does not fit, but not in which of the runs
            raise ReadError(name, None, f"does not fit {qrels_file}: {error}") from None
        rankings.append(Ranking(name, both.y, both.scores, both.qid, both.docid, both.retrieved))
    return rankings


def read_scores_of(data: Dataset, score_file: str, data_file: str) -> Array:
    """Return one score per row of the data."""
    scores = read_scores(score_file)
    if scores.size != len(data):
        raise ReadError(
            score_file, None, f"expected {len(data):,} scores, one per document of {data_file}: got {scores.size:,}"
        )
    return scores


def scores_by_feature(data: Dataset, name: str) -> Array:
    """Return a feature as scores, or its negative for "-name"; documents that lack it come last.

    >>> data = Dataset([[0.5], [float("nan")], [2.0]], y=[0, 0, 1], qid=["q"] * 3, feature_names=["bm25"])
    >>> scores_by_feature(data, "bm25").argsort().tolist()  # from worst to best
    [1, 0, 2]
    """
    feature = name.removeprefix("-")
    if feature not in data.feature_names:
        names = data.feature_names
        shown = ", ".join(names) if len(names) <= 30 else f"{', '.join(names[:3])}, ... {names[-1]}"
        raise DataError(f"there is no feature {feature!r}; the data has {shown or 'none'}")
    values = data.X[:, data.feature_names.index(feature)].astype(np.float64)
    if feature != name:
        values = -values
    missing = np.isnan(values)
    values[missing] = np.nextafter(values[~missing].min(initial=0.0), -np.inf)
    return values
