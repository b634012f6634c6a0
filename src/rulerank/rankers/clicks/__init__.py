"""Learning from clicks: how likely they are, given scores, queries and positions.

`click_rows.py` checks what was shown, `positions.py` finds what positions do to clicks and how many people leave after
one, from documents that moved, `likelihood.py` finds coefficients, and compares rankings by clicks that they have not
seen. `QueryIntercepts` learns from clicks with them.
"""
