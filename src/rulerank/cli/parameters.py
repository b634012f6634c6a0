"""Options of `rulerank train` as parameters of a ranker, and back in words."""

from __future__ import annotations

import json
from typing import Any

import typer

from rulerank.discretize import DISCRETIZERS
from rulerank.errors import DataError
from rulerank.normalize import NORMALIZATIONS
from rulerank.rankers.base import Ranker
from rulerank.rankers.rule_ranker import RuleRanker
from rulerank.rules.votes import VOTES

PARAMETERS = ("parameter", "default", "may be", "meaning")
HIDDEN = ("n_jobs", "memory_budget", "keep_rows", "work_limit")  # parameters that say nothing about the scores


def known_words(**options: str | None) -> dict[str, str | None]:
    """Return the options that were given, checked and as the rankers take them: in lower case, None for none.

    >>> known_words(votes=None, discretizer="MDLP", normalize="none")
    {'discretizer': 'mdlp', 'normalize': None}
    """
    choices = {"votes": [*VOTES], "discretizer": [*DISCRETIZERS, "none"], "normalize": ["none", *NORMALIZATIONS]}
    given = {name: value.lower().replace("-", "_") for name, value in options.items() if value is not None}
    for name, word in given.items():
        if word not in choices[name]:
            raise DataError(f"unknown {name} {options[name]!r}; choose from {', '.join(choices[name])}")
    return {name: None if word == "none" else word for name, word in given.items()}


def parse_settings(settings: list[str] | None) -> dict[str, Any]:
    """Return NAME=VALUE texts as parameters: numbers, true, false and none as what they say, else text.

    >>> parse_settings(["l2=10", "leave_one_out=false", "ties=share"])
    {'l2': 10, 'leave_one_out': False, 'ties': 'share'}
    """
    words = {"true": True, "false": False, "none": None}
    found: dict[str, Any] = {}
    for setting in settings or []:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise DataError(f"--set takes NAME=VALUE, such as l2=100: got {setting!r}")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = words.get(value.lower(), value)
    return found


def literal_options(ranker_class: type[Ranker], given: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of the paper's own ranker, unless others are asked for at the same time."""
    if "literal" in ranker_class().get_params():
        return {"literal": True}
    if given.get("votes", "mean") != "mean" or given.get("drop_weakest"):
        raise DataError("--literal means --votes mean --drop-weakest 0: leave these out, or leave out --literal")
    return {"votes": "mean", "drop_weakest": 0.0}


def make_ranker(ranker_class: type[Ranker], given: dict[str, Any]) -> Ranker:
    """Return a ranker with the parameters that were given, all of which it must have."""
    ranker = ranker_class()
    known = ranker.get_params()
    unknown = [name for name in given if name not in known]
    if unknown:
        option = unknown[0].replace("_", "-")
        raise DataError(f"{ranker_class.__name__} takes no --{option}; it takes {', '.join(known)}")
    ranker.set_params(**given)
    return ranker


def used_params(ranker: Ranker) -> dict[str, Any]:
    """Return the parameters that say something about the scores, with what is used where the default is left open."""
    params = {name: value for name, value in ranker.get_params().items() if name not in HIDDEN and "__" not in name}
    if params.get("metric") == "confidence":  # the only one that votes other than "mean" know
        del params["metric"]
    if params.get("mapped"):
        del params["mapped"]
    params |= {name: type(value).__name__ for name, value in params.items() if isinstance(value, Ranker)}
    return params | {name: value for name, value in _stood_for(ranker).items() if name in params}


def _stood_for(ranker: Ranker) -> dict[str, Any]:
    return ranker.stood_for() if isinstance(ranker, RuleRanker) else {}


def as_word(value: object) -> str:
    """Return a parameter as the command line writes it.

    >>> as_word(None), as_word(0.25)
    ('none', '0.25')
    """
    return "none" if value is None else str(value)


def print_parameters(method: str | None) -> None:
    """Print what `--set` takes for a method, from the table of its class, and end the command."""
    if method is None:
        return
    from rulerank.cli.output import print_table
    from rulerank.core.parameters import described
    from rulerank.methods import method_named

    rows = [
        (name, default, takes, meaning)
        for name, takes, default, meaning in described(method_named(method).ranker_class())
    ]
    print_table(PARAMETERS, rows, n_left=len(PARAMETERS))
    raise typer.Exit
