"""python -m papers DATA: the table of docs/papers.md, and the papers' comparisons with their report.

DATA is a folder with Fold1, Fold2, ..., or one that holds such folders (letor3-ohsumed, letor4-mq2008, ...). What is
finished lies in the folder of the report: run again, and only what is missing or has changed runs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from papers.letter import letter_table
from papers.reference import CHOICES, choose_reference
from papers.report import DRAWN, papers_report, write_papers
from papers.run import run_systems
from papers.systems import SYSTEMS, systems_named, with_top_feature
from rulerank.errors import DataError, RulerankError
from rulerank.evaluation.rankings import feature_scores
from rulerank.experiment.report import FORMATS, check_formats
from rulerank.io.formats import read_folds
from rulerank.render.figures import check_matplotlib


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; 1 when a system failed, 2 after a mistake."""
    parser = argparse.ArgumentParser("python -m papers", description="Reproduce the papers on folds of LETOR.")
    parser.add_argument("data", metavar="DATA", help="folder with Fold1, Fold2, ..., or with such folders")
    parser.add_argument("-o", "--out", default="build/papers", help="where reports go [default: %(default)s]")
    parser.add_argument("--method", action="append", metavar="NAME", help="a system to run; repeat it [default: all]")
    parser.add_argument("--feature", help="the feature that is BM25, for the sampling paper [default: best on vali]")
    parser.add_argument("--reference", default="auto", choices=CHOICES, help="whose published figures are shown")
    parser.add_argument("--to", default=f"{','.join(FORMATS)},figures", help="formats [default: %(default)s]")
    parser.add_argument("--jobs", type=int, default=-1, help="processes [default: one per core]")
    parser.add_argument("--skip-letter", action="store_true", help="without the table of docs/papers.md")
    asked = parser.parse_args(arguments)
    try:
        formats = asked.to.split(",")
        check_formats(name for name in formats if name != "figures")
        if {*DRAWN} & {*formats}:
            check_matplotlib()
        failed = [reproduce(folder, formats, asked) for folder in sets_in(asked.data)]
    except RulerankError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return int(any(failed))


def sets_in(data: str) -> list[Path]:
    """Return the folder itself if it holds folds, or the folders in it that do."""
    found = [Path(data), *sorted(Path(data).glob("*/"))]
    sets = [folder for folder in found if any(folder.glob("Fold*/train.txt")) or (folder / "train.txt").is_file()]
    if not sets:
        raise DataError(f"{data}: expected a folder with Fold1, Fold2, ..., or folders that have them")
    return [folder for folder in sets if folder.parent not in sets]


def reproduce(folder: Path, formats: Sequence[str], asked: argparse.Namespace) -> bool:
    """Print the table, run the systems and write the report; tell whether a system failed."""
    folds = read_folds(folder)
    systems = systems_named(asked.method or SYSTEMS)
    if asked.feature is not None:
        for fold in folds:
            feature_scores(fold.vali, asked.feature)  # says which there are
        systems = with_top_feature(systems, asked.feature)
    name = folder.resolve().name
    out = Path(asked.out) / name
    out.mkdir(parents=True, exist_ok=True)
    if not asked.skip_letter:
        lines = []
        for line in letter_table(name, folds):
            print(line, flush=True)
            lines.append(line)
        (out / "letter.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    experiment = run_systems(folds, systems, out=out / "cells", n_jobs=asked.jobs)
    for (system, place), failure in experiment.failures.items():
        what = "skipped" if failure.skipped else "failed"
        print(f"{system}, {folds[place].name}: {what}: {failure.reason}", file=sys.stderr)
    page, summary = papers_report(
        experiment,
        title=f"The papers on {name}",
        collection=choose_reference(asked.reference, folds, str(folder)),
        draw=bool({*DRAWN} & {*formats}),
    )
    files = write_papers(page, summary, out, formats)
    print(f"{page.lead[0]}\n{', '.join(map(str, files))}")
    return any(not failure.skipped for failure in experiment.failures.values())


if __name__ == "__main__":
    sys.exit(main())
