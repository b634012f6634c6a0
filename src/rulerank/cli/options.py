"""Options that several commands share, declared once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from rulerank.errors import DataError

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Seed = Annotated[int, typer.Option(help="Another seed draws otherwise.")]
Queries = Annotated[int, typer.Option(help="How many queries to make.")]

QidColumn = Annotated[str | None, typer.Option("--qid", metavar="COLUMN", help="Column of the query id [qid].")]
DocidColumn = Annotated[
    str | None, typer.Option("--docid", metavar="COLUMN", help="Column of the document id [docid].")
]
GradeColumn = Annotated[str | None, typer.Option("--grade", metavar="COLUMN", help="Column of the grade [grade].")]
FeatureColumns = Annotated[
    str | None,
    typer.Option("--features", metavar="A,B,...", help="Columns of the features [all others that hold numbers]."),
]


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
