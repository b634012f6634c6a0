"""Pictures of documents: only from hosts that the lead allows, since every picture tells its host who looks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from rulerank.errors import DataError
from rulerank.web.security import HEADERS

POLICY = "Content-Security-Policy"
HOST = re.compile(r"(?:(https?)://)?([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?)/?")


class ImageHosts:
    """The hosts from which pictures are shown; with none, there are no pictures.

    A host such as images.example.org is asked by https; http://localhost:8000 is one that is not.

    >>> hosts = ImageHosts(["images.example.org"])
    >>> hosts.allowed("https://images.example.org/a.jpg")
    'https://images.example.org/a.jpg'
    >>> hosts.allowed("https://other.example.org/a.jpg"), hosts.allowed("http://images.example.org/a.jpg")
    (None, None)
    """

    def __init__(self, hosts: Iterable[str] = ()) -> None:
        self.origins = tuple(dict.fromkeys(_origin(host) for host in hosts))

    def allowed(self, address: str | None) -> str | None:
        """Return the address of a picture if its host is allowed."""
        if not address or not self.origins:
            return None
        try:
            parts = urlsplit(address.strip())
            origin = f"{parts.scheme}://{parts.netloc}".lower()
        except ValueError:
            return None
        return address.strip() if origin in self.origins else None

    def headers(self) -> dict[str, str]:
        """Return the content security policy by which the browser keeps to the same hosts."""
        if not self.origins:
            return {}
        return {POLICY: HEADERS[POLICY].replace("img-src 'self'", " ".join(["img-src 'self'", *self.origins]))}


def _origin(host: str) -> str:
    found = HOST.fullmatch(host.strip().lower())
    if found is None:
        raise DataError(
            f"--images takes a host such as images.example.org, or http://localhost:8000: got {host!r:.60}; "
            "name each host by itself, without a path or *"
        )
    return f"{found[1] or 'https'}://{found[2]}"
