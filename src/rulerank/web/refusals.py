"""Saying no: one kind of error, one shape of answer, whatever went wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

CODES = {404: "not_found", 405: "wrong_method"}


class RequestError(Exception):
    """Why a request is turned away; becomes {"error": {"code": ..., "field": ..., "message": ...}}.

    >>> RequestError(404, "unknown_document", "there is no document 'd9' of query 'q1'").payload()
    {'error': {'code': 'unknown_document', 'message': "there is no document 'd9' of query 'q1'"}}
    >>> RequestError(422, "bad_value", "top must be a whole number", field="top").payload()
    {'error': {'code': 'bad_value', 'field': 'top', 'message': 'top must be a whole number'}}
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        headers: dict[str, str] | None = None,
        *,
        field: str | None = None,  # the one whose value is refused
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or {}
        self.field = field

    def payload(self) -> dict[str, dict[str, str]]:
        """Return the answer's plain values."""
        where = {} if self.field is None else {"field": self.field}
        return {"error": {"code": self.code} | where | {"message": self.message}}


Refuse = Callable[[Request, RequestError], Response]


def exception_handlers(refuse: Refuse) -> dict[Any, Callable[[Request, Exception], Response]]:
    """Return what an application answers to a refusal, to an address that is none, and to a mistake of ours."""

    def on_refusal(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestError)
        return refuse(request, error)

    def on_http_exception(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        code = CODES.get(error.status_code, "refused")
        return refuse(request, RequestError(error.status_code, code, error.detail, dict(error.headers or {})))

    def on_mistake_of_ours(request: Request, error: Exception) -> Response:
        return refuse(request, RequestError(500, "internal", "a mistake in rulerank: the server's log says more"))

    return {RequestError: on_refusal, HTTPException: on_http_exception, Exception: on_mistake_of_ours}
