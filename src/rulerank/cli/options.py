"""Options that several commands share, declared once."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.rankers.anchored.baseline import TodayModel
    from rulerank.rankers.base import Ranker
    from rulerank.recall_base import CountedRows
    from rulerank.today import Today

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Seed = Annotated[int, typer.Option(help="Another seed draws otherwise.")]
Queries = Annotated[int, typer.Option(help="How many queries to make.")]

DataFormat = Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="Format of DATA [by name].")]
QidColumn = Annotated[str | None, typer.Option("--qid", metavar="COLUMN", help="Column of the query id [qid].")]
DocidColumn = Annotated[
    str | None, typer.Option("--docid", metavar="COLUMN", help="Column of the document id [docid].")
]
GradeColumn = Annotated[str | None, typer.Option("--grade", metavar="COLUMN", help="Column of the grade [grade].")]
GuidelinesFile = Annotated[
    str | None,
    typer.Option("--guidelines", metavar="FILE", help="Which grades there are, in lines as 2: good - Answers it all."),
]
FeatureColumns = Annotated[
    str | None,
    typer.Option("--features", metavar="A,B,...", help="Columns of the features [all others that hold numbers]."),
]

LogColumns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="query=A,doc=B,...",
        help="Columns of LOG whose names do not tell what they are: query, doc, position, clicked and so on.",
    ),
]

Unjudged = Annotated[
    str | None,
    typer.Option(
        metavar="0|skip",
        help="Documents without a judgement: 0 counts them as not relevant, skip leaves them out [default: as the file "
        "was written; else 0 where fewer than a fifth of the judgements have grade 0].",
    ),
]
JudgedExtra = Annotated[
    str | None,
    typer.Option(
        metavar="yes|no",
        help="Documents that are candidates only because they are judged [default: no where documents without a "
        "judgement count as not relevant, else yes].",
    ),
]

TodayFeature = Annotated[
    str | None,
    typer.Option(
        metavar="FEATURE",
        help="The feature that ranks the documents now, such as bm25 or engine_rank; -NAME for lowest first "
        "[one whose name says so].",
    ),
]


TodayStart = Annotated[
    str | None,
    typer.Option(
        metavar="FEATURE",
        help="The feature that ranks the documents now, such as bm25 or engine_rank; -NAME for lowest first; or the "
        "file of a model, such as one learned from clicks [a feature whose name says so].",
    ),
]


def named_columns(given: str | None) -> dict[str, str]:
    """Return the columns that a text names.

    >>> named_columns("query=search term,doc=sku")
    {'query': 'search term', 'doc': 'sku'}
    """
    pairs = [part.partition("=") for part in given.split(",")] if given else []
    bad = next((role + sign for role, sign, name in pairs if not (role and name)), None)
    if bad is not None:
        raise DataError(f"--columns takes query=A,doc=B and so on: got {bad!r}")
    return {role.strip(): name for role, _, name in pairs}


def refuse_model(given: str | None, why: str) -> None:
    """Refuse the file of a model where today's ranking must be a feature."""
    if given is not None and names_model(given):
        raise DataError(f"--today {given}: {why}")


def names_model(given: str) -> bool:
    """Tell whether a word names the file of a model, one that is missing too.

    >>> names_model("clicks.rulerank"), names_model("bm25")
    (True, False)
    """
    from pathlib import Path

    from rulerank.model_file import is_model_file

    return Path(given).suffix == ".rulerank" or is_model_file(given)


def today_of(names: Sequence[str], given: str | None, otherwise: str = "") -> Today:
    """Return today's ranking as it was named, or the feature whose name says that it is, which stderr is told.

    otherwise: what to do for someone who has no such feature.
    """
    from rulerank.core.words import listed
    from rulerank.today import find_today, suggest_today

    if given is not None:
        return find_today(names, given)
    found = suggest_today(names)
    if found is None:
        raise DataError(
            f"which feature ranks the documents now? Say --today FEATURE, one of {listed(list(names))}{otherwise}"
        )
    print(f"today's ranking is taken to be {found}, by its name; --today says otherwise", file=sys.stderr)
    return found


def start_of(names: Sequence[str], given: str | Ranker | None, otherwise: str = "") -> Today | TodayModel:
    """Return today's ranking as `today_of` does, or the model whose file was named; a feature's name comes first."""
    from rulerank.model_file import load_ranker
    from rulerank.rankers.anchored.baseline import find_start

    if given is None:
        return today_of(names, None, otherwise)
    if isinstance(given, str) and not {given, given[1:]} & {*names}:
        given = load_ranker(given) if names_model(given) else given
    return find_start(names, given)


def columns(qid: str | None, docid: str | None, grade: str | None, features: str | None) -> dict[str, Any]:
    """Return the columns that were named, as the readers of tables take them.

    >>> columns("query", None, None, "bm25, tf")
    {'qid': 'query', 'features': ['bm25', 'tf']}
    """
    named: Mapping[str, str | list[str] | None] = {
        "qid": qid,
        "docid": docid,
        "grade": grade,
        "features": features and [name.strip() for name in features.split(",")],
    }
    return {role: column for role, column in named.items() if column}


def report_left_out(found: CountedRows, n_rows: int, what_is_left: str = "left out") -> None:
    """Print on stderr what the rule for documents without a judgement left out of n_rows."""
    from rulerank.core.words import counted

    left_out = (
        (found.n_queries, "query", "queries", "without any judgement"),
        (found.n_skipped, "document", "documents", f"of {n_rows:,} without a judgement (--unjudged 0 counts them)"),
        (found.n_extra, "document", "documents", "that are candidates only because they are judged"),
        (found.n_missed_queries, "query", "queries", "without candidates, whose relevant documents were all missed"),
    )
    for n, one, several, what in left_out:
        if n:
            print(f"{what_is_left}: {counted(n, one, several)} {what}", file=sys.stderr)


def rater_option(rater: str, option: str = "--rater") -> str:
    """Return the name given with an option, or say what is wrong with it.

    >>> rater_option(" ann ")
    'ann'
    """
    from rulerank.judging.labels import check_rater

    try:
        return check_rater(rater)
    except DataError as error:
        raise DataError(f"{option}: {error}") from None
