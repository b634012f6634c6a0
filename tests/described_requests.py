"""Requests made from an OpenAPI description, right ones and wrong ones; every answer must be one that it describes."""

from contextlib import suppress

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

CHECKS = [not_a_server_error, checks.status_code_conformance, checks.content_type_conformance]
CHECKS += [checks.response_schema_conformance, checks.negative_data_rejection]
QUIETLY = settings(derandomize=True, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))


def send_described(description, url, n_each):
    """Send so many requests per operation and kind of data; return how many operations there are, and all statuses."""
    operations = [found.ok() for found in schemathesis.openapi.from_dict(description).get_all_operations()]
    statuses = []
    with requests.Session() as session:
        for operation in operations:
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                with suppress(Unsatisfiable):  # what takes no data cannot be sent wrong data
                    _send_all(operation.as_strategy(generation_mode=mode), url, session, statuses, n_each)
    return len(operations), statuses


def _send_all(cases, url, session, statuses, n_each):
    @settings(QUIETLY, max_examples=n_each)
    @given(case=cases)
    def send(case):
        response = case.call(base_url=url, session=session)
        statuses.append(response.status_code)
        too_large = response.status_code == 413  # which is a refusal, too
        excluded = [checks.negative_data_rejection] if too_large else []
        case.validate_response(response, checks=CHECKS, excluded_checks=excluded)

    send()
