"""Judging: documents to label, the label store, and training on the labels.

Documents: `pool.py` (documents and what raters see), `guidelines.py` (the grading scale), `sample.py` (sampling).
The loop: `loop.py`, shown by the page (`web/`); `offers.py` (which documents or lists a rater may get), `learning.py`
(training), `side_by_side.py` (comparison with the baseline ranking).
Labels: `store.py` (the label store), `database.py` (the file or server below it), `schema.py` (its tables and
versions), `labels.py` (the values), `grades.py` (one grade from several labels), `label_files.py` (files of labels),
`transfer.py` (export and import).
Quality: `agreement.py` and `admin.py`.
Only the store needs a package of the extra `judge`, and only `web/` needs all of them.
"""

from typing import TYPE_CHECKING

from rulerank._util.words import surface

if TYPE_CHECKING:  # isort: off
    from rulerank.judging.pool import Pool as Pool, read_pool as read_pool
    from rulerank.judging.store import LabelStore as LabelStore
    from rulerank.judging.labels import Label as Label, StoreError as StoreError
    from rulerank.judging.loop import Judging as Judging
    from rulerank.judging.label_files import read_labels as read_labels
    from rulerank.judging.transfer import export_labels as export_labels, import_labels as import_labels

__all__, __getattr__ = surface(
    __name__,
    {
        "pool": ("Pool", "read_pool"),
        "store": ("LabelStore",),
        "labels": ("Label", "StoreError"),
        "loop": ("Judging",),
        "label_files": ("read_labels",),
        "transfer": ("export_labels", "import_labels"),
    },
)
