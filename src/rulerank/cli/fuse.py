"""rulerank fuse: put TREC runs together."""

from __future__ import annotations

from typing import Annotated

from rulerank.cli.options import AsJson, Out, argument, option
from rulerank.errors import DataError


def fuse(
    files: Annotated[list[str], argument("RUN", "TREC runs, two or more, - for stdin.")],
    out: Out = "-",
    method: Annotated[str, option("NAME", "comb_sum, comb_mnz, borda, condorcet, rrf, linear.")] = "comb_mnz",
    weights: Annotated[str | None, option("W,W,...", "One number per run, for linear.")] = None,
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

    twice = next((name for name in files if files.count(name) > 1), None)
    if len(files) < 2 or twice:
        raise DataError(f"expected two runs or more, each once: got {f'{twice!r} twice' if twice else len(files)}")
    try:
        numbers = None if weights is None else [float(word) for word in weights.split(",")]
    except ValueError:
        raise DataError(f"expected numbers such as 0.7,0.3 for --weights: got {weights!r}") from None
    name = method.lower().replace("-", "_")
    fused = fuse_runs([read_run(file) for file in files], name, numbers)
    write_run(fused, out)
    n_queries = len(set(fused.qid))
    payload = {"rows": len(fused), "queries": n_queries, "runs": len(files), "method": name}
    size = f"{counted(len(fused), 'document')} of {counted(n_queries, 'query', 'queries')}"
    report(payload, f"{out}: {size} from {len(files)} runs by {name}", as_json=as_json, target=out)
