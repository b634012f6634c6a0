"""rulerank export: write a model for another system."""

from __future__ import annotations

from typing import Annotated

import typer

from rulerank.cli.options import AsJson, Out, argument, option
from rulerank.export import TARGETS


def export(
    model: Annotated[str, argument("MODEL", "Model file from `rulerank train`.")],
    to: Annotated[str | None, typer.Option("--to", metavar="TARGET", help=f"One of {', '.join(TARGETS)}.")] = None,
    feature_set: Annotated[str, option("NAME", "Name of the feature set (Solr: store; SQL: table).")] = "rulerank",
    model_name: Annotated[str, option("NAME", "Name of the model in the other system.")] = "rulerank",
    out: Out = "-",
    check: Annotated[
        str | None, option("FILE", "Compare scores of the other system with the model.", "--check")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Export a model to another system, with the same scores.

    Writes the model and prints how to load it. Supports FittedRules, Anchored, GlobalRules with votes=evidence (the
    default) and linear models, on raw feature values. Other models are refused with the reason. Scores are equal up to
    the rounding of the target (float32 in some). The system must compute the features that the model was trained on:
    --json lists them. A search engine needs a feature set (Solr: feature store) with these features before the model.
    For categories, sql and python use names, the other targets codes: a note lists them, and --json prints all.

    --check reads scores of the system, one JSON object per line, {"features": {"bm25": 1.5}, "score": 0.2}, and prints
    how much each differs from the model's score, and why. Categories may be names or codes.

    Example:
        # for the learning-to-rank plugin of OpenSearch
        rulerank export model.rulerank --to opensearch-ltr --feature-set movies -o model.json
        # as an SQL expression
        rulerank export model.rulerank --to sql -o score.sql
        # compare scores of the other system with the model
        rulerank export model.rulerank --check scored.jsonl
    """
    from rulerank.cli.output import report
    from rulerank.errors import DataError
    from rulerank.export import export_model
    from rulerank.export.check import check_answers, read_answers
    from rulerank.io.files import read_bytes, write_bytes
    from rulerank.model_file import load_ranker

    if (to is None) == (check is None):
        raise DataError(f"give either --to TARGET ({', '.join(TARGETS)}) or --check FILE")
    if check is not None:
        found = check_answers(load_ranker(model), read_answers(read_bytes(check)[0].decode(errors="replace")))
        report(found.to_dict(), "\n".join(found.lines()), as_json=as_json)
        raise typer.Exit(0 if found.same else 1)
    made = export_model(load_ranker(model), str(to), model_name=model_name, feature_set=feature_set)
    write_bytes(out, made.to_bytes())
    payload: dict[str, object] = {
        "engine": to,
        "request": made.request,
        "document": out,
        "features": list(made.features),
        "notes": list(made.notes),
        "categories": made.categories,
    }
    what = "this" if out == "-" else out
    verb = "send" if made.request.startswith(("POST ", "PUT ")) else "load" if "FILE" in made.request else ""
    how = f"{verb} {what} with: {made.request}" if verb else f"{what}: {made.request}"
    lines = [how, *(f"note: {note}" for note in made.notes)]
    report(payload, "\n".join(lines), as_json=as_json, target=out)
