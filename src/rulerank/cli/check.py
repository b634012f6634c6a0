"""rulerank check: is a model better than the baseline ranking?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from rulerank.cli.options import (
    AsJson,
    Baseline,
    Docid,
    Qid,
    argument,
    baseline_of,
    columns,
    flag,
    option,
    report_left_out,
)
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.judging.duels import Duel


def check(
    source: Annotated[str, argument("POOL", "The documents that both rankings rank.")],
    model: Annotated[str, argument("MODEL", "The new ranking, as `rulerank train` writes it.")],
    labels: Annotated[str | None, option("FILE", "The labels that decide, in a store or file.")] = None,
    baseline: Baseline = None,
    own_grades: Annotated[bool, flag("Simulate: the grades in POOL decide.", "--own-grades")] = False,
    qid: Qid = None,
    docid: Docid = None,
    as_json: AsJson = False,
) -> None:
    """Compare a model with the baseline ranking, side by side.

    Of queries whose first three documents differ, one document that entered is compared with one that left, by their
    labels: whose grade is higher wins. It ends when the interval of the share won excludes one half, which takes at
    least seven comparisons, or after forty. People grade such pairs on the page of `rulerank judge` ("New against
    baseline"), and --labels STORE says what came of it. Labels that the model learned from must not decide: those
    that a store had when the page trained the model are left out, and so are, with --own-grades, the queries of
    --labels.

    Example:

    \b
        rulerank check train.txt model.rulerank --baseline f1 --own-grades
        rulerank check pool.csv clicks.rulerank --labels judged.db --json
    """
    import numpy as np

    from rulerank.cli.output import print_json
    from rulerank.core.words import counted, percent
    from rulerank.dataset import check_contrast, warn_if_one_sided
    from rulerank.judging.duels import MOST, Duels, compare_duels, compare_relevant, duels_as_dict, run_duels
    from rulerank.judging.label_files import counted_grades, read_labels
    from rulerank.judging.pool import read_pool
    from rulerank.model_file import load_beside_data
    from rulerank.rankers.anchored.baseline import option_in_words, scores_today

    if labels is None and not own_grades:
        raise DataError("by which labels? Name a store or a file, --labels labels.db, or simulate with --own-grades")
    ranker = load_beside_data(model, source, command="check")
    pool = read_pool(source, **columns(qid, docid))
    before = {} if labels is None else read_labels(pool, labels, strict=False)
    warn_if_one_sided(before.values())
    if own_grades:
        grades, counting = counted_grades(pool, None)
        report_left_out(counting, len(pool))
        judged = {pool.pairs[row][0] for row in before}
        if counting.n_extra and pool.data.base is not None:  # in the pool only because they are judged
            rows = [row for row, extra in enumerate(pool.data.base.extra) if not extra]
            pool, grades = pool.only(rows), {place: grades[row] for place, row in enumerate(rows) if row in grades}
        check_contrast(np.array([*grades.values()], dtype=int), pool.query_numbers[[*grades]], "decide comparisons by")
    else:
        assert labels is not None
        grades, judged = before, trained_queries(labels)
    known = getattr(ranker, "today_", None)
    start = baseline_of(pool.data.feature_names, known.option if baseline is None and known is not None else baseline)
    duels = Duels(pool, ranker.predict(pool.data), scores_today(start, pool.data), judged)
    n_ungraded = sum(not grades.keys() >= {*duel.shown} for duel in duels)
    ready = counted(len(duels) - n_ungraded, "comparison")
    lacking = f", {n_ungraded:,} more without grades" if n_ungraded else ""
    learned = f", {duels.n_left_out} of these have labels already" if duels.n_left_out else ""
    changed = f"The top 3 differs in {percent(duels.changed)} of queries{learned}"
    print(f"{changed}: {ready} available{lacking}.", file=sys.stderr)

    def answer(duel: Duel) -> tuple[int, int] | None:
        first, second = duel.shown
        return (grades[first], grades[second]) if first in grades and second in grades else None

    outcomes = run_duels(duels, answer)
    result = compare_duels(outcomes)
    line, gain = duels.line(result), compare_relevant(outcomes, duels.changed)
    figures = None if gain.verdict == "too few" else (gain.mean_a, gain.low, gain.high)
    if as_json:
        payload = duels_as_dict(result) | {"line": line, "baseline": option_in_words(start), "labels": labels}
        payload |= {"changed": round(duels.changed, 4), "n_without_grades": n_ungraded}
        print_json(payload | {"relevant_in_top_3": figures and [round(value, 4) for value in figures]})
        return
    print(line)
    if figures is not None:
        interval = f"95 % interval {gain.low:+.2f} to {gain.high:+.2f}, not corrected for stopping early"
        print(f"Relevant documents in the first three: {gain.mean_a:+.2f} a query ({interval}).")
    if not result.is_over(MOST) and len(duels) and result.verdict in ("too few", "unclear"):
        if n_ungraded:
            what = f"{n_ungraded:,} of {counted(len(duels), 'comparison')}"
            print(f"Could not decide {what}, which lack a grade: judge their documents on the page.")
        else:
            print("No more queries differ among those without labels: take more queries into the pool.")


def trained_queries(labels: str) -> set[str]:
    """Return the queries of a store that had labels when its page trained the model; of a file none are known."""
    from rulerank.judging.label_files import is_store

    if not is_store(labels):
        return set()
    from rulerank.judging.store import LabelStore

    with LabelStore(labels) as store:
        noted = store.last_check()
        return set() if noted is None else {one.query for one in store.history() if one.id <= noted.last_label}
