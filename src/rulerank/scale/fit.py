"""Fit a ranker to data that does not fit in memory, and get the model that it would have been in memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from rulerank.core.parameters import check_number
from rulerank.discretize import bin_limits
from rulerank.errors import DataError, TooLargeError
from rulerank.rankers.base import Ranker
from rulerank.rankers.chunks import n_chunks
from rulerank.rankers.fitted.bins import ordered, row_keys
from rulerank.rankers.fitted.fitted_rules import FittedRules
from rulerank.rankers.linear.query_intercepts import QueryIntercepts
from rulerank.rankers.rule_ranker import IncrementalRules, rows_to_keep
from rulerank.rules.engine import Engine, check_memory, count
from rulerank.rules.tables import BinCounts
from rulerank.scale.dask_runner import OnDask, frame_parts, is_dask_frame, own_client
from rulerank.scale.opening import open_parts
from rulerank.scale.part import Columns, DatasetPart, Part, Shape
from rulerank.scale.streamed import Runner, StreamedParts
from rulerank.scale.survey import Survey, check_no_click_columns, look_at_all, shape_of

AnyRanker = TypeVar("AnyRanker", bound=Ranker)
KEPT_SHARE = 0.25  # of the memory: data that needs no more is read but once
MOST_ROWS = 2**31 - 1  # a cell counts rows in 32 bits
LEARNERS = (IncrementalRules, FittedRules, QueryIntercepts)


@dataclass(frozen=True, eq=False)
class Surveyed:
    """Parts that were looked at: whole queries, the same features."""

    parts: Sequence[Part]
    shape: Shape
    survey: Survey
    runner: Runner


def fit_parts(
    ranker: AnyRanker,
    parts: Any,
    client: Any = None,
    *,
    qid: str = "qid",
    docid: str = "docid",
    grade: str = "grade",
    features: Sequence[str] | None = None,
    format: str | None = None,
    labelled_only: bool = False,
    memory: float = 1024,
) -> AnyRanker:
    """Fit a ranker to parts that need not fit in memory together; the model is the one that `fit` would give.

    parts: a folder, a pattern such as "data/*.parquet", or a sequence of files, data sets and data frames; each holds
        whole queries. Parquet is read as it is; text (csv, LETOR) is kept as Parquet in a temporary folder meanwhile.
        Or a Dask data frame.
    client: a `distributed.Client`, whose workers then do the work; each must be able to read the files.
    qid, docid, grade, features: columns of tables, as in `read_table`; the features are those of the first part.
    labelled_only: leave rows without a grade out.
    memory: MiB for what is held of the data at once, beside the ranker's own tables.

    >>> import rulerank as rr
    >>> world = rr.make_ranking(n_queries=40, seed=0)
    >>> parts = [world[[query == one for query in world.qid]] for one in dict.fromkeys(world.qid)]
    >>> ranker = rr.fit_parts(rr.GlobalRules(), parts)
    >>> bool((ranker.predict(world) == rr.GlobalRules().fit(world).predict(world)).all())
    True
    """
    check_learns(ranker)
    ranker.check_parameters()
    columns = Columns(qid, docid, grade, None if features is None else tuple(features))
    with surveyed(parts, columns, client, format=format, labelled_only=labelled_only, memory=memory) as found:
        return fit_surveyed(ranker, found, memory)


def fit_surveyed(ranker: AnyRanker, found: Surveyed, memory: float) -> AnyRanker:
    """Fit a ranker to parts that were looked at."""
    check_learns(ranker)
    if found.survey.n_rows > MOST_ROWS:
        raise TooLargeError(
            f"the parts hold {found.survey.n_rows:,} rows, and cells count up to {MOST_ROWS:,}: leave some out"
        )
    shape = replace(found.shape, normalize=ranker.get_params(deep=False).get("normalize"))
    parts = StreamedParts(
        found.parts, shape, found.runner, found.survey.sizes, found.survey.highest + 1, int(memory * 2**20)
    )
    ranker.check_parameters()
    ranker.feature_names_, ranker.has_names_ = shape.feature_names, shape.has_names
    ranker.n_features_in_, ranker.categories_ = len(shape.feature_names), dict(shape.categories)
    with ranker.learning():
        learn(ranker, parts)
    ranker._sample = None
    return ranker


def learn(ranker: Ranker, parts: StreamedParts) -> None:
    """Learn from sums over parts what `fit` learns from all rows at once."""
    if isinstance(ranker, IncrementalRules):
        count_rules(ranker, parts)
    elif isinstance(ranker, FittedRules):
        ranker.learn_rows(ordered(parts.total(row_keys)), parts.columns)
    elif isinstance(ranker, QueryIntercepts):
        ranker.learn_chunks(parts.chunk_sums, n_chunks(parts.n_rows), parts.n_grades)


def count_rules(ranker: IncrementalRules, parts: StreamedParts) -> None:
    """Count each feature's bins, then the feature sets that are worth it."""
    bins = ranker.discretizer_ = ranker.new_discretizer(parts.shape.categories)
    if bins is not None:
        parts.find_cuts(bins)
    total = partial(parts.total, prepare=partial(type(ranker).rows_of, bins, parts.n_grades))
    widths = bin_limits(bins, len(ranker.feature_names_))
    counts = total(partial(BinCounts.of, widths=widths, n_jobs=ranker.n_jobs))
    layout, training = ranker.lay_out_counts(counts)
    scheme = ranker.scheme()
    check_memory(layout, scheme, training, ranker.memory_budget)
    found = total(partial(count, layout=layout, scheme=scheme, n_jobs=ranker.n_jobs))
    ranker.engine_ = Engine.from_counts(layout, scheme, training, found, n_jobs=ranker.n_jobs)
    ranker.keep(parts.n_rows, lambda: parts.total(partial(rows_to_keep, bins)))


def check_learns(ranker: Any) -> None:
    """Refuse a ranker that needs all rows at once."""
    if not isinstance(ranker, LEARNERS):
        raise DataError(
            f"{type(ranker).__name__} needs the data in memory: read it (rr.read_table) and call fit; "
            "GlobalRules, StableRules, QueryIntercepts and FittedRules learn from parts"
        )


@contextmanager
def opened_parts(
    parts: Any, columns: Columns, client: Any, format: str | None, memory: float
) -> Iterator[tuple[Sequence[Any], Runner]]:
    """Open parts, here or on a cluster; text is kept as Parquet in a folder that goes at the end."""
    runner = Runner()
    if is_dask_frame(parts) or client is not None:
        runner = OnDask(own_client() if client is None else client)
    with tempfile.TemporaryDirectory(prefix="rulerank-", dir=os.environ.get("RULERANK_TEMP")) as folder:
        if is_dask_frame(parts):
            yield frame_parts(parts, columns), runner
            return
        spool = None if runner.on_a_cluster else folder
        max_values = max(1, int(memory * 2**20) // 16)  # a part is held about four times over, as float32
        yield open_parts(parts, columns, format=format, spool=spool, max_values=max_values), runner


@contextmanager
def surveyed(
    parts: Any,
    columns: Columns,
    client: Any = None,
    *,
    format: str | None = None,
    labelled_only: bool = False,
    memory: float = 1024,
) -> Iterator[Surveyed]:
    """Open parts and look at grades and queries of all of them; what is kept meanwhile goes at the end."""
    check_number("memory", memory, 1, float("inf"), "MiB")
    with opened_parts(parts, columns, client, format, memory) as (opened, runner):
        if is_dask_frame(parts):
            check_no_click_columns("the Dask data frame", parts.columns)
        shape = shape_of(opened, runner, labelled_only=labelled_only)
        survey = look_at_all(opened, shape, runner)
        if not survey.n_rows:
            raise DataError("no document has a grade, so there is nothing to learn from")
        survey.check_contrast("learn from")
        opened = [
            part for part, n_rows in zip(opened, survey.sizes, strict=True) if n_rows
        ]  # without a grade: left out
        survey = replace(survey, sizes=tuple(filter(None, survey.sizes)))
        small = 4 * survey.n_rows * len(shape.feature_names) <= KEPT_SHARE * memory * 2**20
        if not runner.on_a_cluster and small:
            opened = [part if isinstance(part, DatasetPart) else DatasetPart.of(part, shape) for part in opened]
        yield Surveyed(opened, shape, survey, runner)
