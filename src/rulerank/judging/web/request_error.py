"""A request that is not answered: one exception, one JSON shape."""

from __future__ import annotations


class RequestError(Exception):
    """Why a request is turned away; becomes {"error": {"code": ..., "message": ...}}.

    >>> RequestError(404, "unknown_document", "there is no document 'd9' of query 'q1'").payload()
    {'error': {'code': 'unknown_document', 'message': "there is no document 'd9' of query 'q1'"}}
    """

    def __init__(self, status: int, code: str, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or {}

    def payload(self) -> dict[str, dict[str, str]]:
        return {"error": {"code": self.code, "message": self.message}}
