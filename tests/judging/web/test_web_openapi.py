"""The description is what the server does: every route, every answer, and no surprise in thousands of requests."""

import pytest
from starlette.routing import Route

from described_requests import send_described
from long_tests import LONG
from rulerank.judging.web.app import create_app

N_EACH = 300 if LONG else 4  # requests per operation, kind of data and kind of ids


@pytest.fixture
def served(serve):
    return serve(rater="ann")


@pytest.fixture
def description(served):
    with served.client() as client:
        return client.get("/openapi.json").json()


def test_every_route_of_the_api_is_described_and_nothing_else(served, description):
    described = {(method.upper(), path) for path, item in description["paths"].items() for method in item}
    routes = [route for route in create_app(served.judging).app.routes if isinstance(route, Route)]
    api = [route for route in routes if route.path.startswith("/api/")]
    assert described == {(method, route.path) for route in api for method in route.methods - {"HEAD"}}
    assert description["openapi"] == "3.1.0"


def test_a_token_is_part_of_the_description(serve):
    token = "a secret that is long"
    with serve(token=token).client(headers={"authorization": f"Bearer {token}"}) as client:
        assert client.get("/openapi.json").json()["security"] == [{"token": []}]


def test_requests_right_and_wrong_are_answered_as_described(served, description):
    know_the_pool(description, served.judging.pool.pairs[:4])  # so that most requests reach the store
    n_operations, statuses = send_described(description, served.url, N_EACH)
    assert n_operations == 19
    assert {200, 422} <= set(statuses)


def know_the_pool(description, pairs):
    """Let the description name ids, as if it knew the pool."""
    ids = {"query": sorted({query for query, _ in pairs}), "doc": [doc for _, doc in pairs]}
    for item in description["paths"].values():
        for operation in item.values():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            fields = list(body.get("schema", {}).get("properties", {}).items())
            fields += [(parameter["name"], parameter["schema"]) for parameter in operation["parameters"]]
            for name, schema in fields:
                if name in ids:
                    schema["enum"] = ids[name]
