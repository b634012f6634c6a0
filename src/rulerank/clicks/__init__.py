"""What people click: logs in, counts of them, and their join with a pool.

`log.py` opens the files of a log with DuckDB and knows their columns, `reading.py` adds a log up, `counts.py` is the
value that travels and finds its documents in a pool, `summary.py` says what a log holds, `simulate.py` makes clicks
whose truth is known, `interleaving.py` mixes two rankings and says from the clicks which of them wins. The names below
load when they are used.
"""

from rulerank.core import surface

__all__, __getattr__ = surface(
    __name__,
    {
        "reading": ("read_clicks",),
        "counts": ("ClickCounts",),
        "simulate": ("simulate_clicks",),
        "interleaving": ("interleave", "read_contest"),
    },
)
