"""rulerank methods: the rankers by name, and what `--set` takes."""

from __future__ import annotations

from typing import Annotated

from rulerank.cli.options import AsJson, argument


def methods(
    name: Annotated[str | None, argument("[NAME]", "Print the parameters of this method.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the methods, or the parameters of one.

    A method goes by the name of its class; the papers' codes mean the same. A parameter is set with --set
    NAME=VALUE, or behind the name: --method GlobalRules:votes=mean.

    Example:
        rulerank methods
        rulerank methods FittedRules
    """
    from rulerank.cli.output import print_json, print_table
    from rulerank.core.parameters import described
    from rulerank.methods import METHODS, method_named

    if name is None:
        header = ["method", "also", "what it is"]
        rows = [[method.class_name, method.name, about(method.ranker_class())] for method in METHODS.values()]
    else:
        header = ["parameter", "default", "may be", "meaning"]
        known = described(method_named(name).ranker_class())
        rows = [[parameter, default, takes, meaning] for parameter, takes, default, meaning in known]
    if as_json:
        print_json([dict(zip(header, row, strict=True)) for row in rows])
    else:
        print_table(header, rows, n_left=len(header))


def about(owner: type) -> str:
    """Return the first line of a class's documentation."""
    return (owner.__doc__ or "").partition("\n")[0]
