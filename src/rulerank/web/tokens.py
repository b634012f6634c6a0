"""The secret that opens the page, and personal tokens made from it: each carries the name of one person."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass

from rulerank.errors import DataError

ROUNDS = 100_000  # so that whoever has a personal token cannot quickly guess the secret it was made from


@dataclass(frozen=True, slots=True)
class Holder:
    """Who brought a token: one person, or the lead, who has the secret itself and may use any name."""

    name: str | None

    @property
    def is_lead(self) -> bool:
        return self.name is None


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
        return Holder(None) if _same(digest_of(token), self._digest) else self._person(token)

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
