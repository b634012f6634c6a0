"""One class per kind of mistake. Every message says what was expected, what came, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class RulerankError(Exception):
    """Base class of all errors that this library raises for invalid input."""


class ReadError(RulerankError, ValueError):
    """A file with unexpected content.

    >>> print(ReadError("train.txt", 2, "expected 'grade qid:ID feature:value ...', got '0 1:0.5'"))
    train.txt:2: expected 'grade qid:ID feature:value ...', got '0 1:0.5'
    >>> print(ReadError("train.txt", None, "the file is empty"))
    train.txt: the file is empty
    """

    def __init__(self, source: str, line: int | None, message: str) -> None:
        where = source if line is None else f"{source}:{line}"
        super().__init__(f"{where}: {message}")
        self.source = source
        self.line = line
        self.message = message

    def __reduce__(self) -> tuple[type[ReadError], tuple[str, int | None, str]]:
        return type(self), (self.source, self.line, self.message)  # a worker's error reaches whoever asked


class DataError(RulerankError, ValueError):
    """Arrays or tables that do not fit together, or values that are not allowed."""


@contextmanager
def located(where: str, file: str | None = None, line: int | None = None) -> Iterator[None]:
    """Say in an error about data where they are: in words, and in which file.

    >>> with located("part 3"):
    ...     raise DataError("it is empty")
    Traceback (most recent call last):
    rulerank.errors.DataError: part 3: it is empty
    """
    try:
        yield
    except DataError as error:
        message = f"{where}: {error}" if where else str(error)
        raise DataError(message) if file is None else ReadError(file, line, message) from None


class ModelFileError(RulerankError, ValueError):
    """A model file that is damaged, of another program, or of a newer version."""


class OutdatedModelError(ModelFileError):
    """A model of a feature that earlier versions had and this one does not."""


class TooLargeError(RulerankError, MemoryError):
    """Work that would take hours or exceed the memory; the message has its size and what to lower."""


class MissingExtraError(RulerankError, ImportError):
    """An optional part is not installed.

    >>> print(MissingExtraError("judge", "jinja2"))
    this needs jinja2, which is not installed; install it with: pip install 'rulerank[judge]' (in a clone: '.[judge]')
    """

    def __init__(self, extra: str, package: str) -> None:
        super().__init__(
            f"this needs {package}, which is not installed; "
            f"install it with: pip install 'rulerank[{extra}]' (in a clone: '.[{extra}]')"
        )
        self.extra = extra
        self.package = package

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        return type(self), (self.extra, self.package)


class EmbeddingError(RulerankError, RuntimeError):
    """An embedder that does not answer, returns invalid vectors, or is not the one the features were computed with."""


class ClusterError(RulerankError, RuntimeError):
    """A cluster that disappeared, or lost its workers, during the work."""
