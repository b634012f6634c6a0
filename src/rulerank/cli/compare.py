"""rulerank compare: run methods over folds and write a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rulerank.cli import options as cli
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.experiment.compare import CompareReport


def compare(
    source: Annotated[str, cli.argument("DATA", "Folder with Fold1, Fold2, ..., or a file to split.")],
    out: Annotated[str, cli.option("DIR", "Folder of the report.", "--out", "-o")] = "report",
    method: Annotated[
        list[str] | None,
        cli.option("NAME", "Method, or your own ranker as NAME=MODULE:OBJECT; repeatable.  [default: all]"),
    ] = None,
    run: Annotated[
        list[str] | None, cli.option("NAME=FILE", "TREC run, or table of scores with ids; repeatable.")
    ] = None,
    folds: Annotated[int | None, cli.option("N", "Number of folds to split a file into.  [default: 5]")] = None,
    measure: cli.Measures = None,
    baseline: Annotated[
        str | None, cli.option("NAME", "System to test the others against.  [default: GlobalRules, or the first]")
    ] = None,
    convention: cli.Convention = "standard",
    jobs: Annotated[int, cli.option("N", "Number of processes; -1: one per core.")] = -1,
    qid: cli.Qid = None,
    docid: cli.Docid = None,
    grade: cli.Grade = None,
    as_json: cli.AsJson = False,
) -> None:
    """Compare methods over folds and write a report.

    DATA is a folder in LETOR's layout, or a file of graded documents that is split by query (--folds). Every system is
    trained on train, tuned by MAP on vali and evaluated on test. `rulerank methods` lists the methods; "Best feature"
    is one more. Add your own rankers with fit and predict (from any library) and runs, which are joined by ids.

    A file of retrieved documents lacks the relevant documents that were not retrieved. `rulerank convert --qrels` and
    `rulerank features --qrels` write tables that count these as missed.

    The report is written as HTML, Markdown, LaTeX and csv. Results are kept in its folder: a second run computes only
    what is missing or has changed. If a system fails, the report shows the error, the others still run, and the exit
    code is 1.

    Example:
        # the folds in this folder
        rulerank compare . --method GlobalRules --method QueryIntercepts --jobs 1
        # one file, split by query, with a run of your search engine
        rulerank compare test.csv --folds 3 --method FittedRules --run engine=one.run --jobs 1
        # a method with two settings
        rulerank compare test.csv --folds 3 --method GlobalRules:votes=mean --method GlobalRules --jobs 1 -o small
    """
    from rulerank.cli.output import print_json, print_table
    from rulerank.experiment.compare import compare_folds
    from rulerank.experiment.report import HEADLINE, failure_of

    systems, rankers = chosen_methods(method)
    runs = [cli.pair_of(text, "--run") for text in run or []]
    twice = next((name for name, _ in runs if [other for other, _ in runs].count(name) > 1), None)
    if twice is not None:
        raise DataError(f"--run {twice!r} is given twice: give each run its own name")
    convention, given = cli.name_and_settings(convention, "--convention", ("ties", "unjudged"))
    compared = compare_folds(
        source,
        out,
        systems,
        rankers=rankers,
        runs=dict(runs),
        measures=[name for several in measure or HEADLINE for name in several.split(",")],
        n_jobs=jobs,
        rules={"against": baseline, "convention": convention, "ties": given.get("ties")},
        n_folds=folds,
        columns=cli.columns(qid, docid, grade),
        unjudged=given.get("unjudged"),
    )
    if compared.found is not None:
        n_rows = compared.found.rows.size + compared.n_ungraded
        cli.report_left_out(compared.found, n_rows, count_all=f"--convention {convention}:unjudged=0")
    if as_json:
        print_json(compared.to_dict())
    else:
        rows = marked_rows(compared)
        lacking = dict.fromkeys(system for system, _ in compared.experiment.failures)
        rows += [[name, *("-" for _ in compared.measures)] for name in lacking]
        print_table(["system", *compared.measures], rows)
        print(f"sorted by {compared.measures[0]}; *: the best, ~: not significantly worse (paired t-test over queries)")
        for name in lacking:
            print(f"{name}: {failure_of(compared.experiment, name)}")
        print(f"\n{compared.sentence}\nconvention {compared.summary.convention}, ties {compared.summary.ties}")
        print(", ".join(str(file) for file in compared.files))
    if compared.failed:
        raise typer.Exit(1)


def chosen_methods(given: list[str] | None) -> tuple[list[Any] | None, dict[str, str]]:
    """Parse --method: systems of the library, some with settings, and the users' rankers as MODULE:OBJECT."""
    from rulerank.cli.train import make_ranker

    systems: list[Any] = []
    rankers: dict[str, str] = {}
    for text in given or []:
        if "=" in text.partition(":")[0]:
            name, place = cli.pair_of(text, "--method")
            if name in rankers:
                raise DataError(f"--method {name!r} is given twice: give each ranker its own name")
            rankers[name] = place
        elif ":" in text:
            systems.append({text: make_ranker(*cli.name_and_settings(text, "--method"))})
        else:
            systems.append(text)
    return systems if given else None, rankers


def marked_rows(compared: CompareReport) -> list[list[str]]:
    """Return the systems with their metrics, the best by the first measure first, marked as the note says."""
    good = {measure: compared.summary.ties_with_best(measure) for measure in compared.measures}
    best = {measure: max(row[measure] for row in compared.means.values()) for measure in compared.measures}

    def figure(name: str, measure: str, value: float) -> str:
        return f"{value:.4f}{'*' if value == best[measure] else '~' if name in good[measure] else ' '}"

    first = compared.measures[0]
    ordered = sorted(compared.means.items(), key=lambda item: -item[1][first])
    return [[name, *(figure(name, measure, value) for measure, value in row.items())] for name, row in ordered]
