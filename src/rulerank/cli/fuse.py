"""rulerank fuse: fuse TREC runs."""

from __future__ import annotations

from typing import Annotated

from rulerank.cli.options import AsJson, Out, argument, option
from rulerank.errors import DataError


def fuse(
    files: Annotated[list[str], argument("RUN...", "Two or more TREC runs, - for stdin.")],
    out: Out = "-",
    method: Annotated[
        str, option("NAME", "comb_sum, comb_mnz, borda, condorcet, rrf, or linear:W,W,... with one weight per run.")
    ] = "comb_mnz",
    as_json: AsJson = False,
) -> None:
    """Fuse several TREC runs into one.

    The new run has all documents of the given runs, best first. Depending on the method, a document that a run did not
    retrieve ranks last in it or gets no score from it.

    Example:
        # reciprocal rank fusion, to stdout
        rulerank fuse one.run two.run --method rrf
        # a weighted sum of normalised scores
        rulerank fuse one.run two.run --method linear:0.7,0.3 -o fused.run
    """
    from rulerank._util.words import counted
    from rulerank.cli.output import report
    from rulerank.fusion.classic import fuse as fused_by
    from rulerank.io.trec import read_run, write_run

    twice = next((name for name in files if files.count(name) > 1), None)
    if len(files) < 2 or twice:
        raise DataError(f"expected two runs or more, each once: got {f'{twice!r} twice' if twice else len(files)}")
    name, _, weights = method.lower().replace("comb-", "comb_").partition(":")
    try:
        numbers = [float(word) for word in weights.split(",")] if weights else None
    except ValueError:
        raise DataError(f"expected weights such as linear:0.7,0.3: got {method!r}") from None
    fused = fused_by([read_run(file) for file in files], method=name, weights=numbers)
    write_run(fused, out)
    n_queries = len(set(fused.qid))
    payload = {"rows": len(fused), "queries": n_queries, "runs": len(files), "method": name}
    size = f"{counted(len(fused), 'document')} of {counted(n_queries, 'query', 'queries')}"
    report(payload, f"{out}: {size} from {len(files)} runs by {name}", as_json=as_json, target=out)
