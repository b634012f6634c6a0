"""The same models from data that does not fit in memory: parts on disk, or on the machines of a Dask cluster.

`part.py` is what a part is and where parts come from; `streamed.py` looks at grades and queries of all before any long
work, and runs passes over parts in this process, `dask_runner.py` on a cluster. `partitions.py` fits and
measures.
"""

from typing import TYPE_CHECKING

from rulerank._util.words import surface

if TYPE_CHECKING:  # isort: off
    from rulerank.scale.partitions import evaluate_partitions as evaluate_partitions, fit_partitions as fit_partitions

__all__, __getattr__ = surface(__name__, {"partitions": ("fit_partitions", "evaluate_partitions")})
