"""Passes over parts on a Dask cluster: the parts stay where they are, and what comes back does not grow with them.

Every task is a function of a part and of what is sent along with it, so that Dask makes anew whatever is lost with a
worker. Sums are formed on the workers, a few at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from rulerank._util.loops import one_thread
from rulerank.errors import ClusterError, DataError, MissingExtraError, located
from rulerank.io.tables import from_frame
from rulerank.rankers.linear.likelihood import AT_ONCE, added
from rulerank.scale.part import Columns, DatasetPart
from rulerank.scale.streamed import Runner

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

    def later(self, task: Callable[..., Any], *args: Any) -> Any:
        return self._delayed(_alone, pure=False)(task, *map(self._part, args))

    def total(self, task: Callable[[Any], Any], items: Sequence[Any], label: str) -> Any:
        return self.get(self.summed([self.later(task, item) for item in items]))

    def summed(self, values: list[Any]) -> Any:
        while len(values) > 1:
            starts = range(0, len(values), AT_ONCE)
            values = [self._delayed(added)(values[first : first + AT_ONCE]) for first in starts]
        return values[0]

    def _part(self, given: Any) -> Any:
        """Return a partition of a frame as a part, when a worker has it."""
        if not isinstance(given, FramePart):
            return given
        return self._delayed(part_of_frame, pure=False)(given.name, given.columns, given.partition)

    def get(self, value: Any) -> Any:
        """Wait for a result; a cluster that goes away is one clear error."""
        gone = self._gone
        lost = (gone.KilledWorker, gone.CancelledError, gone.comm.CommClosedError, gone.TimeoutError, ConnectionError)
        try:
            if self.client.status != "running":
                raise ConnectionError(f"the client is {self.client.status}")
            value = self._delayed(list)(value) if isinstance(value, list) else value
            return self.client.compute(value, retries=RETRIES).result()
        except lost as error:
            raise ClusterError(
                f"the Dask cluster is gone or lost its workers ({(str(error).splitlines() or [''])[0][:200]}); nothing "
                "was learned or written: start it again, with more memory for each worker if they were killed"
            ) from None


class FramePart(NamedTuple):
    """A partition of a Dask data frame; only workers read it."""

    name: str
    partition: Any
    columns: Columns


def is_dask_frame(value: object) -> bool:
    """Tell whether this is a Dask data frame, without loading Dask."""
    return type(value).__module__.startswith(("dask.", "dask_expr.")) and hasattr(value, "to_delayed")


def frame_parts(frame: Any, columns: Columns) -> list[FramePart]:
    """Return the partitions of a Dask data frame as parts."""
    return [FramePart(f"partition {number}", partition, columns) for number, partition in enumerate(frame.to_delayed())]


def own_client() -> Any:
    """Return the client that is there, or one of a new local cluster."""
    distributed = needed("distributed")
    try:
        return distributed.get_client()
    except ValueError:
        return distributed.Client()


def part_of_frame(name: str, columns: Columns, frame: Any) -> DatasetPart:
    """Return a partition, read, as a part."""
    with located(name):
        return DatasetPart(name, from_frame(frame, **columns.named()))


def _alone(task: Callable[..., Any], *args: Any) -> Any:
    with one_thread():  # a worker has as many threads as it is meant to use
        return task(*args)
