"""The cases of a model that is a sum of tables: each table votes once."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from rulerank.ballots.ballot import Ballot
from rulerank.ballots.case import Case
from rulerank.core.intervals import in_words, on_scale, written_cuts
from rulerank.core.words import counted
from rulerank.dataset import Array
from rulerank.rules.additive import AdditiveTables
from rulerank.rules.rule import Item

AVERAGE = "the average document in training"  # where scores of centred tables start


@dataclass(frozen=True, eq=False)
class TableForm:
    """A model as a sum of tables, which explanations try other values on."""

    tables: AdditiveTables
    n_jobs: int | None = None
    base_text: str = AVERAGE
    scale: str | None = None  # that values are put on by query
    dates: Collection[str] = ()  # features whose values are days since 1970-01-01

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return self.tables.feature_names

    def score(self, X: Array) -> Array:
        """Return the scores of checked rows."""
        return self.tables.score(X, self.n_jobs)

    def value(self, x: Array, feature: int) -> str:
        """Return a document's bin of a feature in words, as the finest table has it."""
        found = self.finest(feature)
        if found is None:
            return f"{self.names[feature]} has no vote"
        table, axis = found
        own = self.tables.tables[table]
        return self.item_text(table, axis, own.bins([float(x[f]) for f in own.features])[axis])

    def item_text(self, table: int, axis: int, bin: int) -> str:
        """Return a bin in words, with the name of the scale that its numbers are on."""
        own = self.tables.tables[table]
        name = self.names[own.features[axis]]
        if name in self.dates and self.scale is None:
            return in_words(name, bin, written_cuts(own.cuts[axis], dates=True))
        return on_scale(self.tables.item_text(table, axis, bin), name, self.scale)

    def finest(self, feature: int) -> tuple[int, int] | None:
        """Return the table, and its axis, that cuts a feature most finely; None if it has none."""
        return self.tables.finest.get(feature)


def table_ballot(tables: AdditiveTables, x: Array) -> Ballot:
    """Return the ballot of one document, given as values: a cell of each table; sums on the grid are exact."""
    cells = tables.cells_of(x)
    votes = np.array([table.votes[cell] for table, cell in zip(tables.tables, cells, strict=True)], dtype=np.float64)
    sizes = [len(table.features) for table in tables.tables]
    blocks = [[t for t, size in enumerate(sizes) if size == one] for one in sorted(set(sizes))]
    order = [t for block in blocks for t in block]
    return Ballot(
        sets=tuple(np.array([tables.tables[t].features for t in block], dtype=np.int32) for block in blocks),
        bins=tuple(np.array([cells[t] for t in block], dtype=np.int64) for block in blocks),
        votes=votes[order, None],
        tally=lambda sums: tables.base + sums[:, 0],
        adds=votes[order],
        weights=np.zeros(votes.size),
        voted=votes[order] != 0,
        base=tables.base,
        n_features=len(tables.feature_names),
        by_grade=np.zeros((votes.size, 0), dtype=np.int64),
    )


def table_case(form: TableForm, x: Array, method: str) -> Case:
    """Return the case of a document, given as values, that tables vote on."""
    tables = form.tables
    ballot = table_ballot(tables, x)
    sizes = [len(table.features) for table in tables.tables]
    order = sorted(range(len(sizes)), key=lambda t: (sizes[t], t))  # as the ballot has them

    def item(cell: int, feature: int) -> Item:
        axis = ballot.features_of(cell).index(feature)
        bin = ballot.bins_of(cell)[axis]
        return Item(feature, bin, form.item_text(order[cell], axis, bin))

    def value(feature: int) -> str:
        return form.value(x, feature)

    added = round(ballot.score, 4) - round(ballot.base, 4)  # what is printed adds up
    return Case(
        method=method,
        ballot=ballot,
        item=item,
        value=value,
        base_text=form.base_text,
        arithmetic=(
            f"{counted(int(ballot.voted.sum()), 'rule')} vote, one of each table: together {added:+.4f}",
            f"{ballot.base:.4f} {added:+.4f} = {ballot.score:.4f}",
        ),
    )
