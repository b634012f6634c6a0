"""What is compared, from files: folds of a directory or of one file, and rankings made elsewhere beside them."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rulerank.core.words import counted
from rulerank.dataset import Array, Dataset, Fold, query_index
from rulerank.errors import DataError, ReadError
from rulerank.evaluation.rankings import judgements_from
from rulerank.io.convert import read_found, read_scored
from rulerank.io.folds import read_folds
from rulerank.io.scores import read_scores
from rulerank.io.trec import Qrels, with_qrels
from rulerank.recall_base import CountedRows, check_unjudged, usual_unjudged, warn_unknown_base
from rulerank.worlds import make_folds

FOLD = "{fold}"  # in the name of a score file, where the fold's name goes


@dataclass(frozen=True, eq=False)
class Opened:
    """Folds, and for those of one file which of its rows each fold's test holds."""

    name: str
    folds: list[Fold]
    rows: Mapping[str, Array] | None = None
    n_rows: int = 0
    found: CountedRows | None = None  # of one file: the rows that count, and what was left out

    @property
    def n_ungraded(self) -> int:
        """Return how many rows of the file were left out."""
        return 0 if self.found is None else self.n_rows - self.found.rows.size


def open_folds(
    source: str | os.PathLike[str],
    n_folds: int | None = None,
    *,
    seed: int = 0,
    format: str | None = None,
    qrels: Any = None,
    unjudged: int | str | None = None,
    judged_extra: bool | str | None = None,
    **columns: Any,
) -> Opened:
    """Read the folds of a directory, or split the graded documents of one file by query, five ways unless told.

    qrels: judgements that the documents' grades come from, with their recall base, instead of their own.
    unjudged, judged_extra: as in `Dataset.labelled`.
    """
    name = os.fspath(source)
    judgements = None if qrels is None else judgements_from(qrels)
    if Path(source).is_dir():
        told = {"--from": format, "--folds": n_folds, **{f"--{role}": column for role, column in columns.items()}}
        given = [option for option, value in told.items() if value is not None]
        if given:
            raise DataError(f"{name} is a directory, which has its folds as LETOR files: leave out {', '.join(given)}")
        folds = read_folds(source)
        if judgements is not None:
            tests = [fold.test for fold in folds]
            way = check_unjudged(unjudged) or usual_unjudged(judgements.grade, _n_unjudged(tests, judgements))
            folds = [_graded_fold(fold, judgements, way, judged_extra) for fold in folds]
            _warn_of_lacking(name, judgements, tests)
            _warn_of_whole(name, [fold.test for fold in folds], way)
        elif unjudged is not None or judged_extra is not None:
            raise DataError(f"{name} is a directory: --unjudged and --judged-extra need --qrels FILE beside it")
        return Opened(name, folds)
    if not Path(source).exists() and name != "-":
        raise ReadError(
            name, None, "expected a directory with folds or a file of graded documents, got nothing of that name"
        )
    data = read_found(source, format, graded=judgements is None, **columns).data
    if not data.X.shape[1]:
        raise DataError(f"{name} has no features: expected LETOR text, or a table with columns of numbers")
    if judgements is not None:
        data = with_qrels(data, judgements, unjudged, None if data.base is None else data.base.extra)
    found = data.counted_rows(unjudged, judged_extra)
    warn_unknown_base(name, data.base, found, data.feature_names)
    if judgements is not None:
        _warn_of_lacking(name, judgements, [data])
        _warn_of_whole(name, [data.counted(found)], found.unjudged)
    graded, y = found.rows, data.y.copy()
    y[graded] = found.y
    data = replace(data, y=y)
    n_queries = query_index(data.qid[graded])[1].size
    n = 5 if n_folds is None else n_folds
    if n_queries < n or n_queries < 3:
        raise DataError(
            f"{name}: expected graded documents of at least {max(n, 3)} queries for {n} folds, got {n_queries}"
        )
    marked = replace(data[graded], comment=graded)  # so that each row is known after the split
    folds, rows = [], {}
    for fold in make_folds(marked, n, seed):
        folds.append(Fold(fold.name, *(data[_rows(part)] for part in (fold.train, fold.vali, fold.test))))
        rows[fold.name] = _rows(fold.test)
    return Opened(name, folds, rows, len(data), found)


def _graded_fold(fold: Fold, qrels: Qrels, unjudged: str, judged_extra: bool | str | None) -> Fold:
    parts = (with_qrels(part, qrels, unjudged) for part in (fold.train, fold.vali, fold.test))
    return Fold(fold.name, *(part.labelled(unjudged, judged_extra) for part in parts))


def _n_unjudged(parts: Sequence[Dataset], qrels: Qrels) -> int:
    bases = [with_qrels(part, qrels, "skip").base for part in parts]
    return sum(int(((base.grades != "") & ~base.judged).sum()) for base in bases if base is not None)


def _warn_of_lacking(name: str, qrels: Qrels, parts: Sequence[Dataset]) -> None:
    """Warn of judged queries that the data lack, as `rulerank evaluate --qrels` does."""
    judged = set(qrels.qid)
    n = len(judged.difference(*({str(one) for one in np.unique(part.qid)} for part in parts)))
    if n:
        verb, they = ("is", "it is") if n == 1 else ("are", "they are")
        of = counted(len(judged), "judged query", "judged queries")
        warnings.warn(f"{n:,} of {of} {verb} not in {name}: {they} not counted", stacklevel=3)


def _warn_of_whole(name: str, parts: Sequence[Dataset], unjudged: str | None) -> None:
    """Warn where documents without a judgement count as not relevant and the data have every judged one."""
    bases = [(part.base, part) for part in parts if part.base is not None]
    if unjudged != "0" or all(base.judged.all() for base, _ in bases):
        return
    if not any(base.missed(part.y, query_index(part.qid)[0])[0].size for base, part in bases):
        warnings.warn(
            f"{name} has every judged document: if documents were added to it because they are judged, the results are "
            "too good; compare on what was retrieved, or leave out documents without a judgement (unjudged='skip', on "
            "the command line --unjudged skip)",
            stacklevel=3,
        )


def own_systems(
    opened: Opened, rankers: Mapping[str, str], runs: Mapping[str, str], scores: Mapping[str, str]
) -> dict[str, Any]:
    """Return one's own systems by name: rankers from Python code, runs and scores from files."""
    own = {name: own_ranker(place) for name, place in rankers.items()}
    for several in (runs, scores):
        twice = next((name for name in several if name in own), None)
        if twice is not None:
            raise DataError(f"two systems are called {twice!r}: give each a name of its own")
        own |= {
            name: read_scored(path) if several is runs else given_scores(path, opened) for name, path in several.items()
        }
    return own


def given_scores(path: str, opened: Opened) -> dict[str, Array]:
    """Read scores without ids: one per row of the file that is compared on, or one file per fold of a directory."""
    if opened.rows is not None:
        scores = read_scores(path)
        if scores.size != opened.n_rows:
            raise ReadError(
                path, None, f"expected {opened.n_rows:,} scores, one per row of {opened.name}: got {scores.size:,}"
            )
        return {fold: scores[rows] for fold, rows in opened.rows.items()}
    if FOLD not in path:
        raise DataError(
            f"{path}: the folds of a directory have a score file each: write {FOLD} where the fold's name goes, such "
            f"as scores/{FOLD}.txt; or give a run with ids"
        )
    return {fold.name: _of_fold(path.replace(FOLD, fold.name), fold) for fold in opened.folds}


def own_ranker(place: str) -> Any:
    """Return the ranker that a place in Python code names, `module:object`; a class or function is called for it.

    >>> own_ranker("rulerank:GlobalRules")
    GlobalRules()
    """
    module, _, name = place.partition(":")
    if not module or not name:
        raise DataError(f"expected module:object, such as my_rankers:trees: got {place!r}")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)  # as `python -m` does; processes that are started get it, too
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        made = found() if isinstance(found, type) or not hasattr(found, "fit") else found
    except Exception as error:  # whatever somebody's code does
        raise DataError(f"cannot load the ranker {place!r}: {type(error).__name__}: {error}") from None
    if not (hasattr(made, "fit") and hasattr(made, "predict")):
        raise DataError(f"{place!r} is no ranker: expected something with fit and predict, got {type(made).__name__}")
    return made


def named(text: str, option: str) -> tuple[str, str]:
    """Split NAME=VALUE.

    >>> named("engine=x.run", "--run")
    ('engine', 'x.run')
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise DataError(f"{option} takes NAME=VALUE, such as {option} mine=...: got {text!r}")
    return name.strip(), value.strip()


def _rows(part: Dataset) -> Array:
    assert part.comment is not None
    return part.comment.astype(np.int64)


def _of_fold(path: str, fold: Fold) -> Array:
    scores = read_scores(path)
    if scores.size != len(fold.test):
        raise ReadError(
            path,
            None,
            f"expected {len(fold.test):,} scores, one per document of {fold.name}'s test: got {scores.size:,}",
        )
    return scores
