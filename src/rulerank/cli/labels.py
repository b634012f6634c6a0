"""rulerank labels: labels from a judging page's store into a file, and back."""

from __future__ import annotations

from typing import Annotated

import typer

from rulerank.cli.options import AsJson
from rulerank.errors import DataError


def labels(
    store: Annotated[str, typer.Argument(metavar="STORE", help="The labels of `rulerank judge`: a file or a URL.")],
    out: Annotated[str | None, typer.Option("--out", "-o", metavar="FILE", help="The file to write.")] = None,
    pool: Annotated[
        str | None, typer.Option(metavar="POOL", help="The documents that were judged, to write their features too.")
    ] = None,
    per_rater: Annotated[bool, typer.Option("--per-rater", help="One row per label, with its rater and time.")] = False,
    combine: Annotated[
        str | None,
        typer.Option(
            metavar="HOW",
            help="How labels of several become one: median, mean, majority, reliability, dawid-skene [as is set].",
        ),
    ] = None,
    take: Annotated[str | None, typer.Option("--import", metavar="FILE", help="Take labels in from a file.")] = None,
    rater: Annotated[str | None, typer.Option(metavar="NAME", help="Whose labels --import takes in.")] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="KIND", help="What that rater is: person, llm, clicks, project, other [as known, person]."
        ),
    ] = None,
    disputes: Annotated[
        bool, typer.Option("--disputes", help="List the documents on which raters disagree, the largest first.")
    ] = False,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="Say how well raters agree, with intervals, and judges with people.")
    ] = False,
    history: Annotated[
        bool, typer.Option("--history", help="Write to -o who said what, when and on which page.")
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="combine=majority, judgements=2, training_judges=gpt."),
    ] = None,
    format: Annotated[str | None, typer.Option("--to", metavar="FORMAT", help="Format of FILE [by its name].")] = None,
    as_json: AsJson = False,
) -> None:
    """Take labels out of a judging page's store, or into it.

    LETOR (.txt, needs --pool), qrels, csv, parquet and Quepid's csv. A document judged by several has the median of
    their grades, or what --combine or --set combine= says; what the lead has decided counts first. --per-rater keeps
    every label apart. Labels taken in with --kind llm, clicks, project or other are no people's: they count in training
    only after --set training_judges=NAME, with intercepts of their own. Without options it counts the labels.

    Example:
        rulerank labels judged.db
        rulerank labels judged.db -o judged.qrels
        rulerank labels judged.db -o judged.txt --pool pool.csv
        rulerank labels judged.db -o judged.qrels --combine dawid-skene
        rulerank labels judged.db -o labels.csv --per-rater
        rulerank labels judged.db --import qrels.txt --rater old
        rulerank labels judged.db --import llm.csv --rater gpt --kind llm
        rulerank labels judged.db --disputes
        rulerank labels judged.db --agreement
        rulerank labels judged.db --set judgements=2 --set combine=majority
        rulerank labels judged.db --history -o audit.csv
    """
    from pathlib import Path

    from rulerank.cli import label_reports
    from rulerank.cli.options import rater_option
    from rulerank.cli.output import report
    from rulerank.core.words import counted
    from rulerank.judging.labels import COMBINATIONS, check_combination
    from rulerank.judging.pool import read_pool
    from rulerank.judging.store import LabelStore
    from rulerank.judging.transfer import export_labels, import_labels, write_audit

    chosen = [name for name, given in (("--disputes", disputes), ("--agreement", agreement), ("--set", settings),
              ("--import", take), ("--history", history)) if given]  # fmt: skip
    if len(chosen) > 1 or (out and chosen and not history):
        raise DataError(f"one thing at a time: got {', '.join(chosen + ['-o'] * bool(out))}")
    if history and not out:
        raise DataError("--history is written to a table: name it, as -o audit.csv")
    if kind is not None and not take:
        raise DataError("--kind says what the rater of --import is: name the file, too")
    if take and rater is None:
        raise DataError("--import takes labels in and needs --rater: whose they are")
    if combine is not None and (per_rater or not out):
        raise DataError(
            "--combine says how several labels become one in the file of -o, so it goes without --per-rater"
        )
    if not take and "://" not in store and not Path(store).exists():
        raise DataError(f"{store}: there is no such label store")
    with LabelStore(store) as kept:
        if take:
            assert rater is not None
            n_labels = import_labels(kept, take, rater_option(rater), format, kind=kind)
            report({"imported": n_labels}, f"{kept.name}: {counted(n_labels, 'new label')}", as_json=as_json, target="")
        elif disputes:
            label_reports.print_disputes(kept, as_json=as_json)
        elif agreement:
            label_reports.print_agreement(kept, as_json=as_json)
        elif settings:
            made = label_reports.change_settings(kept, settings)
            now: dict[str, object] = {"settings": kept.settings().to_dict()}
            report(now, f"{kept.name}: {', '.join(made)}", as_json=as_json, target="")
        elif history:
            assert out is not None
            n_events = write_audit(kept, out, format)
            report({"events": n_events}, f"{out}: {counted(n_events, 'event')}", as_json=as_json, target=out)
        elif out:
            how = check_combination(combine or kept.settings().combine)
            done = export_labels(
                kept, out, read_pool(pool) if pool else None, format, per_rater=per_rater, combine_by=how
            )
            payload = {"rows": done.rows, "format": done.target} | ({} if per_rater else {"combined": how})
            said = "" if per_rater else f"; of several raters {COMBINATIONS[how]}"
            report(payload, f"{out}: {done}{said}", as_json=as_json, target=out)
        else:
            label_reports.print_counts(kept, as_json=as_json)
