"""Which document to label next: from all over today's ranking, or by selective sampling with association rules.

`strata.py` walks the queries and the strata of today's ranking. `ssar.py` is selective sampling; `partitions.py` deals
its features into groups (SSARP), each with a `group_run.py` and rule counts (`counts.py`, loops in `kernels.py`, sets
of items as bits in `bits.py`). A selection (`selection.py`) asks for one label after the other. `chooser.py` serves
people: labels arrive in any order, and may be withdrawn. The
names load when they are used.
"""

from rulerank.core.lazy import surface

__all__, __getattr__ = surface(
    __name__,
    {
        "ssar": ("SSAR",),
        "strata": ("Strata",),
        "chooser": ("Chooser",),
    },
)
