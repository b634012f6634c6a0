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
            metavar="HOW", help="How labels of several raters become one: median, mean, majority, reliability."
        ),
    ] = None,
    orders: Annotated[
        bool, typer.Option("--orders", help="Write the orders that raters gave instead, as csv: one row per document.")
    ] = False,
    take: Annotated[str | None, typer.Option("--import", metavar="FILE", help="Take labels in from a file.")] = None,
    rater: Annotated[str | None, typer.Option(metavar="NAME", help="Whose labels --import takes in.")] = None,
    format: Annotated[str | None, typer.Option("--to", metavar="FORMAT", help="Format of FILE [by its name].")] = None,
    as_json: AsJson = False,
) -> None:
    """Take labels out of a judging page's store, or into it.

    LETOR (.txt, needs --pool), qrels, csv, parquet and Quepid's csv. A document judged by several has the median of
    their grades, or what --combine says: the mean, what most say, or the most probable grade by how reliable each rater
    is. --per-rater keeps every label apart. Without -o and --import it counts the labels.

    Example:
        rulerank labels judged.db
        rulerank labels judged.db -o judged.qrels
        rulerank labels judged.db -o judged.txt --pool pool.csv
        rulerank labels judged.db -o judged.qrels --combine reliability
        rulerank labels judged.db -o labels.csv --per-rater
        rulerank labels judged.db -o orders.csv --orders
        rulerank labels judged.db --import qrels.txt --rater old
    """
    from pathlib import Path

    from rulerank.cli.options import rater_option
    from rulerank.cli.output import report
    from rulerank.core.words import counted
    from rulerank.io.outputs import write_text
    from rulerank.judging.added import PoolFile
    from rulerank.judging.combine import COMBINATIONS
    from rulerank.judging.order_files import orders_csv
    from rulerank.judging.store import LabelStore
    from rulerank.judging.transfer import export_labels, import_labels

    if take and (out or rater is None):
        raise DataError("--import takes labels in and needs --rater, and no -o: one thing at a time")
    if orders and (not out or take or pool or per_rater or combine):
        raise DataError("--orders writes a csv of its own to the file of -o, and goes without other options")
    if combine is not None and (per_rater or not out):
        raise DataError(
            "--combine says how several labels become one in the file of -o, so it goes without --per-rater"
        )
    if not take and "://" not in store and not Path(store).exists():
        raise DataError(f"{store}: there is no such label store")
    with LabelStore(store) as kept:
        if take:
            assert rater is not None
            n_labels = import_labels(kept, take, rater_option(rater), format)
            report({"imported": n_labels}, f"{kept.name}: {counted(n_labels, 'new label')}", as_json=as_json, target="")
        elif out and orders:
            given = kept.orders()
            write_text(out, orders_csv(given))
            report({"orders": len(given)}, f"{out}: {counted(len(given), 'order')}", as_json=as_json, target=out)
        elif out:
            how = combine or "median"
            done = export_labels(
                kept, out, PoolFile(pool).read() if pool else None, format, per_rater=per_rater, combine_by=how
            )
            payload = {"rows": done.rows, "format": done.target} | ({} if per_rater else {"combined": how})
            said = f"; of several raters {COMBINATIONS[how]}" if not per_rater else ""
            report(payload, f"{out}: {done}{said}", as_json=as_json, target=out)
        else:
            found = kept.labels()
            counts = {
                "label": len(found),
                "document": len({(label.query, label.doc) for label in found}),
                "rater": len({label.rater for label in found}),
            }
            text = f"{kept.name}: {', '.join(counted(n, noun) for noun, n in counts.items())}"
            report({f"{noun}s": n for noun, n in counts.items()}, text, as_json=as_json, target="")
