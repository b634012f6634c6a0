"""Fit and evaluate a ranker on data that does not fit in memory: the same model and values as in memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from rulerank._util.parameters import check_number
from rulerank.dataset import UNLABELLED
from rulerank.discretize import bin_limits
from rulerank.errors import DataError, TooLargeError, located
from rulerank.evaluation import Measure, evaluate
from rulerank.evaluation.evaluation import Result
from rulerank.normalize import ColumnSums
from rulerank.rankers.base import Ranker
from rulerank.rankers.fitted.bins import ordered, row_keys
from rulerank.rankers.fitted.fitted_rules import FittedRules
from rulerank.rankers.linear.query_intercepts import QueryIntercepts
from rulerank.rankers.rows import Labelled, by_hash, first_queries, training_sample
from rulerank.rankers.rule_ranker import IncrementalRules, rows_to_keep
from rulerank.rules.engine import Engine, count, table_mib, table_size
from rulerank.rules.tables import BinCounts
from rulerank.scale.dask_runner import OnDask, frame_parts, is_dask_frame, own_client
from rulerank.scale.part import Columns, DatasetPart, Part, Shape, labelled, open_parts

from .streamed import Runner, StreamedLikelihood, StreamedParts, check_no_click_columns, joined, look_at_all, shape_of

AnyRanker = TypeVar("AnyRanker", bound=Ranker)
KEPT_SHARE = 0.25  # of the memory: data that needs no more is read but once
MOST_ROWS = 2**31 - 1  # a cell counts rows in 32 bits
LEARNERS = (IncrementalRules, FittedRules, QueryIntercepts)


def fit_partitions(
    ranker: AnyRanker,
    partitions: Any,
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
    """Fit a ranker to partitions that need not fit in memory together; the model is the one that `fit` would give.

    partitions: a folder, a pattern such as "data/*.parquet", or a sequence of files, data sets and data frames; each
        holds whole queries. Parquet is read as it is; text (csv, LETOR) is kept as Parquet in a temporary folder
        meanwhile. Or a Dask data frame.
    client: a `distributed.Client`, whose workers then do the work; each must be able to read the files.
    qid, docid, grade, features: columns of tables, as in `read_table`; the features are those of the first partition.
    labelled_only: leave rows without a grade out.
    memory: MiB for what is held of the data at once, beside the ranker's own tables.

    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=40, seed=0)
    >>> partitions = [data[[query == one for query in data.qid]] for one in dict.fromkeys(data.qid)]
    >>> ranker = rr.scale.fit_partitions(rr.GlobalRules(), partitions)
    >>> bool((ranker.predict(data) == rr.GlobalRules().fit(data).predict(data)).all())
    True
    """
    check_learns(ranker)
    ranker.check_parameters()
    columns = Columns(qid, docid, grade, None if features is None else tuple(features))
    with surveyed(partitions, columns, client, format=format, labelled_only=labelled_only, memory=memory) as parts:
        return fit_opened(ranker, parts)


def fit_opened(ranker: AnyRanker, parts: StreamedParts) -> AnyRanker:
    """Fit a ranker to parts that were looked at."""
    check_learns(ranker)
    if parts.survey.n_rows > MOST_ROWS:
        raise TooLargeError(
            f"the parts hold {parts.survey.n_rows:,} rows, and cells count up to {MOST_ROWS:,}: leave some out"
        )
    shape = replace(parts.shape, normalize=ranker.get_params(deep=False).get("normalize"))
    parts = replace(parts, shape=shape)
    ranker.check_parameters()
    ranker.feature_names_, ranker.has_names_ = shape.feature_names, True
    ranker.n_features_in_, ranker.categories_ = len(shape.feature_names), dict(shape.categories)
    with ranker.learning():
        learn(ranker, parts)
    samples = parts.runner.listed(partial(sample_part, shape), parts.parts, "looking at parts")
    ranker._sample, ranker._importances = training_sample(joined(samples)), None
    ranker._trained_queries = None
    return ranker


def sample_part(shape: Shape, part: Part) -> Labelled:
    """Return those rows of a part that may be in the sample of all rows, on which importances rest."""
    rows = labelled(part, shape)
    return rows.rows(first_queries(by_hash(rows.queries, rows.query_ids)))


def learn(ranker: Ranker, parts: StreamedParts) -> None:
    """Learn from sums over parts what `fit` learns from all rows at once."""
    if isinstance(ranker, IncrementalRules):
        count_rules(ranker, parts)
    elif isinstance(ranker, FittedRules):
        ranker.learn_rows(ordered(parts.total(row_keys)), parts.columns)
    elif isinstance(ranker, QueryIntercepts):
        ranker.take_missing(parts.block_sums(lambda rows, _: ColumnSums.of(rows.X)))
        likelihood = StreamedLikelihood(parts, ranker.likelihood_of(parts.survey.highest + 1), ranker.l2)
        ranker.learn_likelihood(likelihood, likelihood.query_ids)


def count_rules(ranker: IncrementalRules, parts: StreamedParts) -> None:
    """Count each feature's bins, then the feature sets that are worth it."""
    bins = ranker.discretizer_ = ranker.new_discretizer(parts.shape.categories)
    if bins is not None:
        parts.find_cuts(bins)
    total = partial(parts.total, prepare=partial(type(ranker).rows_of, bins, parts.survey.highest + 1))
    widths = bin_limits(bins, len(ranker.feature_names_))
    counts = total(partial(BinCounts.of, widths=widths, n_jobs=ranker.n_jobs))
    layout, training = ranker.lay_out_counts(counts)
    scheme = ranker.scheme()
    if table_mib(layout, scheme, training) > ranker.memory_budget:
        raise TooLargeError(
            f"{table_size(layout, scheme, training)}, more than memory_budget={ranker.memory_budget:g}; raise it, "
            "lower max_size, raise drop_weakest to keep fewer features, or use fewer bins. Data in memory needs no "
            "tables: predict then counts the rows, which data in parts does not keep"
        )
    found = total(partial(count, layout=layout, scheme=scheme, n_jobs=ranker.n_jobs))
    ranker.engine_ = Engine.from_counts(layout, scheme, training, found, n_jobs=ranker.n_jobs)
    ranker.keep(parts.survey.n_rows, lambda: parts.total(partial(rows_to_keep, bins)))


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
) -> Iterator[StreamedParts]:
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
        counted = [(part, n_rows) for part, n_rows in zip(opened, survey.sizes, strict=True) if n_rows]
        opened = [part for part, _ in counted]
        survey = replace(survey, sizes=tuple(n_rows for _, n_rows in counted))
        small = 4 * survey.n_rows * len(shape.feature_names) <= KEPT_SHARE * memory * 2**20
        if not runner.on_a_cluster and small:
            opened = [part if isinstance(part, DatasetPart) else DatasetPart.of(part, shape) for part in opened]
        yield StreamedParts(opened, shape, runner, survey, int(memory * 2**20))


def evaluate_partitions(
    ranker: Ranker,
    partitions: Any,
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
    """Measure how well a fitted ranker ranks the documents of partitions, as `evaluate` does in memory.

    partitions and client are those of `fit_partitions`; options those of `evaluate`. Rows without a grade are left out.

    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=20, seed=0)
    >>> ranker = rr.GlobalRules().fit(data)
    >>> partitions = [data[[query == one for query in data.qid]] for one in dict.fromkeys(data.qid)]
    >>> found = rr.scale.evaluate_partitions(ranker, partitions)
    >>> found.means == rr.evaluate(data.y, ranker.predict(data), data.qid).means
    True
    """
    columns = Columns(qid, docid, grade)
    asked = [measures] if isinstance(measures, str | Measure) else [*measures]
    with opened_parts(partitions, columns, client, format, memory) as (opened, runner):
        shape = Shape(ranker.feature_names_, ranker.categories_, labelled_only=True, own_kinds=True)
        survey = look_at_all(opened, shape, runner)
        if survey.n_rows:
            survey.check_contrast("compare rankings by")
        options = {"max_grade": survey.highest} | options  # of all parts, for ERR
        found = runner.listed(partial(_measured, ranker, shape, asked, options), opened, "measuring parts")
    results = [one for one in found if one is not None]
    if not results:
        raise DataError("no document has a grade, so nothing can be measured")
    queries, values = (
        np.concatenate([getattr(one, name) for one in results], axis=-1) for name in ("queries", "values")
    )
    counts = {name: sum(getattr(one, name) for one in results) for name in ("n_docs", "n_tied", "n_without_relevant")}
    return replace(results[0], queries=queries, values=values, **counts)


def _measured(
    ranker: Ranker, shape: Shape, measures: list[str | Measure], options: dict[str, Any], part: Part
) -> Result | None:
    data = part.dataset(shape.feature_names)
    data = data[data.y != UNLABELLED]  # one part alone does not tell what to do with the others
    if not len(data):
        return None
    with located(part.name):
        scores = ranker.predict(data)
    return evaluate(data.y, scores, data.qid, measures, docid=data.docid, any_grades=True, **options)
