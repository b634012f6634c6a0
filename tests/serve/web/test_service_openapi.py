"""The description is what the service does: every route, every answer, and no surprise in thousands of requests."""

import pytest
from starlette.routing import Route

import rulerank as rr
from described_requests import send_described
from long_tests import LONG
from rulerank.serve.web.app import create_app

N_EACH = 400 if LONG else 8  # requests per operation and kind of data
KINDS = ("texts", "features")


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def made(kind, reranker, served_synthetic):
    return reranker if kind == "texts" else rr.Reranker(served_synthetic[1][0])


@pytest.fixture
def served(serve, made):
    return serve(made)


@pytest.fixture
def description(served):
    with served.remote() as client:
        return client.get("/openapi.json").json()


def test_every_route_is_described_and_nothing_else(made, description, kind):
    described = {(method.upper(), path) for path, item in description["paths"].items() for method in item}
    routes = [route for route in create_app(made).app.app.routes if isinstance(route, Route)]
    api = [route for route in routes if route.path not in ("/", "/favicon.ico", "/openapi.json", "/metrics")]
    assert described == {(method, route.path) for route in api for method in route.methods - {"HEAD"}}
    assert ("GET", "/search") in described or kind == "features"
    assert description["openapi"] == "3.1.0"


def test_thousands_of_requests_right_and_wrong_are_answered_as_described(kind, made, served, description):
    know_the_documents(description, made)
    n_operations, statuses = send_described(description, served.url, N_EACH)
    assert n_operations == (4 if kind == "texts" else 3)
    assert len(statuses) > 3 * N_EACH
    assert {200, 422} <= set(statuses)


def know_the_documents(description, made):
    """Let the description name words and features, as if it knew the model: more requests get through."""
    schemas = description["components"]["schemas"]
    for name in ("FeatureDocument", "AnyDocument"):
        if name in schemas:
            features = schemas[name]["properties"]["features"]
            features["properties"] = {one: {"type": ["number", "null"]} for one in made.feature_names}
            features["required"] = list(made.feature_names)
    for name in ("post_rank_request", "post_explain_request"):
        schemas[name]["properties"]["query"]["examples"] = ["women rain jacket"]
