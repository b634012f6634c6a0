"""rulerank train --model: learn on from a model, with documents that come or go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rulerank.cli.output import print_json
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.dataset import Dataset
    from rulerank.rankers.learning_on import LearnsOn


def learn_on(
    model: str | None,
    more: str | None,
    less: str | None,
    out: str,
    others: Mapping[str, Any],
    format: str | None,
    columns: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    """Unlearn the documents of one file, learn those of another, and write the model that comes out."""
    from time import perf_counter

    from rulerank.core.words import counted
    from rulerank.model_file import check_overwrite

    ranker = open_model(model, more, less, others)
    sources = [source for source in (more, less) if source is not None]
    check_overwrite(out, sources)
    gone = None if less is None else read_rows(less, ranker, format, columns)
    come = None if more is None else read_rows(more, ranker, format, columns)
    start = perf_counter()
    if gone is not None:  # first: a corrected grade is the old row less and the new one more
        ranker.remove(gone)
    if come is not None:
        ranker.add(come)
    seconds = perf_counter() - start
    ranker.save(out)
    n_rows = int(ranker.engine_.training.n_by_grade.sum())
    n_come, n_gone = (0 if data is None else len(data) for data in (come, gone))
    if as_json:
        rows = {"rows": n_rows, "added": n_come, "removed": n_gone}
        print_json({"model": out, "from": model} | rows | {"seconds": round(seconds, 3)})
        return
    print(f"{model}: {n_come:,} rows added, {n_gone:,} removed")
    print(f"{out}: learned from {counted(n_rows, 'row')}, in {seconds:.2f} s")


def open_model(model: str | None, more: str | None, less: str | None, others: Mapping[str, Any]) -> LearnsOn:
    """Return the model to learn on from, or say what is missing or too much."""
    from rulerank.model_file import load_ranker
    from rulerank.rankers.learning_on import LearnsOn

    if model is None:
        raise DataError("--more and --less change a model: name it, --model old.rulerank")
    if more is None and less is None:
        raise DataError("--model learns on from a model: add --more FILE, documents to learn, or --less FILE")
    if more == less == "-":
        raise DataError("only one file can be stdin: - is there twice")
    given = [name for name, value in others.items() if value not in (None, False)]
    if given:
        raise DataError(
            f"{model} learns on with its own bins and parameters: leave out {given[0]}, or train anew without --model"
        )
    ranker = load_ranker(model)
    if not isinstance(ranker, LearnsOn):
        raise DataError(
            f"{model} holds a {type(ranker).__name__}, and only rules that are counted learn on (RE-GR, RE-SR): "
            "train it again on all documents"
        )
    return ranker


def read_rows(source: str, ranker: LearnsOn, format: str | None, columns: dict[str, Any]) -> Dataset:
    """Return the graded documents of a file, with the features of the model."""
    from rulerank.rankers.documents import read_documents

    names = ranker.feature_names_
    read = read_documents(source, format, columns, graded=True, wanted=names)
    data = read.with_features(names).labelled()
    if not len(data):
        raise DataError(f"{read.name}: no document has a grade, so there is nothing to learn or unlearn")
    return data
