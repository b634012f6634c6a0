"""The judging page: a small web application on this machine (the extra `judge`), over what `rulerank/web` offers.

`app.py` puts it together from `api.py` (what raters can do), `lead_api.py` (what only the lead can do) and `pages.py`
(what people see).
From outside: `create_app`, after `check_packages`.
"""

from rulerank import web

PACKAGES = ("starlette", "uvicorn", "jinja2", "msgspec", "sqlalchemy")


def check_packages() -> None:
    """Name the first package of the page that is not installed."""
    web.check_packages("judge", PACKAGES)
