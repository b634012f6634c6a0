"""Rankers whose score is a weighted sum of features, and the Newton solver behind the query intercepts.

`linear_ranker.py` is what they share, `query_intercepts.py` the ranker, `coefficients.py` its table; `newton.py` finds
the minimum of `likelihood_in_chunks.py`, which adds up the `query_likelihood.py` of each chunk over `grouped_rows.py`.
"""
