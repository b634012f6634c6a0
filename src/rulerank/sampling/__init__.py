"""Which document to label next: from all over the baseline ranking, or by selective sampling with association rules.

`strata.py` walks the queries and the strata of the baseline ranking. `ssar.py` is selective sampling, and deals
features
into groups (SSARP); `selection.py` is what both ask with, one label after the other or in the order people give them;
`rule_counts.py` counts the rules of every document. The names load when they are used.
"""

from rulerank._util.words import surface

__all__, __getattr__ = surface(
    __name__, {"ssar": ("SSAR",), "strata": ("StratifiedSampler",), "selection": ("Chooser",)}
)
