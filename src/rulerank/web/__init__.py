"""Shared by the judging page and the service: access, requests, endpoints, pages and the server.

`security.py` guards every request, `requests.py` reads and validates it, `endpoint.py` has endpoints and their OpenAPI
description, `pages.py` renders HTML and errors, `server.py` runs an application.
"""

from importlib.util import find_spec

from rulerank.errors import MissingExtraError


def check_packages(extra: str, packages: tuple[str, ...]) -> None:
    """Raise an error that names the first missing package of an extra."""
    for package in packages:
        if find_spec(package) is None:
            raise MissingExtraError(extra, package)
