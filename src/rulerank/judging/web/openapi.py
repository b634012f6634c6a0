"""The description of the API at /openapi.json, made from the same table as its routes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rulerank.judging.web.endpoint import STORE_HEADER
from rulerank.web.description import (
    COUNT,
    MAYBE_NUMBER,
    MAYBE_TEXT,
    NUMBER,
    SHARE,
    TEXT,
    YES_NO,
    describe,
    many,
    named,
    perhaps,
    thing,
)
from rulerank.web.endpoint import Endpoint

GRADE: dict[str, Any] = {"type": ["integer", "null"], "minimum": 0}
RANK = GRADE | {"minimum": 1}  # null: not to be seen

STORE: dict[str, Any] = {
    "name": STORE_HEADER, "in": "header", "required": False, "schema": {"type": "string"},
    "description": "The store that is meant, as every answer names it in this header; another one refuses.",
}  # fmt: skip
REFUSALS = {
    "400": "The body is not JSON.",
    "401": "The token is missing or wrong.",
    "403": "The request comes from another site, names another host or another rater than its token, or is the lead's.",
    "404": "There is no such document.",
    "408": "The body did not arrive in time.",
    "409": "The request was meant for another label store, or a model is being trained already.",
    "413": "The body is too large.",
    "415": "The content type is not application/json.",
    "422": "A value is missing or not allowed, or what is asked is not possible yet.",
    "503": "The label store cannot be written or read; try again.",
}


TEXTS = dict.fromkeys(("query_text", "description", "title", "text", "url", "image"), MAYBE_TEXT)
FIELDS = many(thing(name=TEXT, text=TEXT))  # what else is shown of a document
FACT = {
    "id": COUNT, "query": TEXT, "doc": TEXT, "grade": GRADE, "rater": TEXT, "time": TEXT,
    "superseded_by": GRADE, "withdrawn": MAYBE_TEXT, "page": MAYBE_TEXT, "withdrawn_page": MAYBE_TEXT,
}  # fmt: skip
HANDED = {"task": perhaps("Task"), "progress": named("Progress")}

SCHEMAS: dict[str, Any] = {
    "Task": thing(query=TEXT, doc=TEXT, **TEXTS, fields=FIELDS, judged=YES_NO, grade=GRADE),
    "List": thing(
        query=TEXT, n_others=COUNT, shows_rank=YES_NO,
        docs=many(thing(
            query=TEXT, doc=TEXT, **TEXTS, fields=FIELDS, judged=YES_NO, grade=GRADE, rank=RANK,
        )),
    ),
    "Listed": thing(list=perhaps("List"), progress=named("Progress")),
    "Progress": thing(
        rater=TEXT, mine=COUNT, labelled=COUNT, cannot_judge=COUNT, skipped=COUNT, pool_size=COUNT,
        closeness=SHARE, stops=YES_NO, done=YES_NO, reason=TEXT,
    ),
    "Label": thing(**FACT),
    "Estimate": thing(grade=NUMBER, rank=COUNT, n_docs=COUNT, reasons=many(TEXT), n_labels=COUNT),
    "Coefficient": thing(value=MAYBE_NUMBER, n_docs=COUNT, reason=TEXT),
    "Agreement": thing(
        n_docs=COUNT, nominal=named("Coefficient"), ordinal=named("Coefficient"),
        pairs=many(thing(raters=many(TEXT), kappa=named("Coefficient"), weighted=named("Coefficient"))),
    ),
    "Overview": thing(
        labelled=COUNT, cannot_judge=COUNT, pool_size=COUNT, elsewhere=COUNT, closeness=SHARE,
        queries=many(named("QueryCount")),
        raters=many(thing(
            rater=TEXT, graded=COUNT, cannot_judge=COUNT, skipped=COUNT, mean_grade=MAYBE_NUMBER,
        )),
        agreement=named("Agreement"), rules=many(TEXT),
        standing=many(TEXT),
    ),
    "Duel": thing(query=TEXT, docs=many(named("Task")), number=COUNT),
    "Check": thing(
        won=COUNT, lost=COUNT, drawn=COUNT, verdict=TEXT, over=YES_NO, interval=many(SHARE), line=TEXT, changed=SHARE,
    ),
    "Duelling": thing(duel=perhaps("Duel"), check=perhaps("Check")),
    "CheckOnly": thing(check=perhaps("Check")),
    "Handed": thing(**HANDED),
    "Features": thing(features=many(thing(name=TEXT, value=MAYBE_NUMBER, percentile=MAYBE_NUMBER))),
    "Labels": thing(labels=many(thing(**FACT, query_text=MAYBE_TEXT, title=MAYBE_TEXT, in_pool=YES_NO))),
    "Labelled": thing(label=named("Label"), **HANDED),
    "Estimated": thing(estimate=perhaps("Estimate")),
    "Undone": thing(undone=perhaps("Label"), **HANDED),
    "ProgressOnly": thing(progress=named("Progress")),
    "OverviewOnly": thing(overview=named("Overview")),
    "Model": thing(path=TEXT, method=TEXT, n_labels=COUNT, notes=many(TEXT)),
    "TrainingOnly": thing(training=perhaps("Training")),
    "Training": thing(
        method=TEXT, n_labels=COUNT, running=YES_NO, seconds=NUMBER, saved=perhaps("Model"), problem=MAYBE_TEXT,
    ),
    "QueryCount": thing(
        query=TEXT, query_text=MAYBE_TEXT, n_docs=COUNT, labelled=COUNT, cannot_judge=COUNT, mean_grade=MAYBE_NUMBER,
    ),
    "QueryPage": thing(queries=many(named("QueryCount")), found=COUNT, page=COUNT, pages=COUNT),
    "Link": thing(rater=TEXT, path=TEXT),
    "Comparison": thing(
        query=TEXT, query_text=MAYBE_TEXT, method=TEXT,
        docs=many(thing(doc=TEXT, title=TEXT, new=COUNT, today=COUNT, grade=GRADE)),
    ),
    "Reasons": thing(reasons=many(TEXT)),
    "SettingsOnly": thing(settings=thing(combine=TEXT, judgements=COUNT, training_judges=many(TEXT))),
    "Decision": thing(**FACT, withdrawn_by=MAYBE_TEXT),
    "Decided": thing(
        decision=perhaps("Decision"), undone=perhaps("Decision"), left=COUNT, decided=COUNT, progress=named("Progress"),
    ),
    "Dispute": thing(
        task=named("Task"), spread=COUNT, decision=perhaps("Decision"),
        labels=many(thing(rater=TEXT, kind=TEXT, grade=GRADE, time=TEXT, where=MAYBE_TEXT)),
    ),
    "Disputes": thing(
        disputes=many(named("Dispute")), found=COUNT, page=COUNT, pages=COUNT, left=COUNT, decided=COUNT,
    ),
    "Share": thing(value=MAYBE_NUMBER, low=MAYBE_NUMBER, high=MAYBE_NUMBER, n_docs=COUNT),
    "AgreementPart": thing(name=TEXT, share=named("Share")),
    "AgreementParts": thing(
        sentence=TEXT,
        alpha=thing(value=MAYBE_NUMBER, low=MAYBE_NUMBER, high=MAYBE_NUMBER, n_docs=COUNT, reason=TEXT),
        raters=many(named("AgreementPart")), grades=many(named("AgreementPart")),
        queries=thing(
            queries=many(thing(name=TEXT, query_text=MAYBE_TEXT, share=named("Share"))),
            found=COUNT, page=COUNT, pages=COUNT,
        ),
        judges=many(thing(judge=TEXT, share=named("Share"), weighted=named("Coefficient"), n_labels=COUNT)),
    ),
    "Kinds": thing(kinds={"type": "object", "additionalProperties": TEXT}),
}  # fmt: skip


def describe_api(endpoints: Sequence[Endpoint], *, has_token: bool) -> dict[str, Any]:
    """Return the OpenAPI 3.1 description of the API."""
    return describe(
        endpoints,
        title="rulerank judge",
        about="Hands out documents to judge, takes grades, and tells how far the labels have come.",
        schemas=SCHEMAS,
        refusals=REFUSALS,
        has_token=has_token,
        parameters=[STORE],
    )
