"""One table per class says what its parameters may be: checks, messages, help, and the record of a fit come from it.

A class lists its own parameters in `parameter_table` and inherits those of its bases. `__init__` only stores them, as
scikit-learn has it; `check_parameters` looks at them when they are used, and `record_params` keeps them as they were.
"""

from __future__ import annotations

import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from rulerank.errors import DataError, OutdatedModelError

Array = NDArray[Any]
SHOWN = 60  # characters of a wrong value in a message
FINITE = sys.float_info.max
MOST = 10**9  # of rounds, trees, ...: work beyond never ends


def unmasked(X: Any) -> Any:
    """Return features with NaN, a missing value, for what a NumPy masked array masks; anything else as it is.

    >>> unmasked(np.ma.masked_equal([[1, -99]], -99)).tolist()
    [[1.0, nan]]
    """
    if not isinstance(X, np.ma.MaskedArray):
        return X
    floats = np.result_type(X.dtype, np.float32) if X.dtype.kind in "biuf" else np.float64
    return np.ma.filled(X.astype(floats), np.nan)


def refuse_mask(name: str, values: Any) -> None:
    """Refuse a masked array where every row needs a value."""
    if isinstance(values, np.ma.MaskedArray):
        raise DataError(f"{name} must not be a masked array: leave the masked rows out, or fill them")


def is_whole(value: object, low: int, high: int | None = None) -> bool:
    """Tell whether a value is a whole number within bounds; True and False are not.

    >>> is_whole(3, 1), is_whole(True, 0), is_whole(2.0, 1)
    (True, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        return False
    return low <= int(value) and (high is None or int(value) <= high)


def is_number(value: object, low: float, high: float) -> bool:
    """Tell whether a value is a number within bounds; NaN, True and False are not.

    >>> is_number(0.5, 0, 1), is_number(float("nan"), 0, 1), is_number(True, 0, 1)
    (True, False, False)
    """
    return not isinstance(value, bool) and isinstance(value, Real) and low <= cast(float, value) <= high


def check_number(name: str, value: object, low: float, high: float, what: str) -> None:
    """Raise an error unless a parameter is a number from low to high; `what` describes it.

    >>> check_number("min_support", 0.1, 0, 1, "a share of the rows")
    """
    if not is_number(value, low, high):
        raise DataError(f"{name} must be {what}, a number from {low:g} to {high:g}: got {str(value)[:40]!r}")


@dataclass(frozen=True, kw_only=True)
class Parameter(ABC):
    """The values that one parameter may have, and its meaning in a few words."""

    meaning: str = ""
    none: str | None = None  # what None means, where it is allowed

    @property
    @abstractmethod
    def takes(self) -> str:
        """What it may be, in words."""

    @abstractmethod
    def _check(self, name: str, value: Any) -> None:
        """Raise an error unless a value that is not an allowed None may be used."""

    def check(self, name: str, value: Any) -> None:
        """Raise a DataError that names the parameter unless it may have this value."""
        if value is not None or self.none is None:
            self._check(name, value)

    def accepts(self, value: Any) -> bool:
        """Tell whether the parameter may have this value."""
        try:
            self.check("it", value)
        except DataError:
            return False
        return True

    def plain(self, value: Any) -> Any:
        """Return an allowed value as Python has it: a number of NumPy as a number."""
        return value.item() if isinstance(value, np.generic) else value

    def _refuse(self, name: str, value: Any) -> DataError:
        may_be = self.takes if self.none is None else f"{self.takes}, or None"
        return DataError(f"{name} must be {may_be}: got {shown(value)}")


@dataclass(frozen=True)
class Whole(Parameter):
    """A whole number; True and False are not.

    >>> Whole(1).check("max_size", 0)
    Traceback (most recent call last):
    rulerank.errors.DataError: max_size must be an integer of at least 1: got 0
    """

    low: int
    high: int = MOST

    @property
    def takes(self) -> str:
        if self.high >= MOST:
            return f"an integer of at least {self.low}"
        return f"an integer between {self.low} and {self.high:,}"

    def _check(self, name: str, value: Any) -> None:
        if self.high >= MOST and is_whole(value, self.high + 1):
            raise DataError(f"{name} must be at most {self.high:,}: got {shown(value)}")
        if not is_whole(value, self.low, self.high):
            raise self._refuse(name, value)


@dataclass(frozen=True)
class Number(Parameter):
    """A number within bounds; NaN, True and False are not.

    >>> Number(0, 1, "a share of the rows").check("min_support", 2)
    Traceback (most recent call last):
    rulerank.errors.DataError: min_support must be a share of the rows, a number from 0 to 1: got '2'
    """

    low: float
    high: float = FINITE
    what: str = ""  # it stands for, in messages

    @property
    def takes(self) -> str:
        return f"a number from {self.low:g}" + ("" if self.high >= FINITE else f" to {self.high:g}")

    def _check(self, name: str, value: Any) -> None:
        if self.what:
            check_number(name, value, self.low, self.high, self.what)
        elif not is_number(value, self.low, self.high):
            raise self._refuse(name, value)


@dataclass(frozen=True)
class Word(Parameter):
    """One of some words.

    >>> Word(("first", "share")).check("ties", "last")
    Traceback (most recent call last):
    rulerank.errors.DataError: unknown ties 'last'; choose from first, share
    """

    choices: tuple[str, ...]

    @property
    def takes(self) -> str:
        return ", ".join(self.choices if self.none is None else ("None", *self.choices))

    def _check(self, name: str, value: Any) -> None:
        if not isinstance(value, str) or value not in self.choices:
            raise DataError(f"unknown {name} {shown(value)}; choose from {self.takes}")


@dataclass(frozen=True)
class Flag(Parameter):
    """True or False."""

    @property
    def takes(self) -> str:
        return "True or False"

    def _check(self, name: str, value: Any) -> None:
        if not isinstance(value, bool | np.bool_):
            raise self._refuse(name, value)


@dataclass(frozen=True)
class Threads(Parameter):
    """A number of threads: nothing learned depends on it."""

    meaning: str = "number of threads"
    none: str | None = "all cores"

    @property
    def takes(self) -> str:
        return "a positive number, or -1 for all cores"

    def _check(self, name: str, value: Any) -> None:
        if not is_whole(value, -1) or value == 0:
            raise DataError(f"{name} must be {self.takes}: got {shown(value)}")


@dataclass(frozen=True)
class Checked(Parameter):
    """Anything that a function does not refuse with a DataError."""

    look: Callable[[Any], object]
    what: str  # in words

    @property
    def takes(self) -> str:
        return self.what

    def _check(self, name: str, value: Any) -> None:
        try:
            self.look(value)
        except DataError as error:
            if name in str(error):
                raise
            raise DataError(f"{name}: {error}") from None


class HasParameters:
    """A class whose parameters a table describes.

    >>> class Cutter(HasParameters):
    ...     parameter_table = {"n_bins": Whole(2, 254, meaning="number of intervals")}
    ...     def __init__(self, n_bins=10): self.n_bins = n_bins
    >>> Cutter(n_bins=1).check_parameters()
    Traceback (most recent call last):
    rulerank.errors.DataError: n_bins must be an integer between 2 and 254: got 1
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {}
    former_parameters: ClassVar[frozenset[str]] = frozenset()  # files of earlier versions hold them; they are ignored
    former_values: ClassVar[Mapping[str, Mapping[Any, Any]]] = {}  # of earlier versions, and what to use instead
    params_: dict[str, Any]  # as they were when fitted, whatever set_params did later

    def check_parameters(self) -> None:
        """Raise a DataError that names the first parameter with a value it may not have."""
        for name, parameter in parameters_of(type(self)).items():
            parameter.check(name, getattr(self, name))

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        """Return an object with the parameters that a file holds, checked and recorded as those of the fit."""
        table = parameters_of(cls)
        # the first version let 1 stand for true
        flags = {name for name, value in params.items() if isinstance(table.get(name), Flag) and value is not None}
        for name, instead in cls.former_values.items():
            if params.get(name) in instead:
                again = f"without {name}" if name in cls.former_parameters else f"with {name}={instead[params[name]]!r}"
                raise OutdatedModelError(
                    f"the {cls.__name__} was fitted with {name}={params[name]!r}, which this version no longer has: "
                    f"fit it again {again}"
                )
        kept = {name: value for name, value in params.items() if name not in cls.former_parameters}
        made = cls(**{name: bool(value) if name in flags else value for name, value in kept.items()})
        made.check_parameters()
        made.record_params()
        return made

    def record_params(self) -> None:
        """Keep the current parameters, except the number of threads, as those of the fit."""
        table = parameters_of(type(self))
        self.params_ = {}
        for name in sorted(defaults_of(type(self))):
            value, parameter = getattr(self, name), table.get(name)
            if not isinstance(parameter, Threads):
                self.params_[name] = value if parameter is None else parameter.plain(value)


def parameters_of(owner: type) -> dict[str, Parameter]:
    """Return the table of a class, with what it inherits, in the order of its parameters."""
    known: dict[str, Parameter] = {}
    for base in reversed(owner.__mro__):
        known |= vars(base).get("parameter_table", {})
    return {name: known[name] for name in defaults_of(owner) if name in known}


def defaults_of(owner: type) -> dict[str, Any]:
    """Return the parameters of a class and their defaults."""
    given = inspect.signature(owner).parameters.values()
    return {one.name: one.default for one in given if one.kind is not one.VAR_KEYWORD}


def described(owner: type) -> list[tuple[str, str, str, str]]:
    """Return of each parameter of a class its name, what it may be, its default and its meaning, in words.

    >>> class Cutter(HasParameters):
    ...     parameter_table = {"n_bins": Whole(2, 254, meaning="number of intervals")}
    ...     def __init__(self, n_bins=10): self.n_bins = n_bins
    >>> described(Cutter)
    [('n_bins', 'an integer between 2 and 254', '10', 'number of intervals')]
    """
    defaults = defaults_of(owner)
    rows = []
    for name, one in parameters_of(owner).items():
        default = defaults[name]
        as_text = f"none: {one.none}" if default is None and one.none else str(default)
        rows.append((name, one.takes, as_text, one.meaning))
    return rows


def shown(value: Any) -> str:
    """Write a wrong value in one line that is not too long.

    >>> shown("loud"), shown(np.arange(3))
    ("'loud'", 'array([0, 1, 2])')
    """
    text = " ".join(repr(value).split()) if not isinstance(value, str) else repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."
