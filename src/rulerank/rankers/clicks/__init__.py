"""Learning from clicks: how likely they are, given scores, queries and positions.

`click_rows.py` checks impressions and clicks, `positions.py` estimates position effects from documents that moved,
`likelihood.py` finds coefficients, and compares rankings by held-out clicks. `QueryIntercepts` uses them.
"""
