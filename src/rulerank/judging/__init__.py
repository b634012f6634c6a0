"""People give the grades: what they judge, where their labels are kept, and what is made of them.

Documents: `pool.py` holds them with what raters see, `guidelines.py` says what the grades mean. The loop: `loop.py`, on
the page (`web/`) and in the terminal (`terminal.py`, `label_files.py`); `offers.py` says which documents a rater may
get, `lists.py` hands out the list of a query, `duels.py` and `check.py` compare a model with the baseline ranking.
Labels: `store.py` keeps them and `team_store.py` what a team keeps beside them (`engines.py` is the database under
both, `schema.py` its tables, `versions.py` the steps between them, `rows.py` what a row says); `labels.py`
and `team.py` have the words; `current.py` has the labels in force, `combine.py` makes one grade of several
(`rater_model.py`);
`given_labels.py` reads files of labels, `transfer.py` takes labels from a store to files and back; `sample.py` chooses
documents without a person. What they are worth: `agreement.py`, `overview.py` and `report.py`, `panel.py` for the lead;
`learning.py` is what is learned from them (`train.py` the models, `by_judge.py` with other judges, `trainer.py` one
training at a time). Only the store needs a package of the extra `judge`, and only `web/` needs all of them.
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
