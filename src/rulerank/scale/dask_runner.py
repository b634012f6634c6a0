"""Passes over parts on a Dask cluster: the parts stay where they are, and what comes back does not grow with them.

Every task is a function of a part and of what is sent along with it, so that Dask makes anew whatever is lost with a
worker. Sums are formed on the workers, a few at a time.
"""

from __future__ import annotations

import functools
import operator
import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from rulerank.core.threads import one_thread
from rulerank.dataset import Array
from rulerank.errors import ClusterError, DataError, MissingExtraError
from rulerank.io.tables import from_part
from rulerank.rankers.chunks import AT_ONCE, added, cut
from rulerank.rankers.rows import Labelled
from rulerank.scale.opening import file_names
from rulerank.scale.part import Columns, DatasetPart
from rulerank.scale.streamed import Runner, joined

PLACE = "rulerank place"  # column of where a row was before rows were shuffled
RETRIES = 2  # of a task that fails, as a file that cannot be reached for a moment


def needed(name: str) -> Any:
    """Load a package of the extra `scale`."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise MissingExtraError("scale", error.name or name) from None


class OnDask(Runner):
    """Lets the workers of a client look at parts."""

    on_a_cluster = True

    def __init__(self, client: Any) -> None:
        dask, distributed = needed("dask"), needed("distributed")
        if not isinstance(client, distributed.Client):
            raise DataError(f"client must be a distributed.Client: got {type(client).__name__}")
        self._delayed, self._gone = dask.delayed, distributed
        self.client = client

    def total(self, task: Callable[[Any], Any], items: Sequence[Any], label: str) -> Any:
        return self.get(self._sum([self.later(task, item) for item in items]))

    def listed(self, task: Callable[[Any], Any], items: Sequence[Any], label: str) -> list[Any]:
        return [*self.get(self._delayed(list)([self.later(task, item) for item in items]))]

    def chunks(
        self,
        read: Callable[[Any], Labelled],
        task: Callable[[Labelled, Any], Any],
        items: Sequence[Any],
        sizes: Sequence[int],
        size: int,
        extras: Sequence[Any],
    ) -> Any:
        pieces: list[list[Any]] = [[] for _ in extras]
        before = 0
        for item, n_rows in zip(items, sizes, strict=True):
            first, last = before // size, (before + n_rows - 1) // size
            own = self.later(functools.partial(_cut, read, size, before), item)
            for number in range(first, last + 1):
                pieces[number].append(self._delayed(_piece)(own, number))
            before += n_rows
        look = self._delayed(_on_chunk, pure=False)
        return self.get(self._sum([look(task, own, extra) for own, extra in zip(pieces, extras, strict=True)]))

    def columns(
        self,
        read: Callable[[Any, Sequence[str]], tuple[Array, Array]],
        find: Callable[[Sequence[str], list[tuple[Array, Array]]], list[Any]],
        items: Sequence[Any],
        groups: Sequence[Sequence[str]],
    ) -> list[Any]:
        found = []
        for group in groups:
            own = [self.later(functools.partial(_swapped, read, group), item) for item in items]
            found.append(self._delayed(_alone, pure=False)(functools.partial(find, group), own))
        return functools.reduce(operator.add, self.get(self._delayed(list)(found)))

    def later(self, task: Callable[[Any], Any], part: Any) -> Any:
        """Return what a worker will make of a part, or of one of a Dask frame."""
        if isinstance(part, FramePart):
            return self._delayed(_on_frame, pure=False)(task, part.name, part.columns, part.partition)
        return self._delayed(_alone, pure=False)(task, part)

    def _sum(self, values: list[Any]) -> Any:
        while len(values) > 1:
            starts = range(0, len(values), AT_ONCE)
            values = [self._delayed(added)(values[first : first + AT_ONCE]) for first in starts]
        return values[0]

    def get(self, value: Any) -> Any:
        """Wait for a result; a cluster that goes away is said in one line."""
        lost = (
            self._gone.KilledWorker,
            self._gone.CancelledError,
            self._gone.comm.CommClosedError,
            self._gone.TimeoutError,
            ConnectionError,
        )
        try:
            if self.client.status != "running":
                raise ConnectionError(f"the client is {self.client.status}")
            return self.client.compute(value, retries=RETRIES).result()
        except lost as error:
            raise ClusterError(
                f"the Dask cluster is gone or lost its workers ({(str(error).splitlines() or [''])[0][:200]}); nothing "
                "was learned or written: start it anew, with more memory for each worker if they were killed"
            ) from None


class FramePart:
    """A partition of a Dask data frame; only workers read it."""

    def __init__(self, name: str, partition: Any, columns: Columns) -> None:
        self.name, self.partition, self.columns = name, partition, columns


def is_dask_frame(value: object) -> bool:
    """Tell whether this is a Dask data frame, without loading Dask."""
    return type(value).__module__.startswith(("dask.", "dask_expr.")) and hasattr(value, "to_delayed")


def frame_parts(frame: Any, columns: Columns) -> list[FramePart]:
    """Return the partitions of a Dask data frame as parts."""
    return [FramePart(f"partition {number}", partition, columns) for number, partition in enumerate(frame.to_delayed())]


def frame_of_files(parts: Any) -> Any:
    """Return Parquet files as a Dask data frame."""
    given = [parts] if isinstance(parts, str | os.PathLike) else [*parts]
    if not all(isinstance(one, str | os.PathLike) for one in given):
        raise DataError("to regroup on a cluster, give Parquet files or a Dask data frame")
    names = [name for one in given for name in file_names(one)]
    if any(not name.endswith(".parquet") for name in names):
        raise DataError("to regroup on a cluster, parts must be Parquet files (their names end in .parquet)")
    return needed("dask.dataframe").read_parquet(names)


def shuffled(frame: Any, columns: Columns) -> Any:
    """Return a Dask data frame whose partitions hold whole queries, rows of a query in the order they had."""
    return frame.map_partitions(_with_places).shuffle(on=columns.qid, npartitions=frame.npartitions)


def _with_places(frame: Any, partition_info: Any = None) -> Any:
    number = 0 if partition_info is None else partition_info["number"]
    return frame.assign(**{PLACE: np.arange(len(frame), dtype=np.int64) + number * 2**40})


def own_client() -> Any:
    """Return the client that is there, or one of a new local cluster."""
    distributed = needed("distributed")
    try:
        return distributed.get_client()
    except ValueError:
        return distributed.Client()


def part_of_frame(name: str, columns: Columns, frame: Any) -> DatasetPart:
    """Return a partition, read, as a part."""
    if PLACE in frame.columns:
        frame = frame.sort_values(PLACE).drop(columns=PLACE)
    try:
        return DatasetPart(name, from_part(frame, **columns.named()))
    except DataError as error:
        raise DataError(f"{name}: {error}") from None


def _alone(task: Callable[[Any], Any], value: Any) -> Any:
    with one_thread():  # a worker has as many threads as it is meant to use
        return task(value)


def _on_frame(task: Callable[[Any], Any], name: str, columns: Columns, frame: Any) -> Any:
    return _alone(task, part_of_frame(name, columns, frame))


def _swapped(read: Callable[[Any, Sequence[str]], Any], group: Sequence[str], part: Any) -> Any:
    return read(part, group)


def _cut(read: Callable[[Any], Labelled], size: int, before: int, part: Any) -> dict[int, Labelled]:
    return dict(cut(read(part), size, before))


def _piece(pieces: dict[int, Labelled], number: int) -> Labelled | None:
    return pieces.get(number)


def _on_chunk(task: Callable[[Labelled, Any], Any], pieces: list[Labelled | None], extra: Any) -> Any:
    there = [piece for piece in pieces if piece is not None]
    if not there:
        return None
    with one_thread():
        return task(joined(there), extra)
