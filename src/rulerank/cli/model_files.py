"""Model files among the arguments of a command, told from data before either is read or written over."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.rankers.base import Ranker


def check_out(out: str, sources: Sequence[str]) -> None:
    """Refuse to write a model over what it is trained on, or over any other file that is no model."""
    target = Path(out)
    if not target.is_file():
        return
    for source in sources:
        if source != "-" and Path(source).exists() and target.samefile(source):
            raise DataError(f"the model would overwrite {source}, which it is trained on; choose another name with -o")
    if target.stat().st_size and not is_model_file(out):
        raise DataError(f"{out} exists and is not a model; choose another name or remove it")


def load_model(model: str, source: str, *, command: str = "rank") -> Ranker:
    """Read the model that scores the documents of `source`."""
    from rulerank.model_file import load

    if is_model_file(source) and not is_model_file(model):
        raise DataError(f"MODEL comes first, then DATA: rulerank {command} {source} {model}")
    return load(model)


def is_model_file(path: str) -> bool:
    from rulerank.io.streams import is_model

    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return is_model(file.read(16))
