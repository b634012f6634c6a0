"""What every page and HTTP interface here shares: who may talk to it, what a request may hold, how it is served.

`security.py` looks at every request first, `requests.py` reads and checks it, `endpoint.py` is one thing an API can do
and describes them all as OpenAPI; `pages.py` makes HTML and says no, `server.py` runs an application. `judging/web` and
`serve/web` stand on it.
"""

from importlib.util import find_spec

from rulerank.errors import MissingExtraError


def check_packages(extra: str, packages: tuple[str, ...]) -> None:
    """Name the first package of an extra that is not installed."""
    for package in packages:
        if find_spec(package) is None:
            raise MissingExtraError(extra, package)
