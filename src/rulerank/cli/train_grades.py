"""rulerank train of graded documents that fit in memory: the method or its parameters may be chosen."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from rulerank.cli.options import report_left_out, start_of
from rulerank.cli.parameters import make_ranker, used_params
from rulerank.cli.train_asked import Asked
from rulerank.cli.trained import Trained, warn_of_one_side
from rulerank.dataset import Dataset, check_contrast, query_index
from rulerank.errors import DataError
from rulerank.methods import method_named
from rulerank.rankers.base import Ranker
from rulerank.rankers.documents import read_together
from rulerank.training.choose import choose_ranker
from rulerank.training.tuning import GRID, Tuned, tune

WITHOUT_TODAY = "; or a method that does without, such as --method QI"


def train_on_grades(asked: Asked, data: Dataset, n_left_out: int) -> None:
    """Learn from graded documents, write the model, and say what came of it."""
    asked.check_today_starts_something()
    asked.check_no_propensities()
    given = dict(asked.given)
    if asked.anchored and not asked.auto and "today" not in given:
        given["today"] = start_of(data.feature_names, asked.today, WITHOUT_TODAY).option
    elif asked.today is not None:
        start_of(data.feature_names, asked.today)  # there must be one, even where --set says another
    check_contrast(data.y, query_index(data.qid)[0])
    start = perf_counter()
    chosen, tuned, method = None, None, asked.method
    if asked.auto:
        chosen = choose_ranker(data, measure=asked.measure)
        method, given = method_named(chosen.candidate.method), chosen.candidate.params
    ranker = untuned = make_ranker(method.ranker_class(), given)
    if asked.tune or asked.vali is not None:
        tuned = tune_rest(data, ranker, {} if asked.auto else given, asked.measure)
        ranker = tuned.ranker
    elif chosen is not None:
        ranker = chosen.ranker
    elif asked.judge is not None:
        ranker = fit_by_judge(ranker, data, asked.judge)
    else:
        ranker = ranker.fit(data)
    seconds = perf_counter() - start
    ranker.save(asked.out)
    warn_of_one_side(data)
    Trained(ranker, method, data, n_left_out, seconds, chosen, tuned, untuned).say(asked)


def read_labelled(asked: Asked) -> tuple[Dataset, int]:
    """Return the graded documents of the files together, and how many others there were, which stderr is told.

    Documents that carry clicks need no grades, and all of them are returned.
    """
    sources = asked.sources
    if sources.count("-") > 1:
        raise DataError("only one file can be stdin: - is there twice")
    read = read_together(sources, asked.format, asked.named)
    if read.shown is not None:
        return read, 0
    found = read.counted_rows(asked.unjudged, asked.judged_extra)
    data = read.counted(found)
    if not len(data):
        raise DataError(f"{' and '.join(sources)}: no document has a grade, so there is nothing to learn from")
    report_left_out(found, len(read))
    return data, len(read) - len(data)


def fit_by_judge(ranker: Any, data: Dataset, column: str) -> Ranker:
    """Fit with the judges of a column, which every row must have."""
    judges = data.texts[column]
    empty = [row for row, one in enumerate(judges) if not one]
    if empty:
        raise DataError(f"column {column!r} must say who graded: graded row {empty[0] + 1} has nothing there")
    fitted: Ranker = ranker.fit(data, judge=judges)
    return fitted


def tune_rest(data: Dataset, ranker: Ranker, given: dict[str, Any], measure: str) -> Tuned:
    """Choose the parameters that were not given."""
    defaults = used_params(ranker)
    grid = {name: values for name, values in GRID.items() if name in defaults and name not in given}
    grid = {  # the defaults are always among what is tried
        name: values if defaults[name] in values else (defaults[name], *values) for name, values in grid.items()
    }
    return tune(data, ranker, grid, measure=measure)
