"""rulerank export: put a model into another system."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rulerank.cli.options import AsJson
from rulerank.export import TARGETS

if TYPE_CHECKING:
    from rulerank.rankers.base import Ranker


def export(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    to: Annotated[str | None, typer.Option("--to", metavar="TARGET", help=f"{', '.join(TARGETS)}.")] = None,
    feature_set: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Feature set (Solr: feature store; SQL: table) that holds the model's features."
        ),
    ] = "rulerank",
    model_name: Annotated[str, typer.Option(metavar="NAME", help="What to call the model there.")] = "rulerank",
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The file to write, - for stdout.")] = "-",
    draft: Annotated[
        str | None, typer.Option("--draft", metavar="FILE", help="Write a draft of the engine's feature set too.")
    ] = None,
    parts: Annotated[
        bool, typer.Option("--parts", help="A Competence: each member into the folder --out, and mixing.json.")
    ] = False,
    check: Annotated[
        str | None,
        typer.Option("--check", metavar="ANSWERS", help="Compare the engine's answers (JSON) with the model instead."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a model as another system reads it.

    Writes what makes the other system score as the model does, and says what to do with it.

    A Competence is written in --parts: its members one by one, and how their scores are put together.

    FittedRules, GlobalRules with lifts and linear models can be written exactly. What cannot, and models that normalise
    features by query, are refused with the reason.

    Categories: sql and python take their names. The other targets take codes: a note lists them, --draft computes them,
    and --json prints all of them.

    --check reads what the system answered, a JSON object a line, {"features": {"bm25": 1.5}, "score": 0.2}, and says
    how far each score is from the model's, and why. A category is given by its name or its code.

    Example:

    \b
        rulerank export model.rulerank --to opensearch-ltr --feature-set movies --draft movies.json -o model.json
        rulerank export model.rulerank --to xgboost -o model.json
        rulerank export model.rulerank --to sql -o score.sql
        rulerank export model.rulerank --check scored.jsonl
        rulerank export mixed.rulerank --to python --parts -o members
    """
    from rulerank.cli.output import report
    from rulerank.errors import DataError
    from rulerank.export import check_answers, export_model
    from rulerank.export.check import read_answers
    from rulerank.io.outputs import write_bytes
    from rulerank.io.streams import read_bytes
    from rulerank.model_file import load_ranker

    if (to is None) == (check is None):
        raise DataError(f"give either --to TARGET ({', '.join(TARGETS)}) or --check ANSWERS")
    if check is not None:
        found = check_answers(load_ranker(model), read_answers(read_bytes(check)[0].decode(errors="replace")))
        report(found.to_dict(), "\n".join(found.lines()), as_json=as_json, target="")
        raise typer.Exit(0 if found.same else 1)
    if parts:
        export_in_parts(load_ranker(model), str(to), model_name, feature_set, out, as_json)
        return
    made = export_model(load_ranker(model), str(to), model_name=model_name, feature_set=feature_set)
    if draft is not None:
        write_bytes(draft, made.features_text().encode())
    write_bytes(out, made.to_bytes())
    payload: dict[str, object] = {
        "engine": to,
        "request": made.request,
        "document": out,
        "features": draft,
        "notes": list(made.notes),
        "categories": made.categories,
    }
    lines = [f"send {'this' if out == '-' else out} with: {made.request}", *(f"note: {note}" for note in made.notes)]
    report(payload, "\n".join(lines), as_json=as_json, target=out)


def export_in_parts(ranker: Ranker, to: str, model_name: str, feature_set: str, out: str, as_json: bool) -> None:
    """Write each member of a mixture into a folder, and how their scores are put together."""
    from rulerank.cli.output import report
    from rulerank.errors import DataError
    from rulerank.export.parts import export_parts
    from rulerank.io.outputs import write_bytes

    if out == "-":
        raise DataError("parts are written into a folder: name one, such as --out members")
    made = export_parts(ranker, to, model_name=model_name, feature_set=feature_set)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    names = {name: f"{number + 1}-{re.sub(r'[^0-9A-Za-z.+-]', '_', name)}" for number, name in enumerate(made.members)}
    for name, part in made.members.items():
        write_bytes(folder / names[name], part.to_bytes())
    write_bytes(folder / "mixing.json", f"{made.to_json()}\n".encode())
    lines = [f"{folder / names[name]}: {name}: {part.request}" for name, part in made.members.items()]
    lines.append(f"{folder / 'mixing.json'}: {made.mixing['score']}")
    payload = {"engine": to, "members": {name: str(folder / file) for name, file in names.items()}} | made.mixing
    report(payload, "\n".join(lines), as_json=as_json, target=out)
