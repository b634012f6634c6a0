"""The judging page: a small web application (the extra `judge`), built on `rulerank/web`.

`app.py` combines `api.py` (requests of raters and of the admin) and `pages.py` (HTML pages).
Entry points: `create_app`, after `check_packages`.
"""

from rulerank import web

PACKAGES = ("starlette", "uvicorn", "jinja2", "msgspec", "sqlalchemy")


def check_packages() -> None:
    """Raise an error that names the first missing package."""
    web.check_packages("judge", PACKAGES)
