"""Reranking over HTTP (the extra `serve`), over what `rulerank/web` offers.

`app.py` puts it together: `api.py` is what can be asked, `documents.py` the documents of a request, `ranking.py`
answers, `metrics.py` counts. `workers.py` runs it in several processes, `opening.py` finds what to serve.
From outside: `create_app`, `open_model` and `run`, after `check_packages`.
"""

from rulerank import web

PACKAGES = ("starlette", "uvicorn", "jinja2", "msgspec", "prometheus_client")


def check_packages() -> None:
    """Name the first package of the service that is not installed."""
    web.check_packages("serve", PACKAGES)
