"""Measure data that does not fit in memory, part by part; score Dask data frames, where they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError, RulerankError
from rulerank.evaluation import Measure, evaluate
from rulerank.evaluation.evaluation import Result
from rulerank.rankers.base import Ranker
from rulerank.scale.dask_runner import needed
from rulerank.scale.fit import opened_parts
from rulerank.scale.part import Columns, Part, Shape, graded_part
from rulerank.scale.survey import look_at_all


def evaluate_parts(
    ranker: Ranker,
    parts: Any,
    measures: str | Measure | Iterable[str | Measure] = ("MAP", "NDCG@10", "P@1"),
    client: Any = None,
    *,
    qid: str = "qid",
    docid: str = "docid",
    grade: str = "grade",
    format: str | None = None,
    memory: float = 1024,
    **options: Any,
) -> Result:
    """Measure how well a fitted ranker ranks the documents of parts, as `evaluate` does in memory.

    parts and client are those of `fit_parts`; options those of `evaluate`. Rows without a grade are left out.

    >>> import rulerank as rr
    >>> world = rr.make_ranking(n_queries=20, seed=0)
    >>> ranker = rr.GlobalRules().fit(world)
    >>> parts = [world[[query == one for query in world.qid]] for one in dict.fromkeys(world.qid)]
    >>> found = rr.evaluate_parts(ranker, parts)
    >>> found.means == rr.evaluate(world.y, ranker.predict(world), world.qid).means
    True
    """
    columns = Columns(qid, docid, grade)
    asked = [measures] if isinstance(measures, str | Measure) else [*measures]
    with opened_parts(parts, columns, client, format, memory) as (opened, runner):
        shape = Shape(ranker.feature_names_, ranker.categories_, labelled_only=True, own_kinds=True)
        survey = look_at_all(opened, shape, runner)
        if survey.n_rows:
            survey.check_contrast("tell rankings apart by")
        options = {"max_grade": survey.highest} | options  # of all parts, for ERR
        found = runner.listed(partial(_measured, ranker, shape, asked, options), opened, "measuring parts")
    results = [one for one in found if one is not None]
    if not results:
        raise DataError("no document has a grade, so there is nothing to measure")
    return replace(
        results[0],
        queries=np.concatenate([one.queries for one in results]),
        values=np.concatenate([one.values for one in results], axis=1),
        n_docs=sum(one.n_docs for one in results),
        n_tied=sum(one.n_tied for one in results),
        n_without_relevant=sum(one.n_without_relevant for one in results),
    )


def predict_frame(ranker: Ranker, frame: Any, qid: Any = None) -> Any:
    """Return the scores of a Dask data frame as a Dask series; nothing is computed yet.

    A ranker that normalises by query needs whole queries in each partition, which is looked at now, and `qid`: the name
    of their column, "qid" unless given.
    """
    column = "qid" if qid is None else qid
    if not isinstance(column, str):
        raise DataError(f"qid must be the name of a column of the Dask data frame: got {type(column).__name__}")
    if ranker.needs_the_query():
        if column not in frame.columns:
            raise DataError(f"there is no column {column!r}: name the column of the query id, predict(frame, qid=...)")
        _check_whole_partitions(frame[[column]], column)
    return frame.map_partitions(_score_partition, ranker, column, meta=("score", "f8"))


def _score_partition(frame: Any, ranker: Ranker, column: str) -> Any:
    pandas = needed("pandas")
    if not len(frame):
        return pandas.Series(np.zeros(0), name="score", index=frame.index)
    queries = frame[column] if ranker.needs_the_query() else None
    return pandas.Series(ranker.predict(frame, qid=queries), name="score", index=frame.index)


def _check_whole_partitions(frame: Any, column: str) -> None:
    counts = [one.drop_duplicates() for one in frame.partitions]
    dask = needed("dask")
    seen: dict[Any, int] = {}
    for number, ids in enumerate(dask.compute(*counts)):
        for one in ids[column].tolist():
            if one in seen:
                raise DataError(
                    f"partitions {seen[one]} and {number} both have rows of query {one!r}, and this ranker compares "
                    f"the documents of a query: bring them together first, frame.shuffle(on={column!r})"
                )
            seen[one] = number


def _scored(ranker: Ranker, data: Dataset, name: str) -> Array:
    try:
        return ranker.predict(data)
    except RulerankError as error:
        raise DataError(f"{name}: {error}") from None


def _measured(
    ranker: Ranker, shape: Shape, measures: list[str | Measure], options: dict[str, Any], part: Part
) -> Result | None:
    data = graded_part(part, shape)
    if not len(data):
        return None
    return evaluate(
        data.y, _scored(ranker, data, part.name), data.qid, measures, docid=data.docid, any_grades=True, **options
    )
