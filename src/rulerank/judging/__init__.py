"""People give the grades: what they judge, where their labels are kept, and what is made of them.

Documents: `pool.py` holds them with what raters see, `guidelines.py` says what the grades mean, `sample.py` chooses.
The loop: `loop.py`, shown by the page (`web/`); `offers.py` says which documents or which list of a query a rater may
get; `learning.py` trains on the labels, and `duels.py` compares a model with the baseline ranking.
Labels: `store.py` keeps them and what a team says beside them (`database.py` is the file or server under it,
`schema.py` its tables and their versions); `labels.py` has the values; `grades.py` makes one grade of several labels;
`label_files.py` reads and writes files of labels, `transfer.py` takes labels from a store to files and back.
What they are worth: `agreement.py`, and `admin.py` for the lead.
Only the store needs a package of the extra `judge`, and only `web/` needs all of them.
"""

import importlib
from typing import Any

_NAMES = {  # loaded when used: labels in files must not need the store's package
    "pool": ("Pool", "read_pool"),
    "labels": ("Label", "StoreError"),
    "loop": ("Judging",),
    "store": ("LabelStore",),
    "label_files": ("read_labels",),
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
