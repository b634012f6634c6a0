"""Rankers for few labels: they start from today's ranking and move away from it only as far as labels say.

`anchored.py` is the ranker on features, `anchored_rules.py` the one on rules; `posterior.py` finds the weights, and
`priors.py` averages over how much they may move.
"""
