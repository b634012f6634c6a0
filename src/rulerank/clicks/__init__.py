"""Click logs: read, counted, and joined with a pool.

`log.py` opens the files of a log with DuckDB and knows their columns, `counts.py` adds a log up and finds its documents
in a pool, `summary.py` describes a log, `simulate.py` makes clicks whose truth is known, `interleaving.py` mixes two
rankings and finds from the clicks which one wins.
"""

from .counts import ClickCounts, read_clicks
from .interleaving import interleave, read_interleaving
from .simulate import simulate_clicks

__all__ = ["ClickCounts", "interleave", "read_clicks", "read_interleaving", "simulate_clicks"]
