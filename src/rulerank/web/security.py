"""Who may talk to the page: a guard looks at every request first; the secret, and personal tokens made from it."""

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

ROUNDS = 100_000  # so that whoever has a personal token cannot quickly guess the secret it was made from
LOOPBACK = ("127.0.0.1", "localhost", "::1")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
HEADERS = {
    # nothing but our own files runs, is drawn or is asked; no inline script or style at all
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
    """Who brought a token: one person, or the lead (None), who has the secret itself and may use any name."""

    name: str | None


class Tokens:
    """Make personal tokens from a secret, and tell whose a token is.

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
        self._check_name = check_name  # returns a name as it counts, or raises a DataError
        self._digest = digest_of(secret)
        self._key = hashlib.pbkdf2_hmac("sha256", secret.encode(), b"rulerank: personal links", ROUNDS)

    def invite(self, name: str) -> str:
        """Return the token that lets its holder in under this name and no other."""
        encoded = base64.urlsafe_b64encode(self._check_name(name).encode()).decode().rstrip("=")
        return f"{encoded}.{self._signature(encoded)}"

    def holder(self, token: str) -> Holder | None:
        """Return whose token this is; None: nobody's."""
        return self.holder_of_cookie(self.cookie(token))

    def cookie(self, token: str) -> str:
        """Return what a browser keeps: a personal token as it is, and of the secret only a digest."""
        return token if self._person(token) else digest_of(token)

    def holder_of_cookie(self, cookie: str) -> Holder | None:
        """Return who has a cookie; None: it is none of ours."""
        return Holder(None) if _same(cookie, self._digest) else self._person(cookie)

    def _person(self, token: str) -> Holder | None:
        encoded, _, signature = token.partition(".")
        if not _same(signature, self._signature(encoded)):
            return None
        try:
            padding = "=" * (-len(encoded) % 4)
            return Holder(self._check_name(base64.urlsafe_b64decode(encoded + padding).decode()))
        except (ValueError, DataError):  # signed by us, and yet no name: of another version
            return None

    def _signature(self, encoded: str) -> str:
        return hmac.new(self._key, encoded.encode("utf-8", "replace"), "sha256").hexdigest()[:40]


def digest_of(token: str) -> str:
    """Return what is kept and compared instead of a secret: of one length, and fit for a cookie."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _same(came: str, expected: str) -> bool:
    # encoded: compare_digest takes no text beyond ASCII, and a cookie may hold any
    return hmac.compare_digest(came.encode("utf-8", "replace"), expected.encode())


class Guard:
    """Let a request through only if it brings the token, names this host and comes from our own pages."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        tokens: Tokens | None,  # None: only requests to this machine by its own name are let in
        refuse: Refuse,
        command: str,  # of rulerank that serves this
        api: tuple[str, ...] = ("/api/",),  # paths that no other site's page may ask for, not even to read
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
        """Raise a refusal, or return what sets the cookie when the address brought the token."""
        said = request.scope.setdefault("state", {})
        said["is_lead"] = self.tokens is None  # whoever sits at this machine, or, below, brings the secret itself
        if self.tokens is None:
            check_host(request)
        elif "token" in request.query_params and request.method in SAFE_METHODS:
            token = request.query_params["token"]
            check_holder(self.tokens.holder(token), self.command)
            return remember(request, self.tokens.cookie(token))
        else:
            holder = check_holder(self.presented(request, self.tokens), self.command)
            said["token_holder"], said["is_lead"] = holder.name, holder.name is None
        check_origin(request, self.api)
        return None

    def presented(self, request: Request, tokens: Tokens) -> Holder | None:
        kind, _, value = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return tokens.holder(value.strip())
        return tokens.holder_of_cookie(request.cookies.get(cookie_name(request), ""))


def check_holder(holder: Holder | None, command: str) -> Holder:
    """Refuse whoever has no token of ours."""
    if holder is None:
        raise RequestError(
            401,
            "wrong_token",
            f"this page needs its token: open the address that `rulerank {command}` printed, "
            "or send the header Authorization: Bearer TOKEN",
            {"WWW-Authenticate": "Bearer"},
        )
    return holder


def remember(request: Request, cookie: str) -> Response:
    """Keep what stands for the token in a cookie that no script can read, and go on without it in the address."""
    rest = urlencode([(name, value) for name, value in request.query_params.multi_items() if name != "token"])
    # not a 303: after a link from another site, a browser sends a strict cookie only with a new navigation
    response = Response(headers={"Refresh": f"0; url={page_path(request)}{'?' if rest else ''}{rest}"})
    response.set_cookie(cookie_name(request), cookie, httponly=True, samesite="strict", path="/")
    return response


def cookie_name(request: Request) -> str:
    """Cookies know no ports: two servers on one machine must not overwrite each other's."""
    return f"rulerank_token_{(request.scope.get('server') or ('', 0))[1]}"


def page_path(request: Request) -> str:
    """Return the path, never one that a browser would take for another host."""
    return "/" + quote(request.scope["path"].lstrip("/\\"))


def check_host(request: Request) -> None:
    """Refuse a name that some other site has pointed at this machine (DNS rebinding)."""
    if host_of(request.headers.get("host", "")) not in LOOPBACK:
        raise RequestError(
            403, "wrong_host", "this page answers only to 127.0.0.1 and localhost; to open it to others use --token"
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
    """Refuse what another site's page has sent: every change, and every use of the API."""
    changes = request.method not in SAFE_METHODS
    site = request.headers.get("sec-fetch-site", "same-origin")
    if (changes or request.scope["path"].startswith(api)) and site not in ("same-origin", "none"):
        raise RequestError(403, "wrong_origin", f"only this server's own pages may do this: the request is {site}")
    origin = request.headers.get("origin")
    if changes and origin is not None:
        try:
            netloc = urlsplit(origin).netloc
        except ValueError:
            netloc = ""
        if not netloc or netloc.lower() != request.headers.get("host", "").lower():
            raise RequestError(403, "wrong_origin", "only this server's own pages may do this: the origin is another")


def is_lead(request: Request) -> bool:
    """Tell whether a request is the lead's, by the word of `Guard`: of whoever has the secret or sits at this machine.

    A personal link is a rater's, whatever name it carries.
    """
    found: bool = request.scope.get("state", {}).get("is_lead", False)
    return found


def check_lead(request: Request) -> None:
    """Refuse what only the lead may do."""
    if not is_lead(request):
        raise RequestError(403, "lead_only", "only the lead may do this: a personal link is for judging")


def is_foreign(request: Request) -> bool:
    """Tell whether a link or form of another site has led here: what its address says is not what the person wants."""
    return request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none")


def with_headers(send: Send, added: dict[str, str]) -> Callable[[Message], Awaitable[None]]:
    """Return a send that adds the headers of safety, and the store's identity, to every answer."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in added.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers
