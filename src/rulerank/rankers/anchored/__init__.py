"""Rankers for few labels: they start from the baseline ranking and move away from it only as far as labels say.

`baseline.py` is what they share, a model as the baseline among it; `anchored.py` has the ranker on features and the one
on rules. `posterior.py` finds the weights, and averages over how much they may move.
"""
