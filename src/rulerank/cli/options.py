"""Options that several commands share, and how their values are parsed."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.baseline import Baseline
    from rulerank.dataset import Array, Dataset
    from rulerank.recall_base import CountedRows


def argument(metavar: str, help: str, **more: Any) -> Any:
    """Return an argument of a command."""
    return typer.Argument(metavar=metavar, help=help, **more)


def option(metavar: str, help: str, *names: str, **more: Any) -> Any:
    """Return an option with a value, named like the parameter unless names are given."""
    return typer.Option(*names, metavar=metavar, help=help, **more)


def flag(help: str, *names: str, **more: Any) -> Any:
    """Return an option without a value."""
    return typer.Option(*names, help=help, **more)


AsJson = Annotated[bool, flag("Print JSON.", "--json")]
Queries = Annotated[int, option("N", "Number of queries to generate.")]
Measures = Annotated[list[str] | None, option("NAME", "MAP, NDCG@10, P@1, MRR, ...; repeatable.", "--measure", "-m")]
Qid = Annotated[str | None, option("COLUMN", "Query id column.  [default: qid]", "--qid")]
Docid = Annotated[str | None, option("COLUMN", "Document id column.  [default: docid]", "--docid")]
Grade = Annotated[str | None, option("COLUMN", "Grade column.  [default: grade]", "--grade")]
Features = Annotated[str | None, option("A,B,...", "Feature columns.  [default: all other numeric columns]")]
LogColumns = Annotated[str | None, option("query=A,doc=B,...", "Columns of LOG, if their names are not recognised.")]
Out = Annotated[str, option("FILE", "Output file, - for stdout.", "--out", "-o")]
Convention = Annotated[
    str,
    option(
        "NAME[:SETTING=VALUE,...]",
        "standard, standard-exp, letor3 or letor4; with settings: letor3:ties=docid,unjudged=0.",
    ),
]
GUESSED = "guessed from the feature names, e.g. bm25*, engine_rank"


def baseline_option(others: str = ", a sum of features, a model file or a run", default: str = GUESSED) -> Any:
    """Return the option --baseline; others: what a command accepts besides a feature."""
    return option("RANKING", f"Baseline ranking: a feature (-NAME: lowest first){others}.  [default: {default}]")


BaselineOption = Annotated[str | None, baseline_option()]
Host = Annotated[str, option("HOST", "Address to listen on; other machines need --token.")]
Port = Annotated[int | None, option("N", "Port, 0 for any free port.  [default: 8765 if free]", min=0, max=65535)]
Token = Annotated[str | None, option("SECRET", "Secret that every request must send.", envvar="RULERANK_TOKEN")]


def columns(
    qid: str | None, docid: str | None, grade: str | None = None, features: str | None = None
) -> dict[str, Any]:
    """Return the given column names as keyword arguments of the table readers.

    >>> columns("query", None, features="bm25, tf")
    {'qid': 'query', 'features': ['bm25', 'tf']}
    """
    listed = features and [name.strip() for name in features.split(",")]
    named = {"qid": qid, "docid": docid, "grade": grade, "features": listed}
    return {role: column for role, column in named.items() if column}


def log_columns(text: str | None) -> dict[str, str]:
    """Parse the value of --columns.

    >>> log_columns("query=search term, doc=sku")
    {'query': 'search term', 'doc': 'sku'}
    """
    return dict(pair_of(part, "--columns") for part in text.split(",")) if text else {}


def pair_of(text: str, option: str) -> tuple[str, str]:
    """Return the two sides of NAME=VALUE.

    >>> pair_of("engine = x.run", "--run")
    ('engine', 'x.run')
    """
    name, _, value = (part.strip() for part in text.partition("="))
    if not name or not value:
        raise DataError(f"{option} takes NAME=VALUE: got {text!r}")
    return name, value


def settings(given: Sequence[str] | None, option: str = "--set") -> dict[str, Any]:
    """Parse NAME=VALUE texts: numbers, true, false and none become Python values, the rest stays text.

    >>> settings(["l2=10", "leave_one_out=false", "ties=share"])
    {'l2': 10, 'leave_one_out': False, 'ties': 'share'}
    """
    words = {"true": True, "false": False, "none": None}
    made: dict[str, Any] = {}
    for text in given or []:
        name, value = pair_of(text, option)
        try:
            made[name] = json.loads(value)
        except ValueError:
            made[name] = words.get(value.lower(), value)
    return made


def name_and_settings(text: str, option: str, known: Sequence[str] = ()) -> tuple[str, dict[str, Any]]:
    """Parse NAME:SETTING=VALUE,...; if settings are known, refuse others.

    >>> name_and_settings("letor3:ties=docid,relevant_from=2", "--convention")
    ('letor3', {'ties': 'docid', 'relevant_from': 2})
    """
    name, _, rest = text.partition(":")
    given = settings([part for part in rest.split(",") if part], option)
    unknown = next((one for one in given if known and one not in known), None)
    if unknown is not None:
        raise DataError(f"{option}: unknown setting {unknown!r}; choose from {', '.join(known)}")
    return name.strip(), given


def baseline_of(names: Sequence[str], given: Any, alternative: str = "") -> Baseline:
    """Return the given baseline ranking, or guess it from the feature names and print the guess on stderr.

    alternative: what the error suggests to users without such a feature.
    """
    from rulerank._util.words import listed
    from rulerank.baseline import find_baseline, suggest_baseline

    if given is not None:
        return find_baseline(names, given)
    suggested = suggest_baseline(names)
    if suggested is None:
        raise DataError(
            "no baseline ranking found: name the feature that ranks the documents now with --baseline, one of "
            f"{listed(list(names))}{alternative}"
        )
    print(
        f"Using {suggested} as the baseline ranking (guessed from its name; choose another with --baseline).",
        file=sys.stderr,
    )
    return suggested


def scores_of(data: Dataset, text: str, source: str) -> Array:
    """Return the scores of documents by a feature, a sum of features, a model, a run, or a file of one score per line.

    source: the file of the documents, for the message.
    """
    from rulerank.baseline import find_baseline
    from rulerank.evaluation.rankings import RANKED
    from rulerank.io.files import NamedBytes, read_bytes
    from rulerank.io.formats import HEAD, sniff
    from rulerank.io.trec import read_scores
    from rulerank.model_file import is_model_file

    if text not in data.feature_names and Path(text).is_file() and not is_model_file(text):
        content, name = read_bytes(text)
        if sniff(content[:HEAD]) not in RANKED:
            scores = read_scores(NamedBytes(content, name))
            if scores.size != len(data):
                raise DataError(
                    f"{name}: expected {len(data):,} scores, one per document of {source}: got {scores.size:,}"
                )
            return scores
    return find_baseline(data.feature_names, text, data.categories).scores(data)


def report_left_out(counting: CountedRows, n_rows: int, what_is_left: str = "left out", *, count_all: str = "") -> None:
    """Print on stderr how many of n_rows were left out because they have no judgement.

    count_all: the option of the command that counts them as not relevant.
    """
    from rulerank._util.words import counted

    hint = f" ({count_all} counts them as not relevant)" if count_all else ""
    left_out = (
        (counting.n_queries, "query", "queries", "without any judgement"),
        (counting.n_skipped, "document", "documents", f"of {n_rows:,} without a judgement{hint}"),
        (counting.n_extra, "document", "documents", "that are candidates only because they are judged"),
        (counting.n_missed_queries, "query", "queries", "without candidates, whose relevant documents were all missed"),
    )
    for n, one, several, what in left_out:
        if n:
            print(f"{what_is_left}: {counted(n, one, several)} {what}", file=sys.stderr)
