"""The judging page: a small web application on this machine (the extra `judge`).

`app.py` puts it together from `api.py` (what it can do), `pages.py` (what people see) and `security.py` (who may,
with `tokens.py`);
`endpoint.py` is one thing the API can do, `openapi.py` describes them all; `server.py` runs it, and
`connections.py` lets go of those who stall; `guidelines.py` reads what grades mean.
From outside: `create_app`, `server` and `read_guidelines`, after `check_packages`.
"""

from importlib.util import find_spec

from rulerank.errors import MissingExtraError

PACKAGES = ("starlette", "uvicorn", "jinja2", "sqlalchemy")


def check_packages() -> None:
    """Name the first package of the page that is not installed."""
    for package in PACKAGES:
        if find_spec(package) is None:
            raise MissingExtraError("judge", package)
