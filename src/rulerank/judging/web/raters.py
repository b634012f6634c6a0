"""Who is judging: a name, asked once and kept in a cookie."""

from __future__ import annotations

from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import Response

from rulerank.judging.web.request_error import RequestError

COOKIE = "rulerank_rater"
MAX_NAME = 50  # characters, of at most four bytes each: the label store takes 200 bytes
A_YEAR = 365 * 24 * 3600


def check_rater(name: str) -> str:
    """Return a rater's name without spaces around it, or refuse it.

    >>> check_rater(" Ada Lovelace ")
    'Ada Lovelace'
    """
    name = name.strip()
    if not 1 <= len(name) <= MAX_NAME or not name.isprintable():
        raise RequestError(
            422, "bad_rater", f"a rater's name has 1 to {MAX_NAME} printable characters: got {ascii(name)[:80]}"
        )
    return name


def known_rater(request: Request) -> str | None:
    """Return the rater of the command line, or the one of the page's cookie if that is a name."""
    try:
        return request.app.state.rater or check_rater(unquote(request.cookies.get(COOKIE, "")))
    except RequestError:
        return None


def remember_rater(response: Response, name: str) -> None:
    """Keep a rater's name for the next visit."""
    response.set_cookie(COOKIE, quote(name, safe=""), max_age=A_YEAR, httponly=True, samesite="strict", path="/")
