"""Reranking over HTTP (the extra `serve`), over what `rulerank/web` offers.

`app.py` is the table of what can be asked, put together with counts and the page; `ranking.py` reads the documents
of a request and answers. `workers.py` runs it in several processes.
From outside: `create_app` and `run`, after `check_packages`.
"""

from rulerank import web

PACKAGES = ("starlette", "uvicorn", "jinja2", "msgspec", "prometheus_client")


def check_packages() -> None:
    """Name the first package of the service that is not installed."""
    web.check_packages("serve", PACKAGES)
