"""Options that several commands share, declared once, and what they mean."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.rankers.anchored.baseline import TodayModel
    from rulerank.rankers.base import Ranker
    from rulerank.recall_base import CountedRows
    from rulerank.today import Today


def argument(metavar: str, help: str, **more: Any) -> Any:
    """Return an argument of a command."""
    return typer.Argument(metavar=metavar, help=help, **more)


def option(metavar: str, help: str, *names: str, **more: Any) -> Any:
    """Return an option with a value, called as the parameter is or by these names."""
    return typer.Option(*names, metavar=metavar, help=help, **more)


def flag(help: str, *names: str, **more: Any) -> Any:
    """Return an option without a value, or with a plain number or word."""
    return typer.Option(*names, help=help, **more)


AsJson = Annotated[bool, flag("Print JSON.", "--json")]
Queries = Annotated[int, flag("How many queries to make.")]
Measures = Annotated[list[str] | None, option("NAME", "MAP, NDCG@10, P@1, MRR, ...; repeat it.", "--measure", "-m")]
Qid = Annotated[str | None, option("COLUMN", "Column of the query id [qid].", "--qid")]
Docid = Annotated[str | None, option("COLUMN", "Column of the document id [docid].", "--docid")]
Grade = Annotated[str | None, option("COLUMN", "Column of the grade [grade].", "--grade")]
Features = Annotated[str | None, option("A,B,...", "Columns of the features [all others that hold numbers].")]
LogColumns = Annotated[str | None, option("query=A,doc=B,...", "Columns of LOG whose names do not tell what they are.")]
Out = Annotated[str, option("FILE", "The file to write, - for stdout.", "--out", "-o")]
Convention = Annotated[
    str, option("NAME[:SETTING=VALUE,...]", "standard, standard-exp, letor3, letor4; as letor3:ties=docid,unjudged=0.")
]
Baseline = Annotated[
    str | None, option("FEATURE", "What ranks the documents now: a feature, -NAME: lowest first; or a model [by name].")
]
Host = Annotated[str, flag("Where to listen; beyond this machine it needs --token.")]
Port = Annotated[int | None, flag("Port, 0 for any [8765, or any].", min=0, max=65535)]
Token = Annotated[str | None, flag("A secret that every request must bring.", envvar="RULERANK_TOKEN")]

# options of version 0.1, and what does the same now
NEW_OPTIONS = {
    **dict.fromkeys(("--today", "--against"), "--baseline"),
    "--judges": "--raters",
    "--first": "--top",
    "--keys": "--sessions",
    "--csv": "-o FILE.csv",
    "--markdown": "-o FILE.md",
    **dict.fromkeys(("--format", "--to"), "-o FILE"),
    "--from": "`rulerank convert IN OUT --from FORMAT`",
    "--list": "`rulerank methods`",
    "--parameters": "`rulerank methods NAME`",
    "--ranking": "--query ID without --doc",
    "--budget": "-n",
    "--resume": "--labels",
    "--grades": "--own-grades",
    "--ask": "`rulerank judge`",
    "--train": "`rulerank train POOL --labels STORE`",
    "--per-rater": "--combine none",
    "--ranker": "--method NAME=MODULE:OBJECT",
    "--literal": "--set literal=true",
    **{
        f"--{name}": f"--convention NAME:{name.replace('-', '_')}=..." for name in ("ties", "unjudged", "relevant-from")
    },
    **{
        f"--{name}": f"--set {name.replace('-', '_')}=..."
        for name in ("votes", "max-size", "min-support", "discretizer", "normalize", "drop-weakest")
    },
}


def columns(
    qid: str | None, docid: str | None, grade: str | None = None, features: str | None = None
) -> dict[str, Any]:
    """Return the columns that were named, as the readers of tables take them.

    >>> columns("query", None, features="bm25, tf")
    {'qid': 'query', 'features': ['bm25', 'tf']}
    """
    listed = features and [name.strip() for name in features.split(",")]
    named = {"qid": qid, "docid": docid, "grade": grade, "features": listed}
    return {role: column for role, column in named.items() if column}


def log_columns(text: str | None) -> dict[str, str]:
    """Return the columns of a log that a text names.

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
    """Return NAME=VALUE texts as parameters: numbers, true, false and none as what they say, else text.

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
    """Return a name and the settings behind it, all of which must be known where any are.

    >>> name_and_settings("letor3:ties=docid,relevant_from=2", "--convention")
    ('letor3', {'ties': 'docid', 'relevant_from': 2})
    """
    name, _, rest = text.partition(":")
    given = settings([part for part in rest.split(",") if part], option)
    unknown = next((one for one in given if known and one not in known), None)
    if unknown is not None:
        raise DataError(f"{option} has no setting {unknown!r} here; it has {', '.join(known)}")
    return name.strip(), given


def names_model(given: str) -> bool:
    """Tell whether a word names the file of a model, one that is missing too.

    >>> names_model("clicks.rulerank"), names_model("bm25")
    (True, False)
    """
    from rulerank.model_file import is_model_file

    return Path(given).suffix == ".rulerank" or is_model_file(given)


def baseline_of(names: Sequence[str], given: str | Ranker | None, otherwise: str = "") -> Today | TodayModel:
    """Return the baseline ranking: the feature or model that was named, or a feature whose name says so (on stderr).

    otherwise: what to do for someone who has no such feature.
    """
    from rulerank.core.words import listed
    from rulerank.model_file import load_ranker
    from rulerank.rankers.anchored.baseline import find_start
    from rulerank.today import suggest_today

    if given is None:
        suggested = suggest_today(names)
        if suggested is None:
            all_names = listed(list(names))
            raise DataError(f"which feature ranks the documents now? Say --baseline FEATURE, of {all_names}{otherwise}")
        print(f"the baseline is taken to be {suggested}, by its name; --baseline says otherwise", file=sys.stderr)
        return suggested
    if isinstance(given, str) and not {given, given[1:]} & {*names} and names_model(given):
        given = load_ranker(given)
    return find_start(names, given)


def baseline_feature(names: Sequence[str], given: str | None, why_no_model: str) -> Today | None:
    """Return the baseline where it must be a feature; None: none was named, and no name says so."""
    from rulerank.today import Today, suggest_today

    if given is None and suggest_today(names) is None:
        return None
    if given is not None and given not in names and names_model(given):
        raise DataError(f"--baseline {given}: {why_no_model}")
    found = baseline_of(names, given)
    assert isinstance(found, Today)
    return found


def report_left_out(counting: CountedRows, n_rows: int, what_is_left: str = "left out") -> None:
    """Print on stderr what the rule for documents without a judgement left out of n_rows."""
    from rulerank.core.words import counted

    left_out = (
        (counting.n_queries, "query", "queries", "without any judgement"),
        (counting.n_skipped, "document", "documents", f"of {n_rows:,} without a judgement (unjudged 0 counts them)"),
        (counting.n_extra, "document", "documents", "that are candidates only because they are judged"),
        (counting.n_missed_queries, "query", "queries", "without candidates, whose relevant documents were all missed"),
    )
    for n, one, several, what in left_out:
        if n:
            print(f"{what_is_left}: {counted(n, one, several)} {what}", file=sys.stderr)
