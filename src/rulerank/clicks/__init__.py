"""What people click: logs in, counts of them, and their join with a pool.

`counts.py` is the value that travels, `joining.py` finds a log's documents in a pool. The names below load when they
are used.
"""

from rulerank.core.lazy import surface

__all__, __getattr__ = surface(__name__, {"counts": ("ClickCounts",)})
