"""Learning from clicks: how likely they are, given scores, queries and positions.

`click_rows.py` checks what was shown, `positions.py` says what effects of positions may be and are, `moves.py` which
positions documents tell apart, by how much, and how many people leave after a click; `likelihood.py` finds coefficients
and effects together, and compares rankings by clicks that they have not seen; `learns.py` is the base of the rankers.
"""
