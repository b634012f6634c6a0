"""rulerank sample: say which documents to label."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rulerank.cli.options import AsJson, DocidColumn, FeatureColumns, QidColumn, columns
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.judging.pool import Pool
    from rulerank.judging.sample import Sample

STOPS = {
    "natural": "it has stopped by itself: no other document is as new to the labels as one that they hold already",
    "budget": "the budget is used up",
    "quit": "you have stopped",
    "skipped": "all documents left that it would ask for were skipped",
    "listed": "as many as asked for",
}


def sample(
    source: Annotated[str, typer.Argument(metavar="POOL", help="Documents to choose from, - for stdin.")],
    ask: Annotated[bool, typer.Option("--ask", help="Label here in the terminal, one document at a time.")] = False,
    grades: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Simulate: the grades are in this file (LETOR, csv, qrels, Quepid)."),
    ] = None,
    own_grades: Annotated[bool, typer.Option("--own-grades", help="Simulate: the grades are those in POOL.")] = False,
    n: Annotated[int, typer.Option("-n", help="Otherwise: how many documents to list for judging.")] = 20,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="The file of labels to write, - for stdout [-].")
    ] = None,
    target_format: Annotated[
        str | None,
        typer.Option("--to", metavar="FORMAT", help="csv, qrels, quepid or letor [by the ending of FILE, else csv]."),
    ] = None,
    resume: Annotated[
        str | None, typer.Option(metavar="FILE", help="Go on after the labels in this file; --ask appends to it.")
    ] = None,
    size: Annotated[int, typer.Option(help="Items in a rule at most.")] = 2,
    partitions: Annotated[int, typer.Option(help="Groups of features; 5 is SSARP, which asks for more.")] = 1,
    per_query: Annotated[bool, typer.Option("--per-query", help="Visit the queries in turn.")] = False,
    discretizer: Annotated[str, typer.Option(help="Bins: tube, equal_width or equal_frequency.")] = "tube",
    normalize: Annotated[str, typer.Option(help="Scale features by query first: none, minmax, rank, zscore.")] = "none",
    budget: Annotated[int | None, typer.Option(help="Labels to ask for at most.")] = None,
    max_grade: Annotated[int, typer.Option(help="The highest grade that --ask takes.")] = 4,
    format: Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="Format of POOL [by name].")] = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    features: FeatureColumns = None,
    as_json: AsJson = False,
) -> None:
    """Say which documents to label, and when it is enough.

    SSAR asks for the document that the labels so far say least about. It needs no label to begin with, and stops by
    itself. With --ask you grade in the terminal, and every answer is in the file at once (`rulerank judge` shows the
    texts of documents, this their titles and features); with --grades the answers come from a file; otherwise the next
    documents to judge are listed. Nobody knows their grades while the list is made: each counts as if it had the most
    common grade so far, at first 0, so that the list is not all alike.

    Example:

    \b
        rulerank sample train.txt -n 5
        rulerank sample train.txt -n 5 -o to-judge.qrels
        rulerank sample train.txt --own-grades --per-query -o labels.csv
        rulerank sample train.txt --grades qrels.txt --partitions 5 -o labels.txt --json
    """
    from rulerank.cli.output import StatusLine, print_json, report
    from rulerank.cli.parameters import known_words
    from rulerank.io.outputs import check_output, write_bytes
    from rulerank.judging.label_files import appended_format, check_appendable, label_bytes, label_format, read_labels
    from rulerank.judging.pool import read_pool
    from rulerank.judging.sample import list_next, simulate, with_known_grades
    from rulerank.judging.terminal import label_in_terminal
    from rulerank.sampling.ssar import SSAR

    if ask + (grades is not None) + own_grades > 1:
        raise DataError("--ask, --grades and --own-grades are three ways to get grades: choose one")
    target = out or (resume if ask and resume else "-")
    check_output(target, [source, grades, None if ask else resume])
    if ask:
        check_appendable(target, resume)
    chosen_format = (ask and appended_format(Path(target))) or label_format(target_format, target)
    pool = read_pool(source, format=format, **columns(qid, docid, None, features))
    if grades is not None or own_grades:
        n_all, known = len(pool), pool.own_grades if grades is None else read_labels(pool, grades, strict=False)
        pool, known = with_known_grades(pool, known)
        if len(pool) < n_all:
            left_out = f"{n_all - len(pool):,} of {n_all:,}"
            print(f"{left_out} documents have no grade and are not chosen from", file=sys.stderr)
    labels = read_labels(pool, resume, strict=True) if resume else {}
    words = known_words(discretizer=discretizer, normalize=normalize)
    ssar = SSAR(
        max_size=size,
        partitions=partitions,
        per_query=per_query,
        discretizer=words["discretizer"],
        normalize=words["normalize"],
    )
    if ask:
        chosen = label_in_terminal(pool, ssar, target, chosen_format, labels=labels, max_grade=max_grade, budget=budget)
    elif grades is not None or own_grades:
        with StatusLine() as line:
            chosen = simulate(
                pool,
                ssar,
                known,
                labels=labels,
                budget=budget,
                tell=lambda so_far: line.say(
                    lambda: f"{len(so_far.order):,} labels, {so_far.closeness:.0%} of the way to the stop"
                ),
            )
    else:
        chosen = list_next(pool, ssar, n, labels=labels)
    if not ask and not (as_json and target == "-"):
        write_bytes(target, label_bytes(pool, chosen.rows, chosen.grades, chosen_format))
    payload: dict[str, object] = {
        "pool": len(pool),
        "labels": chosen.n_labels,
        "chosen": len(chosen.rows),
        "stop": chosen.stop,
        "closeness": round(chosen.closeness, 4),
        "file": None if target == "-" else target,
    }
    if as_json and target == "-":
        print_json(payload | {"documents": described(pool, chosen)})
        return
    report(payload, sentence(chosen, len(pool), target), as_json=as_json, target=target)
    if ask and chosen.stop != "natural" and not as_json:
        options = [f"--size {size}"] * (size != 2) + [f"--partitions {partitions}"] * (partitions != 1)
        options += ["--per-query"] * per_query + [f"--discretizer {discretizer}"] * (discretizer != "tube")
        options += [f"--normalize {normalize}"] * (normalize != "none")
        print(f"go on with: {' '.join(['rulerank sample', source, '--ask --resume', target, *options])}")


def described(pool: Pool, chosen: Sample) -> list[dict[str, object]]:
    """Return documents and their grades for JSON; a grade that is still to be given is null."""
    return [
        dict(zip(("qid", "docid"), pool.pairs[row], strict=True)) | {"grade": None if grade < 0 else grade}
        for row, grade in zip(chosen.rows.tolist(), chosen.grades.tolist(), strict=True)
    ]


def sentence(chosen: Sample, n_pool: int, target: str) -> str:
    """Say in a line or two what was chosen and why it ended."""
    from rulerank.core.words import counted

    where = "" if target == "-" else f"{target}: "
    if chosen.stop == "listed":
        return f"{where}{counted(len(chosen.rows), 'document')} to judge, of {n_pool:,}; {chosen.n_labels:,} labelled"
    share = f"{counted(chosen.n_labels, 'label')}, {chosen.n_labels / n_pool:.2%} of {n_pool:,} documents"
    close = "" if chosen.stop == "natural" else f" ({chosen.closeness:.0%} of the way to the stop)"
    return f"{where}{share}\n{STOPS[chosen.stop]}{close}"
