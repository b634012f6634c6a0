"""rulerank train of graded documents, in memory or file by file; the method or its parameters may be selected."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from rulerank.cli.options import report_left_out, start_of
from rulerank.cli.output import print_json
from rulerank.cli.parameters import as_word, make_ranker, used_params
from rulerank.core.words import counted, listed
from rulerank.dataset import Dataset, check_contrast, one_sided, query_index
from rulerank.errors import DataError
from rulerank.methods import Method, method_named
from rulerank.rankers.base import Ranker
from rulerank.rankers.documents import read_together

if TYPE_CHECKING:
    from rulerank.cli.train import TrainOptions
    from rulerank.scale.fit import Surveyed
    from rulerank.training import Selection

WITHOUT_TODAY = "; or a method that does without, such as --method QI"
MANY = 1000  # labels, with which no learner is short of grades above 0
SAMPLE = 1000  # rows that nearly always show whether scores differ
SAMPLE_ROWS = 100_000  # of a folder, that a method is selected on


def train_on_grades(options: TrainOptions, data: Dataset, n_left_out: int) -> None:
    """Learn from graded documents, write the model, and say what came of it."""
    options.check_today_starts_something()
    options.check_no_propensities()
    given = dict(options.given)
    if options.anchored and not options.auto and "today" not in given:
        given["today"] = start_of(data.feature_names, options.today, WITHOUT_TODAY).option
    elif options.today is not None:
        start_of(data.feature_names, options.today)  # there must be one, even where --set says another
    check_contrast(data.y, query_index(data.qid)[0])
    start = perf_counter()
    chosen, tuned, method = None, None, options.method
    untuned = make_ranker(method.ranker_class(), given)
    if options.auto:
        from rulerank.training.selection import select

        chosen = select(data, measure=options.measure)
        method, untuned = method_named(chosen.method), clone(chosen.ranker)
    if options.tune or options.vali is not None:
        tuned = tune_rest(data, untuned, {} if options.auto else given, options.measure)
        ranker = tuned.ranker
    elif chosen is not None:
        ranker = chosen.ranker
    elif options.judge is not None:
        ranker = fit_by_judge(untuned, data, options.judge)
    else:
        ranker = clone(untuned).fit(data)
    seconds = perf_counter() - start
    ranker.save(options.out)
    warn_of_one_side(data)
    Trained(ranker, method, data, n_left_out, seconds, chosen, tuned, untuned).say(options)


def read_labelled(options: TrainOptions) -> tuple[Dataset, int]:
    """Return the graded documents of the files together, and how many others there were, which stderr is told.

    Documents that carry clicks need no grades, and all of them are returned.
    """
    sources = options.sources
    if sources.count("-") > 1:
        raise DataError("only one file can be stdin: - is there twice")
    read = read_together(sources, options.format, options.named)
    if read.shown is not None:
        return read, 0
    found = read.counted_rows(options.unjudged, options.judged_extra)
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


def tune_rest(data: Dataset, ranker: Ranker, given: dict[str, Any], measure: str) -> Selection:
    """Select the parameters that were not given."""
    from rulerank.training.selection import GRID, select

    defaults = used_params(ranker)
    grid = {name: values for name, values in GRID.items() if name in defaults and name not in given}
    grid = {  # the defaults are always among what is tried
        name: values if defaults[name] in values else (defaults[name], *values) for name, values in grid.items()
    }
    return select(data, ranker, grid, measure)


@dataclass(frozen=True)
class Trained:
    """A ranker learned from grades, and how it was found."""

    ranker: Ranker
    method: Method
    data: Dataset  # the graded documents
    n_left_out: int
    seconds: float
    chosen: Selection | None = None  # of methods
    tuned: Selection | None = None  # of parameters
    untuned: Ranker | None = None
    learned: Selection | None = None  # from the baseline ranking and few labels, or from clicks before them

    def say(self, options: TrainOptions) -> None:
        """Print what was learned, and from what."""
        params, n_rules = used_params(self.ranker), count_rules(self.ranker)
        warn_if_useless(self.ranker, self.data)
        if options.as_json:
            print_json(self._to_dict(options, params, n_rules))
            return
        print(f"trained on {' and '.join(options.sources)}: {self.data!r}")
        print(f"features: {listed(self.data.feature_names)}")
        if self.chosen is not None:
            print(f"method chosen: {self.chosen.reason}")
        if self.tuned is not None and self.untuned is not None:
            print(f"\nchosen by {self.tuned.measure} in cross-validation by query, the best first\n\n{self.tuned}\n")
        print(f"{self.method.name}: {', '.join(f'{name} {as_word(value)}' for name, value in params.items())}")
        rules = "" if n_rules is None else f"{counted(n_rules, 'rule')}, "
        print(f"{options.out}: {rules}learned in {self.seconds:.1f} s")
        if self.learned is not None:
            print(self.learned.reason)

    def _to_dict(self, options: TrainOptions, params: dict[str, Any], n_rules: int | None) -> dict[str, Any]:
        summary = {
            "model": options.out,
            "method": self.method.name,
            "trained_on": options.sources,
            "rows": len(self.data),
            "left_out": self.n_left_out,
            "features": len(self.data.feature_names),
            "feature_names": self.data.feature_names,
            "params": params,
            "rules": n_rules,
            "seconds": round(self.seconds, 3),
        }
        if self.learned is not None:
            facts = dict(self.learned.facts)
            return summary | (facts if "few_labels" in facts else {"few_labels": facts})
        found = {"chosen": self.chosen, "tuning": self.tuned}
        return summary | {name: one.to_dict() for name, one in found.items() if one is not None}


def count_rules(ranker: Ranker) -> int | None:
    """Return how many rules the ranker has, None when it has none to be counted."""
    rules = getattr(ranker, "rules_", None)
    return None if rules is None else len(rules)


def warn_of_one_side(data: Dataset) -> None:
    """Warn where nearly all labels have one grade; where there are many, grade 0 may well be the grade of most."""
    said = one_sided(data.y.tolist())
    if said is not None and (len(data) < MANY or np.bincount(data.y).argmax() > 0):
        warnings.warn(said, stacklevel=3)


def warn_if_useless(ranker: Ranker, data: Dataset) -> None:
    """Say so when the model cannot tell documents apart; of one document nothing can be said."""
    if len(data) < 2:
        return
    scores = ranker.predict(data[:SAMPLE])
    if (scores == scores[0]).all() and len(data) > SAMPLE:
        scores = ranker.predict(data)
    if (scores == scores[0]).all():
        alike = (data.y == data.y[0]).all()
        why = f"all training documents have grade {data.y[0]}" if alike else "no feature tells their grades apart"
        warnings.warn(f"every document will get the same score: {why}", stacklevel=3)


def train_on_parts(options: TrainOptions, memory: float) -> None:
    """Train as `rulerank train` does, file by file; without a method, it is selected on the first files."""
    from rulerank.scale.fit import LEARNERS, check_learns, fit_surveyed, surveyed
    from rulerank.scale.opening import file_names
    from rulerank.scale.part import Columns
    from rulerank.training.selection import default_rankers, select

    source, out, method, given, named = options.source, options.out, options.method, options.given, options.named
    if out in file_names(source):
        raise DataError(f"{out} is one of the files of {source}, which would be lost; write to another file")
    if not options.auto:
        check_learns(make_ranker(method.ranker_class(), given))
    columns = Columns(**(named | {"features": tuple(named["features"])} if "features" in named else named))
    start = perf_counter()
    with surveyed(source, columns, format=options.format, labelled_only=True, memory=memory) as found:
        reason = None
        ranker = make_ranker(method.ranker_class(), given)
        if options.auto:
            able = {name: one for name, one in default_rankers().items() if isinstance(one, LEARNERS)}
            chosen = select(_sample(found), able, measure=options.measure)
            method, ranker = method_named(chosen.method), clone(chosen.ranker)
            reason = f"{chosen.reason} (of the first files)"
        fit_surveyed(ranker, found, memory)
    seconds = perf_counter() - start
    ranker.save(out)
    survey, names = found.survey, found.shape.feature_names
    if survey.n_left_out:
        print(f"{survey.n_left_out:,} rows have no grade and are left out", file=sys.stderr)
    params = used_params(ranker)
    if options.as_json:
        print_json(
            {
                "model": out,
                "method": method.name,
                "trained_on": [source],
                "parts": len(found.parts),
                "rows": survey.n_rows,
                "queries": survey.n_queries,
                "left_out": survey.n_left_out,
                "features": len(names),
                "feature_names": names,
                "params": params,
                "seconds": round(seconds, 3),
            }
        )
        return
    print(
        f"trained on {source}: {counted(len(found.parts), 'part')}, {counted(survey.n_rows, 'row')}, "
        f"{counted(survey.n_queries, 'query', 'queries')}, {counted(len(names), 'feature')}"
    )
    print(f"features: {listed(names)}")
    if reason is not None:
        print(f"method chosen: {reason}")
    print(f"{method.name}: {', '.join(f'{name} {as_word(value)}' for name, value in params.items())}")
    print(f"{out}: learned in {seconds:.1f} s")


def _sample(found: Surveyed) -> Dataset:
    """Return whole queries of the first parts, enough to select a method on."""
    from rulerank.scale.part import graded_part

    read: list[Dataset] = []
    for part in found.parts:
        data = graded_part(part, found.shape)
        left = SAMPLE_ROWS - sum(map(len, read))
        if len(data) > left and read:
            break
        read.append(data)
    return Dataset.concat(read)
