"""Access control: a guard for every request, the secret, and personal tokens derived from it."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Awaitable, Callable
from typing import NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rulerank.errors import DataError
from rulerank.web.requests import RequestError

ROUNDS = 100_000  # makes guessing the secret from a personal token slow
LOOPBACK = ("127.0.0.1", "localhost", "::1")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
HEADERS = {
    # only our own files; no inline scripts or styles
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


Refuse = Callable[[Request, RequestError], Response]


class Holder(NamedTuple):
    """The holder of a token: a rater, or None for the admin, who has the secret."""

    name: str | None


class Tokens:
    """Creates personal tokens from a secret, and identifies their holders.

    >>> tokens = Tokens("a secret that is long")
    >>> tokens.holder(tokens.invite("ann"))
    Holder(name='ann')
    >>> tokens.holder("a secret that is long")
    Holder(name=None)
    >>> signed = tokens.invite("ann").partition(".")[2]
    >>> tokens.holder(tokens.invite("ben").partition(".")[0] + "." + signed) is None
    True
    """

    def __init__(self, secret: str, check_name: Callable[[str], str] = str) -> None:
        self._check_name = check_name  # returns the normalised name, or raises a DataError
        self._digest = digest_of(secret)
        self._key = hashlib.pbkdf2_hmac("sha256", secret.encode(), b"rulerank: personal links", ROUNDS)

    def invite(self, name: str) -> str:
        """Return a token that is bound to this name."""
        encoded = base64.urlsafe_b64encode(self._check_name(name).encode()).decode().rstrip("=")
        return f"{encoded}.{self._signature(encoded)}"

    def holder(self, token: str) -> Holder | None:
        """Return the holder of a token; None if it is invalid."""
        return self.holder_of_cookie(self.cookie(token))

    def cookie(self, token: str) -> str:
        """Return the cookie of a token: a personal token as it is, of the secret only a digest."""
        return token if self._person(token) else digest_of(token)

    def holder_of_cookie(self, cookie: str) -> Holder | None:
        """Return the holder of a cookie; None if it is invalid."""
        return Holder(None) if _same(cookie, self._digest) else self._person(cookie)

    def _person(self, token: str) -> Holder | None:
        encoded, _, signature = token.partition(".")
        if not _same(signature, self._signature(encoded)):
            return None
        try:
            padding = "=" * (-len(encoded) % 4)
            return Holder(self._check_name(base64.urlsafe_b64decode(encoded + padding).decode()))
        except (ValueError, DataError):  # signed, but not a valid name: from another version
            return None

    def _signature(self, encoded: str) -> str:
        return hmac.new(self._key, encoded.encode("utf-8", "replace"), "sha256").hexdigest()[:40]


def digest_of(token: str) -> str:
    """Return the digest of a secret, of fixed length and valid in a cookie."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _same(came: str, expected: str) -> bool:
    # compare_digest takes only ASCII text, and a cookie may have any
    return hmac.compare_digest(came.encode("utf-8", "replace"), expected.encode())


class Guard:
    """Accepts requests that have the token, name this host and come from our own pages."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        tokens: Tokens | None,  # None: only requests to the loopback names are accepted
        refuse: Refuse,
        command: str,  # the rulerank command that serves this
        api: tuple[str, ...] = ("/api/",),  # paths that pages of other sites must not read
        headers: dict[str, str] | None = None,
    ) -> None:
        self.app = app
        self.tokens = tokens
        self.refuse = refuse
        self.command = command
        self.api = api
        self.headers = HEADERS | (headers or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        headers = self.headers
        try:
            answer: ASGIApp = self.admit(request) or self.app
        except RequestError as refusal:
            answer, headers = self.refuse(request, refusal), HEADERS
        await answer(scope, receive, with_headers(send, headers))

    def admit(self, request: Request) -> Response | None:
        """Raise a refusal, or return a response that sets the cookie if the URL has the token."""
        said = request.scope.setdefault("state", {})
        said["is_admin"] = self.tokens is None  # without a token, everyone on this machine
        if self.tokens is None:
            check_host(request)
        elif "token" in request.query_params and request.method in SAFE_METHODS:
            token = request.query_params["token"]
            check_holder(self.tokens.holder(token), self.command)
            return remember(request, self.tokens.cookie(token))
        else:
            holder = check_holder(self.presented(request, self.tokens), self.command)
            said["token_holder"], said["is_admin"] = holder.name, holder.name is None
        check_origin(request, self.api)
        return None

    def presented(self, request: Request, tokens: Tokens) -> Holder | None:
        kind, _, value = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return tokens.holder(value.strip())
        return tokens.holder_of_cookie(request.cookies.get(cookie_name(request), ""))


def check_holder(holder: Holder | None, command: str) -> Holder:
    """Refuse requests without a valid token."""
    if holder is None:
        raise RequestError(
            401,
            "wrong_token",
            f"this page needs its token: open the URL that `rulerank {command}` printed, "
            "or send the header Authorization: Bearer TOKEN",
            {"WWW-Authenticate": "Bearer"},
        )
    return holder


def remember(request: Request, cookie: str) -> Response:
    """Store the token in a cookie that scripts cannot read, and reload without it in the URL."""
    rest = urlencode([(name, value) for name, value in request.query_params.multi_items() if name != "token"])
    # not a 303: after a link from another site, browsers send a strict cookie only with a new navigation
    response = Response(headers={"Refresh": f"0; url={page_path(request)}{'?' if rest else ''}{rest}"})
    response.set_cookie(cookie_name(request), cookie, httponly=True, samesite="strict", path="/")
    return response


def cookie_name(request: Request) -> str:
    """Return a name per port: cookies are shared by all ports of a host."""
    return f"rulerank_token_{(request.scope.get('server') or ('', 0))[1]}"


def page_path(request: Request) -> str:
    """Return the path, safe against redirects to another host."""
    return "/" + quote(request.scope["path"].lstrip("/\\"))


def check_host(request: Request) -> None:
    """Refuse other host names (DNS rebinding)."""
    if host_of(request.headers.get("host", "")) not in LOOPBACK:
        raise RequestError(
            403, "wrong_host", "this page is available at 127.0.0.1 and localhost only; for other machines use --token"
        )


def host_of(netloc: str) -> str:
    """Return the host without its port.

    >>> host_of("127.0.0.1:8765"), host_of("[::1]:80"), host_of("evil.example"), host_of("[")
    ('127.0.0.1', '::1', 'evil.example', '')
    """
    try:
        return urlsplit(f"//{netloc}").hostname or ""
    except ValueError:
        return ""


def check_origin(request: Request, api: tuple[str, ...]) -> None:
    """Refuse requests from pages of other sites: all changes, and all uses of the API."""
    changes = request.method not in SAFE_METHODS
    site = request.headers.get("sec-fetch-site", "same-origin")
    if (changes or request.scope["path"].startswith(api)) and site not in ("same-origin", "none"):
        raise RequestError(403, "wrong_origin", f"only pages of this server may do this: the request is {site}")
    origin = request.headers.get("origin")
    if changes and origin is not None:
        try:
            netloc = urlsplit(origin).netloc
        except ValueError:
            netloc = ""
        if not netloc or netloc.lower() != request.headers.get("host", "").lower():
            raise RequestError(403, "wrong_origin", "only pages of this server may do this: the origin is another site")


def is_admin(request: Request) -> bool:
    """Return whether a request is from the admin: with the secret, or from this machine without a token.

    Personal links are for raters.
    """
    found: bool = request.scope.get("state", {}).get("is_admin", False)
    return found


def check_admin(request: Request) -> None:
    """Refuse requests that are not from the admin."""
    if not is_admin(request):
        raise RequestError(403, "admin_only", "only the admin may do this: personal links are for judging")


def is_foreign(request: Request) -> bool:
    """Return whether the request comes from a link or form of another site, whose parameters are not trusted."""
    return request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none")


def with_headers(send: Send, added: dict[str, str]) -> Callable[[Message], Awaitable[None]]:
    """Return a send that adds headers to every response."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in added.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers
