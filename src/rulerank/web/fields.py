"""One named value of a request: what it may be, in words, as a schema, and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from rulerank.web.refusals import RequestError

MAX_TEXT = 1000  # characters of an id


class Value(Protocol):
    """What a request may hold under a name; `Field` is the usual one."""

    @property
    def name(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def required(self) -> bool: ...
    def schema(self) -> dict[str, Any]:
        """Return its JSON schema."""

    def read(self, value: object) -> Any:
        """Return the value, or refuse it."""


@dataclass(frozen=True, slots=True)
class Field:
    """One plain value of a request.

    >>> Field("doc", "The document's id.").read("d7")
    'd7'
    >>> Field("grade", "The grade.", kind="grade", high=4).schema()
    {'type': ['integer', 'null'], 'minimum': 0, 'maximum': 4, 'description': 'The grade.'}
    >>> Field("top", "How many.", kind="whole", low=1, high=100).read("10")  # as an address has it
    10
    """

    name: str
    about: str
    kind: str = "text"  # one of KINDS
    required: bool = True
    high: int = MAX_TEXT  # most characters, or the highest number
    low: int = 0
    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        """Return the field's JSON schema."""
        return KINDS[self.kind].schema(self) | {"description": self.about}

    def read(self, value: object) -> Any:
        """Return the value, or refuse it."""
        return KINDS[self.kind].read(self, value)

    def refused(self, expected: str, value: object) -> RequestError:
        """Return the refusal of a value."""
        message = f"{self.name} must be {expected}: got {ascii(value)[:60]}"
        return RequestError(422, "bad_value", message, field=self.name)


class Kind(NamedTuple):
    """What a field's value may be."""

    schema: Callable[[Field], dict[str, Any]]
    read: Callable[[Field, object], Any]


def _text_schema(field: Field) -> dict[str, Any]:
    if field.choices:
        return {"type": "string", "enum": list(field.choices)}
    return {"type": "string", "minLength": 1, "maxLength": field.high}


def _read_text(field: Field, value: object) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= field.high:
        raise field.refused(f"a text of 1 to {field.high} characters", value)
    if not is_unicode(value):
        raise field.refused("a text in Unicode", value)
    if field.choices and value not in field.choices:
        raise field.refused(f"one of {', '.join(field.choices)}", value)
    return value


def is_unicode(text: str) -> bool:
    """Tell whether a text is whole: half a character can be neither stored nor sent."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _grade_schema(field: Field) -> dict[str, Any]:
    return {"type": ["integer", "null"], "minimum": 0, "maximum": field.high}


def _read_grade(field: Field, value: object) -> int | None:
    found = _whole(value)
    if value is not None and (found is None or not 0 <= found <= field.high):
        raise field.refused(f"a whole number from 0 to {field.high}, or null for 'cannot judge'", value)
    return found


def _whole_schema(field: Field) -> dict[str, Any]:
    return {"type": "integer", "minimum": field.low, "maximum": field.high}


def _read_whole(field: Field, value: object) -> int:
    if isinstance(value, str) and len(value) < 20 and value.isascii() and value.isdigit():  # from an address
        value = int(value)
    found = _whole(value)
    if found is None or not field.low <= found <= field.high:
        raise field.refused(f"a whole number from {field.low} to {field.high}", value)
    return found


def _whole(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():  # 2.0 is a whole number in JSON
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _yes_no_schema(field: Field) -> dict[str, Any]:
    return {"type": "boolean"}


def _read_yes_no(field: Field, value: object) -> bool:
    found = {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value
    if not isinstance(found, bool):
        raise field.refused("true or false", value)
    return found


KINDS = {
    "text": Kind(_text_schema, _read_text),
    "grade": Kind(_grade_schema, _read_grade),  # a whole number or null
    "whole": Kind(_whole_schema, _read_whole),
    "yes or no": Kind(_yes_no_schema, _read_yes_no),
}


def read_values(fields: Sequence[Value], given: Mapping[str, object]) -> dict[str, Any]:
    """Return the value of each field; those left out are None where they may be.

    >>> read_values([Field("query", "The query's id.")], {"query": "q1"})
    {'query': 'q1'}
    """
    values: dict[str, Any] = {}
    for field in fields:
        if field.name in given:
            values[field.name] = field.read(given[field.name])
        elif field.required:
            message = f"the request must hold {field.name}: {field.about}"
            raise RequestError(422, "missing_value", message, field=field.name)
        else:
            values[field.name] = None
    return values
