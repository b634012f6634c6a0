"""rulerank check: is a model better than today's ranking?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    from rulerank.judging.duels import Duel, Duels


def check(
    source: Annotated[str, typer.Argument(metavar="POOL", help="The documents that both rankings rank.")],
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The new ranking, as `rulerank train` writes it.")],
    labels: Annotated[
        str | None,
        typer.Option(
            "--labels",
            "-o",
            metavar="FILE",
            help="Labels so far, whose queries are left out; a store (.db), which gets your answers, or a file.",
        ),
    ] = None,
    today: TodayStart = None,
    grades: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Simulate: the grades are in this file (LETOR, csv, qrels, Quepid)."),
    ] = None,
    own_grades: Annotated[bool, typer.Option("--own-grades", help="Simulate: the grades are those in POOL.")] = False,
    unjudged: Unjudged = None,
    max_grade: Annotated[
        int | None, typer.Option(min=1, max=9, help="The highest grade that is taken [as --guidelines say, else 4].")
    ] = None,
    guidelines: GuidelinesFile = None,
    seed: Seed = 0,
    format: Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="Format of POOL [by name].")] = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    features: FeatureColumns = None,
    as_json: AsJson = False,
) -> None:
    """Check a model against today's ranking, by duels.

    Of queries that have no label yet and whose first three documents differ, one document that entered is shown beside
    one that left, and you grade both. It stops when the interval of the share won excludes one half, which takes at
    least seven duels, or after forty. Your answers join the labels in the store, for the next training; the next check
    takes other queries.

    Example:

    \b
        rulerank check train.txt model.rulerank --today f1 --own-grades
        rulerank check train.txt model.rulerank --today f1 --grades qrels.txt --json
    """
    import numpy as np

    from rulerank.cli.output import print_json
    from rulerank.core.words import counted
    from rulerank.dataset import check_contrast, warn_if_one_sided
    from rulerank.judging.check import Check
    from rulerank.judging.duels import MOST, Duels, compare_duels, compare_relevant, duels_as_dict, run_duels
    from rulerank.judging.guidelines import read_guidelines
    from rulerank.judging.label_files import counted_grades, is_store, read_given, read_labels
    from rulerank.judging.pool import read_pool
    from rulerank.judging.terminal import check_in_terminal, tell_grades
    from rulerank.model_file import load_beside_data
    from rulerank.rankers.anchored.baseline import option_in_words, scores_today

    if grades is None and not own_grades:
        from rulerank.judging.store import LabelStore  # names the extra that is missing
    if grades is not None and own_grades:
        raise DataError("--grades and --own-grades are two ways to get grades: choose one")
    simulated = grades is not None or own_grades
    if unjudged is not None and not simulated:
        raise DataError("--unjudged is for grades that are known: add --grades FILE or --own-grades")
    if not simulated and (labels is None or not is_store(labels)):
        raise DataError("every answer is kept in a label store: name it, --labels labels.db")
    ranker = load_beside_data(model, source)
    pool = read_pool(source, format=format, **columns(qid, docid, None, features))
    answered: dict[int, int] = {}
    n_ungraded, advice = 0, ""
    if simulated:
        judgements = None if grades is None else read_given(pool, grades, strict=False)
        answered, counting = counted_grades(pool, judgements, unjudged)
        report_left_out(counting, len(pool))
        if counting.n_extra and pool.data.base is not None:
            candidates = [row for row, extra in enumerate(pool.data.base.extra) if not extra]
            answered = {place: answered[row] for place, row in enumerate(candidates) if row in answered}
            pool = pool.only(candidates)
        grades_known = np.array([*answered.values()], dtype=int)
        check_contrast(grades_known, pool.query_numbers[[*answered]], "decide comparisons by")
    known = getattr(ranker, "today_", None)
    given = known.option if today is None and known is not None else today
    start = start_of(pool.data.feature_names, given)  # its column in this file
    meant = None if guidelines is None else read_guidelines(guidelines, max_grade)
    highest = max_grade if meant is None else meant.max_grade
    has_labels = labels is not None and (simulated or "://" in labels or Path(labels).exists())
    before = read_labels(pool, str(labels), strict=False, max_grade=highest) if has_labels else {}
    warn_if_one_sided(before.values())
    new, old = ranker.predict(pool.data), scores_today(start, pool.data)
    judged = {pool.pairs[row][0] for row in before}
    if simulated:
        duels = Duels(pool, new, old, judged, seed)
        n_ungraded = sum(not answered.keys() >= {*duel.shown} for duel in duels)
        report_duels(duels, n_ungraded)
        advice = "" if counting.unjudged == "0" else ", or count them as not relevant, --unjudged 0"

        def answer(duel: Duel) -> tuple[int, int] | None:
            first, second = duel.shown
            if first not in answered or second not in answered:
                return None
            return answered[first], answered[second]

        outcomes = run_duels(duels, answer)
        stop = "over" if compare_duels(outcomes).is_over(MOST) else "none"
    else:
        with LabelStore(str(labels)) as store:
            judged = {label.query for label in store.labels()}
            duels = Duels(pool, new, old, judged, seed)
            report_duels(duels)
            fought = Check(pool, store, new, old, seed, judged)
            if meant is not None:
                tell_grades(meant)
            stop = check_in_terminal(fought, highest or 4)
            outcomes = fought.outcomes()
    found = compare_duels(outcomes)
    line, gain = duels.line(found), compare_relevant(outcomes, duels.changed)
    figures = None if gain.verdict == "too few" else (gain.mean_a, gain.low, gain.high)
    if as_json:
        print_json(
            duels_as_dict(found)
            | {
                "line": line,
                "today": option_in_words(start),
                "changed": round(duels.changed, 4),
                "stop": stop,
                "n_without_grades": n_ungraded,
                "labels": labels,
            }
            | {"relevant_in_top_3": figures and [round(value, 4) for value in figures]}
        )
        return
    print(line)
    if figures is not None:
        interval = f"95 % interval {gain.low:+.2f} to {gain.high:+.2f}, not corrected for stopping early"
        print(f"Relevant documents in the first three: {gain.mean_a:+.2f} a query ({interval}).")
    if stop == "none" and len(duels) and found.verdict in ("too few", "unclear"):
        if n_ungraded:
            what = f"{n_ungraded:,} of {counted(len(duels), 'comparison')}"
            whose = "a document has" if n_ungraded == 1 else "documents have"
            print(f"Could not decide {what}: {whose} no grade. Add grades for them{advice}.")
        else:
            print("No more queries differ among those without labels: take more queries into the pool.")


def report_duels(duels: Duels, n_ungraded: int = 0) -> None:
    """Say how often the two rankings differ, how many duels that makes, and how many of them lack grades."""
    from rulerank.core.words import counted, percent

    ready = counted(len(duels) - n_ungraded, "comparison")
    lacking = f", {n_ungraded:,} more without grades" if n_ungraded else ""
    known = f", {duels.n_left_out} of these have labels already" if duels.n_left_out else ""
    print(
        f"The top 3 differs in {percent(duels.changed)} of queries{known}: {ready} available{lacking}.", file=sys.stderr
    )
