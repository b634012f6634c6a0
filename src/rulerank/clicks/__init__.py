"""What people click: logs in, counts of them, and their join with a pool.

`log.py` opens the files of a log with DuckDB and knows their columns, `counts.py` adds a log up and finds its documents
in a pool, `summary.py` describes a log, `simulate.py` makes clicks whose truth is known, `interleaving.py` mixes two
rankings and finds from the clicks which one wins. The names below load when they are used.
"""

from typing import TYPE_CHECKING

from rulerank._util.words import surface

if TYPE_CHECKING:  # isort: off
    from rulerank.clicks.counts import ClickCounts as ClickCounts, read_clicks as read_clicks
    from rulerank.clicks.simulate import simulate_clicks as simulate_clicks
    from rulerank.clicks.interleaving import interleave as interleave, read_interleaving as read_interleaving

__all__, __getattr__ = surface(
    __name__,
    {
        "counts": ("ClickCounts", "read_clicks"),
        "simulate": ("simulate_clicks",),
        "interleaving": ("interleave", "read_interleaving"),
    },
)
