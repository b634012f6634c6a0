"""Rankers whose score is a weighted sum of features, and the Newton solver behind the query intercepts.

`query_intercepts.py` is the ranker, and what linear rankers share; `newton.py` finds the minimum of `likelihood.py`.
"""
