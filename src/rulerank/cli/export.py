"""rulerank export: put a model into another system."""

from __future__ import annotations

from typing import Annotated

import typer

from rulerank.cli.options import AsJson, Out, argument, option
from rulerank.export import TARGETS


def export(
    model: Annotated[str, argument("MODEL", "A model file.")],
    to: Annotated[str | None, typer.Option("--to", metavar="TARGET", help=f"{', '.join(TARGETS)}.")] = None,
    feature_set: Annotated[str, option("NAME", "Its feature set (Solr: store; SQL: table) there.")] = "rulerank",
    model_name: Annotated[str, option("NAME", "What to call the model there.")] = "rulerank",
    out: Out = "-",
    check: Annotated[str | None, option("ANSWERS", "Compare an engine's answers with the model.", "--check")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a model as another system reads it.

    Writes what makes the other system score as the model does, and says what to do with it. FittedRules, GlobalRules
    with lifts and linear models can be written exactly; what cannot, and models that normalise features by query, are
    refused with the reason. The system must give the model the features that it was trained on: --json lists them.
    Categories: sql and python take their names. The other targets take codes: a note lists them, and --json prints all.

    --check reads what the system answered, a JSON object a line, {"features": {"bm25": 1.5}, "score": 0.2}, and says
    how far each score is from the model's, and why. A category is given by its name or its code.

    Example:

    \b
        rulerank export model.rulerank --to opensearch-ltr --feature-set movies -o model.json
        rulerank export model.rulerank --to sql -o score.sql
        rulerank export model.rulerank --check scored.jsonl
    """
    from rulerank.cli.output import report
    from rulerank.errors import DataError
    from rulerank.export import export_model
    from rulerank.export.check import check_answers, read_answers
    from rulerank.io.outputs import write_bytes
    from rulerank.io.streams import read_bytes
    from rulerank.model_file import load_ranker

    if (to is None) == (check is None):
        raise DataError(f"give either --to TARGET ({', '.join(TARGETS)}) or --check ANSWERS")
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
    lines = [f"send {'this' if out == '-' else out} with: {made.request}", *(f"note: {note}" for note in made.notes)]
    report(payload, "\n".join(lines), as_json=as_json, target=out)
