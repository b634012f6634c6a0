"""rulerank sample: say which documents to label."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rulerank.cli.options import (
    AsJson,
    DocidColumn,
    FeatureColumns,
    GuidelinesFile,
    QidColumn,
    Seed,
    TodayStart,
    Unjudged,
    columns,
    report_left_out,
    start_of,
)
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.judging.pool import Pool
    from rulerank.judging.sample import Sample
    from rulerank.sampling.ssar import SSAR
    from rulerank.sampling.strata import Strata

SAMPLERS = ("strata", "ssar")
GOOD_START = 100  # labels: ten documents each of ten queries
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
    unjudged: Unjudged = None,
    n: Annotated[int, typer.Option("-n", help="Otherwise: how many documents to list for judging.")] = 20,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The labels to write, - for stdout [-]; with --ask a store (.db).",
        ),
    ] = None,
    target_format: Annotated[
        str | None,
        typer.Option("--to", metavar="FORMAT", help="csv, qrels, quepid or letor [by the ending of FILE, else csv]."),
    ] = None,
    resume: Annotated[str | None, typer.Option(metavar="FILE", help="Go on after the labels in this file.")] = None,
    today: TodayStart = None,
    sampler: Annotated[
        str | None,
        typer.Option(help="strata of today's ranking, or ssar [strata; ssar when an option of SSAR is given]."),
    ] = None,
    seed: Seed = 0,
    size: Annotated[int | None, typer.Option(help="SSAR: items in a rule at most, 1 or 2 [2].")] = None,
    partitions: Annotated[
        int | None, typer.Option(help="SSAR: groups of features; 5 is SSARP, which asks for more [1].")
    ] = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="SSAR: visit the queries in turn.")] = False,
    discretizer: Annotated[
        str | None, typer.Option(help="SSAR: bins by tube, equal_width or equal_frequency [tube].")
    ] = None,
    normalize: Annotated[
        str | None, typer.Option(help="SSAR: scale features by query first: none, minmax, rank, zscore [none].")
    ] = None,
    budget: Annotated[int | None, typer.Option(help="Labels to ask for at most.")] = None,
    max_grade: Annotated[
        int | None, typer.Option(help="The highest grade that --ask takes [as --guidelines say, else 4].")
    ] = None,
    guidelines: GuidelinesFile = None,
    format: Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="Format of POOL [by name].")] = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    features: FeatureColumns = None,
    as_json: AsJson = False,
) -> None:
    """Say which documents to label.

    Documents from all over today's ranking (--today, a feature or a model) are asked for, one query after the other in
    random order: ten documents each of ten queries, 100 labels, are a good start, and `rulerank train --labels` learns
    from them. With --ask you grade in the terminal, and every answer is kept at once in a label store, -o labels.db, as
    `rulerank judge` has it; named again, it goes on. With --grades the answers come from a file; otherwise the next
    documents to judge are listed.

    --sampler ssar asks for the document that the labels so far say least about, needs no ranking of today, and stops by
    itself. In a list each document then counts as if it had the most common grade so far, so that it is not all alike.

    Example:

    \b
        rulerank sample pool.csv --today bm25_body -n 100 -o to-judge.csv
        rulerank sample train.txt --today f1 -n 5
        rulerank sample pool.csv --today clicks.rulerank -n 5
        rulerank sample train.txt --today f1 --own-grades --budget 20 -o labels.csv
        rulerank sample train.txt --sampler ssar -n 5 -o to-judge.qrels
        rulerank sample train.txt --grades qrels.txt --partitions 5 -o labels.txt --json
    """
    from rulerank.cli.output import StatusLine, print_json, report
    from rulerank.dataset import warn_if_one_sided
    from rulerank.io.outputs import check_output, write_bytes
    from rulerank.judging.guidelines import read_guidelines
    from rulerank.judging.label_files import (
        counted_grades,
        is_store,
        label_bytes,
        label_format,
        read_given,
        read_labels,
    )
    from rulerank.judging.pool import read_pool
    from rulerank.judging.sample import ask_person, list_next, simulate, with_known_grades

    if ask + (grades is not None) + own_grades > 1:
        raise DataError("--ask, --grades and --own-grades are three ways to get grades: choose one")
    target = out or "-"
    if ask and (resume is not None or not is_store(target)):
        raise DataError("--ask keeps every answer in a label store, and goes on where that is: name it, -o labels.db")
    if not ask:
        check_output(target, [source, grades, resume])
    chosen_format = label_format(target_format, target)
    pool = read_pool(source, format=format, **columns(qid, docid, None, features))
    if grades is not None or own_grades:
        given = None if grades is None else read_given(pool, grades, strict=False)
        known, found = counted_grades(pool, given, unjudged)
        n_all, (pool, known) = len(pool), with_known_grades(pool, known)
        report_left_out(found, n_all)
    elif unjudged is not None:
        raise DataError("--unjudged is for grades that are known: add --grades FILE or --own-grades")
    meant = read_guidelines(guidelines, max_grade) if guidelines else None
    highest = max_grade if meant is None else meant.max_grade
    labels = read_labels(pool, resume, strict=True, max_grade=highest) if resume else {}
    ssar_options = {
        "size": size,
        "partitions": partitions,
        "per-query": per_query or None,
        "discretizer": discretizer,
        "normalize": normalize,
    }
    chooser, options = make_sampler(pool, sampler, today, seed, ssar_options)
    if ask:
        highest = 4 if highest is None else highest
        chosen = ask_person(pool, chooser, target, max_grade=highest, budget=budget, guidelines=meant)
    elif grades is not None or own_grades:
        with StatusLine() as line:
            chosen = simulate(
                pool,
                chooser,
                known,
                labels=labels,
                budget=budget,
                tell=lambda so_far: line.say(lambda: f"{len(so_far.order):,} labels"),
            )
    else:
        chosen = list_next(pool, chooser, n, labels=labels)
    if not ask and not (as_json and target == "-"):
        write_bytes(target, label_bytes(pool, chosen.rows, chosen.grades, chosen_format))
    warn_if_one_sided([*labels.values(), *(grade for grade in chosen.grades.tolist() if grade >= 0)])
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
    report(payload, sentence(chosen, pool, labels, target, chooser), as_json=as_json, target=target)
    if ask and chosen.stop != "natural" and not as_json:
        print(f"go on with: {' '.join(['rulerank sample', source, '--ask -o', target, *options])}")


def described(pool: Pool, chosen: Sample) -> list[dict[str, object]]:
    """Return documents and their grades for JSON; a grade that is still to be given is null."""
    return [
        dict(zip(("qid", "docid"), pool.pairs[row], strict=True)) | {"grade": None if grade < 0 else grade}
        for row, grade in zip(chosen.rows.tolist(), chosen.grades.tolist(), strict=True)
    ]


def make_sampler(
    pool: Pool, named: str | None, today: str | None, seed: int, given: dict[str, Any]
) -> tuple[SSAR | Strata, list[str]]:
    """Return the sampler that was asked for, and the options by which it can be asked for again."""
    from rulerank.cli.parameters import known_words
    from rulerank.rankers.anchored.baseline import scores_today
    from rulerank.sampling.ssar import SSAR
    from rulerank.sampling.strata import Strata
    from rulerank.today import Today

    options = {name: value for name, value in given.items() if value is not None}
    if named is not None and named.lower() not in SAMPLERS:
        raise DataError(f"unknown sampler {named!r}; choose from {', '.join(SAMPLERS)}")
    if options and (today is not None or (named or "ssar").lower() != "ssar"):
        raise DataError(
            f"--{next(iter(options))} is an option of SSAR, which does without today's ranking: leave out one of them"
        )
    if (named or ("ssar" if options else "strata")).lower() == "ssar":
        words = known_words(discretizer=options.get("discretizer", "tube"), normalize=options.get("normalize", "none"))
        made = SSAR(
            max_size=options.get("size", 2),
            partitions=options.get("partitions", 1),
            per_query=bool(options.get("per-query")),
            discretizer=words["discretizer"],
            normalize=words["normalize"],
        )
        again = [f"--{name}" if value is True else f"--{name} {value}" for name, value in options.items()]
        return made, again or ["--sampler ssar"]
    found = start_of(pool.data.feature_names, today, "; or let --sampler ssar choose, which does without")
    seeds = [f"--seed {seed}"] * (seed != 0)
    if isinstance(found, Today):
        return Strata(today=found.option, seed=seed), [f"--today {shlex.quote(found.option)}", *seeds]
    return Strata(today=scores_today(found, pool.data), seed=seed), [f"--today {shlex.quote(str(today))}", *seeds]


def sentence(chosen: Sample, pool: Pool, before: dict[int, int], target: str, sampler: SSAR | Strata) -> str:
    """Say in a line or two what was chosen and why it ended."""
    from rulerank.core.words import counted
    from rulerank.sampling.strata import Strata

    n_pool, where = len(pool), "" if target == "-" else f"{target}: "
    if chosen.stop == "listed":
        return f"{where}{counted(len(chosen.rows), 'document')} to judge, of {n_pool:,}; {chosen.n_labels:,} labelled"
    if not isinstance(sampler, Strata):
        share = f"{counted(chosen.n_labels, 'label')}, {chosen.n_labels / n_pool:.2%} of {n_pool:,} documents"
        close = "" if chosen.stop == "natural" else f" ({chosen.closeness:.0%} of the way to the stop)"
        return f"{where}{share}\n{STOPS[chosen.stop]}{close}"
    queries = {pool.pairs[row][0] for row in [*chosen.rows.tolist(), *before]}
    labels = f"{counted(chosen.n_labels, 'label')} of {counted(len(queries), 'query', 'queries')}"
    more = "" if chosen.n_labels >= GOOD_START else f"; {GOOD_START} labels are a good start"
    return f"{where}{labels}{more}\n{'all documents are labelled' if chosen.stop == 'natural' else STOPS[chosen.stop]}"
