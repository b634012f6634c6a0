"""rulerank fuse: put TREC runs together."""

from __future__ import annotations

from typing import Annotated

import typer

from rulerank.cli.options import AsJson
from rulerank.errors import DataError


def fuse(
    files: Annotated[list[str], typer.Argument(metavar="RUN", help="TREC runs, two or more, - for stdin.")],
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The file to write, - for stdout.")] = "-",
    method: Annotated[
        str, typer.Option(metavar="NAME", help="comb_sum, comb_mnz, borda, condorcet, rrf or linear.")
    ] = "comb_mnz",
    weights: Annotated[
        str | None, typer.Option(metavar="W,W,...", help="One number per run, for --method linear.")
    ] = None,
    tag: Annotated[str | None, typer.Option(metavar="NAME", help="The name of the new run [the method's].")] = None,
    as_json: AsJson = False,
) -> None:
    """Put TREC runs together into one.

    The new run has all documents of the given ones, best first. A document that a run did not retrieve counts as last
    in it, or gets nothing from it, as the method has it.

    Example:
        rulerank fuse one.run two.run --method rrf
        rulerank fuse one.run two.run --method linear --weights 0.7,0.3 -o fused.run
    """
    from rulerank.aggregate.fusion import fuse_runs
    from rulerank.cli.output import report
    from rulerank.core.words import counted
    from rulerank.io.trec import read_run, write_run

    if len(files) < 2:
        raise DataError(f"expected two runs or more to put together: got {len(files)}")
    twice = next((name for name in files if files.count(name) > 1), None)
    if twice:
        raise DataError(f"each run may be named once: {twice!r} is there twice")
    name = method.lower().replace("-", "_")
    fused = fuse_runs([read_run(file) for file in files], name, _numbers(weights), tag)
    write_run(fused, out)
    n_queries = len(set(fused.qid))
    payload = {"rows": len(fused), "queries": n_queries, "runs": len(files), "method": name}
    size = f"{counted(len(fused), 'document')} of {counted(n_queries, 'query', 'queries')}"
    report(payload, f"{out}: {size} from {len(files)} runs by {name}", as_json=as_json, target=out)


def _numbers(text: str | None) -> list[float] | None:
    """Return the numbers of a list such as 0.7,0.3.

    >>> _numbers("0.7, 0.3")
    [0.7, 0.3]
    """
    if text is None:
        return None
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise DataError(f"expected numbers such as 0.7,0.3 for --weights: got {text!r}") from None
