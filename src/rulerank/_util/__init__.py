"""Helpers that know nothing of ranking; imported file by file.

`parameters.py` names the type of our arrays, checks numbers, and has the one table of parameters per class; `loops.py`
compiles loops, runs them over all cores and draws the progress bar; `words.py` makes phrases and keeps names.
"""
