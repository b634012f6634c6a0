"""rulerank export: put a model into a search engine."""

from __future__ import annotations

from typing import Annotated

import typer

from rulerank.cli.options import AsJson
from rulerank.export import TARGETS


def export(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file of a linear ranker.")],
    to: Annotated[str, typer.Option("--to", metavar="ENGINE", help=f"{', '.join(TARGETS)}.")],
    feature_set: Annotated[
        str, typer.Option(metavar="NAME", help="Feature set (Solr: feature store) that holds the model's features.")
    ] = "rulerank",
    model_name: Annotated[str, typer.Option(metavar="NAME", help="What to call the model there.")] = "rulerank",
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The file to write, - for stdout.")] = "-",
    as_json: AsJson = False,
) -> None:
    """Put a linear model into a search engine.

    Writes the document that makes the engine score as the model does, and says where to send it.

    Models of rules, and those that normalise features by query, cannot be exported exactly and are refused.

    Example:

    \b
        rulerank export linear.rulerank --to opensearch-ltr
        rulerank export linear.rulerank --to elasticsearch-ltr --feature-set movies --model-name linear
        rulerank export linear.rulerank --to solr-ltr --feature-set movies
    """
    from rulerank.cli.output import report
    from rulerank.export import export_model
    from rulerank.io.outputs import write_bytes
    from rulerank.model_file import load_ranker

    made = export_model(load_ranker(model), to, model_name=model_name, feature_set=feature_set)
    write_bytes(out, f"{made.to_json()}\n".encode())
    payload: dict[str, object] = {"engine": to, "request": made.request, "document": out}
    report(payload, f"send {'this' if out == '-' else out} with: {made.request}", as_json=as_json, target=out)
