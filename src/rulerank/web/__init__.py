"""What every page and HTTP interface here shares: who may talk to it, what a request may hold, how it is served.

`security.py` (with `tokens.py`) looks at every request first; `fields.py` and `bodies.py` read it, `refusals.py` says
no; `endpoint.py` is one thing an API can do, `description.py` describes them all as OpenAPI; `server.py` runs an
application, and `connections.py` lets go of those who stall; `pages.py` makes HTML. `judging/web` and `serve/web` stand
on it.
"""

from importlib.util import find_spec

from rulerank.errors import MissingExtraError


def check_packages(extra: str, packages: tuple[str, ...]) -> None:
    """Name the first package of an extra that is not installed."""
    for package in packages:
        if find_spec(package) is None:
            raise MissingExtraError(extra, package)
