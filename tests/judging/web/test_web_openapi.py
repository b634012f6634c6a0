"""The description is what the server does: every route, every answer, and no surprise in thousands of requests."""

from contextlib import suppress

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.routing import Route

from rulerank.judging.web.app import create_app

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
N_EACH = 60  # requests per operation, kind of data and kind of ids


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


@pytest.mark.parametrize("ids", ["any ids", "ids of the pool"])
def test_thousands_of_requests_right_and_wrong_are_answered_as_described(ids, served, description):
    if ids == "ids of the pool":  # so that most requests reach the store
        know_the_pool(description, served.judging.pool.pairs[:4])
    operations = [found.ok() for found in schemathesis.openapi.from_dict(description).get_all_operations()]
    statuses = []
    with requests.Session() as session:
        for operation in operations:
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                with suppress(Unsatisfiable):  # what takes no data cannot be sent wrong data
                    send_all(operation.as_strategy(generation_mode=mode), served.url, session, statuses)
    assert len(operations) == 14
    assert len(statuses) > 900
    assert {200, 422} <= set(statuses)


def send_all(cases, url, session, statuses):
    @settings(
        max_examples=N_EACH,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def send(case):
        response = case.call(base_url=url, session=session)
        statuses.append(response.status_code)
        case.validate_response(response, checks=CHECKS)

    send()


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
