"""Reranking over HTTP (the extra `serve`), built on `rulerank/web`.

`app.py` has the endpoints, metrics and the page; `ranking.py` reads the documents of a request and ranks them;
`workers.py` runs several processes.
Entry points: `create_app` and `run`, after `check_packages`.
"""

from rulerank import web

PACKAGES = ("starlette", "uvicorn", "jinja2", "msgspec", "prometheus_client")


def check_packages() -> None:
    """Raise an error that names the first missing package."""
    web.check_packages("serve", PACKAGES)
