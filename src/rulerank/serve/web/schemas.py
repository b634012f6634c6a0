"""The shapes of answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rulerank.web.description import (
    COUNT,
    MAYBE_TEXT,
    NUMBER,
    TEXT,
    YES_NO,
    describe,
    many,
    may_lack,
    named,
    thing,
)
from rulerank.web.endpoint import Endpoint

REFUSALS = {
    "400": "The body is not JSON.",
    "401": "The token is missing or wrong.",
    "403": "The request comes from another site or names another host.",
    "408": "The body did not arrive in time.",
    "413": "The body is too large.",
    "415": "The content type is not application/json.",
    "422": "A value is missing or not allowed; error.field names it.",
    "503": "Too many requests are waiting; try again.",
    "504": "The answer took too long.",
}
PLACE = {"type": "integer", "minimum": 1}
RESULT = {"id": TEXT, "rank": PLACE, "score": NUMBER, "today": {"type": ["integer", "null"], "minimum": 1}}
MORE = {
    "features": {"type": "object", "additionalProperties": {"type": ["number", "string", "null"]}},
    "reasons": many(named("Reason")),
}
TEXTS = dict.fromkeys(("title", "text", "url"), MAYBE_TEXT)
ANSWER = {"query": MAYBE_TEXT, "version": TEXT, "n_docs": COUNT}
RULE = may_lack(
    thing(items=many(TEXT), adds=NUMBER, weight=NUMBER, rows_by_grade=many(COUNT), queries=many(COUNT)),
    "rows_by_grade", "queries",
)  # fmt: skip
MAYBE_RULE = {"oneOf": [named("Rule"), {"type": "null"}]}
# left out when empty
SOME_PARTS = ("groups", "features", "arithmetic", "grades", "queries", "members", "notes", "baseline")
SWAP = may_lack(
    thing(features=many(TEXT), n_rules=COUNT, first_rules=many(TEXT), proven_smallest=YES_NO),
    "features", "n_rules", "first_rules",
)  # fmt: skip
MAYBE_SWAP = {"oneOf": [named("Swap"), {"type": "null"}]}

SCHEMAS: dict[str, Any] = {
    "Reason": thing(feature=MAYBE_TEXT, text=TEXT, adds=NUMBER, value={"type": ["number", "string", "null"]}),
    "Result": may_lack(thing(**RESULT, **MORE), *MORE),
    "Ranking": thing(**ANSWER, results=many(named("Result"))),
    "Found": may_lack(thing(**RESULT, **MORE, **TEXTS), *MORE),
    "Searched": thing(**ANSWER, results=many(named("Found")), today=many(named("Found"))),
    "Interleaved": thing(
        query=MAYBE_TEXT, session=TEXT, version=MAYBE_TEXT,
        results=many(thing(id=TEXT, position=PLACE, team={"enum": ["a", "b", None]})),
    ),
    "Rule": RULE,
    "Swap": SWAP,
    "Explanation": may_lack(
        thing(
            kind={"const": "explanation"}, document=TEXT, method=TEXT, score=NUMBER, base=NUMBER, base_text=TEXT,
            groups=many(thing(adds=NUMBER, n_rules=COUNT, rules=many(named("Rule")))),
            features=many(thing(feature=TEXT, text=TEXT, adds=NUMBER, effect=NUMBER, value=TEXT, standing=TEXT)),
            about=thing(query=TEXT, query_text=TEXT, texts={"type": "object", "additionalProperties": TEXT}),
            n_rules=COUNT, noun=TEXT, baseline=TEXT, sees_values=YES_NO, arithmetic=many(TEXT),
            grades=many(thing(grade=COUNT, n_rules=COUNT, mean=NUMBER, share=NUMBER)),
            queries=many(thing(query={"type": ["string", "number"]}, rank=NUMBER, weight=NUMBER, adds=NUMBER)),
            members=many(thing(name=TEXT, score=NUMBER, estimate=NUMBER, weight=NUMBER, adds=NUMBER)),
            notes=many(TEXT),
        ),
        *SOME_PARTS,
    ),
    "Versus": thing(
        kind={"const": "versus"}, high=named("Explanation"), low=named("Explanation"),
        difference=NUMBER, base_difference=NUMBER, n_same=COUNT, n_only_high=COUNT, n_only_low=COUNT,
        adds_same=NUMBER,
        features=many(thing(
            feature=TEXT, of_high=TEXT, of_low=TEXT, adds=NUMBER,
            high_value=TEXT, low_value=TEXT, high_standing=TEXT, low_standing=TEXT,
        )),
        groups=many(thing(
            adds=NUMBER, n_rules=COUNT,
            rules=many(thing(adds=NUMBER, same=YES_NO, of_high=MAYBE_RULE, of_low=MAYBE_RULE)),
        )),
        swap_features=MAYBE_SWAP, swap_rules=MAYBE_SWAP,
    ),
    "Explained": thing(
        version=TEXT, lines=many(TEXT), digits=COUNT, explanation={"oneOf": [named("Explanation"), named("Versus")]}
    ),
    "Health": thing(
        status={"enum": ["ok"]},
        model=thing(version=TEXT, method=TEXT, file=MAYBE_TEXT, since=TEXT),
        problem=MAYBE_TEXT, features=many(TEXT), today=TEXT, documents={"type": ["integer", "null"], "minimum": 0},
        worker=COUNT, started=TEXT, uptime_seconds=NUMBER,
    ),
}  # fmt: skip


def describe_service(endpoints: Sequence[Endpoint], *, has_token: bool) -> dict[str, Any]:
    """Return the OpenAPI 3.1 description of the service."""
    found = describe(
        endpoints,
        title="rulerank serve",
        about="Ranks documents with a model, and says why.",
        schemas=SCHEMAS,
        refusals=REFUSALS,
        has_token=has_token,
    )
    found["paths"]["/metrics"] = {
        "get": {
            "summary": "Counts for Prometheus, of all workers together.",
            "operationId": "get_metrics",
            "parameters": [],
            "responses": {
                "200": {"description": "Its text format.", "content": {"text/plain": {"schema": TEXT}}},
                **{
                    code: {
                        "description": REFUSALS[code],
                        "content": {"application/json": {"schema": named("Error")}},
                    }
                    for code in ("401", "403")
                },
            },
        }
    }
    return found
