"""People give the grades: what they judge, where their labels are kept, and what is made of them.

`pool.py` holds the documents, `added.py` those that come later (`growing.py` while people judge); `loop.py` is the
loop, on the page (`web/`) and in the terminal (`terminal.py`), `offers.py` which documents a rater may get; `store.py`
keeps the labels of a team (`schema.py` its tables, `versions.py` the steps between them, `engines.py` the databases,
`judgements.py` what came already, `rows.py` what a row says) and `label_files.py` those of one person; `labels.py` has
the words they share, `current.py` the labels in force; `given_labels.py` reads files of labels, people's and other
judges' apart, and `transfer.py` takes labels from a store to files and back;
`sample.py` chooses documents without a person; `agreement.py` and `overview.py` say what the labels are worth,
`learning.py` what is learned from them (`loop_learning.py` in the loop,
`train.py` the models, `standing.py` what can be said of one, `trainer.py` one
training at a time, `compare.py` a model beside today's ranking). `queries.py` and `report.py` are what the lead sees of
it all. `duels.py` compares a model with today's ranking, `check.py` is the loop of it for the terminal
(`duel_terminal.py`) and the page. `demo.py` is a pool to try it on. Only the store needs a package of the extra
`judge`, and only `web/` needs all of them.
What a team keeps beside labels is in `team_store.py`: decisions, orders, judges and settings (`team.py` has their
words, `team_schema.py` the tables); `store_file.py` has the transactions of both. `combine.py` makes one grade of
several (`rater_model.py` learns how reliable raters are), `counting.py` says which labels count, and `panel.py` what
the lead sees: `disputes.py`, `judge_queue.py`, `agreement_parts.py`; `by_judge.py` trains on other judges' labels, too.
What raters see beside a document: `fields.py` and `guidelines.py`, which also say which grades there are. `lists.py`
hands out the list of a query, `moves.py` says what a model would move in it, `preferences.py` what raters' orders say
of a ranking, `order_files.py` writes them.
"""

import importlib
from typing import Any

_NAMES = {  # loaded when used: labels in files must not need the store's package
    "pool": ("Pool", "read_pool"),
    "labels": ("Label", "StoreError"),
    "loop": ("Judging",),
    "store": ("LabelStore",),
    "given_labels": ("read_labels",),
    "transfer": ("export_labels", "import_labels"),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rulerank.judging' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(importlib.import_module(f"rulerank.judging.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
