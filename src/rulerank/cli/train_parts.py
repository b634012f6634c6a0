"""rulerank train FOLDER: learn from files that need not fit in memory together."""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any

from rulerank.cli.output import print_json
from rulerank.cli.parameters import as_word, make_ranker, used_params
from rulerank.cli.train_asked import Asked
from rulerank.core.words import counted, listed
from rulerank.dataset import Dataset
from rulerank.errors import DataError
from rulerank.methods import method_named
from rulerank.rankers.parts import LearnsFromParts
from rulerank.scale.fit import Surveyed, check_learns, fit_surveyed, surveyed
from rulerank.scale.opening import file_names
from rulerank.scale.part import Columns, graded_part
from rulerank.training.choose import CANDIDATES, choose_ranker

SAMPLE_ROWS = 100_000  # that a method is chosen on


def train_on_parts(asked: Asked, regroup: bool, memory: float) -> None:
    """Train as `rulerank train` does, file by file; without a method, it is chosen on the first files."""
    source, out, method, given, named = asked.source, asked.out, asked.method, asked.given, asked.named
    if out in file_names(source):
        raise DataError(f"{out} is one of the files of {source}, which would be lost; write to another file")
    if not asked.auto:
        check_learns(make_ranker(method.ranker_class(), given))
    columns = Columns(**(named | {"features": tuple(named["features"])} if "features" in named else named))
    start = perf_counter()
    with surveyed(source, columns, format=asked.format, labelled_only=True, regroup=regroup, memory=memory) as found:
        reason = None
        if asked.auto:
            chosen = choose_ranker(_sample(found), tuple(_candidates()), measure=asked.measure)
            method, given = method_named(chosen.candidate.method), chosen.candidate.params
            reason = f"{chosen.reason} (of the first files)"
        ranker = make_ranker(method.ranker_class(), given)
        fit_surveyed(ranker, found, memory)
    seconds = perf_counter() - start
    ranker.save(out)
    survey, names = found.survey, found.shape.feature_names
    if survey.n_left_out:
        print(f"{survey.n_left_out:,} rows have no grade and are left out", file=sys.stderr)
    params = used_params(ranker)
    if asked.as_json:
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


def _candidates() -> list[Any]:
    return [one for one in CANDIDATES if issubclass(method_named(one.method).ranker_class(), LearnsFromParts)]


def _sample(found: Surveyed) -> Dataset:
    """Return whole queries of the first parts, enough to choose a method on."""
    read: list[Dataset] = []
    for part in found.parts:
        data = graded_part(part, found.shape)
        left = SAMPLE_ROWS - sum(map(len, read))
        if len(data) > left and read:
            break
        read.append(data)
    return Dataset.concat(read)
