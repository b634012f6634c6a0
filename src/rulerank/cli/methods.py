"""rulerank methods: list methods and their parameters."""

from __future__ import annotations

from typing import Annotated

from rulerank.cli.options import AsJson, argument


def methods(
    name: Annotated[str | None, argument("[NAME]", "Method whose parameters to list.")] = None, as_json: AsJson = False
) -> None:
    """List the methods, or the parameters of one.

    Methods are named like their Python classes; the papers' codes are aliases. Set a parameter with --set NAME=VALUE or
    after the name: --method GlobalRules:votes=mean.

    Example:
        # all methods
        rulerank methods
        # the parameters of one
        rulerank methods FittedRules
    """
    from rulerank._util.parameters import described
    from rulerank.cli.output import print_json, print_table
    from rulerank.methods import METHODS, method_named

    if name is None:
        header = ["method", "alias", "description"]
        rows = [[method.class_name, method.name, about(method.ranker_class())] for method in METHODS.values()]
    else:
        header = ["parameter", "default", "values", "description"]
        known = described(method_named(name).ranker_class())
        rows = [[parameter, default, takes, meaning] for parameter, takes, default, meaning in known]
    if as_json:
        print_json([dict(zip(header, row, strict=True)) for row in rows])
    else:
        print_table(header, rows, n_left=len(header))


def about(owner: type) -> str:
    """Return the first line of a class's documentation."""
    return (owner.__doc__ or "").partition("\n")[0]
