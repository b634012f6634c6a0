"""Rankers for few labels: they start from today's ranking and move away from it only as far as labels say.

`starts_from_today.py` is what they share, `today_model.py` a model as today's ranking; `anchored.py` is the ranker on
features, `anchored_rules.py` the one on rules. `posterior.py` finds the weights, and averages over how much they may
move.
"""
