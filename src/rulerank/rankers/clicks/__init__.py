"""Learning from clicks: how likely they are, given scores, queries and positions; the rankers of other folders use it.

`click_rows.py` checks what was shown, `kernels.py` and `likelihood.py` say how likely its clicks are, `moves.py` which
positions documents tell apart and by how much, `leaving.py` how many people are still there after clicks further up,
`position_steps.py` what effects may be and `position_effects.py` what they are, `joint_fit.py` finds coefficients and
effects together (`bounded_newton.py` is how), `held_out.py` compares rankings by clicks that they have not seen,
`learns.py` is the base of the rankers.
"""
