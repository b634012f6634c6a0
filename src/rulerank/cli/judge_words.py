"""The words by which the user asked for the judging page, and the commands that go on from there."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rulerank.today import Today

SERVING = {  # options that say how to serve, and not what is judged
    "rater", "guidelines", "show", "image", "images", "n_listed", "show_rank", "whole_pool", "overlap", "judgements",
    "model", "train", "method", "host", "port", "token", "invite", "open_browser", "as_json",
}  # fmt: skip


@dataclass(frozen=True)
class Words:
    """The words by which the user asked for this page, and the commands that go on from there."""

    context: typer.Context
    source: str  # the file with the documents
    model: str

    def usual_method(self, today: Today | None) -> str:
        """Return what to train when nothing else is asked for."""
        return "RE-GR" if today is None else "Anchored"

    def ranking(self) -> str:
        """Return the command that ranks these documents with the model."""
        return shlex.join(["rulerank", "rank", self.model, self.source, "--format", "csv"])

    def training(self, method: str) -> str:
        """Return the command that trains on these documents and labels."""
        words = ["rulerank", "judge", *given(self.context), "--train", "--model", self.model, "--method", method]
        return shlex.join(words)


def given(context: typer.Context) -> list[str]:
    """Return the words of the command line that name documents and labels, without how to serve them."""
    words: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        origin = context.get_parameter_source(name)
        if name in SERVING or origin is None or origin.name != "COMMANDLINE":
            continue
        value: Any = context.params[name]
        if parameter.param_type_name == "argument":
            words.insert(0, str(value))
        else:
            words += [parameter.opts[0]] if value is True else [parameter.opts[0], str(value)]
    return words
