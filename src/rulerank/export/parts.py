"""A mixture of rankers in parts: each member as another system reads it, and how their scores are put together."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from rulerank.core.words import listed
from rulerank.errors import DataError
from rulerank.export import Export, export_model


@dataclass(frozen=True)
class ExportedParts:
    """The members of a mixture as another system takes them, and what their scores are multiplied with."""

    members: dict[str, Export]
    mixing: dict[str, Any]  # the formula, and each member's weight and factor

    def to_json(self) -> str:
        """Return how the members' scores are put together, as JSON."""
        return json.dumps(self.mixing, indent=2)


def export_parts(ranker: Any, to: str, *, model_name: str = "rulerank", feature_set: str = "rulerank") -> ExportedParts:
    """Return the members of a fitted Competence, one export each, named model_name and the member's name.

    Scores of members are put on one scale by query, which happens after a system has scored a query's documents: the
    system scores each document by each member, and `mixing` says how whoever asked it puts the scores together.

    >>> import rulerank as rr
    >>> world = rr.make_ranking(n_queries=20, seed=0)
    >>> ranker = rr.Competence({"votes": rr.GlobalRules(), "fitted": rr.FittedRules(max_pairs=3)}).fit(world)
    >>> made = export_parts(ranker, "python")
    >>> list(made.members), [member["member"] for member in made.mixing["members"]]
    (['votes', 'fitted'], ['votes', 'fitted'])
    """
    if not hasattr(ranker, "mixing"):
        raise DataError(
            f"only a Competence is exported in parts: got {type(ranker).__name__}, which export_model takes"
        )
    mixing = ranker.mixing()
    if not ranker.members_:
        raise DataError(
            "the metrics of a Competence are divided by the number of rules that cover a document, so they cannot be "
            'exported; fit it over rankers that can, such as Competence("RE-GR, FR")'
        )
    if ranker.categories_:
        raise DataError(
            f"the members of this Competence read the codes of {listed([*ranker.categories_])} as numbers, and other "
            "systems have no such codes: fit it again without these features to export it"
        )
    members = {}
    for name, member in zip(ranker.names_, ranker.members_, strict=True):
        try:
            members[name] = export_model(member, to, model_name=f"{model_name}-{name}", feature_set=feature_set)
        except DataError as error:
            raise DataError(f"member {name!r}: {error}") from None
    return ExportedParts(members, mixing)
