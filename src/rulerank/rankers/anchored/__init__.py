"""The ranker for few labels: it starts from the baseline ranking and moves away only as far as the labels support.

`anchored_ranker.py` finds the baseline ranking, a feature or a model; `scale.py` puts the features of a pool on one
scale and cuts them into steps; `posterior.py` finds weights, and averages over how far they may move; `anchored.py` is
the ranker.
"""
