"""Rankers whose score is a weighted sum of features, and the Newton solver behind the query intercepts.

`linear_ranker.py` is what they share, `query_intercepts.py` the ranker; `newton.py` finds the minimum of
`likelihood.py`, which adds up comparisons over chunks of rows with the loops of `kernels.py`.
"""
