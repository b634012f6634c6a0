"""One thing the judging API can do, in the name of a rater and for one label store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import Response

from rulerank.errors import DataError, RulerankError
from rulerank.judging.labels import BusyError, StoreError, check_rater
from rulerank.web.endpoint import Endpoint
from rulerank.web.requests import RequestError, read_address
from rulerank.web.security import check_lead

COOKIE = "rulerank_rater"
A_YEAR = 365 * 24 * 3600
STORE_HEADER = "Rulerank-Store"  # the identity of the label store, in requests of the page and in all answers


def rater_named(name: str) -> str:
    """Return the rater whom a request names, or refuse the name."""
    try:
        return check_rater(name)
    except DataError as error:
        raise RequestError(422, "bad_rater", str(error)) from None


def token_holder(request: Request) -> str | None:
    """Return the name that the token of a personal link carries; None: it is the token of all, or there is none."""
    holder: str | None = request.scope.get("state", {}).get("token_holder")
    return holder


def known_rater(request: Request) -> str | None:
    """Return whose link it is, the rater of the command line, or the one of the page's cookie if that is a name."""
    holder = token_holder(request)
    if holder is not None:
        return holder
    try:
        return request.app.state.rater or check_rater(unquote(request.cookies.get(COOKIE, "")))
    except DataError:
        return None


def remember_rater(response: Response, name: str) -> None:
    """Keep a rater's name for the next visit."""
    response.set_cookie(COOKIE, quote(name, safe=""), max_age=A_YEAR, httponly=True, samesite="strict", path="/")


def rater_of(request: Request, named: str | None) -> str:
    """Return who is judging: named in the address, by the cookie of the page, or on the command line."""
    rater = named or known_rater(request)
    if rater is None:
        raise RequestError(422, "no_rater", "say who is judging: add ?rater=NAME to the address")
    rater, holder = rater_named(rater), token_holder(request)
    if holder not in (None, rater):
        raise RequestError(
            403,
            "other_rater",
            f"this is the link of {holder!a}, and nobody judges as {rater!a} with it: use the link of that rater",
        )
    return rater


def check_store(request: Request) -> None:
    """Refuse what was meant for another label store, such as one that was served at this address before."""
    meant, ours = request.headers.get(STORE_HEADER), request.app.state.store
    if meant not in (None, ours):
        raise RequestError(
            409, "other_store", "this was meant for another label store, which was served here before: nothing changed"
        )


@dataclass(frozen=True)
class JudgingEndpoint(Endpoint):
    """What is called with which values, the rater's name among them where it is asked for."""

    in_address: tuple[str, ...] = ("rater", "keep_going")
    lead_only: bool = False  # a personal link may not

    def address_values(self, request: Request) -> dict[str, Any]:
        check_store(request)
        if self.lead_only:
            check_lead(request)
        known = [item for item in request.query_params.items() if item[0] in self.names[0]]
        values = read_address(known, self.address)
        return values | ({"rater": rater_of(request, values.get("rater"))} if "rater" in self.names[0] else {})

    def refusal_of(self, error: RulerankError) -> Exception:
        if isinstance(error, BusyError):
            return RequestError(409, "busy", str(error))
        return error if isinstance(error, StoreError) else super().refusal_of(error)
