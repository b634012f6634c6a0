"""The documents of a request: ids of the index, texts, or ready features; all of one kind, checked before any work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from rulerank.web.fields import MAX_TEXT, Field, is_unicode
from rulerank.web.refusals import RequestError

ID = {"type": "string", "minLength": 1, "maxLength": MAX_TEXT}
ROW_VALUES = {float, int, type(None)}
FEATURE_VALUES = {float, int, str, type(None)}
SCALARS = (str, int, float, bool, type(None))
LONGEST_VECTOR = 10_000
MOST_FEATURES = 10_000
LISTED = "a list of ids, of {id, fields} or of {id, features}, all of one kind"


@dataclass(frozen=True, slots=True)
class Given:
    """The documents of a request."""

    docs: Any  # ids, fields by name, {"id", "features"} or a Dataset, as a Reranker takes them
    ids: list[str]  # the place in the list where there is none
    has_features: bool  # they come with ready features
    rows: list[list[float | None]] | None = None  # these, where they come as lists in the order of feature_names


@dataclass(frozen=True, slots=True)
class Documents:
    """The field `documents`."""

    most: int  # documents of one request
    texts: bool  # there is an index: ids and texts can be ranked, too
    required: bool
    name: str = "documents"

    @property
    def about(self) -> str:
        """What the field is for."""
        rows = 'features: {"id": "d1", "features": {"bm25": 2.5}}, null where a value is missing'
        if not self.texts:
            return f"The documents to rank, by their {rows}."
        return (
            'The documents to rank: ids of the index; texts, {"id": "d1", "fields": {"title": "..."}}; or ready '
            f"{rows}. Without them, the best of the index by BM25."
        )

    def schema(self) -> dict[str, Any]:
        """Return the field's JSON schema."""
        features = self._list(_item("features", {"type": ["number", "string", "null"]}))
        listed = {"type": "array", "items": {"type": ["number", "null"]}, "minItems": 1, "maxItems": MOST_FEATURES}
        rows = self._list(_object("features", listed))
        if not self.texts:
            return {"anyOf": [features, rows], "description": self.about}
        scalar = {"type": ["string", "number", "boolean", "null"]}
        texts = _item("fields", {"anyOf": [scalar, {"type": "array", "items": scalar, "maxItems": LONGEST_VECTOR}]})
        return {"anyOf": [self._list(ID), self._list(texts), features, rows], "description": self.about}

    def _list(self, items: Mapping[str, Any]) -> dict[str, Any]:
        return {"type": "array", "items": items, "minItems": 1, "maxItems": self.most}

    def read(self, value: object) -> Given:
        """Return the documents, or name the one that is wrong."""
        if not isinstance(value, list) or not value:
            raise self._refused("", f"must be {LISTED}", value)
        if len(value) > self.most:
            message = f"documents must be at most {self.most:,}: got {len(value):,}; rank the first ones"
            raise RequestError(422, "too_many", message, field=self.name)
        if isinstance(value[0], str):
            given = self._read_ids(value)
        elif isinstance(value[0], dict) and isinstance(value[0].get("features"), list):
            given = self._read_rows(value)
        elif isinstance(value[0], dict) and "features" in value[0]:
            given = self._read_features(value)
        else:
            given = self._read_texts(value)
        self._check_different(given.ids)
        return given

    def _read_ids(self, value: list[Any]) -> Given:
        self._check_index(value)
        for place, one in enumerate(value):
            self._check_id(place, one, "")
        return Given(value, value, False)

    def _read_features(self, value: list[Any]) -> Given:
        for place, one in enumerate(value):
            self._check_object(place, one, "features")
        if not {*map(type, chain.from_iterable(one["features"].values() for one in value))} <= FEATURE_VALUES:
            place, name = next(
                (place, name)
                for place, one in enumerate(value)
                for name, held in one["features"].items()
                if type(held) not in FEATURE_VALUES
            )
            where = f"[{place}].features.{ascii(name)[1:-1][:60]}"
            expected = "must be a number, the name of a category, or null where it is missing"
            raise self._refused(where, expected, value[place]["features"][name])
        return Given(value, self._ids(value), True)

    def _read_rows(self, value: list[Any]) -> Given:
        length = min(len(value[0]["features"]), MOST_FEATURES)
        rows: list[Any] = [one.get("features") if isinstance(one, dict) else None for one in value]
        right = {*map(type, rows)} == {list} and {*map(len, rows)} == {length}  # all at once: there may be thousands
        if not right or not {*map(type, chain.from_iterable(rows))} <= ROW_VALUES:
            self._name_the_wrong_row(value, length)
        for place, one in enumerate(value):
            if len(one) > 1 + ("id" in one):
                self._check_object(place, one, "features", list)
        ids = self._ids(value)
        if not all(isinstance(one, str) and 0 < len(one) <= MAX_TEXT for one in ids) or not is_unicode("".join(ids)):
            for place, own in enumerate(ids):
                self._check_id(place, own, ".id")
        return Given(value, ids, True, rows)

    def _name_the_wrong_row(self, value: list[Any], length: int) -> None:
        for place, one in enumerate(value):
            self._check_object(place, one, "features", list)
            own = one["features"]
            if len(own) != length:
                expected = f"must be a list of as many numbers as the first, {length}, and at most {MOST_FEATURES:,}"
                raise self._refused(f"[{place}].features", expected, f"{len(own)} numbers")
            wrong = [held for held in own if type(held) not in ROW_VALUES]
            if wrong:
                expected = "must be a list of numbers, null where missing (categories go in an object, by name)"
                raise self._refused(f"[{place}].features", expected, wrong[0])

    def _read_texts(self, value: list[Any]) -> Given:
        self._check_index(value)
        for place, one in enumerate(value):
            self._check_object(place, one, "fields")
            for name, held in one["fields"].items():
                scalars = held if isinstance(held, list) and len(held) <= LONGEST_VECTOR else [held]
                if not all(isinstance(scalar, SCALARS) for scalar in scalars):
                    where = f"[{place}].fields.{ascii(name)[1:-1][:60]}"
                    raise self._refused(where, "must be a text, a number or a list of them", held)
        ids = self._ids(value)
        return Given([one["fields"] | {"id": name} for name, one in zip(ids, value, strict=True)], ids, False)

    def _ids(self, value: list[Any]) -> list[str]:
        return [one.get("id", str(place)) for place, one in enumerate(value)]

    def _check_index(self, value: list[Any]) -> None:
        if not self.texts:
            raise self._refused(
                "[0]", 'must be {"id": ..., "features": {...}}: this service ranks ready features', value[0]
            )

    def _check_different(self, ids: list[str]) -> None:
        first: dict[str, int] = {}
        for place, one in enumerate(ids):
            if first.setdefault(one, place) != place:
                raise self._refused(f"[{place}]", f"must have another id than documents[{first[one]}]", one)

    def _check_object(self, place: int, one: object, key: str, kind: type = dict) -> None:
        if not isinstance(one, dict):
            raise self._refused(f"[{place}]", f"must be an object with {key}, as documents are {LISTED}", one)
        if not isinstance(one.get(key), kind) or not one[key]:
            expected = "an object of values by name" if kind is dict else "a list of numbers, as the first is"
            raise self._refused(f"[{place}].{key}", f"must be {expected}", one.get(key))
        if len(one) > 1 + ("id" in one):
            extra = ascii(next(name for name in one if name not in ("id", key)))
            raise self._refused(f"[{place}]", f"must hold id and {key} only", extra)
        if "id" in one:
            self._check_id(place, one["id"], ".id")

    def _check_id(self, place: int, one: object, end: str) -> None:
        if not isinstance(one, str) or not 1 <= len(one) <= MAX_TEXT or not is_unicode(one):
            raise self._refused(f"[{place}]{end}", f"must be an id, a text of 1 to {MAX_TEXT} characters", one)

    def _refused(self, end: str, expected: str, value: object) -> RequestError:
        where = f"{self.name}{end}"
        return RequestError(422, "bad_value", f"{where} {expected}: got {brief(value)}", field=where)


@dataclass(frozen=True, slots=True)
class FeatureNames:
    """The field `feature_names`: what the numbers of documents are, where they come as lists."""

    name: str = "feature_names"
    about: str = 'The features whose values documents have as lists, {"id": "d1", "features": [2.5, null]}, in order.'
    required: bool = False

    def schema(self) -> dict[str, Any]:
        """Return the field's JSON schema."""
        return {"type": "array", "items": ID, "minItems": 1, "maxItems": MOST_FEATURES, "description": self.about}

    def read(self, value: object) -> tuple[str, ...]:
        """Return the names, or refuse them."""
        right = isinstance(value, list) and 1 <= len(value) <= MOST_FEATURES
        if not right or not all(isinstance(one, str) and 1 <= len(one) <= MAX_TEXT for one in value):  # type: ignore[attr-defined]
            expected = f"a list of 1 to {MOST_FEATURES:,} names of features"
            raise RequestError(422, "bad_value", f"{self.name} must be {expected}: got {brief(value)}", field=self.name)
        return tuple(value)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Vectors:
    """The field `vectors`: of the query, for fields of the index that hold vectors."""

    name: str = "vectors"
    about: str = "The query's vectors by field, where the index has fields of vectors."
    required: bool = False

    def schema(self) -> dict[str, Any]:
        """Return the field's JSON schema."""
        numbers = {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": LONGEST_VECTOR}
        return {"type": "object", "additionalProperties": numbers, "description": self.about}

    def read(self, value: object) -> dict[str, list[float]]:
        """Return the vectors, or refuse them."""
        if not isinstance(value, dict):
            raise self._refused(self.name, "an object of lists of numbers by field", value)
        for name, vector in value.items():
            right = isinstance(vector, list) and 1 <= len(vector) <= LONGEST_VECTOR
            if not right or not {*map(type, vector)} <= {int, float} or not all(abs(v) < 1e38 for v in vector):
                where = f"vectors.{ascii(name)[1:-1][:60]}"
                raise self._refused(where, f"a list of 1 to {LONGEST_VECTOR:,} numbers below 1e38", vector)
        return value

    def _refused(self, where: str, expected: str, value: object) -> RequestError:
        return RequestError(422, "bad_value", f"{where} must be {expected}: got {brief(value)}", field=where)


def _item(key: str, values: dict[str, Any]) -> dict[str, Any]:
    return _object(key, {"type": "object", "minProperties": 1, "additionalProperties": values})


def _object(key: str, held: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"id": ID, key: held}, "required": [key], "additionalProperties": False}


def brief(value: object) -> str:
    """Return the beginning of a value as a message shows it, whatever it is.

    >>> brief("x" * 100)[-5:]
    'xxxxx'
    """
    try:
        return ascii(value)[:60]
    except (RecursionError, ValueError):  # deep, or a whole number of thousands of digits
        return f"a {type(value).__name__}"


def fields_of(most: int, texts: bool) -> Sequence[Any]:
    """Return the fields that /rank and /explain share: query, documents, feature_names, vectors."""
    query = Field("query", "The query's words; not needed where documents come with their features.", required=False)
    return (query, Documents(most, texts, required=not texts), FeatureNames(), *([Vectors()] if texts else []))
