"""rulerank check: compare a model with the baseline ranking, side by side."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from rulerank.cli import options as cli
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.baseline import Baseline
    from rulerank.evaluation.llm_labels import LLMEstimate
    from rulerank.judging.pool import Pool
    from rulerank.judging.side_by_side import DocumentPair
    from rulerank.rankers.base import Ranker


def check(
    source: Annotated[str, cli.argument("POOL", "Documents to rank with the model and the baseline.")],
    model: Annotated[str, cli.argument("MODEL", "Model file from `rulerank train`.")],
    labels: Annotated[str | None, cli.option("FILE", "Label store or file to compare by.")] = None,
    baseline: Annotated[str | None, cli.baseline_option(default="that of MODEL, or guessed")] = None,
    own_grades: Annotated[bool, cli.flag("Simulate: compare by the grades in POOL.", "--own-grades")] = False,
    qid: cli.Qid = None,
    docid: cli.Docid = None,
    as_json: cli.AsJson = False,
) -> None:
    """Compare a model with the baseline ranking, side by side.

    For each query whose top 3 changed, compares one document that entered the top 3 with one that left it: the higher
    grade wins. Stops when the confidence interval of the win rate excludes 50 %, which takes at least 7 comparisons,
    or after 40. Raters grade such pairs on the page of `rulerank judge` ("Compare with baseline"); --labels STORE
    reports the result. Queries that the model was trained on are left out: those with labels in STORE when the page
    trained the model or, with --own-grades, those in --labels.

    If STORE has labels of an LLM too, also estimates the difference of NDCG@10 from both kinds of labels
    (docs/llm-labels.md).

    Example:
        # simulate with the grades of the data
        rulerank check train.txt model.rulerank --baseline f1 --own-grades
        # report what raters found on the judging page
        rulerank check pool.csv clicks.rulerank --labels judged.db --json
    """
    import numpy as np

    from rulerank._util.words import counted, percent
    from rulerank.cli.output import print_json
    from rulerank.dataset import check_contrast, warn_if_one_sided
    from rulerank.judging.label_files import counted_grades, read_labels
    from rulerank.judging.pool import read_pool
    from rulerank.judging.side_by_side import (
        MOST,
        DocumentPairs,
        compare_pair_grades,
        compare_relevant,
        grade_pairs,
        side_by_side_as_dict,
    )
    from rulerank.model_file import load_beside_data

    if labels is None and not own_grades:
        raise DataError(
            "no labels to compare by: give a label store or file with --labels, or simulate with --own-grades"
        )
    ranker = load_beside_data(model, source, command="check")
    pool = read_pool(source, **cli.columns(qid, docid))
    before = {} if labels is None else read_labels(pool, labels, strict=False)
    warn_if_one_sided(before.values())
    if own_grades:
        grades, counting = counted_grades(pool, None)
        cli.report_left_out(counting, len(pool))
        judged = {pool.pairs[row][0] for row in before}
        if counting.n_extra and pool.data.base is not None:  # in the pool only because they have judgements
            rows = [row for row, extra in enumerate(pool.data.base.extra) if not extra]
            pool, grades = pool.only(rows), {new: grades[row] for new, row in enumerate(rows) if row in grades}
        check_contrast(np.array([*grades.values()], dtype=int), pool.query_numbers[[*grades]], "compare by")
    else:
        assert labels is not None
        grades, judged = before, trained_queries(labels)
    known = getattr(ranker, "baseline_", None)
    start = cli.baseline_of(pool.data.feature_names, known if baseline is None else baseline)
    pairs = DocumentPairs(pool, ranker.predict(pool.data), start.scores(pool.data), judged)
    n_ungraded = sum(not grades.keys() >= {*pair.shown} for pair in pairs)
    ready = counted(len(pairs) - n_ungraded, "comparison")
    lacking = f", {n_ungraded:,} more without grades" if n_ungraded else ""
    learned = f" ({pairs.n_left_out} of them left out: labelled before)" if pairs.n_left_out else ""
    changed = f"The top 3 differs in {percent(pairs.changed)} of queries{learned}"
    print(f"{changed}: {ready} available{lacking}.", file=sys.stderr)

    def answer(pair: DocumentPair) -> tuple[int, int] | None:
        first, second = pair.shown
        return (grades[first], grades[second]) if first in grades and second in grades else None

    outcomes = grade_pairs(pairs, answer)
    result = compare_pair_grades(outcomes)
    line, gain = pairs.line(result), compare_relevant(outcomes, pairs.changed)
    figures = None if gain.verdict == "too few" else (gain.mean_a, gain.low, gain.high)
    with_llm, reason = (None, "") if own_grades else by_llm(pool, labels, ranker, start, judged)
    if as_json:
        payload = side_by_side_as_dict(result) | {"line": line, "baseline": start.text, "labels": labels}
        payload |= {} if with_llm is None else {"with_llm_labels": with_llm.to_dict()}
        payload |= {"changed": round(pairs.changed, 4), "n_without_grades": n_ungraded}
        print_json(payload | {"relevant_in_top_3": figures and [round(value, 4) for value in figures]})
        return
    print(line)
    print("".join(f"{text}\n" for text in ([reason] if with_llm is None else with_llm.lines()) if text), end="")
    if figures is not None:
        interval = f"95 % interval {gain.low:+.2f} to {gain.high:+.2f}, not corrected for stopping early"
        print(f"Relevant documents in the top 3: {gain.mean_a:+.2f} per query ({interval}).")
    if not result.is_over(MOST) and len(pairs) and result.verdict in ("too few", "unclear"):
        if n_ungraded:
            what = f"{n_ungraded:,} of {counted(len(pairs), 'comparison')}"
            print(f"{what} have documents without grades: grade them with `rulerank judge` (Compare with baseline).")
        else:
            print("No other unlabelled query has a different top 3: add queries to the pool.")


def by_llm(
    pool: Pool, labels: str | None, ranker: Ranker, start: Baseline, trained: set[str]
) -> tuple[LLMEstimate | None, str]:
    """Return the difference by human and LLM labels of a store or file, or why there is none ("": no LLM labels)."""
    from dataclasses import replace

    import numpy as np

    from rulerank.evaluation.llm_labels import estimate_with_llm
    from rulerank.judging.llm_raters import read_both

    assert labels is not None
    try:
        both = read_both(pool, labels)
    except DataError:
        return None, ""
    human = np.where(np.isin(pool.data.qid, [*trained]), -1, both.human)
    scores = {"new": ranker.predict(pool.data), "baseline": start.scores(pool.data)}
    try:
        data = replace(pool.data, y=both.llm, base=None)
        return estimate_with_llm(data, scores, human, probability=both.probability), ""
    except DataError as error:
        return None, f"LLM labels not used: {error}"


def trained_queries(labels: str) -> set[str]:
    """Return the queries that had labels in a store when its page trained the model; a file records none."""
    from rulerank.judging.label_files import is_store

    if not is_store(labels):
        return set()
    from rulerank.judging.store import LabelStore

    with LabelStore(labels) as store:
        check = store.last_check()
        return set() if check is None else {label.query for label in store.history() if label.id <= check.last_label}
