"""The field of a ranking that a request brings along: ids of documents, best first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rulerank.serve.web.documents import ID, brief
from rulerank.web.fields import MAX_TEXT, is_unicode
from rulerank.web.refusals import RequestError


@dataclass(frozen=True, slots=True)
class Order:
    """Ids of documents, best first, each once.

    >>> Order("a", "One ranking.", most=3).read(["d1", "d2"])
    ['d1', 'd2']
    """

    name: str
    about: str
    most: int
    required: bool = False

    def schema(self) -> dict[str, Any]:
        """Return the field's JSON schema."""
        size = {"minItems": 1, "maxItems": self.most}
        return {"type": "array", "items": ID, **size, "uniqueItems": True, "description": self.about}

    def read(self, value: object) -> list[str]:
        """Return the ids, or refuse them."""
        if not isinstance(value, list) or not 1 <= len(value) <= self.most:
            raise self._refused(f"a list of 1 to {self.most:,} ids, best first", value)
        for place, one in enumerate(value):
            if not isinstance(one, str) or not 1 <= len(one) <= MAX_TEXT or not is_unicode(one):
                raise self._refused(f"an id, a text of 1 to {MAX_TEXT} characters", one, f"[{place}]")
        if len(set(value)) < len(value):
            raise self._refused("different ids", next(one for one in value if value.count(one) > 1))
        return value

    def _refused(self, expected: str, value: object, end: str = "") -> RequestError:
        where = f"{self.name}{end}"
        return RequestError(422, "bad_value", f"{where} must be {expected}: got {brief(value)}", field=where)
